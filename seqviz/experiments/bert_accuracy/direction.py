"""The same weights looking both ways, only to the left, only to the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from seqviz.compute.bert_accuracy.results import DIRECTIONS, AttentionDirections
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import features, heads
from seqviz.experiments.bert_accuracy.encoding import Looks, tokenize, vectors
from seqviz.experiments.bert_accuracy.fill import ranked, special
from seqviz.experiments.bert_accuracy.fill_head import head
from seqviz.experiments.bert_accuracy.word_masking import standard_head
from seqviz.jobs import Report, no_progress
from seqviz.models.pretrained import Pretrained, load

LOOKS: dict[str, Looks | None] = {"both": None, "left": "left", "right": "right"}


def direction(
    model: str,
    sentences: int,
    report: Report = no_progress,
    device: str = "cpu",
    feature: str = "mean",
    training: int | None = None,
    seed: int = 0,
) -> AttentionDirections:
    """A job: sentiment and fill-in accuracy of the test sentences under two causal masks.

    training: how many sentences the refitted heads are fitted on; None is all, for which the
    encoder takes a minute a direction. seed: of the place that is masked in each sentence for the
    fill-in, the same under every direction. Reports the share that is done. Raises the refusals of
    `head`, `load` and `standard_head`. (`device` names the queue.)
    """
    standard = standard_head(model, feature, lambda: report(0.0, 0.0))
    pretrained, guesser = load(model), head(model)
    test, labels = sentiment_split()[1], features.parts()
    ids = tokenize(pretrained, test.texts[:sentences])
    known = {part: features.ids(model, part)[:training] for part in ("train", "validation")}
    # One sentence through the network is one unit of work.
    total, done = 2 * (3 * len(ids) + sum(map(len, known.values()))), 0

    def progress(count: int) -> Callable[[float], None]:
        nonlocal done
        before, done = done, done + count

        def tell(fraction: float) -> None:
            share = (before + fraction * count) / total
            report(share, share)

        return tell

    def encoded(some: Sequence[np.ndarray], looks: Looks | None) -> np.ndarray:
        passed = vectors(pretrained, some, allowed=looks, report=progress(len(some)))
        found: np.ndarray = getattr(passed, feature)
        return found

    hidden = _one_hidden(pretrained, ids, seed)
    probability, refitted, rank = [], [], []
    for name in DIRECTIONS:
        rank.append(ranked(guesser, *hidden, LOOKS[name], progress(len(ids))))
        found = encoded(ids, LOOKS[name])
        probability.append(heads.apply(standard, found))
        own = standard
        if name != "both":
            own = heads.fit_as_standard(
                *(encoded(some, LOOKS[name]) for some in known.values()),
                *(labels[part].positive[:training] for part in known),
            )
        refitted.append(heads.apply(own, found))
    return AttentionDirections(
        DIRECTIONS,
        np.stack(probability),
        np.stack(refitted),
        np.stack(rank),
        test.positive[:sentences],
    )


def _one_hidden(
    pretrained: Pretrained, ids: tuple[np.ndarray, ...], seed: int
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Each sentence with one token masked, drawn with (seed, its number); where, and which."""
    masked, places, truth = [], [], []
    for number, one in enumerate(ids):
        words = np.flatnonzero(~special(pretrained, one))
        place = np.random.RandomState((seed, number)).permutation(words)[:1]
        changed = one.copy()
        changed[place] = pretrained.tokenizer.mask_token_id
        masked.append(changed)
        places.append(place)
        truth.append(one[place])
    return masked, places, truth
