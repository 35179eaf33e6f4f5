"""Parameter counts of an encoder with a classifier, in total and trained.

Counted from the configuration alone: no weights are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nan, prod

from seqviz.compute.bert_accuracy.results import REGIMES
from seqviz.core.units import FineShare
from seqviz.stats.facts import Facts

Shapes = Iterator[tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Config:
    """Configuration of an encoder like BERT's (Devlin et al. 2019) and its classifier.

    Attributes:
        vocabulary: number of tokens.
        width: width of a token's vector.
        heads: heads per layer (they share the width, so their number changes no count).
        inner: width of the feed-forward part.
        positions: the longest input.
        types: number of segments, 0 without a segment embedding.
        pooler: True where the encoder has a dense layer on [CLS].
        classes: classes of the classifier, 0 for the encoder alone.
        deep_head: True where the classifier has another dense layer before the last one
            (DistilBERT).
    """

    vocabulary: int
    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    types: int
    pooler: bool
    classes: int
    deep_head: bool = False


BERT_BASE = Config(30522, 768, 12, 12, 3072, 512, 2, True, 2)
BERT_LARGE = Config(30522, 1024, 24, 16, 4096, 512, 2, True, 2)
DISTILBERT = Config(30522, 768, 6, 12, 3072, 512, 0, False, 2, deep_head=True)
MINILM = Config(30522, 384, 6, 12, 1536, 512, 2, True, 2)
CONFIGS = {
    "bert_base": BERT_BASE, "bert_large": BERT_LARGE, "distilbert": DISTILBERT, "minilm": MINILM
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One matrix or vector; named as in transformers' BERT, also where another library differs."""

    name: str
    shape: tuple[int, ...]
    parameters: int
    trainable: bool


@dataclass(frozen=True)
class ParameterCount:
    """All parts, and the number of their parameters, in total and trained."""

    parts: tuple[Part, ...]
    total: int
    trainable: int

    @property
    def share_trained(self) -> FineShare:
        """Share of the trained ones of all parameters."""
        return self.trainable / self.total if self.total else nan

    def trained(self) -> Facts:
        """State how many parameters are trained, as a number, a share and a ratio."""
        part = "most" if 2 * self.trainable > self.total else "one"
        return Facts(
            "all" if self.trainable == self.total else part, trainable=self.trainable,
            total=self.total, share=self.share_trained,
            ratio=self.total / self.trainable if self.trainable else inf,
        )  # fmt: skip


@dataclass(frozen=True)
class ParameterGroup:
    """Parts of one group: "embeddings", "layer 1", ..., "pooler", "classifier" or "lora"."""

    name: str
    total: int
    trainable: int


def count(
    config: Config, regime: str = "all", layers: int = 2, rank: int = 8, feature: str = "pooler"
) -> ParameterCount:
    """Count the parameters of the encoder and its classifier.

    bert-base with two classes: 109,483,778 in all, 1,538 in the classifier.

    Args:
        config: configuration of the encoder.
        regime: what is trained (see `results.TuneSettings`): "random" nothing; "head" the
            classifier; "top" the last `layers` layers and the classifier; "lora" two matrices of
            `rank` beside each of a layer's six (query, key, value, attention output, both of the
            feed-forward part: B A added to W, Hu et al. 2022) and the classifier; "all" everything.
        layers: number of trained layers in "top".
        rank: rank of the adapters in "lora".
        feature: input of the classifier. In "top" and "all" the pooler is trained, too, if it is
            that input, and cannot be for "mean" or "cls", as nothing depends on it then.

    Raises:
        ValueError: unknown regime, rank below 1, or more layers than there are.
    """
    if regime not in REGIMES:
        raise ValueError(f"The regime must be one of {', '.join(REGIMES)}, not {regime!r}.")
    if not 0 <= layers <= config.layers and regime == "top":
        raise ValueError(f"Of {config.layers} layers the last {layers} cannot be trained.")
    if rank < 1 and regime == "lora":
        raise ValueError(f"The rank of an adapter must be 1 or more, not {rank}.")
    last = config.layers - layers if regime == "top" else 0
    above = tuple(f"encoder.layer.{i}." for i in range(last, config.layers))
    trained: tuple[str, ...] = () if regime == "random" else _HEAD
    if regime in ("top", "all"):
        trained += above + (("pooler.",) if feature == "pooler" else ())
    if regime == "all":
        trained += ("embeddings.",)
    parts = [_part(name, shape, name.startswith(trained)) for name, shape in _shapes(config)]
    if regime == "lora":
        parts += [_part(name, shape, True) for name, shape in _adapters(config, rank)]
    return ParameterCount(
        tuple(parts),
        sum(part.parameters for part in parts),
        sum(part.parameters for part in parts if part.trainable),
    )


def groups(counted: ParameterCount) -> tuple[ParameterGroup, ...]:
    """Return the totals of each group of parts, from the input to the classifier; adapters last."""
    totals: dict[str, list[int]] = {}
    for part in counted.parts:
        pair = totals.setdefault(_group(part.name), [0, 0])
        pair[0] += part.parameters
        pair[1] += part.parameters * part.trainable
    return tuple(ParameterGroup(name, *pair) for name, pair in totals.items())


_HEAD = ("pre_classifier.", "classifier.")


def _part(name: str, shape: tuple[int, ...], trainable: bool) -> Part:
    return Part(name, shape, prod(shape), trainable)


def _shapes(config: Config) -> Shapes:
    width = config.width
    rows = {"word": config.vocabulary, "position": config.positions, "token_type": config.types}
    for name, number in rows.items():
        if number:
            yield f"embeddings.{name}_embeddings.weight", (number, width)
    yield from _both("embeddings.LayerNorm", (width,))
    for i in range(config.layers):
        for name, shape in _matrices(config):
            yield from _both(f"encoder.layer.{i}.{name}", shape)
            if name.endswith("output.dense"):
                yield from _both(f"encoder.layer.{i}.{name[:-5]}LayerNorm", (width,))
    if config.pooler:
        yield from _both("pooler.dense", (width, width))
    if config.classes:
        if config.deep_head:
            yield from _both("pre_classifier", (width, width))
        yield from _both("classifier", (config.classes, width))


def _matrices(config: Config) -> Shapes:
    """Yield the six matrices of a layer, [to, from]."""
    width, inner = config.width, config.inner
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        yield f"attention.{name}", (width, width)
    yield "intermediate.dense", (inner, width)
    yield "output.dense", (width, inner)


def _both(name: str, shape: tuple[int, ...]) -> Shapes:
    """Yield a weight and its bias."""
    yield f"{name}.weight", shape
    yield f"{name}.bias", shape[:1]


def _adapters(config: Config, rank: int) -> Shapes:
    for i in range(config.layers):
        for name, (out, into) in _matrices(config):
            yield f"encoder.layer.{i}.{name}.lora_A.weight", (rank, into)
            yield f"encoder.layer.{i}.{name}.lora_B.weight", (out, rank)


def _group(name: str) -> str:
    if ".lora_" in name:
        return "lora"
    first, *rest = name.split(".")
    return f"layer {int(rest[1]) + 1}" if first == "encoder" else first.removeprefix("pre_")
