"""A small Transformer encoder in plain torch, several independent copies side by side.

Every parameter has a leading axis `run`: the copies start from other weights, read other sequences
and share nothing. Batched matrix multiplications over runs are faster than a loop. Torch is used
only here and in the training that imports this module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seqviz.compute.positions import relative, rotary, sinusoidal
from seqviz.compute.positions.tiny.settings import ENCODINGS
from seqviz.compute.training.settings import Choices


class TinyEncoder(nn.Module):
    """Embedding, blocks of self-attention and MLP, a linear head at every position.

    Pre-norm (Xiong et al. 2020): x + attention(norm(x)), then x + mlp(norm(x)), and a last norm
    before the head. The norms have no gain and bias: a linear map follows each.

    Args:
        encoding: "none"; "sinusoidal" (Vaswani et al. 2017, section 3.5) and "learned" add a row to
            the embedding at each position; "rotary" (Su et al. 2021) rotates queries and keys in
            each layer, neighboring dimensions being a pair; "alibi" (Press et al. 2022) subtracts
            slope * distance from the scores of each head, symmetric without a causal mask.
        symbols: size of the vocabulary.
        answers: number of different answers.
        rows: rows of the learned table.
        randoms: source of each run's initial weights, which are the same with every encoding, as
            the learned table is drawn last.
        causal: True where position i attends to j <= i only.
        d_model: width of the model.
        heads: number of heads.
        layers: number of blocks.

    Raises:
        ValueError: unknown encoding.
    """

    def __init__(
        self,
        encoding: str,
        symbols: int,
        answers: int,
        rows: int,
        randoms: Sequence[np.random.RandomState],
        causal: bool = False,
        d_model: int = 32,
        heads: int = 4,
        layers: int = 2,
    ):
        super().__init__()
        Choices(ENCODINGS, "The encoding").check("encoding", encoding)
        self.encoding, self.causal, self.heads = encoding, causal, heads
        self._constants: dict[tuple[Any, ...], Tensor] = {}
        # Entries of variance 1, as nn.Embedding has; the entries of a sinusoid have 1/2.
        self.embedding = _normal(randoms, 1.0, symbols, d_model)
        self.blocks = nn.ModuleList(Block(randoms, d_model, heads) for _ in range(layers))
        self.head = Linear(randoms, d_model, answers)
        if encoding == "learned":
            self.table = _normal(randoms, 1.0, rows, d_model)

    def forward(
        self, symbols: Int[Tensor, "run batch time"]
    ) -> Float[Tensor, "run batch time answer"]:
        """Return the scores of all answers at every position.

        Raises:
            ValueError: the sequence is longer than the learned table.
        """
        runs, _, time = symbols.shape
        kinds = self.embedding.shape[1]
        first_row = kinds * torch.arange(runs, device=symbols.device)[:, None, None]
        x = nn.functional.embedding(symbols + first_row, self.embedding.flatten(0, 1))
        x = x + self.added(time)
        angles, bias = self.angles(time), self.bias(time)
        for block in self.blocks:
            x = block(x, angles, bias)
        return self.head(_norm(x))

    def added(self, time: int) -> Float[Tensor, "run #batch #time d_model"]:
        """Return the rows added to the embeddings; zero unless "learned" or "sinusoidal"."""
        d_model = self.embedding.shape[-1]
        if self.encoding == "learned":
            rows = self.table.shape[1]
            if time > rows:
                raise ValueError(f"The learned table has {rows} rows, too few for {time} symbols.")
            return self.table[:, None, :time]
        if self.encoding == "sinusoidal":
            return self._constant(
                "sinusoid", time, lambda: sinusoidal.encoding(time, d_model).table
            )[None, None]
        return self.embedding.new_zeros(1, 1, 1, d_model)

    def angles(self, time: int) -> Float[Tensor, "time pair"] | None:
        """Return the rotation angles of queries and keys by position; None for no rotation."""
        if self.encoding != "rotary":
            return None
        frequencies = rotary.frequencies(self.embedding.shape[-1] // self.heads)
        return self._constant("angles", time, lambda: np.outer(np.arange(time), frequencies))

    def bias(self, time: int) -> Float[Tensor, "#head query key"] | None:
        """Return the bias of the scores, ALiBi's or -inf at masked positions; None for none."""
        if self.encoding == "alibi":
            return self._constant(
                "bias", time, lambda: relative.alibi_bias(self.heads, time, self.causal)
            )
        if self.causal:
            return self._constant(
                "bias", time, lambda: np.triu(np.full((1, time, time), -np.inf), k=1)
            )
        return None

    def _constant(self, name: str, time: int, make: Callable[[], np.ndarray]) -> Tensor:
        """Return an array as a tensor like the weights; a captured update cannot copy it again."""
        key = name, time, self.embedding.device, self.embedding.dtype
        if key not in self._constants:
            self._constants[key] = torch.as_tensor(make()).to(self.embedding)
        return self._constants[key]


