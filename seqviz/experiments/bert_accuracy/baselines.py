"""Baselines without a Transformer on the same sentences: bag of words, LSTM, GRU."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.bert_accuracy.results import SystemPredictions
from seqviz.compute.gates.encoding import words
from seqviz.compute.gates.networks import logits, trace
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy.features import parts
from seqviz.jobs import Report, no_progress
from seqviz.models import checkpoints

CELLS = ("lstm", "gru")


def baselines(report: Report = no_progress) -> tuple[SystemPredictions, ...]:
    """Predict the test sentences with each baseline (a job).

    The bag of words is a logistic regression on words and word pairs (present or not), trained on
    the same 7,272 sentences, with the penalty chosen by five-fold cross-validation (scikit-learn).
    LSTM and GRU are the networks of the lesson on gates, trained on the same sentences.

    Args:
        report: progress callback; receives the name of each baseline that is done.
    """
    results = [SystemPredictions("bag_of_words", _by_words()[None])]
    report("bag_of_words", 0.8)
    for cell in CELLS:
        results.append(SystemPredictions(cell, _recurrent(f"sentiment_{cell}")[None]))
        report(cell, 0.8 + 0.1 * len(results) / len(CELLS))
    return tuple(results)


def bag_of_words() -> Any:
    """Return an unfitted scikit-learn pipeline: words and word pairs, logistic regression."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline

    return make_pipeline(
        CountVectorizer(ngram_range=(1, 2), binary=True, min_df=2),
        LogisticRegressionCV(
            Cs=[0.03, 0.1, 0.3, 1.0],
            cv=5,
            max_iter=2000,
            l1_ratios=(0,),
            scoring="accuracy",
            use_legacy_attributes=False,
        ),
    )


def _by_words() -> np.ndarray:
    training = parts()["train"]
    model = bag_of_words().fit(training.texts, training.positive)
    probability: np.ndarray = model.predict_proba(sentiment_split()[1].texts)[:, 1]
    return probability


def _recurrent(name: str) -> np.ndarray:
    network = checkpoints.load(name)
    results = []
    for text in sentiment_split()[1].texts:
        ids = words(text, network.symbols).ids
        scores = logits(network, trace(network, ids).hidden[-1])
        results.append(1 / (1 + np.exp(scores[0] - scores[1])))
    return np.array(results)
