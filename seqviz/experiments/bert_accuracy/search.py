"""Search for the head's learning rate and batch size; every trial trains a head."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.bert_accuracy import searching
from seqviz.compute.bert_accuracy.results import Searched, SearchSettings, SearchSurface
from seqviz.experiments.bert_accuracy import features, heads
from seqviz.experiments.bert_accuracy.heads import Fitted
from seqviz.jobs import Report, no_progress, scale_report

RATES = 21  # of the surface: four per decade
_FEATURES = 0.8  # share of the work if the sentence vectors are not cached


class _Trials:
    """Trials of a rate and a batch size from the same seed on the same sentences."""

    def __init__(
        self, model: str, feature: str, epochs: int, trials: int, report: Report, so_far: Any
    ):
        self._waited = 0.0 if features.ready(model) else _FEATURES
        self._report, self._trials, self._done = report, trials, 0
        self._epochs, self.so_far = epochs, so_far  # the record to report; the caller updates it

        def making(record: object, fraction: float | None = None) -> None:
            report(self.so_far, self._waited * (fraction or 0.0))

        features.make(model, making)
        labels = features.parts()
        self._train = heads.chosen(model, "train", feature), labels["train"].positive
        self._valid = heads.chosen(model, "validation", feature), labels["validation"].positive

    def fit(self, rate: float, batch: int) -> Fitted:
        """Run one trial; the job can be cancelled after every epoch."""

        def each(so_far: Fitted, epoch: int) -> None:
            share = (self._done + epoch / (self._epochs + 1)) / self._trials
            self._report(self.so_far, self._waited + (1 - self._waited) * share)

        result = heads.fit(
            *self._train, *self._valid, epochs=self._epochs, rate=rate, batch=batch, each=each
        )
        self._done += 1
        return result


def search(settings: SearchSettings, report: Report = no_progress) -> Searched:
    """Run `searching.propose` on the validation accuracy of heads (a job).

    The test sentences are predicted once, by the best trial in validation (the first one of a tie).

    Args:
        settings: model, feature, method, budget, epochs and seed.
        report: progress callback; receives a `Searched` of the trials so far, without test answers.

    Raises:
        ValueError: errors of `propose`.
        UserError: errors of `tuning.tune`.
    """
    empty = searching.SearchTrials(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))
    trials = _Trials(
        settings.model,
        settings.feature,
        settings.epochs,
        settings.budget,
        report,
        _searched(settings, empty, np.zeros(0)),
    )
    retained: list[Fitted] = []

    def evaluate(rate: float, batch: int) -> float:
        retained.append(trials.fit(rate, batch))
        return float(retained[-1].validation[0, -1])

    def each(tried: searching.SearchTrials) -> None:
        trials.so_far = _searched(settings, tried, np.zeros(0))

    tried = searching.propose(settings.method, settings.budget, settings.seed, evaluate, each)
    best = retained[int(np.argmax(tried.value))].heads[0]
    test = heads.chosen(settings.model, "test", settings.feature)
    return _searched(settings, tried, heads.apply(best, test))


def searches(
    settings: tuple[SearchSettings, ...], report: Report = no_progress
) -> tuple[Searched, ...]:
    """Run `search` with each of the settings in turn (a job).

    Args:
        settings: the settings.
        report: progress callback; see `search`.
    """
    n = len(settings)
    return tuple(
        search(item, scale_report(report, k / n, (k + 1) / n)) for k, item in enumerate(settings)
    )


def surface(
    model: str,
    feature: str = "mean",
    epochs: int = SearchSettings.epochs,
    *,
    report: Report = no_progress,
) -> SearchSurface:
    """Measure the validation accuracy of 21 learning rates times three batch sizes (a job).

    The trials have seed and sentences of `search`, so the points of a search lie on this surface.

    Args:
        model: name of the encoder.
        feature: sentence vector that the head reads, of `FEATURES`.
        epochs: epochs of each trial.
        report: progress callback; receives the `SearchSurface` so far, nan for trials not done.
    """
    rates, sizes = np.geomspace(*searching.RATES, RATES), np.array(searching.BATCHES)
    search_surface = SearchSurface(rates, sizes, np.full((len(sizes), len(rates)), np.nan))
    trials = _Trials(model, feature, epochs, search_surface.validation.size, report, search_surface)
    for row, column in np.ndindex(search_surface.validation.shape):
        value = trials.fit(float(rates[column]), int(sizes[row])).validation[0, -1]
        validation = trials.so_far.validation.copy()
        validation[row, column] = value
        trials.so_far = SearchSurface(rates, sizes, validation)
    done: SearchSurface = trials.so_far
    return done


def _searched(
    settings: SearchSettings, tried: searching.SearchTrials, probability: np.ndarray
) -> Searched:
    best = int(np.argmax(tried.value)) if len(tried.value) else 0
    return Searched(settings, tried.rate, tried.batch, tried.value, best, probability)
