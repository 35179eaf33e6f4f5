"""Self-attention on one sentence of eight words, number by number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.attention.scaled import AttentionStages, attend, divisor
from seqviz.core.units import VeryExact
from seqviz.stats.facts import Facts

WORDS = ("can", "you", "help", "me", "to", "translate", "this", "sentence")
IDS = (0, 7, 1, 2, 5, 6, 4, 3)  # ranks of these words in alphabetical order
STAGES = ("embed", "project", "scores", "scale", "mask", "softmax", "sum", "concat")
WIDTHS = ("full", "split")
ORDERS = ("text", "alphabet", "reversed")
D = 16  # width of the model: entries of one embedding
VOCABULARY = 10
MOST_D_K, MOST_HEADS = 64, 8


@dataclass(frozen=True)
class Roles:
    """Arrays for query, key and value, by head."""

    query: Float[np.ndarray, "head row d_k"]
    key: Float[np.ndarray, "head row d_k"]
    value: Float[np.ndarray, "head row d_k"]


@dataclass(frozen=True)
class AttentionWalkthrough:
    """Every number between eight words and their new vectors; all arrays are float32.

    Attributes:
        basic: attention without parameters, x · x, unscaled.
        weights: right factors, [head, d, d_k].
        vectors: the embeddings times these, [head, token, d_k], plus a bias in a trained model.
        features: keys of the names of the entries, where each has a meaning.
        origin: of embeddings and weights: "random", "set" by hand, or "trained".
    """

    words: tuple[str, ...]
    ids: Int[np.ndarray, "token"]
    embeddings: Float[np.ndarray, "token d"]
    basic: AttentionStages
    weights: Roles
    vectors: Roles
    attention: AttentionStages
    output_weight: Float[np.ndarray, "concat d"]
    output_bias: Float[np.ndarray, "d"]
    scale: str
    temperature: float
    operator: str
    causal: bool
    order: str = "text"
    features: tuple[str, ...] = ()
    origin: str = "random"

    @property
    def d(self) -> int:
        """Width of the model: entries of one embedding."""
        return self.embeddings.shape[1]

    @property
    def heads(self) -> int:
        """Number of heads."""
        return len(self.vectors.query)

    @property
    def d_k(self) -> int:
        """Number of entries of one query."""
        return self.vectors.query.shape[-1]

    @property
    def divide_by(self) -> float:
        """Divisor of the scores, without the temperature."""
        return divisor(self.scale, self.d_k, self.d)

    @property
    def concatenated(self) -> Float[np.ndarray, "token concat"]:
        """Outputs of the heads side by side."""
        return np.moveaxis(self.attention.output, 0, 1).reshape(len(self.words), -1)

    @property
    def combined(self) -> Float[np.ndarray, "token d"]:
        """New vectors of the words."""
        return self.concatenated @ self.output_weight + self.output_bias

    @property
    def forbidden(self) -> Bool[np.ndarray, "query key"]:
        """True where a query may not attend to a key: at later words if causal."""
        n = len(self.words)
        return ~np.tri(n, dtype=bool) if self.causal else np.zeros((n, n), bool)

    def numbers(self, stage: str, head: int, row: int) -> Facts:
        """State the numbers of a stage.

        Args:
            stage: one of `STAGES`, or "basic".
            head: number of the head, from 0.
            row: row of the query, from 0.
        """
        result, at = (self.basic, ()) if stage == "basic" else (self.attention, head)
        weights, largest = result.weights[at], float(np.abs(result.scores[at]).max())
        best, columns = int(weights[row].argmax()), weights.sum(0)
        divisor, share = self.divide_by * self.temperature, float(weights[row, best])
        variant = stage
        if stage == "scale" and divisor == 1:
            variant = "scale_by_one"
        elif stage == "mask" and not self.forbidden.any():
            variant = "mask_open"
        elif stage == "mask" and self.operator == "multiply":
            variant = "mask_multiplied"
        if self.origin != "random" and stage in ("embed", "project", "scale", "concat"):
            variant += f"_{self.origin}"
        return Facts(
            variant,
            n=len(self.words), d=self.d, d_k=self.d_k, heads=self.heads,
            joined=self.heads * self.d_k,
            query=self.words[row], best=self.words[best], share=share, rest=1 - share,
            itself=float(np.diag(weights).mean()), largest=largest, divisor=divisor,
            scaled=largest / divisor, closed=int(self.forbidden.sum()), cells=self.forbidden.size,
            low=float(columns.min()), high=float(columns.max()),
        )  # fmt: skip


def walk(
    seed: int = 123,
    d_k: int = 16,
    heads: int = 1,
    scale: str = "d_k",
    temperature: float = 1.0,
    operator: str = "add",
    causal: bool = False,
    width: str = "full",
    order: str = "text",
) -> AttentionWalkthrough:
    """Compute multi-head self-attention on "can you help me to translate this sentence", d = 16.

    With the defaults, and with 8 heads, the numbers are those printed in the Transformer chapter of
    the machine-learning text (seed 123): embeddings from `Embedding(10, 16)`; the seed again; one
    head: `rand(d_k, 16)` for query, key and value; several: one `rand(16, 16)` that the chapter
    draws and does not use here, then `rand(heads, d_k, 16)` three times. It scales by 1/sqrt(m)
    with m = d_k. Its matrices multiply from the left, q = U x; ours are their transposes, Q = X W.
    From the same generator follow weight and bias of the last `Linear(heads d_k, 16)`, uniform in
    +- 1/sqrt(heads d_k) as PyTorch draws them. `basic` is never scaled, but the temperature and the
    mask apply to it. PyTorch's global generators are left unchanged.

    Args:
        seed: seed of embeddings and weights.
        d_k: entries of a query, key and value, 1 to 64.
        heads: number of heads, 1 to 8.
        scale: as in `scaled.divisor`.
        temperature: as in `scaled.attend`.
        operator: as in `scaled.attend`.
        causal: True where a word attends to itself and to earlier ones only.
        width: "full": each head has d_k entries whatever the number of heads (the chapter's way);
            "split": d_k = 16 / heads, so that the heads side by side are as wide as the model
            (Vaswani et al. 2017); d_k is then ignored.
        order: order of the words: "text", "alphabet" (by their ids) or "reversed".

    Raises:
        ValueError: a setting outside these.
    """
    _check(seed, d_k, heads, width)
    if order not in ORDERS:
        raise ValueError(f"The order is one of {', '.join(ORDERS)}, not {order!r}.")
    indices = {
        "text": range(len(IDS)),
        "alphabet": np.argsort(IDS),
        "reversed": range(len(IDS))[::-1],
    }
    taken = np.array(indices[order])
    d_k = D // heads if width == "split" else d_k
    embeddings = _embeddings(seed)[taken]
    *learnt, output_weight, bias = _weights(seed, d_k, heads)
    vectors = Roles(*(embeddings @ item for item in learnt))
    words = tuple(WORDS[position] for position in taken)
    return attend_with(
        words, np.array(IDS)[taken], embeddings, Roles(*learnt), vectors, (output_weight, bias),
        scale, temperature, operator, causal, order=order,
    )  # fmt: skip


def attend_with(
    words: tuple[str, ...],
    ids: Int[np.ndarray, "token"],
    embeddings: Float[np.ndarray, "token d"],
    weights: Roles,
    vectors: Roles,
    output: tuple[Float[np.ndarray, "concat d"], Float[np.ndarray, "d"]],
    scale: str,
    temperature: float,
    operator: str,
    causal: bool,
    order: str = "text",
    features: tuple[str, ...] = (),
    origin: str = "random",
) -> AttentionWalkthrough:
    """Attend with the embeddings themselves and with the vectors of each head.

    Args:
        words: the words.
        ids: their ids.
        embeddings: their embeddings.
        weights: right factors of each head.
        vectors: queries, keys and values of each head.
        output: weight and bias of the last matrix.
        scale: as in `scaled.divisor`.
        temperature: as in `scaled.attend`.
        operator: as in `scaled.attend`.
        causal: True where a word attends to itself and to earlier ones only.
        order: as in `walk`.
        features: as in `AttentionWalkthrough`.
        origin: as in `AttentionWalkthrough`.
    """
    attended = partial(
        attend,
        temperature=temperature,
        allowed=np.tri(len(words), dtype=bool) if causal else None,
        operator=operator,
    )
    divide_by = divisor(scale, vectors.query.shape[-1], embeddings.shape[1])
    return AttentionWalkthrough(
        words, ids, embeddings, attended(embeddings, embeddings, embeddings), weights, vectors,
        attended(vectors.query, vectors.key, vectors.value, divide_by=divide_by),
        *output, scale, temperature, operator, causal, order, features, origin,
    )  # fmt: skip


def joined(
    by_head: Float[np.ndarray, "head row d_k"],
) -> Float[np.ndarray, "row columns"]:
    """Return the matrices of all heads side by side, as libraries store them before the split."""
    return np.moveaxis(by_head, 0, 1).reshape(by_head.shape[1], -1)


def cut_apart(attention_walkthrough: AttentionWalkthrough, part: str) -> VeryExact:
    """Return the largest difference between a joint projection cut apart and separate ones.

    Args:
        attention_walkthrough: the walkthrough.
        part: "query", "key" or "value".
    """
    full = attention_walkthrough.embeddings @ joined(getattr(attention_walkthrough.weights, part))
    return float(np.abs(full - joined(getattr(attention_walkthrough.vectors, part))).max())


def moved_by_order(walk: AttentionWalkthrough, other: AttentionWalkthrough) -> VeryExact:
    """Return the largest change of a word's new vector between two orders of the words.

    Args:
        walk: walkthrough with one order.
        other: walkthrough with the other order.
    """
    indices = [walk.words.index(word) for word in other.words]
    return float(np.abs(walk.combined[indices] - other.combined).max())


def _check(seed: int, d_k: int, heads: int, width: str) -> None:
    """Raise ValueError for settings that `divisor` and `attend` do not check themselves."""
    if not 0 <= seed < 2**32:
        raise ValueError(f"The seed is a whole number from 0 to 4,294,967,295, not {seed}.")
    if not 1 <= d_k <= MOST_D_K:
        raise ValueError(f"A query has 1 to {MOST_D_K} entries, not {d_k}.")
    if not 1 <= heads <= MOST_HEADS:
        raise ValueError(f"There are 1 to {MOST_HEADS} heads, not {heads}.")
    if width not in WIDTHS:
        raise ValueError(f"The width is one of {', '.join(WIDTHS)}, not {width!r}.")
    if width == "split" and D % heads:
        raise ValueError(f"{D} entries cannot be split among {heads} heads of equal width.")


def _embeddings(seed: int) -> Float[np.ndarray, "token d"]:
    import torch

    source = torch.Generator().manual_seed(seed)
    return torch.randn(VOCABULARY, D, generator=source).numpy()[list(IDS)]


def _weights(seed: int, d_k: int, heads: int) -> tuple[np.ndarray, ...]:
    """Return weights for query, key, value and output as right factors, and the output's bias."""
    import torch

    source = torch.Generator().manual_seed(seed)
    if heads > 1:
        torch.rand(D, D, generator=source)  # the chapter's `one_U_query`
    queried, keyed, valued = (
        torch.rand(heads, d_k, D, generator=source).numpy().swapaxes(1, 2) for _ in range(3)
    )
    reach = (heads * d_k) ** -0.5
    weight = torch.empty(D, heads * d_k).uniform_(-reach, reach, generator=source)
    bias = torch.empty(D).uniform_(-reach, reach, generator=source)
    return queried, keyed, valued, weight.numpy().T, bias.numpy()
