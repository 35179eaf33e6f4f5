"""What a Transformer costs: parameters by part, operations and cache by length, time with a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Count, Share
from seqviz.stats.facts import Facts

GROUPS = ("embeddings", "encoder", "decoder", "pooler")
COST_PARTS = ("table", "self_attention", "cross_attention", "feed_forward", "norm", "pooler")
MAX_LENGTH_TOKENS = 4096  # tokens on the axis of lengths
_POINTS = 65


@dataclass(frozen=True)
class Architecture:
    """Parameters of one model by group and part, and what else its cost depends on.

    counts: in the order of `GROUPS` and `PARTS`. blocks: attentions, cross-attentions too. heads:
    of a query. key_heads: of keys and values, fewer where several query heads share them. weights:
    numbers of all matrices that every token is multiplied with, the output matrix of a decoder
    among them. stack: layers of a group. decoder: whether it writes token by token and keeps keys
    and values.
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
        """All parameters."""
        return float(self.counts.sum())

    def share(self, part: str) -> Share:
        """The share of all parameters that one of `PARTS` has."""
        return float(self.counts[:, COST_PARTS.index(part)].sum() / self.counts.sum())

    def summary(self) -> Facts:
        """State how many parameters there are, and which share each kind of part has."""
        return Facts(
            total=self.total, table=self.share("table"), feed_forward=self.share("feed_forward"),
            attention=self.share("self_attention") + self.share("cross_attention"),
        )  # fmt: skip


@dataclass(frozen=True)
class Operations:
    """Floating-point operations of one pass by its length.

    linear: of the matrices, 2 a weight and token. quadratic: of the scores and the weighted sums, 4
    d_head a head and pair of tokens. A multiplication and an addition are two operations; softmax,
    norms and additions are left out.
    """

    tokens: Int[np.ndarray, "length"]
    linear: Float[np.ndarray, "length"]
    quadratic: Float[np.ndarray, "length"]
    crossing: Count

    def share_at(self, tokens: int) -> Share:
        """The quadratic part's share of all operations on so many tokens."""
        return tokens / (tokens + self.crossing)

    def compared(self, tokens: int) -> Facts:
        """State which share goes with n^2 at a length, and where it is half."""
        share = self.share_at(tokens)
        variant = "most" if tokens > self.crossing else "few"
        return Facts(variant, tokens=tokens, share=share, crossing=self.crossing)


def operations(model: Architecture) -> Operations:
    """Of one pass over 1 to 4,096 tokens, all computed at once (nothing cached).

    Of an encoder-decoder: as many tokens on either side. `crossing`: the length at which both parts
    are the same, weights / (2 blocks heads d_head).
    """
    tokens = np.unique(np.geomspace(1, MAX_LENGTH_TOKENS, _POINTS).round().astype(int))
    a_pair = 4 * model.blocks * model.heads * model.d_head
    linear, quadratic = 2.0 * model.weights * tokens, 1.0 * a_pair * tokens**2
    return Operations(tokens, linear, quadratic, 2 * model.weights / a_pair)


def in_a_row(model: Architecture, recurrent: int = 0) -> Count:
    """Blocks of one pass that have to wait for one another (Vaswani et al. 2017, table 1).

    recurrent: tokens; then of a recurrent network with as many layers, whose cells wait for the
    token before as well as for the layer below: tokens + layers - 1 on each side. Raises ValueError
    for a negative number of tokens.
    """
    if recurrent < 0:
        raise ValueError(f"There cannot be {recurrent} tokens.")
    sides = int((model.counts[:, COST_PARTS.index("self_attention")] > 0).sum())
    return float(sides * (model.stack + max(0, recurrent - 1)))


def cache_bytes(model: Architecture, tokens: int, key_heads: int | None = None) -> Count:
    """Bytes of the keys and values of so many tokens in float32; 0 for an encoder.

    2 x layers x key_heads x d_head x 4 a token. key_heads: other than the model's own. Raises
    ValueError for a negative number of tokens.
    """
    if tokens < 0:
        raise ValueError(f"There cannot be {tokens} tokens.")
    retained = model.key_heads if key_heads is None else key_heads
    return float(8 * model.blocks * retained * model.d_head * tokens) if model.decoder else 0.0


@dataclass(frozen=True)
class PassTimes:
    """Seconds of a pass by its length, as measured, several times each; one model a row.

    fraction: of the measuring that is done.
    """

    models: tuple[str, ...]
    tokens: Int[np.ndarray, "length"]
    seconds: Float[np.ndarray, "model repeat length"]
    fraction: float = 1.0

    def fit(self, model: int) -> tuple[float, float, float]:
        """Seconds a, b, c of a + b n + c n^2, none below 0, least squares of relative errors."""
        from scipy.optimize import nnls

        middle = np.median(self.seconds[model], axis=0)
        n = self.tokens.astype(float)
        powers = np.stack([n**0, n, n**2], axis=1)
        a, b, c = nnls(powers / middle[:, None], np.ones(len(n)))[0].tolist()
        return a, b, c

    def quadratic_share(self, model: int) -> Share:
        """Of the fitted seconds at the longest length, the part that goes with n^2."""
        a, b, c = self.fit(model)
        n = float(self.tokens[-1])
        return c * n**2 / (a + b * n + c * n**2)

    def summary(self, model: int) -> Facts:
        """State milliseconds of the longest and the shortest pass, and the share of n^2."""
        middle = 1000 * np.median(self.seconds[model], axis=0)
        return Facts(
            longest=int(self.tokens[-1]), time=float(middle[-1]), shortest=int(self.tokens[0]),
            short=float(middle[0]), share=self.quadratic_share(model),
        )  # fmt: skip
