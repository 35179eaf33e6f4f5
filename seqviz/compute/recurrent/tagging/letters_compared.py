"""Error rates of taggers on held-out sentences, by wiring, seed and true tag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.recurrent.tagging.letters import JOINED, TAGS, WIRINGS
from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, mean_ci, ratio_ci
from seqviz.stats.facts import Facts


class ErrorRate(NamedTuple):
    """Errors per 100 letters, estimated over sentences and over seeds (nan ends for one seed)."""

    sentences: Estimate
    seeds: Estimate

    @property
    def value(self) -> float:
        """Error rate per 100 letters."""
        return float(self.sentences.mean)

    @property
    def verdict(self) -> str:
        """Verdict "more" or "less" where neither interval contains zero, else "null"."""
        one_seed = np.isnan(self.seeds.low)
        clear = one_seed or self.seeds.is_significant
        return self.sentences.verdict if clear else "null"

    def __abs__(self) -> ErrorRate:
        """Return a difference without its sign."""
        return ErrorRate(abs(self.sentences), abs(self.seeds))


@dataclass(frozen=True)
class LetterCounts:
    """Tagged letters of the held-out sentences, by true tag (`TAGS`) and sentence."""

    task: str
    letters: Int[np.ndarray, "tag sentence"]

    @property
    def sentences(self) -> int:
        """Number of held-out sentences."""
        return self.letters.shape[1]

    def many(self, tag: str | None = None) -> int:
        """Return the number of letters with this true tag, or with any."""
        return int(self._of(self.letters, tag).sum())

    def _of(self, counts: np.ndarray, tag: str | None) -> np.ndarray:
        """Return the counts [..., sentence] of one true tag, or of all together."""
        values: np.ndarray = counts.sum(-2) if tag is None else counts[..., TAGS.index(tag), :]
        return values

    def _by_seed(self, counts: np.ndarray, tag: str | None) -> np.ndarray:
        values: np.ndarray = 100 * self._of(counts, tag).sum(-1) / self.many(tag)
        return values

    def _estimate(self, counts: np.ndarray, tag: str | None) -> ErrorRate:
        """Estimate over sentences as a ratio of sums, over seeds by Student's t."""
        each, letters = self._of(counts, tag).mean(0), self._of(self.letters, tag)
        return ErrorRate(100 * ratio_ci(each, letters, source="sentences"),
                         mean_ci(self._by_seed(counts, tag), source="seeds"))  # fmt: skip


@dataclass(frozen=True)
class Compared(LetterCounts):
    """Wrong tags of the held-out sentences.

    Attributes:
        wrong: by wiring (`WIRINGS`).
        majority: errors of the most frequent tag for every letter.
        alone: errors of the most frequent tag of each symbol.
        ahead: numbers of characters that the backward cell of "bi" reads ahead at most.
        cut: errors with that limit in use only; trained without.
        widths: units per layer and direction.
        seconds: CPU time of one training.
    """

    wrong: Int[np.ndarray, "wiring seed tag sentence"]
    majority: Int[np.ndarray, "tag sentence"]
    alone: Int[np.ndarray, "tag sentence"]
    ahead: Int[np.ndarray, "ahead"]
    cut: Int[np.ndarray, "ahead seed tag sentence"]
    widths: Int[np.ndarray, "wiring"]
    parameters: Int[np.ndarray, "wiring"]
    seconds: Float[np.ndarray, "wiring seed"]

    @property
    def seeds(self) -> int:
        """Number of trainings of each network."""
        return self.wrong.shape[1]

    def of_first(self, seeds: int) -> Compared:
        """Return the results of the first seeds."""
        return replace(self, wrong=self.wrong[:, :seeds], cut=self.cut[:, :seeds],
                       seconds=self.seconds[:, :seeds])  # fmt: skip

    def error(self, wiring: str, tag: str | None = None) -> ErrorRate:
        """Return the errors per 100 letters of a network.

        Args:
            wiring: one of `WIRINGS`.
            tag: true tag of the letters; None for all.
        """
        return self._estimate(self.wrong[WIRINGS.index(wiring)], tag)

    def by_seed(self, wiring: str, tag: str | None = None) -> Float[np.ndarray, "seed"]:
        """Return the errors per 100 letters of each seed.

        Args:
            wiring: one of `WIRINGS`.
            tag: true tag of the letters; None for all.
        """
        return self._by_seed(self.wrong[WIRINGS.index(wiring)], tag)

    def better(self, wiring: str, than: str = "uni", tag: str | None = None) -> ErrorRate:
        """Return the paired difference in errors per 100 letters, `than` minus `wiring`.

        Args:
            wiring: one of `WIRINGS`.
            than: the baseline.
            tag: true tag of the letters; None for all.
        """
        item, other = (self.wrong[WIRINGS.index(name)] for name in (wiring, than))
        return self._estimate(other - item, tag)

    def error_cut(self, ahead: int, tag: str | None = None) -> ErrorRate:
        """Return the errors per 100 letters of "bi" with a limited backward cell.

        Args:
            ahead: one of `ahead`.
            tag: true tag of the letters; None for all.
        """
        return self._estimate(self.cut[self.ahead.tolist().index(ahead)], tag)

    def baseline(self, name: str, tag: str | None = None) -> float:
        """Return the errors per 100 letters of a baseline.

        Args:
            name: "majority" or "alone".
            tag: true tag of the letters; None for all.
        """
        wrong = self._of(getattr(self, name), tag)
        return 100 * float(wrong.sum()) / self.many(tag)

    def errors(self) -> Facts:
        """State the errors per 100 letters of every network and both baselines."""
        wirings = {wiring: self.error(wiring).value for wiring in WIRINGS}
        return Facts(**wirings, alone=self.baseline("alone"), majority=self.baseline("majority"),
                     sentences=self.sentences, seeds=self.seeds)  # fmt: skip

    def gain(self, wiring: str) -> Facts:
        """State the difference in errors from "uni"."""
        gap = self.better(wiring)
        return Facts(
            gap.verdict, wrong=self.error(wiring).value, uni=self.error("uni").value,
            difference=gap if gap.verdict == "null" else abs(gap), sentences=self.sentences,
            seeds=self.seeds,
        )  # fmt: skip

    def by_tag(self, tag: str) -> Facts:
        """State the errors of "uni" and "bi" on letters with this true tag."""
        return Facts(
            self.better("bi", "uni", tag).verdict, uni=self.error("uni", tag).value,
            bi=self.error("bi", tag).value, many=self.many(tag),
        )  # fmt: skip

    def sizes(self) -> Facts:
        """State parameters and units of every network, and the seconds of one training."""
        units = zip(WIRINGS, self.parameters.tolist(), self.widths.tolist(), strict=True)
        sizes = {f"{name}_{key}": n for name, *both in units
                 for key, n in zip(("size", "units"), both, strict=True)}  # fmt: skip
        return Facts(**sizes, least=self.seconds.min(), most=self.seconds.max())


