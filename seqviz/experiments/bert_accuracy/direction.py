"""The same weights looking both ways, only to the left, only to the right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.bert_accuracy.results import DIRECTIONS, AttentionDirections
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import features, heads
from seqviz.experiments.bert_accuracy.encoding import Looks, tokenize, vectors
from seqviz.experiments.bert_accuracy.fill import ranked, special
from seqviz.experiments.bert_accuracy.fill_head import head
from seqviz.experiments.bert_accuracy.word_masking import standard_head
from seqviz.jobs import Report, no_progress, scale_report
from seqviz.models.pretrained import Pretrained, load

LOOKS: dict[str, Looks | None] = {"both": None, "left": "left", "right": "right"}


def direction(
    model: str,
    sentences: int,
    report: Report = no_progress,
    feature: str = "mean",
    training: int | None = None,
    seed: int = 0,
) -> AttentionDirections:
    """A job: sentiment and fill-in accuracy of the test sentences under two causal masks.

    training: how many sentences the refitted heads are fitted on; None is all, for which the
    encoder takes a minute a direction. seed: of the place that is masked in each sentence for the
    fill-in, the same under every direction. Reports the share that is done. Raises the refusals of
    `head`, `load` and `standard_head`.
    """
    standard = standard_head(model, feature, lambda: report(0.0, 0.0))
    pretrained, guesser = load(model), head(model)
    test, labels = sentiment_split()[1], features.parts()
    ids = tokenize(pretrained, test.texts[:sentences])
    existing = {name: features.ids(model, name)[:training] for name in ("train", "validation")}
    # One sentence through the network is one unit of work.
    total, done = 2 * (3 * len(ids) + sum(map(len, existing.values()))), 0

    def progress(count: int) -> Report:
        nonlocal done
        before, done = done, done + count
        return scale_report(report, before / total, done / total)

    def encoded(ids: Sequence[np.ndarray], visibility: Looks | None) -> np.ndarray:
        passed = vectors(pretrained, ids, allowed=visibility, report=progress(len(ids)))
        values: np.ndarray = getattr(passed, feature)
        return values

    hidden = _one_hidden(pretrained, ids, seed)
    probability, refitted, rank = [], [], []
    for name in DIRECTIONS:
        rank.append(ranked(guesser, *hidden, LOOKS[name], progress(len(ids))))
        result = encoded(ids, LOOKS[name])
        probability.append(heads.apply(standard, result))
        own = standard
        if name != "both":
            own = heads.fit_as_standard(
                *(encoded(some, LOOKS[name]) for some in existing.values()),
                *(labels[name].positive[:training] for name in existing),
            )
        refitted.append(heads.apply(own, result))
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
    masked, positions, truth = [], [], []
    for number, item in enumerate(ids):
        words = np.flatnonzero(~special(pretrained, item))
        position = np.random.RandomState((seed, number)).permutation(words)[:1]
        changed = item.copy()
        changed[position] = pretrained.tokenizer.mask_token_id
        masked.append(changed)
        positions.append(position)
        truth.append(item[position])
    return masked, positions, truth
