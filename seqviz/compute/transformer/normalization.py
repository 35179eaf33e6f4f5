"""LayerNorm, BatchNorm and RMSNorm of one small tensor, and the numbers that share a mean."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute import typed_numbers as typed
from seqviz.core.errors import UserError
from seqviz.core.units import Exact
from seqviz.stats.facts import Facts

NORM_KINDS = ("layer", "batch", "rms")
NORM_AXES = ("all", "sentence", "word")
PRINTED = "1 2 4, 2 3 4 | 3 4 4, 4 4 4"  # the tensor of S0
MOST_WORDS, MOST_FEATURES = 8, 6  # words of all sentences together; numbers of a word
_LARGEST = 1e6
# Axes of [batch, time, hidden] over which mean and variance are taken.
_AXES = {"layer": (2,), "rms": (2,), "batch": (0, 1)}


@dataclass(frozen=True)
class Normalized:
    """Tensor after one norm.

    All arrays are nan for "batch" where a feature has a single number: its variance is no estimate,
    and PyTorch raises an error.

    Attributes:
        kind: one of `NORM_KINDS`.
        values: (x - mean) / deviation.
        mean: 0 for "rms".
        deviation: sqrt(variance + eps); for "rms" sqrt(mean of squares + eps).
    """

    kind: str
    values: Float[np.ndarray, "batch time hidden"]
    mean: Float[np.ndarray, "batch time hidden"]
    deviation: Float[np.ndarray, "batch time hidden"]


@dataclass(frozen=True)
class NormComparison:
    """One tensor and its three norms.

    Attributes:
        normalized: in the order of `NORM_KINDS`.
        first: sentence and word, from 0 in the full tensor, of the first entry; not (0, 0) for a
            part.
    """

    tensor: Float[np.ndarray, "batch time hidden"]
    normalized: tuple[Normalized, ...]
    eps: float
    first: tuple[int, int] = (0, 0)

    def of(self, kind: str) -> Normalized:
        """Return the tensor after one of `NORM_KINDS`."""
        return self.normalized[NORM_KINDS.index(kind)]

    def at(self, kind: str, sentence: int, word: int, feature: int) -> Exact:
        """Return one normalized number.

        Args:
            kind: one of `NORM_KINDS`.
            sentence: index in the full tensor, from 0.
            word: likewise.
            feature: likewise.
        """
        return float(self.of(kind).values[self._index(sentence, word, feature)])

    def shared(self, sentence: int, word: int, feature: int) -> Facts:
        """State the numbers with a common mean and deviation under LayerNorm and BatchNorm.

        Args:
            sentence: index in the full tensor, from 0.
            word: likewise.
            feature: likewise.
        """
        index = self._index(sentence, word, feature)
        layer, batch = self.of("layer"), self.of("batch")
        n_sentences, n_words, features = self.tensor.shape
        return Facts(
            "alone" if np.isnan(batch.values).any() else "shared",
            cell=f"w[{sentence}, {word}][{feature}]", value=float(self.tensor[index]),
            features=features, words=n_sentences * n_words, mean=float(layer.mean[index]),
            deviation=float(layer.deviation[index]), of_feature=float(batch.mean[index]),
            spread=float(batch.deviation[index]),
        )  # fmt: skip

    def compared(self, full: NormComparison, *position: int) -> Facts:
        """State a normalized number without the rest of the tensor, and with it.

        Args:
            full: the norms of the full tensor.
            *position: sentence, word and feature, from 0.
        """
        return Facts(
            layer=self.at("layer", *position), batch=self.at("batch", *position),
            layer_before=full.at("layer", *position), batch_before=full.at("batch", *position),
        )  # fmt: skip

    def _index(self, sentence: int, word: int, feature: int) -> tuple[int, int, int]:
        return sentence - self.first[0], word - self.first[1], feature


def read(text: str = PRINTED) -> Float[np.ndarray, "batch time hidden"]:
    """Parse "1 2 4, 2 3 4 | 3 4 4, 4 4 4" as a tensor: sentences of words of numbers.

    A semicolon between words is read as a comma.

    Raises:
        UserError: "tensor" for a part that is not a number or exceeds a million, "ragged" where
            words or sentences differ in size, "large_tensor" beyond 8 words or 6 numbers per word,
            "comma" and "commas" for one between two digits.
    """
    parts = typed.cut(typed.without_decimal_commas(text), "|")
    sentences = [[word.split() for word in typed.cut(part, ",;")] for part in parts]
    words = {len(sentence) for sentence in sentences}
    features = {len(word) for sentence in sentences for word in sentence}
    if len(words) > 1 or len(features) > 1 or 0 in features:
        raise UserError("ragged", "Every sentence has as many words, every word as many numbers.")
    if len(sentences) * max(words) > MOST_WORDS or max(features) > MOST_FEATURES:
        raise UserError(
            "large_tensor",
            f"At most {MOST_WORDS} words in all and {MOST_FEATURES} numbers a word.",
            words=MOST_WORDS,
            features=MOST_FEATURES,
        )
    return np.array([[[_number(item) for item in word] for word in part] for part in sentences])


def _number(part: str) -> float:
    with suppress(ValueError):
        if abs(result := typed.number(part)) <= _LARGEST:
            return result
    raise UserError("tensor", f"“{part[:20]}” is not a number up to 1e6.", part=part[:20])


def normalize(
    tensor: Float[np.ndarray, "batch time hidden"], kind: str = "layer", eps: float = 1e-5
) -> Normalized:
    """Return a tensor after one norm, without learned gain and bias.

    "layer": mean and variance of each word over its features (Ba, Kiros & Hinton 2016). "batch": of
    each feature over all words of all sentences (Ioffe & Szegedy 2015), as in training. "rms":
    divided by the root mean square of the word, no mean subtracted (Zhang & Sennrich 2019). The
    variance divides by the count, as in PyTorch's norms.

    Args:
        tensor: the input.
        kind: one of `NORM_KINDS`.
        eps: added to the variance.

    Raises:
        ValueError: the kind is unknown, or eps is not positive.

    >>> normalize(np.array([[[1.0, 3.0]]]), eps=1e-12).values.round(3).tolist()
    [[[-1.0, 1.0]]]
    """
    if kind not in NORM_KINDS:
        raise ValueError(f"The norm is one of {', '.join(NORM_KINDS)}, not {kind!r}.")
    if not (math.isfinite(eps) and eps > 0):
        raise ValueError(f"eps is a positive number, not {eps}.")
    axes = _AXES[kind]
    if math.prod(tensor.shape[axis] for axis in axes) < 2 and kind == "batch":
        nothing = np.full_like(tensor, np.nan)
        return Normalized(kind, nothing, nothing, nothing)
    mean = np.zeros_like(tensor) if kind == "rms" else tensor.mean(axes, keepdims=True)
    deviation = np.sqrt(((tensor - mean) ** 2).mean(axes, keepdims=True) + eps)
    mean, deviation = (np.broadcast_to(part, tensor.shape) for part in (mean, deviation))
    return Normalized(kind, (tensor - mean) / deviation, mean, deviation)


def compare(
    text: str = PRINTED,
    sentence: int = 0,
    word: int = 0,
    feature: int = 0,
    added: float = 0.0,
    part: str = "all",
    eps: float = 1e-5,
) -> NormComparison:
    """Return the three norms of a typed tensor after a change of one number.

    Args:
        text: the tensor, see `read`.
        sentence: index of the number, from 0.
        word: likewise.
        feature: likewise.
        added: added to that number.
        part: one of `NORM_AXES`: the full tensor, only the sentence of that number (batch size 1),
            or only its word (length 1, too).
        eps: see `normalize`.

    Raises:
        UserError: errors of `read`.
        ValueError: the part is unknown, or the index is out of range.
    """
    tensor = read(text)
    position = (sentence, word, feature)
    if part not in NORM_AXES:
        raise ValueError(f"The part is one of {', '.join(NORM_AXES)}, not {part!r}.")
    if any(not 0 <= at < size for at, size in zip(position, tensor.shape, strict=True)):
        raise ValueError(f"There is no number {position} in a tensor of the shape {tensor.shape}.")
    tensor[position] += added
    first = {"all": (0, 0), "sentence": (sentence, 0), "word": (sentence, word)}[part]
    if part != "all":
        tensor = tensor[sentence : sentence + 1]
    if part == "word":
        tensor = tensor[:, word : word + 1]
    return NormComparison(
        tensor, tuple(normalize(tensor, kind, eps) for kind in NORM_KINDS), eps, first
    )
