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
from seqviz.core.errors import UserError
from seqviz.core.units import Interval, Share
from seqviz.stats.facts import Facts

STEPS = (
    "tokens", "embed", "position", "queries", "weights", "mixed", "first_norm", "hidden",
    "second_norm", "output",
)  # fmt: skip
TEXT = "the cat sat on the mat"
MOST_WORDS, MOST_LAYERS = 16, 12
_EPS = 1e-5
Matrix = Float[np.ndarray, "_ _"]


# Where dropout acts: on the sum of embedding and position, the weights, the answer of each head
# (softmax(Q K^T / c) V), the units of the feed-forward network, and the output of either sub-layer.
PLACES = ("position", "weights", "heads", "mixed", "hidden", "fed")
SCHEMES = {
    "vaswani": ("position", "mixed", "fed"),  # section 5.4 of Vaswani et al. (2017)
    "torch": ("weights", "mixed", "hidden", "fed"),  # nn.TransformerEncoderLayer
    "s0": ("heads", "mixed", "hidden", "fed"),
}


@dataclass(frozen=True)
class Dropout:
    """Numbers that are set to 0 while a network learns (Srivastava et al. 2014).

    rate: probability of a number to be set to 0; the others are divided by 1 - rate. scheme: where,
    one of `SCHEMES`. seed: of the pattern.
    """

    rate: float = 0.0
    scheme: str = "vaswani"
    seed: int = 0

    def mask(self, location: str, layer: int, shape: tuple[int, ...]) -> np.ndarray:
        """Which numbers stay, [*shape]; all of them where this scheme drops nothing."""
        if not self.rate or location not in SCHEMES[self.scheme]:
            return np.ones(shape, bool)
        random = np.random.default_rng([self.seed, layer, PLACES.index(location)])
        return random.random(shape, np.float32) >= self.rate

    def __call__(self, location: str, layer: int, x: np.ndarray) -> np.ndarray:
        """x after dropout at this place."""
        if not self.rate or location not in SCHEMES[self.scheme]:
            return x
        dropped: np.ndarray = x * self.mask(location, layer, x.shape) / np.float32(1 - self.rate)
        return dropped


@dataclass(frozen=True)
class LayerWeights:
    """One encoder layer without biases, which start at 0; vectors are rows, so x W.

    Matrices are drawn uniformly as `nn.Transformer` draws them (Glorot & Bengio 2010): queries,
    keys and values as one matrix of 3 d columns.
    """

    into: Float[np.ndarray, "d three_d"]
    out: Float[np.ndarray, "d d"]
    up: Float[np.ndarray, "d d_ff"]
    down: Float[np.ndarray, "d_ff d"]


@dataclass(frozen=True)
class FlowStep:
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
    steps: tuple[FlowStep, ...]
    layer: int
    layers: int
    heads: int
    active: Share
    dropout: Dropout = Dropout()

    def norm(self, step: int) -> float:
        """Euclidean norm of a word's row at a step (from 0), a mean over the words."""
        return float(np.linalg.norm(self.steps[step].values, axis=1).mean())

    def size(self, step: int) -> int:
        """How many numbers the tensor has."""
        return math.prod(self.steps[step].shape)

    def dropped(self, step: int) -> Share:
        """The share of the numbers of a step (from 0) that dropout has set to 0."""
        item = self.steps[step]
        if item.name not in PLACES:
            return 0.0
        layer = 0 if item.name == "position" else self.layer
        return float((~self.dropout.mask(item.name, layer, item.shape)).mean())

    def summary(self, step: int) -> Facts:
        """State what a step (from 0) is: its name, its sizes, the norm of a row."""
        return Facts(
            self.steps[step].name, step=step + 1, all=len(STEPS), words=len(self.words),
            heads=self.heads, layer=self.layer, layers=self.layers, active=self.active,
            norm=self.norm(step), before=self.norm(max(0, step - 1)),
        )  # fmt: skip

    def dropout_effect(self, step: int, full: Flow) -> Facts:
        """State what dropout sets to 0 at a step, and how far the output is from that without."""
        share = self.dropped(step)
        return Facts(
            "here" if share else "not_here", share=share, apart=self.apart(full),
            scale=1 / (1 - self.dropout.rate),
        )  # fmt: skip

    @property
    def row_sums(self) -> Interval:
        """The least and the largest sum of the attention weights of a query."""
        weights = self.steps[STEPS.index("weights")]
        heads, queries, _ = weights.shape
        sums = weights.values.reshape(queries, heads, -1).sum(-1)
        return float(sums.min()), float(sums.max())

    def apart(self, other: Flow) -> Share:
        """How far the output is from that of another flow: norm of the difference, relative."""
        mine, theirs = self.steps[-1].values, other.steps[-1].values
        return float(np.linalg.norm(mine - theirs) / np.linalg.norm(theirs))


