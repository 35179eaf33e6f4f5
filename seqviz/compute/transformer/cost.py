"""Cost of a Transformer: parameters by part, operations and cache by length, measured times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Count, Share
from seqviz.stats.facts import Facts

GROUPS = ("embeddings", "encoder", "decoder", "pooler")
COST_PARTS = ("table", "self_attention", "cross_attention", "feed_forward", "norm", "pooler")
MAX_LENGTH_TOKENS = 4096  # end of the length axis
_POINTS = 65


@dataclass(frozen=True)
class Architecture:
    """Parameters of one model by group and part, and the sizes that determine its cost.

    Attributes:
        counts: parameters, in the order of `GROUPS` and `COST_PARTS`.
        blocks: number of attention blocks, cross-attention included.
        stack: layers of a group.
        heads: query heads.
        key_heads: key and value heads; fewer than `heads` where several query heads share them.
        weights: entries of all matrices that multiply every token, a decoder's output matrix
            included.
        decoder: True where it generates token by token and caches keys and values.
    """

    name: str
    counts: Int[np.ndarray, "group part"]
    blocks: int
    stack: int
    d_model: int
    heads: int
    key_heads: int
    d_head: int
    weights: int
    decoder: bool

    @property
    def total(self) -> Count:
        """Number of all parameters."""
        return float(self.counts.sum())

    def share(self, part: str) -> Share:
        """Return the share of one of `COST_PARTS` in all parameters."""
        return float(self.counts[:, COST_PARTS.index(part)].sum() / self.counts.sum())

    def times(self, other: Architecture) -> float:
        """Return the parameters as a multiple of those of another model."""
        return self.total / other.total

    def summary(self) -> Facts:
        """State the total parameters and the shares of embeddings, feed-forward and attention."""
        return Facts(
            total=self.total, table=self.share("table"), feed_forward=self.share("feed_forward"),
            attention=self.share("self_attention") + self.share("cross_attention"),
        )  # fmt: skip


@dataclass(frozen=True)
class ModuleTree:
    """Modules of a network in the order of PyTorch's print.

    Attributes:
        names: paths, such as "encoder.layers.0.norm1".
        kinds: classes.
        settings: arguments that the print shows, such as "p=0.1, inplace=False".
        parameters: parameters of each with all that it contains.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    settings: tuple[str, ...]
    parameters: Int[np.ndarray, "module"]

    def summary(self) -> Facts:
        """State the number of modules, and how many are dropouts and LayerNorms."""
        dropouts, norms = (self.kinds.count(kind) for kind in ("Dropout", "LayerNorm"))
        return Facts(modules=len(self.names), dropouts=dropouts, norms=norms)


@dataclass(frozen=True)
class Operations:
    """Floating-point operations of one pass by its length; an addition or multiplication is one.

    Softmax, norms and the additions of vectors are left out.

    Attributes:
        tokens: lengths.
        linear: operations of the matrices, 2 per weight and token.
        quadratic: operations of scores and weighted sums, 4 d_head per head and pair of tokens.
        crossing: length with as many linear as quadratic operations.
    """

    tokens: Int[np.ndarray, "length"]
    linear: Float[np.ndarray, "length"]
    quadratic: Float[np.ndarray, "length"]
    crossing: Count

    def share_at(self, tokens: int) -> Share:
        """Return the share of the quadratic part in all operations on so many tokens."""
        return tokens / (tokens + self.crossing)

    def compared(self, tokens: int) -> Facts:
        """State the share of the quadratic part at a length, and the length at which it is half."""
        share = self.share_at(tokens)
        variant = "most" if tokens > self.crossing else "few"
        return Facts(variant, tokens=tokens, share=share, crossing=self.crossing)


def operations(model: Architecture) -> Operations:
    """Return the operations of one pass over 1 to 4,096 tokens, without a cache.

    An encoder-decoder reads as many tokens on either side. `crossing` is weights / (2 blocks heads
    d_head).
    """
    tokens = np.unique(np.geomspace(1, MAX_LENGTH_TOKENS, _POINTS).round().astype(int))
    a_pair = 4 * model.blocks * model.heads * model.d_head
    linear, quadratic = 2.0 * model.weights * tokens, 1.0 * a_pair * tokens**2
    return Operations(tokens, linear, quadratic, 2 * model.weights / a_pair)


def in_a_row(model: Architecture, recurrent: int = 0) -> Count:
    """Return the sequential blocks of one pass (Vaswani et al. 2017, table 1).

    Args:
        model: the Transformer.
        recurrent: number of tokens of a recurrent network with as many layers instead, whose cells
            wait for the previous token and for the layer below: tokens + layers - 1 on each side; 0
            for the Transformer.

    Raises:
        ValueError: the number of tokens is negative.
    """
    if recurrent < 0:
        raise ValueError(f"There cannot be {recurrent} tokens.")
    sides = int((model.counts[:, COST_PARTS.index("self_attention")] > 0).sum())
    return float(sides * (model.stack + max(0, recurrent - 1)))


def cache_bytes(model: Architecture, tokens: int, key_heads: int | None = None) -> Count:
    """Return the bytes of cached keys and values in float32; 0 for an encoder.

    Each token takes 2 x layers x key_heads x d_head x 4 bytes.

    Args:
        model: the model.
        tokens: number of tokens.
        key_heads: replaces the model's own number.

    Raises:
        ValueError: the number of tokens is negative.
    """
    if tokens < 0:
        raise ValueError(f"There cannot be {tokens} tokens.")
    retained = model.key_heads if key_heads is None else key_heads
    return float(8 * model.blocks * retained * model.d_head * tokens) if model.decoder else 0.0


@dataclass(frozen=True)
class PassTimes:
    """Measured seconds of a pass by length, with repeats.

    Attributes:
        tokens: lengths.
        fraction: share of the measurement that is done.
    """

    models: tuple[str, ...]
    tokens: Int[np.ndarray, "length"]
    seconds: Float[np.ndarray, "model repeat length"]
    fraction: float = 1.0

    def fit(self, model: int) -> tuple[float, float, float]:
        """Fit seconds a + b n + c n^2 by non-negative least squares of relative errors."""
        from scipy.optimize import nnls

        middle = np.median(self.seconds[model], axis=0)
        n = self.tokens.astype(float)
        powers = np.stack([n**0, n, n**2], axis=1)
        a, b, c = nnls(powers / middle[:, None], np.ones(len(n)))[0].tolist()
        return a, b, c

    def quadratic_share(self, model: int) -> Share:
        """Return the quadratic part's share in the fitted seconds at the longest length."""
        a, b, c = self.fit(model)
        n = float(self.tokens[-1])
        return c * n**2 / (a + b * n + c * n**2)

    def summary(self, model: int) -> Facts:
        """State the milliseconds of the longest and shortest pass, and the share of n^2."""
        middle = 1000 * np.median(self.seconds[model], axis=0)
        return Facts(
            longest=int(self.tokens[-1]), time=float(middle[-1]), shortest=int(self.tokens[0]),
            short=float(middle[0]), share=self.quadratic_share(model),
        )  # fmt: skip
