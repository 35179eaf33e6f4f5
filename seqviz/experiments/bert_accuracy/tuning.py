"""A classifier on the encoder: nothing trained, the head, the last layers, adapters, or all."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from seqviz.compute.bert_accuracy.results import Tuned, TuneRecord, TuneSettings
from seqviz.experiments.bert_accuracy import features, heads
from seqviz.experiments.bert_accuracy.training import (
    ClassifierTraining,
    Data,
    Progress,
    Sentences,
    steps_of,
)
from seqviz.jobs import Report, no_progress
from seqviz.models.pretrained import Pretrained, load

_FEATURES = 0.95  # of a head's work where the sentence vectors have to be made first


def tune(settings: TuneSettings, report: Report = no_progress, device: str = "cpu") -> Tuned:
    """A job: train a classifier in one of its regimes, once for each random seed, and test it.

    Reports a TuneRecord every step; of a head on the frozen encoder, which is quicker than one can
    look, every epoch. device: "cpu" trains there wherever the shared model is. Raises
    UserError("encoder_only"), UserError("no_pooler") and the refusals of `pretrained.load`.
    """
    pretrained = load(settings.model)
    heads.check(pretrained, settings.feature)
    if settings.regime in ("random", "head"):
        return _frozen(settings, report)
    return train(_at(pretrained, device), settings, _data(settings), report)


def tune_again(
    settings: TuneSettings, seed: int, report: Report = no_progress, device: str = "cpu"
) -> Tuned:
    """A job: one run of `tune` with a random seed of one's choice, of what takes minutes a run.

    For the regimes that train something of the encoder; `settings.runs` is 1.
    """
    pretrained = load(settings.model)
    heads.check(pretrained, settings.feature)
    return train(_at(pretrained, device), settings, _data(settings), report, (seed,))


def _at(pretrained: Pretrained, device: str) -> Pretrained:
    return pretrained.on_cpu() if device == "cpu" else pretrained


def _data(settings: TuneSettings) -> Data:
    sets = {
        part: Sentences(features.ids(settings.model, part), labeled.positive)
        for part, labeled in features.parts().items()
    }
    return Data(sets["train"].first(settings.sentences), sets["validation"], sets["test"])


def train(
    pretrained: Pretrained,
    settings: TuneSettings,
    data: Data,
    report: Report,
    seeds: Sequence[int] | None = None,
) -> Tuned:
    """`tune` on given sentences, for the regimes that train something of the encoder.

    seeds: of the runs; 0, 1, ... where none are given.
    """
    start = time.perf_counter()
    progress = Progress(report, settings, data)
    courses = []
    for seed in range(settings.runs) if seeds is None else seeds:
        run = ClassifierTraining(pretrained, settings, seed)
        courses.append(run.go(data, progress))
    return Tuned(
        settings,
        np.stack([course.loss for course in courses]),
        np.stack([course.accuracy for course in courses]),
        np.stack([course.validation for course in courses]),
        np.stack([course.probability for course in courses]),
        run.trainable,
        run.total,
        time.perf_counter() - start,
    )


def _frozen(settings: TuneSettings, report: Report) -> Tuned:
    """The regimes in which the encoder stays as it is: its vectors are made once."""
    epochs = 0 if settings.regime == "random" else settings.epochs
    count = min(settings.sentences, len(features.parts()["train"].texts))
    steps = steps_of(settings, count)
    waited = 0.0 if features.ready(settings.model) else _FEATURES

    def making(record: object, fraction: float | None = None) -> None:
        share = waited * (fraction or 0.0)
        report(TuneRecord(0, 0, steps, np.nan, np.nan, np.nan, share), share)

    def each(result: heads.Fitted, epoch: int) -> None:
        share = waited + (1 - waited) * (epoch + 1) / (epochs + 1)
        step = steps * epoch // max(1, epochs)
        for run, curves in enumerate(
            zip(result.loss, result.accuracy, result.validation, strict=True)
        ):
            loss, accuracy, valid = (float(curve[epoch]) for curve in curves)
            report(TuneRecord(run, step, steps, loss, accuracy, valid, share), share)

    features.make(settings.model, making)
    return heads.train_head(settings, each)
