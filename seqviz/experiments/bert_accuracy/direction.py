"""Bidirectional, left-only and right-only attention with the same weights."""

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
    """Measure sentiment and fill-in accuracy with full and with causal attention (a job).

    The directions are both, only left and only right, with the same encoder weights.

    Args:
        model: name of the encoder.
        sentences: number of test sentences.
        report: progress callback; receives the share done.
        feature: sentence vector that the head reads, of `FEATURES`.
        training: number of sentences that the refitted heads are trained on; None for all, which
            take the encoder a minute per direction.
        seed: seed of the masked position of each sentence, the same under every direction.

    Raises:
        UserError: errors of `head`, `load` and `standard_head`.
    """
    standard = standard_head(model, feature, lambda: report(0.0, 0.0))
    pretrained, guesser = load(model), head(model)
    test, labels = sentiment_split()[1], features.parts()
    ids = tokenize(pretrained, test.texts[:sentences])
    existing = {name: features.ids(model, name)[:training] for name in ("train", "validation")}
    # The unit of progress is one sentence in one forward pass.
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
    """Return the sentences with one token masked each, its position and its true id."""
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
