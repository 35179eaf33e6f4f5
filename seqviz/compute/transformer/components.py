"""Parts of a Transformer: tensor, norm, share of the stream; an untrained 6 + 6 model."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.scaled import attend
from seqviz.compute.positions.sinusoidal import encoding
from seqviz.compute.transformer import flow
from seqviz.core.errors import UserError
from seqviz.core.units import Share
from seqviz.stats.facts import Facts

STACKS = ("encoder", "decoder")
# Pre-norm: SmolLM2. The stream is a sum of what the parts add.
DECODER_PARTS = (
    "embed", "norm_1", "heads", "attention", "sum_1", "norm_2", "hidden", "mlp", "sum_2",
    "final_norm", "unembed",
)  # fmt: skip
# Post-norm: Vaswani et al. (2017), figure 1; first the encoder's parts, then the decoder's.
PAIR_PARTS = (
    *(("encoder", name) for name in ("embed", "attention", "norm_1", "mlp", "norm_2")),
    *(("decoder", name) for name in
      ("embed", "attention", "norm_1", "cross", "norm_cross", "mlp", "norm_2", "unembed")),
)  # fmt: skip
N_PARTS = {"decoder": len(DECODER_PARTS), "pair": len(PAIR_PARTS)}
ADDING = ("attention", "cross", "mlp")
SHOWN_COLUMNS, SHOWN_TOKENS = 32, 12  # the first columns and the last tokens of each tensor
VISIBLE_SHARE = 0.0005  # a share is printed with a tenth of a percent
SOURCE, TARGET = "the cat sat on the mat", "die Katze saß auf der Matte"
LAYERS, WIDTH, HEADS, HIDDEN = 6, 512, 8, 2048
START = "<s>"  # read by the decoder before the first word
Matrix = Float[np.ndarray, "_ _"]


@dataclass(frozen=True)
class Part:
    """One part of a Transformer in each of its layers; a part outside them has one layer.

    Attributes:
        name: name of the part.
        stack: one of `STACKS`.
        shape: shape of its output.
        values: the output as a matrix, heads side by side: last tokens and first columns.
        norm: Euclidean norm of each token's row; nan for attention weights and scores.
        share: of a part that adds to the stream, its share of the sum; of a sum, the share of what
            the layer had read; otherwise nan.
    """

    name: str
    stack: str
    shape: tuple[int, ...]
    values: Float[np.ndarray, "layer token column"]
    norm: Float[np.ndarray, "layer token"]
    share: Float[np.ndarray, "layer token"]

    @property
    def adds(self) -> bool:
        """True if the part adds a vector to the stream."""
        return self.name in ADDING

    def at(self, layer: int) -> int:
        """Return the index of a layer in the arrays: 0 for a part outside the layers."""
        return layer if len(self.values) > 1 else 0


@dataclass(frozen=True)
class TransformerParts:
    """All parts of a Transformer that has read a text.

    Attributes:
        form: "decoder" (pre-norm, one stack) or "pair" (encoder and decoder, post-norm).
        tokens: the last tokens that each stack has read, by stack.
        parts: in the order of `DECODER_PARTS` or `PAIR_PARTS`.
        layers: number of layers of each stack.
        heads: number of heads of an attention.
        words: tokens or words that the columns of the scores stand for.
    """

    form: str
    tokens: tuple[tuple[str, ...], ...]
    parts: tuple[Part, ...]
    layers: int
    heads: int
    words: tuple[str, ...]

    def find(self, name: str, stack: str = "decoder") -> Part:
        """Return the part of this name in a stack.

        Args:
            name: name of the part.
            stack: one of `STACKS`.
        """
        return next(part for part in self.parts if (part.name, part.stack) == (name, stack))

    def read_by(self, part: int) -> tuple[str, ...]:
        """Return the tokens of the rows of a part (from 1)."""
        stacks = STACKS if self.form == "pair" else STACKS[1:]
        return self.tokens[stacks.index(self.parts[part - 1].stack)]

    def position(self, part: int, token: int) -> int:
        """Return the index of a token of a part (from 1), counted from the end as 1, 2, ...."""
        n = len(self.read_by(part))
        return n - min(token, n)

    def norm(self, part: int, layer: int, token: int = 1) -> float:
        """Return the norm of a token's row in the output of a part.

        Args:
            part: number of the part, from 1.
            layer: the layer, from 0.
            token: the token, counted from the end, from 1.
        """
        chosen = self.parts[part - 1]
        return float(chosen.norm[chosen.at(layer), self.position(part, token)])

    def share(self, part: int, layer: int, token: int = 1) -> Share:
        """Return the share of a vector in a sum of the stream, see `Part.share`.

        It is a·s / s·s for the vector a and the sum s, so the shares of all terms of a sum add up
        to 1; that of a vector that points against the sum is negative.

        Args:
            part: number of the part, from 1.
            layer: the layer, from 0.
            token: the token, counted from the end, from 1.
        """
        chosen = self.parts[part - 1]
        return float(chosen.share[chosen.at(layer), self.position(part, token)])

    def stream(self, token: int = 1) -> Float[np.ndarray, "depth"]:
        """Return the norm of the stream: before the layers, and after each (one stack).

        Args:
            token: the token, counted from the end, from 1.
        """
        at = self.position(1, token)
        return np.concatenate([self.find("embed").norm[:1, at], self.find("sum_2").norm[:, at]])

    def summary(self, part: int, layer: int, token: int = 1) -> Facts:
        """State shape, norm and share of a part; the variant says what it does to the stream.

        Args:
            part: number of the part, from 1.
            layer: the layer, from 0.
            token: the token, counted from the end, from 1.
        """
        chosen = self.parts[part - 1]
        at = self.position(part, token)
        facts = {
            "token": self.read_by(part)[at], "layer": layer, "last": self.layers - 1,
            "heads": self.heads, "tokens": chosen.shape[-2 if chosen.name == "heads" else 0],
            "width": chosen.shape[-1], "norm": self.norm(part, layer, token),
        }  # fmt: skip
        if chosen.adds or chosen.name.startswith("sum"):
            share = self.share(part, layer, token)
            against = "_against" if share <= -VISIBLE_SHARE else ""
            beyond = "_beyond" if share >= 1 + VISIBLE_SHARE else ""
            variant = ("adds" if chosen.adds else "sum") + against + beyond
            return Facts(variant, **facts, share=share)
        if chosen.name == "unembed":
            best = int(chosen.values[0, at].argmax())
            return Facts("unembed", **facts, best=self.words[best])
        names = {"embed": "embed", "heads": "heads", "hidden": "hidden"}
        norm = "norm" if self.form == "decoder" else "norm_after"
        return Facts(names.get(chosen.name, norm), **facts)


def visible_slice(values: Float[np.ndarray, "layer token column"]) -> np.ndarray:
    """Return the part of a tensor that is drawn, rounded to half precision."""
    part = np.asarray(values)[:, -SHOWN_TOKENS:, :SHOWN_COLUMNS]
    return part.astype(np.float16).astype(np.float32)


def tensor_part(
    name: str, stack: str, x: Sequence[Matrix], terms: Sequence[Matrix] = (),
    sums: Sequence[Matrix] = (),
) -> Part:  # fmt: skip
    """Return a part from its outputs [token, column] in each layer.

    Args:
        name: name of the part.
        stack: one of `STACKS`.
        x: outputs by layer.
        terms: vectors whose share is measured, by layer; empty for a part without a share.
        sums: sums that contain them, by layer.
    """
    full = np.stack(x).astype(np.float64)[:, -SHOWN_TOKENS:]
    share = np.full(full.shape[:2], np.nan)
    if len(terms):
        term, total = (np.stack(v).astype(np.float64)[:, -SHOWN_TOKENS:] for v in (terms, sums))
        share = (term * total).sum(-1) / (total**2).sum(-1)
    return Part(
        name, stack, np.shape(x[0]), visible_slice(full), np.linalg.norm(full, axis=-1), share
    )


def heads_part(
    stack: str, weights: Sequence[Float[np.ndarray, "head query key"]], name: str = "heads"
) -> Part:
    """Return the attention weights of each layer as a part, heads side by side.

    Args:
        stack: one of `STACKS`.
        weights: weights by layer.
        name: name of the part.
    """
    shape = np.shape(weights[0])
    last = [w[:, -SHOWN_TOKENS:, -SHOWN_TOKENS:].swapaxes(0, 1) for w in weights]
    values = np.stack([w.reshape(len(w), -1) for w in last])
    none = np.full(values.shape[:2], np.nan)
    return Part(name, stack, shape, values.astype(np.float16).astype(np.float32), none, none)


def scores_part(shape: tuple[int, ...], scores: Matrix) -> Part:
    """Return the scores of the next token as a part, those of some tokens only.

    Args:
        shape: shape of all scores.
        scores: scores [token, column].
    """
    none = np.full((1, len(scores)), np.nan)
    return Part("unembed", "decoder", shape, scores[None].astype(np.float32), none, none)


def encoder_decoder(source: str = SOURCE, target: str = TARGET, seed: int = 0) -> TransformerParts:
    """Run an untrained Transformer of the original size, 6 + 6 layers of width 512, post-norm.

    The decoder reads the start symbol and the words of the target before the last one. Its output
    matrix is that of the embedding of all words of both texts, as in Vaswani et al. (2017, section
    3.4), who have 37,000 tokens.

    Args:
        source: text of the encoder, at most 16 words, split at blanks.
        target: text of the decoder, likewise.
        seed: random seed of embeddings and weights.

    Raises:
        UserError: "no_words" for an empty text, "many_words" for more than 16 words.
    """
    read, written = (_words(text) for text in (source, target))
    shifted = (START, *written[:-1])
    words = tuple(dict.fromkeys((*read, *written)))
    parts: list[Part] = []
    memory = _stack(parts, "encoder", read, None, seed)
    x = _stack(parts, "decoder", shifted, memory, seed)
    table = np.stack([_row(word, seed) for word in words])
    parts.append(scores_part((len(shifted), len(words)), (x @ table.T / math.sqrt(WIDTH))))
    tokens = (read[-SHOWN_TOKENS:], shifted[-SHOWN_TOKENS:])
    return TransformerParts("pair", tokens, tuple(parts), LAYERS, HEADS, words)


def _words(text: str) -> tuple[str, ...]:
    words = tuple(text.split())
    if not words:
        raise UserError("no_words", "Write at least one word.")
    if len(words) > flow.MOST_WORDS:
        raise UserError("many_words", f"At most {flow.MOST_WORDS} words.", limit=flow.MOST_WORDS)
    return words


def _row(word: str, seed: int) -> Float[np.ndarray, "d_model"]:
    """Return the embedding row of a word, that of `flow.flow`."""
    random = np.random.default_rng([seed, 99, zlib.crc32(word.encode()) % 30_000])
    return random.standard_normal(WIDTH).astype(np.float32)


def _stack(
    parts: list[Part], stack: str, words: Sequence[str], memory: Matrix | None, seed: int
) -> Matrix:
    """Run one stack, append its parts, and return its output.

    Args:
        parts: receives the parts.
        stack: one of `STACKS`.
        words: the words that it reads.
        memory: output of the encoder, which the decoder reads; None for the encoder.
        seed: random seed.
    """
    names = [name for own, name in PAIR_PARTS if own == stack]
    x = np.stack([_row(word, seed) for word in words])
    x = x + encoding(len(words), WIDTH).table.astype(np.float32)
    parts.append(tensor_part("embed", stack, [x]))
    outputs: dict[str, list[Matrix]] = {name: [] for name in names}
    sums: dict[str, list[Matrix]] = {name: [] for name in names}

    def add(name: str, norm: str, x: Matrix, added: Matrix) -> Matrix:
        outputs[name].append(added)
        sums[name].append(x + added)
        outputs[norm].append(flow._norm(x + added))
        return outputs[norm][-1]

    for layer in range(LAYERS):
        # The numbers of the decoder's layers only have to differ from those of the encoder's.
        weights = flow.weights(layer if memory is None else 100 + layer, WIDTH, HIDDEN, seed)
        x = add("attention", "norm_1", x, _attention(x, x, weights, causal=memory is not None))
        if memory is not None:
            crossed = flow.weights(200 + layer, WIDTH, 1, seed)  # without feed-forward network
            x = add("cross", "norm_cross", x, _attention(x, memory, crossed))
        x = add("mlp", "norm_2", x, np.maximum(0, x @ weights.up) @ weights.down)
    for name in names:
        if outputs[name]:
            terms = outputs[name] if sums[name] else ()
            parts.append(tensor_part(name, stack, outputs[name], terms, sums[name]))
    return x


def _attention(x: Matrix, read: Matrix, weights: flow.LayerWeights, causal: bool = False) -> Matrix:
    """Return the joined and projected output of all heads.

    Args:
        x: input of the queries.
        read: input of keys and values.
        weights: matrices of the layer.
        causal: True where a query may not read later positions.
    """
    d_k = WIDTH // HEADS
    into = np.split(weights.into, 3, axis=1)
    q, k, v = (
        (rows @ matrix).reshape(len(rows), HEADS, d_k).swapaxes(0, 1)
        for rows, matrix in zip((x, read, read), into, strict=True)
    )
    allowed = np.tri(len(x), len(read), dtype=bool) if causal else None
    answers = attend(q, k, v, allowed=allowed, divide_by=math.sqrt(d_k)).output
    return answers.swapaxes(0, 1).reshape(len(x), WIDTH) @ weights.out