def weights(layer: int, d_model: int, d_ff: int, seed: int) -> LayerWeights:
    """The matrices of a layer, the same for the same arguments."""
    random = np.random.default_rng([seed, layer])

    def sample(rows: int, columns: int) -> Matrix:
        bound = math.sqrt(6 / (rows + columns))
        return bound * (2 * random.random((rows, columns), np.float32) - 1)

    return LayerWeights(
        sample(d_model, 3 * d_model), sample(d_model, d_model), sample(d_model, d_ff),
        sample(d_ff, d_model),
    )  # fmt: skip


def flow(
    text: str = TEXT,
    layer: int = 0,
    layers: int = 6,
    d_model: int = 512,
    heads: int = 8,
    d_ff: int = 2048,
    seed: int = 0,
    dropout: Dropout | None = None,
) -> Flow:
    """Ten steps of an untrained encoder, post-norm as in Vaswani et al. (2017).

    Words are split at blanks; the same word has the same row, of variance 1 once it has been
    multiplied by sqrt(d_model). layer: whose steps are kept, from 0. dropout: None is that of a
    network in use, none. Raises UserError "no_words" for an empty text, "many_words" for more than
    16 words, and ValueError for a layer that is not there or heads that do not divide the width.
    """
    words = text.split()
    if not words:
        raise UserError("no_words", "Write at least one word.")
    if len(words) > MOST_WORDS:
        raise UserError("many_words", f"At most {MOST_WORDS} words.", limit=MOST_WORDS)
    if not 0 <= layer < layers <= MOST_LAYERS or d_model % heads:
        raise ValueError(f"No layer {layer} of {layers}, or {heads} heads in {d_model} dimensions.")
    ids = [zlib.crc32(word.encode()) % 30_000 for word in words]
    table = np.stack(
        [np.random.default_rng([seed, 99, item]).standard_normal(d_model) for item in ids]
    )
    x = table.astype(np.float32)
    before = [FlowStep("tokens", np.array(ids, np.float32)[:, None], (len(words),))]
    before.append(FlowStep("embed", x, x.shape))
    drop = dropout or Dropout()
    x = drop("position", 0, x + encoding(len(words), d_model).table.astype(np.float32))
    before.append(FlowStep("position", x, x.shape))
    flow_steps: tuple[FlowStep, ...] = ()
    active = 0.0
    for number in range(layers):
        result = block(x, weights(number, d_model, d_ff, seed), heads, drop, number)
        if number == layer:
            flow_steps, active = result, float((result[4].values > 0).mean())
        x = result[-1].values
    steps = (*before, *flow_steps, FlowStep("output", x, x.shape))
    return Flow(tuple(words), steps, layer, layers, heads, active, drop)


def block(
    x: Matrix, layer: LayerWeights, heads: int, drop: Dropout, number: int
) -> tuple[FlowStep, ...]:
    """One encoder layer: LN(x + attention(x)), then LN(x + FFN(x)), with every step on the way.

    FFN(x) = max(0, x W_1) W_2 (Vaswani et al. 2017, equation 2; biases are 0). number: of the
    layer, from 0; its dropout has a pattern of its own.
    """
    n, d = x.shape
    # [n, 3 d] -> three times [head, n, d_k]
    parts = (x @ layer.into).reshape(n, 3, heads, d // heads).transpose(1, 2, 0, 3)
    weights = drop("weights", number, attend(*parts, divide_by=math.sqrt(d // heads)).weights)
    answers = drop("heads", number, weights @ parts[2])  # [head, n, d_k]
    mixed = drop("mixed", number, answers.swapaxes(0, 1).reshape(n, d) @ layer.out)
    first = _norm(x + mixed)
    hidden = drop("hidden", number, np.maximum(0, first @ layer.up))
    second = _norm(first + drop("fed", number, hidden @ layer.down))
    return (
        FlowStep("queries", parts[0].swapaxes(0, 1).reshape(n, d), parts[0].shape),
        FlowStep("weights", weights.swapaxes(0, 1).reshape(n, -1), weights.shape),
        FlowStep("mixed", mixed, mixed.shape),
        FlowStep("first_norm", first, first.shape),
        FlowStep("hidden", hidden, hidden.shape),
        FlowStep("second_norm", second, second.shape),
    )


def _norm(x: Matrix) -> Matrix:
    return normalize(x[None].astype(float), "layer", _EPS).values[0].astype(np.float32)
