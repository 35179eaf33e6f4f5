"""Path of a text through an encoder: ten steps, each a tensor with its shape (S0)."""

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


# Places of dropout: the sum of embedding and position, the weights, the output of each head
# (softmax(Q K^T / c) V), the units of the feed-forward network, and the output of either sub-layer.
PLACES = ("position", "weights", "heads", "mixed", "hidden", "fed")
SCHEMES = {
    "vaswani": ("position", "mixed", "fed"),  # section 5.4 of Vaswani et al. (2017)
    "torch": ("weights", "mixed", "hidden", "fed"),  # nn.TransformerEncoderLayer
    "s0": ("heads", "mixed", "hidden", "fed"),
}


@dataclass(frozen=True)
class Dropout:
    """Inverted dropout with fixed patterns (Srivastava et al. 2014).

    Attributes:
        rate: probability that a number is set to 0; the others are divided by 1 - rate.
        scheme: where it acts, one of `SCHEMES`.
    """

    rate: float = 0.0
    scheme: str = "vaswani"
    seed: int = 0

    def mask(self, location: str, layer: int, shape: tuple[int, ...]) -> np.ndarray:
        """Return the mask of numbers kept, all True where this scheme drops nothing.

        Args:
            location: one of `PLACES`.
            layer: the layer, from 0.
            shape: shape of the mask.
        """
        if not self.rate or location not in SCHEMES[self.scheme]:
            return np.ones(shape, bool)
        random = np.random.default_rng([self.seed, layer, PLACES.index(location)])
        return random.random(shape, np.float32) >= self.rate

    def __call__(self, location: str, layer: int, x: np.ndarray) -> np.ndarray:
        """Return x after dropout at a location, see `mask`.

        Args:
            location: one of `PLACES`.
            layer: the layer, from 0.
            x: the tensor.
        """
        if not self.rate or location not in SCHEMES[self.scheme]:
            return x
        dropped: np.ndarray = x * self.mask(location, layer, x.shape) / np.float32(1 - self.rate)
        return dropped


@dataclass(frozen=True)
class LayerWeights:
    """Matrices of one encoder layer, applied as x W; biases are 0 at initialization.

    Drawn uniformly as in `nn.Transformer` (Glorot & Bengio 2010): queries, keys and values (`into`)
    as one matrix of 3 d columns.
    """

    into: Float[np.ndarray, "d three_d"]
    out: Float[np.ndarray, "d d"]
    up: Float[np.ndarray, "d d_ff"]
    down: Float[np.ndarray, "d_ff d"]


@dataclass(frozen=True)
class FlowStep:
    """One step of the encoder.

    Attributes:
        name: one of `STEPS`.
        values: the tensor as a matrix, heads side by side.
        shape: shape of the tensor itself.
        summed: norm of a word's row in the sum that the step normalizes, mean over words; nan for
            other steps.
    """

    name: str
    values: Matrix
    shape: tuple[int, ...]
    summed: float = math.nan


