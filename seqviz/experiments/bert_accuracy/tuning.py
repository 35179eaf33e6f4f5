"""Training of a classifier on an encoder: none, head, last layers, adapters, or all."""

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

_FEATURES = 0.95  # share of a head's work if the sentence vectors are not cached


def tune(settings: TuneSettings, report: Report = no_progress, device: str = "cpu") -> Tuned:
    """Train and test a classifier in one of its regimes, once per random seed (a job).

    Args:
        settings: regime and training settings.
        report: progress callback; receives a `TuneRecord` after every step, with a frozen encoder
            (whose steps are too quick to watch) after every epoch.
        device: "cpu" to train there wherever the shared model is.

    Raises:
        UserError: "encoder_only"; "no_pooler"; errors of `pretrained.load`.
    """
    pretrained = load(settings.model)
    heads.check(pretrained, settings.feature)
    if settings.regime in ("random", "head"):
        return _frozen(settings, report)
    return train(_at(pretrained, device), settings, _data(settings), report)


def tune_again(
    settings: TuneSettings, seed: int, report: Report = no_progress, device: str = "cpu"
) -> Tuned:
    """Run `tune` once with a given random seed, for the slow regimes (a job).

    These are the regimes that train a part of the encoder.

    Args:
        settings: regime and training settings; `runs` is 1.
        seed: random seed.
        report: progress callback; receives a `TuneRecord` after every step.
        device: "cpu" to train there wherever the shared model is.
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
    """Run `tune` on given sentences, for the regimes that train a part of the encoder.

    Args:
        pretrained: the shared model.
        settings: regime and training settings.
        data: the sentences.
        report: progress callback; receives a `TuneRecord` after every step.
        seeds: seeds of the runs; by default 0, 1, ....
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
    """Run the regimes with a frozen encoder, whose sentence vectors are computed once."""
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
