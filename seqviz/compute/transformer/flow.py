"""The way of a text through an encoder: ten steps, each a tensor with its shape (S0)."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.scaled import attend
from seqviz.compute.positions.sinusoidal import encoding
from seqviz.compute.transformer.normalization import normalize
from seqviz.refusal import Refusal
from seqviz.units import Share

STEPS = (
    "tokens", "embed", "position", "queries", "weights", "mixed", "first_norm", "hidden",
    "second_norm", "output",
)  # fmt: skip
TEXT = "the cat sat on the mat"
MOST_WORDS, MOST_LAYERS = 16, 12
_EPS = 1e-5
Matrix = Float[np.ndarray, "_ _"]


@dataclass(frozen=True)
class Weights:
    """One encoder layer without biases, which start at 0; vectors are rows, so x W.

    Matrices are drawn uniformly as `nn.Transformer` draws them (Glorot & Bengio 2010): queries,
    keys and values as one matrix of 3 d columns.
    """

    into: Float[np.ndarray, "d three_d"]
    out: Float[np.ndarray, "d d"]
    up: Float[np.ndarray, "d d_ff"]
    down: Float[np.ndarray, "d_ff d"]


@dataclass(frozen=True)
class Step:
    """One step: the tensor, laid flat for a picture (heads side by side), and its own shape."""

    name: str
    values: Matrix
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """All steps of one layer, those before it, and the output after the last layer.

    layer: from 0. active: share of the units of the feed-forward network that are not 0.
    """

    words: tuple[str, ...]
    steps: tuple[Step, ...]
    layer: int
    layers: int
    heads: int
    active: Share

    def norm(self, step: int) -> float:
        """Euclidean norm of a word's row at a step (from 0), a mean over the words."""
        return float(np.linalg.norm(self.steps[step].values, axis=1).mean())

    def size(self, step: int) -> int:
        """How many numbers the tensor has."""
        return math.prod(self.steps[step].shape)


def weights(layer: int, d_model: int, d_ff: int, seed: int) -> Weights:
    """The matrices of a layer, the same for the same arguments."""
    random = np.random.default_rng([seed, layer])

    def drawn(rows: int, columns: int) -> Matrix:
        bound = math.sqrt(6 / (rows + columns))
        return bound * (2 * random.random((rows, columns), np.float32) - 1)

    return Weights(
        drawn(d_model, 3 * d_model), drawn(d_model, d_model), drawn(d_model, d_ff),
        drawn(d_ff, d_model),
    )  # fmt: skip


def flow(
    text: str = TEXT,
    layer: int = 0,
    layers: int = 6,
    d_model: int = 512,
    heads: int = 8,
    d_ff: int = 2048,
    seed: int = 0,
) -> Flow:
    """Ten steps of an untrained encoder, post-norm as in Vaswani et al. (2017), without dropout.

    Words are split at blanks; the same word has the same row, of variance 1 once it has been
    multiplied by sqrt(d_model). layer: whose steps are kept, from 0. Raises Refusal "no_words" for
    an empty text, "many_words" for more than 16 words, and ValueError for a layer that is not there
    or heads that do not divide the width.
    """
    words = text.split()
    if not words:
        raise Refusal("no_words", "Write at least one word.")
    if len(words) > MOST_WORDS:
        raise Refusal("many_words", f"At most {MOST_WORDS} words.", limit=MOST_WORDS)
    if not 0 <= layer < layers <= MOST_LAYERS or d_model % heads:
        raise ValueError(f"No layer {layer} of {layers}, or {heads} heads in {d_model} dimensions.")
    ids = [zlib.crc32(word.encode()) % 30_000 for word in words]
    table = np.stack(
        [np.random.default_rng([seed, 99, one]).standard_normal(d_model) for one in ids]
    )
    x = table.astype(np.float32)
    before = [Step("tokens", np.array(ids, np.float32)[:, None], (len(words),))]
    before.append(Step("embed", x, x.shape))
    x = x + encoding(len(words), d_model).table.astype(np.float32)
    before.append(Step("position", x, x.shape))
    kept: tuple[Step, ...] = ()
    active = 0.0
    for number in range(layers):
        found = block(x, weights(number, d_model, d_ff, seed), heads)
        if number == layer:
            kept, active = found, float((found[4].values > 0).mean())
        x = found[-1].values
    steps = (*before, *kept, Step("output", x, x.shape))
    return Flow(tuple(words), steps, layer, layers, heads, active)


def block(x: Matrix, layer: Weights, heads: int) -> tuple[Step, ...]:
    """One encoder layer: LN(x + attention(x)), then LN(x + FFN(x)), with every step on the way.

    FFN(x) = max(0, x W_1) W_2 (Vaswani et al. 2017, equation 2; biases are 0).
    """
    n, d = x.shape
    # [n, 3 d] -> three times [head, n, d_k]
    parts = (x @ layer.into).reshape(n, 3, heads, d // heads).transpose(1, 2, 0, 3)
    found = attend(*parts, divide_by=math.sqrt(d // heads))
    mixed = found.output.swapaxes(0, 1).reshape(n, d) @ layer.out
    first = _norm(x + mixed)
    hidden = np.maximum(0, first @ layer.up)
    second = _norm(first + hidden @ layer.down)
    return (
        Step("queries", parts[0].swapaxes(0, 1).reshape(n, d), parts[0].shape),
        Step("weights", found.weights.swapaxes(0, 1).reshape(n, -1), found.weights.shape),
        Step("mixed", mixed, mixed.shape),
        Step("first_norm", first, first.shape),
        Step("hidden", hidden, hidden.shape),
        Step("second_norm", second, second.shape),
    )


def _norm(x: Matrix) -> Matrix:
    return normalize(x[None].astype(float), "layer", _EPS).values[0].astype(np.float32)