class Block(nn.Module):
    """Self-attention with several heads, and an MLP with one hidden layer of 2 d_model units."""

    def __init__(self, randoms: Sequence[np.random.RandomState], d_model: int, heads: int):
        super().__init__()
        self.heads = heads
        self.into = Linear(randoms, d_model, 3 * d_model)
        self.out = Linear(randoms, d_model, d_model)
        self.up = Linear(randoms, d_model, 2 * d_model)
        self.down = Linear(randoms, 2 * d_model, d_model)

    def forward(
        self,
        x: Float[Tensor, "run batch time d_model"],
        angles: Float[Tensor, "time pair"] | None = None,
        bias: Float[Tensor, "#head time time"] | None = None,
    ) -> Float[Tensor, "run batch time d_model"]:
        """Apply the layer.

        Args:
            x: input of the layer.
            angles: angle of rotation of queries and keys.
            bias: bias of the scores.
        """
        # [run, batch, time, 3 d_model] -> three times [run, batch, head, time, d_key]
        parts = self.into(_norm(x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = parts.permute(3, 0, 1, 4, 2, 5)
        if angles is not None:
            query, key = rotate(query, angles), rotate(key, angles)
        mixed = attention(query, key, value, bias)
        x = x + self.out(mixed.transpose(-3, -2).flatten(-2))
        return x + self.down(torch.relu(self.up(_norm(x))))


class Linear(nn.Module):
    """Linear map x W + b for each run; W is drawn with variance 1/inputs, b starts at 0."""

    def __init__(self, randoms: Sequence[np.random.RandomState], inputs: int, outputs: int):
        super().__init__()
        self.weight = _normal(randoms, inputs**-0.5, inputs, outputs)
        self.bias = nn.Parameter(torch.zeros(len(randoms), 1, outputs))

    def forward(
        self, x: Float[Tensor, "run batch time inputs"]
    ) -> Float[Tensor, "run batch time outputs"]:
        """Apply a run's map at every position of its sequences."""
        flat = torch.baddbmm(self.bias, x.flatten(1, 2), self.weight)
        return flat.unflatten(1, x.shape[1:3])


def attention(
    query: Float[Tensor, "*rest head time d_key"],
    key: Float[Tensor, "*rest head time d_key"],
    value: Float[Tensor, "*rest head time d_key"],
    bias: Float[Tensor, "#head time time"] | None = None,
) -> Float[Tensor, "*rest head time d_key"]:
    """Return softmax(Q K' / sqrt(d_key) + bias) V.

    Args:
        query: the queries.
        key: the keys.
        value: the values.
        bias: bias of the scores.

    References:
        Vaswani et al. (2017), equation 1, with a bias.
    """
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias
    return scores.softmax(-1) @ value


def rotate(
    vectors: Float[Tensor, "*rest time d_key"], angles: Float[Tensor, "time pair"]
) -> Float[Tensor, "*rest time d_key"]:
    """Rotate each pair of neighboring dimensions by its angle, counterclockwise.

    Args:
        vectors: queries or keys.
        angles: angle of each pair at each position.
    """
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2)


def _norm(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, x.shape[-1:])


def _normal(
    randoms: Sequence[np.random.RandomState], deviation: float, *shape: int
) -> nn.Parameter:
    samples = np.stack([deviation * random.standard_normal(shape) for random in randoms])
    return nn.Parameter(torch.as_tensor(samples, dtype=torch.float32))