@dataclass(frozen=True)
class TrainedAhead(LetterCounts):
    """Wrong tags of bidirectional networks trained with a limited backward cell.

    Attributes:
        ahead: characters that the backward cell reads ahead at most, in training and use.
        wrong: errors, for the first seeds of `Compared`.
        seconds: CPU time of one training.
    """

    ahead: Int[np.ndarray, "ahead"]
    wrong: Int[np.ndarray, "ahead seed tag sentence"]
    seconds: Float[np.ndarray, "ahead seed"]

    @property
    def seeds(self) -> int:
        """Number of trainings of each network."""
        return self.wrong.shape[1]

    def error(self, ahead: int) -> ErrorRate:
        """Return the errors per 100 letters."""
        return self._estimate(self._at(ahead), None)

    def by_seed(self, ahead: int) -> Float[np.ndarray, "seed"]:
        """Return the errors per 100 letters of each seed."""
        return self._by_seed(self._at(ahead), None)

    def beyond(self, ahead: int, compared: Compared) -> ErrorRate:
        """Return the difference in errors from the network without a limit, on the same seeds.

        Args:
            ahead: one of `ahead`.
            compared: errors without a limit, of the same seeds.
        """
        return self._estimate(self._at(ahead) - compared.wrong[2], None)

    def gained(self, ahead: int, compared: Compared) -> Share:
        """Return the share of the right context's whole gain that a limited context brings.

        Args:
            ahead: one of `ahead`.
            compared: errors without a limit, of the same seeds.
        """
        none, some = (self._at(item).sum() for item in (0, ahead))
        return float((none - some) / (none - compared.wrong[2].sum()))

    def reach(self, ahead: int, compared: Compared) -> Facts:
        """State the effect of a limited right context, in training or only in use.

        Args:
            ahead: one of `ahead`.
            compared: errors without a limit, of the same seeds.
        """
        more, wrong = self.beyond(ahead, compared), self.error(ahead).value
        cut = compared.error_cut(ahead).value
        return Facts(
            more.verdict, ahead=ahead, seeds=self.seeds, wrong=wrong, difference=abs(more), cut=cut,
            apart=cut - wrong, bi=compared.error("bi").value, uni=compared.error("uni").value,
            none=self.error(0).value, share=self.gained(ahead, compared),
        )  # fmt: skip

    def _at(self, ahead: int) -> np.ndarray:
        values: np.ndarray = self.wrong[self.ahead.tolist().index(ahead)]
        return values


@dataclass(frozen=True)
class TrainedJoined(LetterCounts):
    """Wrong tags of networks whose two directions are added or multiplied at each step.

    Attributes:
        wrong: errors of `JOINED` after the first, for the first seeds of `Compared`.
        seconds: CPU time of one training.
    """

    wrong: Int[np.ndarray, "joined seed tag sentence"]
    seconds: Float[np.ndarray, "joined seed"]

    @property
    def seeds(self) -> int:
        """Number of trainings of each network."""
        return self.wrong.shape[1]

    def comparison(self, joined: str, compared: Compared) -> Facts:
        """State the errors per 100 letters beside those of concatenated states, on the same seeds.

        Args:
            joined: one of `JOINED` after the first.
            compared: errors of concatenated states, of the same seeds.
        """
        wrong = self.wrong[JOINED.index(joined) - 1]
        more = self._estimate(wrong - compared.wrong[2], None)
        return Facts(more.verdict, seeds=self.seeds, wrong=self._estimate(wrong, None).value,
                     difference=more if more.verdict == "null" else abs(more),
                     bi=compared.error("bi").value)  # fmt: skip
