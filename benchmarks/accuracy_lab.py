"""Classifier training of the page against the textbook implementation.

Same sentences, same encoder (MiniLM), one thread on both sides, in one run.

* Head only, five epochs. Textbook (S0): the frozen encoder reads every sentence in each epoch,
  padded to 512 tokens. SeqViz: it reads them once, batched by similar length, and the head is
  trained on the stored outputs. SeqViz is measured on all 7,272 sentences; the textbook is measured
  on a sample and scaled by the number of sentences and epochs.
* One epoch of all weights. Same step, batches of 32, padded to the longest of a batch of similar
  lengths, or to 512. Both on a sample.
* The accuracy of two heads, trained on the vectors of either implementation, on the same sample.

Usage: `python -m benchmarks.accuracy_lab [--sample 256]`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.report import Report, options
from seqviz.compute.bert_accuracy.results import TuneSettings
from seqviz.experiments.bert_accuracy import features, heads
from seqviz.experiments.bert_accuracy.encoding import vectors
from seqviz.experiments.bert_accuracy.training import (
    ClassifierTraining,
    Data,
    Progress,
    Sentences,
    batches,
)
from seqviz.models import device
from seqviz.models.pretrained import Pretrained, load
from seqviz.stats import proportions

LONG = 512  # tokens that the textbook pads to
EPOCHS = 5
SETTING: dict[str, Any] = {"rate": heads.STANDARD.head_rate, "batch": heads.STANDARD.batch}
HEAD_GOAL, FULL_GOAL = 50, 4


def pick(part: str, count: int) -> Sentences:
    """Draw sentences of a split, with lengths distributed as in the whole split."""
    labels = features.parts()[part].positive
    indices = np.random.RandomState(0).permutation(len(labels))[:count]
    ids = features.ids("minilm", part)
    return Sentences([ids[i] for i in indices], labels[indices])


def encode(model: Pretrained, ids: Sequence[np.ndarray], length: int | None) -> tuple[Any, float]:
    """Return mean vectors and the seconds that computing them took."""
    started = time.perf_counter()
    result = vectors(model, ids, length=length).mean
    return result, time.perf_counter() - started


def accuracy(existing: tuple[np.ndarray, Any], requests: tuple[np.ndarray, Any]) -> np.ndarray:
    """Train a head on the existing sentences; return which requested ones it gets right."""
    result = heads.fit(*existing, *requests, epochs=EPOCHS, **SETTING)
    return (heads.apply(result.heads[0], requests[0]) > 0.5) == requests[1]


def head_only(model: Pretrained, sample: int) -> dict[str, Any]:
    """Return seconds and accuracy of five epochs of the head, in both implementations."""
    labels = features.parts()
    ids = features.ids("minilm", "train")
    ours, reading = encode(model, ids, None)
    held, _ = encode(model, features.ids("minilm", "validation"), None)
    started = time.perf_counter()
    truth = labels["train"].positive, labels["validation"].positive
    heads.fit(ours, truth[0], held, truth[1], epochs=EPOCHS, **SETTING)
    learning = time.perf_counter() - started
    training, request = pick("train", sample), pick("test", sample)
    long, seconds = encode(model, training.ids, LONG)
    long_asked, _ = encode(model, request.ids, LONG)
    padded = EPOCHS * (seconds * len(ids) / sample + learning / EPOCHS)
    short, short_asked = (encode(model, item.ids, None)[0] for item in (training, request))
    right = [
        accuracy((v, training.positive), (w, request.positive))
        for v, w in ((short, short_asked), (long, long_asked))
    ]
    return {
        "ours_s": reading + learning,
        "reading_s": reading,
        "learning_s": learning,
        "padded_s": padded,
        "right": right,
        "vectors_differ": float(abs(long - short).max()),
    }


def epoch_of(model: Pretrained, data: Data, length: int | None) -> float:
    """Return the seconds of one epoch of all weights on the sample."""
    settings = TuneSettings("minilm", "all", "mean", epochs=1)
    run = ClassifierTraining(model, settings, 0, length)
    run.network.train()
    random = np.random.RandomState(0)
    order = batches(np.array([len(item) for item in data.train.ids]), settings.batch, random)
    progress = Progress(lambda *_: None, settings, data)
    started = time.perf_counter()
    for positions in order:
        run.step(data.train, positions, 1.0, progress)
    return time.perf_counter() - started


def main() -> None:
    sample = options(__doc__, sample=(256, "sentences padded to 512")).sample
    device.prepare_torch()
    model = load("minilm")
    head = head_only(model, sample)
    few = pick("train", sample)
    data = Data(few, few.first(1), few.first(1))
    short, long = epoch_of(model, data, None), epoch_of(model, data, LONG)
    ours, padded = head["right"]
    proportion = proportions.proportion(ours)
    report = Report("accuracy_lab")
    print(f"seconds; head only: {EPOCHS} epochs on 7,272 sentences, padded scaled from {sample}")
    report.row("head only", ours=head["ours_s"], reading=head["reading_s"],
               learning=head["learning_s"], padded=head["padded_s"])  # fmt: skip
    report.row(f"an epoch of {sample}", ours=short, padded=long)
    report.row("test accuracy", ours=proportion.share, low=proportion.low, high=proportion.high,
               padded=float(padded.mean()), largest_difference=head["vectors_differ"])  # fmt: skip
    head_speedup, full_speedup = head["padded_s"] / head["ours_s"], long / short
    report.values |= {
        "head_speedup": round(head_speedup, 1),
        "full_speedup": round(full_speedup, 1),
        "accuracy_gap": float(ours.mean() - padded.mean()),
        "goals": {
            "head": head_speedup >= HEAD_GOAL,
            "full": full_speedup >= FULL_GOAL,
            "accuracy": bool(proportion.low <= padded.mean() <= proportion.high),
        },
    }
    report.finish(at_least={"head_speedup": HEAD_GOAL, "full_speedup": FULL_GOAL})


if __name__ == "__main__":
    main()