@dataclass(frozen=True)
class Flow:
    """All steps of one layer, the steps before the layers, and the output of the last layer.

    Attributes:
        steps: in the order of `STEPS`.
        layer: the layer whose steps are kept, from 0.
        active: share of nonzero units of the feed-forward network.
    """

    words: tuple[str, ...]
    steps: tuple[FlowStep, ...]
    layer: int
    layers: int
    heads: int
    active: Share
    dropout: Dropout = Dropout()

    def norm(self, step: int) -> float:
        """Return the Euclidean norm of a word's row at a step (from 0), mean over words."""
        return _row_norm(self.steps[step].values)

    def size(self, step: int) -> int:
        """Return the number of entries of the tensor."""
        return math.prod(self.steps[step].shape)

    def dropped(self, step: int) -> Share:
        """Return the share of a step's entries (from 0) that dropout has set to 0."""
        item = self.steps[step]
        if item.name not in PLACES:
            return 0.0
        layer = 0 if item.name == "position" else self.layer
        return float((~self.dropout.mask(item.name, layer, item.shape)).mean())

    def summary(self, step: int) -> Facts:
        """State the name, sizes and row norm of a step (from 0)."""
        return Facts(
            self.steps[step].name, step=step + 1, all=len(STEPS), words=len(self.words),
            heads=self.heads, layer=self.layer, layers=self.layers, active=self.active,
            norm=self.norm(step), before=self.norm(max(0, step - 1)),
            summed=self.steps[step].summed,
        )  # fmt: skip

    def dropout_effect(self, step: int, full: Flow) -> Facts:
        """State the effect of dropout at a step and on the output.

        Args:
            step: the step, from 0.
            full: the flow without dropout.
        """
        share = self.dropped(step)
        return Facts(
            "here" if share else "not_here", share=share, apart=self.apart(full),
            scale=1 / (1 - self.dropout.rate),
        )  # fmt: skip

    @property
    def row_sums(self) -> Interval:
        """Smallest and largest sum of the attention weights of a query."""
        weights = self.steps[STEPS.index("weights")]
        heads, queries, _ = weights.shape
        sums = weights.values.reshape(queries, heads, -1).sum(-1)
        return float(sums.min()), float(sums.max())

    def apart(self, other: Flow) -> Share:
        """Return the distance of the output from another flow's, relative to the other's norm."""
        mine, theirs = self.steps[-1].values, other.steps[-1].values
        return float(np.linalg.norm(mine - theirs) / np.linalg.norm(theirs))


def weights(layer: int, d_model: int, d_ff: int, seed: int) -> LayerWeights:
    """Draw the matrices of a layer, deterministic in the arguments.

    Args:
        layer: the layer, from 0.
        d_model: width.
        d_ff: units of the feed-forward network.
        seed: random seed.
    """
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
    """Run ten steps of an untrained encoder, post-norm as in Vaswani et al. (2017).

    Equal words have equal embedding rows, standard normal: already multiplied by sqrt(d_model).

    Args:
        text: at most 16 words, split at blanks.
        layer: the layer whose steps are kept, from 0.
        layers: number of layers.
        d_model: width.
        heads: number of heads.
        d_ff: units of the feed-forward network.
        seed: random seed of embeddings and weights.
        dropout: None for inference, without dropout.

    Raises:
        UserError: "no_words" for an empty text, "many_words" for more than 16 words.
        ValueError: the layer does not exist, or the heads do not divide the width.
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
    """Run one encoder layer, LN(x + attention(x)), then LN(x + FFN(x)), and return its steps.

    FFN(x) = max(0, x W_1) W_2 (Vaswani et al. 2017, equation 2; biases are 0).

    Args:
        x: input [word, d_model].
        layer: the weights.
        heads: number of heads.
        drop: the dropout.
        number: index of the layer, from 0; each has its own dropout pattern.
    """
    n, d = x.shape
    # [n, 3 d] -> three times [head, n, d_k]
    parts = (x @ layer.into).reshape(n, 3, heads, d // heads).transpose(1, 2, 0, 3)
    weights = drop("weights", number, attend(*parts, divide_by=math.sqrt(d // heads)).weights)
    answers = drop("heads", number, weights @ parts[2])  # [head, n, d_k]
    mixed = drop("mixed", number, answers.swapaxes(0, 1).reshape(n, d) @ layer.out)
    first_sum = x + mixed
    first = _norm(first_sum)
    hidden = drop("hidden", number, np.maximum(0, first @ layer.up))
    second_sum = first + drop("fed", number, hidden @ layer.down)
    second = _norm(second_sum)
    return (
        FlowStep("queries", parts[0].swapaxes(0, 1).reshape(n, d), parts[0].shape),
        FlowStep("weights", weights.swapaxes(0, 1).reshape(n, -1), weights.shape),
        FlowStep("mixed", mixed, mixed.shape),
        FlowStep("first_norm", first, first.shape, _row_norm(first_sum)),
        FlowStep("hidden", hidden, hidden.shape),
        FlowStep("second_norm", second, second.shape, _row_norm(second_sum)),
    )


def _row_norm(x: Matrix) -> float:
    """Return the Euclidean norm of a row, mean over rows."""
    return float(np.linalg.norm(x, axis=1).mean())


def _norm(x: Matrix) -> Matrix:
    return normalize(x[None].astype(float), "layer", _EPS).values[0].astype(np.float32)
