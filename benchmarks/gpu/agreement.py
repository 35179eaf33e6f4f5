"""Agreement of torch computations of the lessons: the device against the CPU in float32.

`SUBJECTS` is the table: every function of `seqviz.compute` and `seqviz.experiments` that takes a
device or runs a network, called as the lessons call it, with smaller inputs. A result is compared
number by number, and its metrics are formatted as the page formats them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy_lab import pick
from benchmarks.gpu.machine import (
    CPU,
    HALVES,
    PRECISIONS,
    Machine,
    SkipRowError,
    described,
    models_at,
    precision,
)
from seqviz.compute.ar_fitting import replicate_paths
from seqviz.compute.ar_fitting.network_settings import CELLS, NetworkSettings
from seqviz.compute.ar_fitting.networks import fit_network
from seqviz.compute.bert_accuracy.results import FillSettings, TuneSettings
from seqviz.compute.gates.tiny import TinySettings, train_tiny
from seqviz.compute.positions.tiny import OrderSettings, train
from seqviz.compute.transformer.learning import StackSettings
from seqviz.compute.transformer.pair import PairSettings
from seqviz.compute.transformer.pair_training import train_pair
from seqviz.compute.transformer.stack_training import train_stacks
from seqviz.compute.vanishing_gradients import GradientExperiment, pair_norms
from seqviz.compute.vanishing_gradients.recall import RecallSettings, compare, find_longest_delay
from seqviz.core.i18n import format_value
from seqviz.core.units import NUMBER, Unit, unit_of
from seqviz.data.reviews import sentiment_split
from seqviz.experiments import attention, positions
from seqviz.experiments.attention import head_effects, head_trials, trained_layer
from seqviz.experiments.bert_accuracy import encoding, fill, heads, importance, modes, padding
from seqviz.experiments.bert_accuracy.direction import direction
from seqviz.experiments.bert_accuracy.training import ClassifierTraining, Data, Progress
from seqviz.experiments.bert_accuracy.word_masking import controls, mask_words
from seqviz.experiments.gpt.beam import beam
from seqviz.experiments.gpt.continuation import greedy
from seqviz.experiments.gpt.futures import futures
from seqviz.models import forward_cache
from seqviz.models.forward_cache import Masking
from seqviz.models.pretrained import load

TEXT = "The animal did not cross the street because it was too tired."
OTHER = "A film that is neither funny nor sad, only long."
PIXEL = 1.0  # largest invisible distance; of a color, one of its 255 levels
TOLERANCE = 1e-4  # largest relative difference allowed in float32
_STRINGS = 2000  # maximum number of formatted numbers per array, evenly spaced
# Fields that are no results: times, machine names, and the requested settings.
_NO_RESULT = frozenset({"seconds", "device", "note", "settings"})


class Subject(NamedTuple):
    """One row of the table.

    Attributes:
        work: computes a result from (device, small).
        models: names of required pretrained models.
        numpy: True where the CPU version does not use torch, so that torch's precision does not
            change it.
        full: True where the work takes too long for a CPU run of one minute.
    """

    work: Callable[[str, bool], Any]
    models: tuple[str, ...] = ()
    numpy: bool = False
    full: bool = False


@dataclasses.dataclass
class Difference:
    """Difference of two results over all arrays, of floats and of choices.

    Attributes:
        largest: largest |a - b| over the largest |b| of the array; nan without floats.
        median: median of the same ratio; nan without floats.
        choices: share of integers, booleans and words that differ.
        printed: share of numbers, metrics included, that are formatted differently.
    """

    largest: float
    median: float
    choices: float
    printed: float


@dataclasses.dataclass
class VisibleDifference:
    """Differences on the pages of a lesson (`visible_differences`).

    Attributes:
        benches: compared benches, with the difference of each in pixels.
        pixels: largest distance of two points of a figure.
        levels: largest distance of two colors, of 255 levels.
        words: share of metrics, sentences and labels that differ.
        refused: number of exercise variants, of `exercises`, that would reject the device's answer.
        skipped: benches without a comparison, and why.
    """

    pixels: float = 0.0
    levels: float = 0.0
    words: float = 0.0
    refused: int = 0
    exercises: int = 0
    benches: dict[str, float] = dataclasses.field(default_factory=dict)
    skipped: dict[str, str] = dataclasses.field(default_factory=dict)


def leaves(result: Any, unit: Unit = NUMBER) -> Iterator[tuple[np.ndarray, Unit]]:
    """Yield every array, number and word of a result, and its metrics (properties), with units."""
    if dataclasses.is_dataclass(result):
        kind: Any = type(result)
        fields = [field.name for field in dataclasses.fields(result)]
        visible = [n for n in dir(kind) if isinstance(getattr(kind, n), property) and n[0] != "_"]
        for name in (*fields, *visible):
            if name in _NO_RESULT:
                continue
            with contextlib.suppress(ValueError):  # a metric that this result does not have
                yield from leaves(getattr(result, name), unit_of(kind, name))
    elif isinstance(result, (tuple, list)):
        for part in result:
            yield from leaves(part, unit)
    elif isinstance(result, (np.ndarray, float, int, str, np.generic)):
        yield np.asarray(result), unit


def difference(result: Any, requested: Any) -> Difference:
    """Compare a result with the expected one.

    Raises ValueError if their shapes differ, or if there is nothing to compare.
    """
    apart, others, printed = [np.zeros(1)], [np.zeros(1)], [np.zeros(1)]
    for (a, unit), (b, _) in zip(leaves(result), leaves(requested), strict=True):
        if a.shape != b.shape:
            raise ValueError(f"the shapes {a.shape} and {b.shape} differ")
        if b.dtype.kind not in "fc":
            others.append((a != b).ravel())
            continue
        a, b = a.ravel().astype(float), b.ravel().astype(float)
        both = np.isfinite(a) & np.isfinite(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        scale = np.abs(b[both]).max(initial=0.0) or 1.0
        with np.errstate(invalid="ignore"):
            relative = np.abs(a - b) / scale
        apart.append(np.where(both, relative, np.where(same, 0.0, math.inf)))
        every = slice(None, None, max(1, len(a) // _STRINGS))
        pairs = zip(a[every].tolist(), b[every].tolist(), strict=True)
        printed.append(np.array([format_value(x, unit) != format_value(y, unit) for x, y in pairs]))
    if len(apart) == len(others) == 1:
        raise ValueError("there is nothing to compare")
    # The leading zeros serve results without such parts.
    every_apart, choices, strings = (
        np.concatenate(parts)[len(parts) > 1 :] for parts in (apart, others, printed)
    )
    return Difference(
        float(every_apart.max(initial=0.0)) if len(apart) > 1 else math.nan,
        float(np.median(every_apart)),
        float(choices.mean()),
        float(strings.mean()),
    )


_expected: dict[str, Any] = {}
"""Results of the CPU in float32 by row, for the precisions that are compared later."""


def row(
    name: str, machine: Machine, modes: tuple[str, ...] = PRECISIONS
) -> dict[str, Difference | str]:
    """Return one row: the difference by precision, or why there is none."""
    subject = SUBJECTS[name]
    if machine.small and subject.full:
        raise SkipRowError("too long for a CPU in a minute")
    if name not in _expected:
        models_at(CPU, subject.models)
        with precision("float32", CPU):
            _expected[name] = subject.work(CPU, machine.small)
    requested = _expected[name]
    result: dict[str, Difference | str] = {}
    for mode in modes:
        try:
            if mode in HALVES and subject.numpy and machine.place == CPU:
                raise SkipRowError("numpy computes it on a CPU")
            models_at(machine.place, subject.models)
            with precision(mode, machine.place):
                result[mode] = difference(subject.work(machine.place, machine.small), requested)
        except Exception as error:  # of any kind, since other precisions can still be measured
            result[mode] = described(error)
    return result


def tasks(
    machine: Machine, modes: tuple[str, ...]
) -> dict[str, Callable[[], dict[str, Difference | str]]]:
    """Return the comparison of each row by name, in some of `PRECISIONS`."""
    return {name: partial(row, name, machine, modes) for name in SUBJECTS}


def _importance(location: str, small: bool) -> Any:
    item, head = load("minilm"), heads.standard_head("minilm")
    ids = encoding.tokenize(item, [TEXT, OTHER])
    by_gradient = importance.gradient_times_input(item, ids, head, "mean")
    return importance.attention_received(item, ids), by_gradient


def _padding(location: str, small: bool) -> Any:
    lengths = (32,) if small else (32, 128, 512)
    own = padding.pad_user_text("minilm", TEXT, lengths)
    return own, padding.pads_in_mean("minilm", 2, lengths)


def _fill(location: str, small: bool) -> Any:
    corrupted = fill.fill_in(FillSettings(sentences=4 if small else 64))
    both = fill.guesses("minilm", TEXT, 2), fill.guesses_by_direction("minilm", TEXT, 2)
    return corrupted.rank, corrupted.treatment, both


def _vectors(location: str, small: bool) -> Any:
    texts = sentiment_split()[1].texts[: 16 if small else 256]
    return encoding.vectors(load("minilm"), encoding.tokenize(load("minilm"), texts))


def _tuning(location: str, small: bool) -> Any:
    """Return the first steps of all weights, and the answers.

    Dropout is off, because devices draw different masks.
    """
    settings = TuneSettings("minilm", "all", "mean", epochs=1, batch=2 if small else 32)
    steps = 1 if small else 3
    few = pick("train", steps * settings.batch)
    data = Data(few, few, few)
    progress, run = (
        Progress(lambda *_: None, settings, data),
        ClassifierTraining(load("minilm"), settings, 0),
    )
    run.network.eval()
    run.dropout = 0.0
    positions = np.arange(len(few.ids)).reshape(steps, -1)
    return [run.step(few, some, 1.0, progress) for some in positions], run.judge(few, progress)


def _written() -> Any:
    """Return a greedy text, beams and a tree."""
    model = "smollm2"
    return greedy(model, TEXT, 8).bits, beam(model, TEXT).log, futures(model, TEXT, passes=4).log


def _updates(small: bool) -> int:
    return 3 if small else 30


def _network(cell: str) -> Callable[[str, bool], Any]:
    """Return an AR network with this cell, on one path of an AR(1)."""
    return lambda position, small: fit_network(
        replicate_paths(0.8, 200, 2)[0],
        NetworkSettings(cell, lags=4, epochs=_updates(small), train=0.7, validation=0.2),
        device=position,
    )


def _gates(cell: str) -> Callable[[str, bool], Any]:
    return lambda position, small: train_tiny(
        TinySettings(cell=cell, updates=_updates(small)), device=position
    )


def _pairs(cell: str, norm: str) -> Callable[[str, bool], Any]:
    return lambda position, small: pair_norms(
        GradientExperiment(cell, *((24, 16) if small else (100, 64))),
        norm=norm,
        stride=1,
        device=position,
    )


_MINILM = ("minilm",)
SUBJECTS: dict[str, Subject] = {
    "all pairs, RNN": Subject(_pairs("rnn", "rms"), numpy=True),
    "all pairs, LSTM, singular values": Subject(_pairs("lstm", "largest"), numpy=True),
    **{f"AR network, {cell}": Subject(_network(cell)) for cell in CELLS},
    "recall, three cells": Subject(
        lambda position, small: compare(
            RecallSettings(delay=10, updates=_updates(small)), device=position
        )
    ),
    "longest delay": Subject(
        lambda position, small: find_longest_delay(
            RecallSettings(delay=1, updates=_updates(small)), device=position
        )
    ),
    **{f"gates, {cell}": Subject(_gates(cell)) for cell in ("lstm", "gru")},
    "order of letters": Subject(
        lambda position, small: train(
            OrderSettings(length=6, updates=_updates(small), runs=1), device=position
        ),
        full=True,
    ),
    "order of letters, rotary": Subject(
        lambda position, small: train(
            OrderSettings(length=6, encodings=("rotary",), updates=2, runs=1), device=position
        )
    ),
    "stacks of blocks": Subject(
        lambda position, small: train_stacks(
            StackSettings(blocks=2, updates=_updates(small), runs=1), device=position
        )
    ),
    "encoder and decoder": Subject(
        lambda position, small: (
            train_pair(PairSettings(updates=_updates(small)), device=position).loss
        )
    ),
    "MiniLM, one text": Subject(lambda *_: forward_cache.read("minilm", TEXT), _MINILM),
    "stages of one layer": Subject(lambda *_: trained_layer.walk_layer("minilm", TEXT, 2), _MINILM),
    "stages of one head": Subject(lambda *_: attention.parts("minilm", TEXT, "", 2, 3), _MINILM),
    "two heads off": Subject(
        lambda *_: attention.ablate("minilm", TEXT, OTHER, ((0, 1), (5, 2))), _MINILM
    ),
    "another mask": Subject(
        lambda *_: attention.masked("minilm", TEXT, Masking("causal")), _MINILM
    ),
    "each head off": Subject(lambda *_: head_effects.each_head("minilm", TEXT), _MINILM, full=True),
    "mean outputs": Subject(lambda *_: head_effects.mean_outputs("minilm"), _MINILM, full=True),
    "heads on repeated tokens": Subject(
        lambda *_: head_trials.try_heads("repeated", "minilm"), _MINILM, full=True
    ),
    "other positions": Subject(lambda *_: positions.reordered("minilm", TEXT, OTHER), _MINILM),
    "evaluation mode": Subject(
        lambda *_: modes.modes("minilm", TEXT, repeats=2).probability[0], _MINILM
    ),
    "importance of words": Subject(_importance, _MINILM),
    "padding": Subject(_padding, _MINILM),
    "filling in": Subject(_fill, _MINILM),
    "words masked": Subject(
        lambda position, small: mask_words("minilm", 2 if small else 32, (0.0, 0.5)), _MINILM
    ),
    "words deleted": Subject(
        lambda *_: controls("minilm", 16, (0.5,), training=64), _MINILM, full=True
    ),
    "directions": Subject(lambda *_: direction("minilm", 64, training=256), _MINILM, full=True),
    "sentence vectors": Subject(_vectors, _MINILM),
    "training, first steps": Subject(_tuning, _MINILM),
    "SmolLM2, one text": Subject(
        lambda *_: forward_cache.read("smollm2", TEXT), ("smollm2",), full=True
    ),
    "SmolLM2, written": Subject(lambda *_: _written(), ("smollm2",), full=True),
}
# Functions without a row that take a device, or report as a job of the queue's device; the reasons.
LEFT_OUT = {
    "fill": "as fill_bundled",
    "fill_bundled": "forwards of SmolLM2 as in greedy, and of MiniLM as in fill_in",
    "time_sides": "processor time, of the passes of greedy and fill_in",
    "agreement_by_distance": "next words by numpy, and forwards of SmolLM2 as in greedy",
    "bits_by_amount": "counts by numpy",
    "bits_per_character": "scores of texts by numpy, and forwards of SmolLM2 as in greedy",
    "held_out_texts": "counts by numpy",
    "copying_by_order": "counts and draws by numpy",
    "train_window": "a small network trained on the CPU, whatever the device",
    "compare_blocks": "small networks trained on the CPU, whatever the device",
    "cbow": "a table trained by torch on the CPU, whatever the device",
    "account_capitals": "outputs of the functional forward, times rows of a table by numpy",
    "analogies": "cosines of a table by numpy",
    "baselines": "scikit-learn, and networks of the lesson on gates by numpy",
    "by_method": "the passes of greedy and beams, with draws by numpy",
    "compare_seeds": "networks of train_recall, at each seed",
    "compare_ahead": "networks of train_taggers that read a few signs ahead, for each seed",
    "compare_joined": "networks of train_taggers whose directions are added or multiplied",
    "compare_tied": "GRU word models, trained in eighteen runs; the loop is that of train_taggers",
    "compare_taggers": "networks of train_taggers, for each wiring and seed",
    "copy_twice": "passes of the functional forward, as in attention's heads switched off",
    "decoder_parts": "one pass of the functional forward, with shares by numpy",
    "errors_of_seeds": "networks of train_taggers, at each seed",
    "features": "sentence vectors, as of plain passes",
    "few_shots": "answers, right or wrong, behind passes with a cache as in greedy",
    "fill_in_by_share": "fill_in, for each share",
    "fit_lens": "plain passes, then least squares by numpy",
    "fit_windows": "fit_network, for each window",
    "fit_standard": "a head by numpy, on sentence vectors",
    "lac_changes": "states and tags by numpy",
    "make": "sentence vectors, onto the disk",
    "padding": "the passes of own_padding, on reviews",
    "permute_many": "plain passes, with rows of the table moved",
    "ranked": "passes of fill_in, and sorting",
    "remove": "passes of the functional forward, as in attention's heads switched off",
    "remove_from_many": "remove, for each text",
    "sampled": "the passes of greedy, with draws by numpy",
    "search": "heads by numpy, on sentence vectors",
    "searches": "search, for each setting",
    "sense_pairs": "plain passes, and cosines by numpy",
    "skip_grams": "a table trained by torch on the CPU, whatever the device",
    "substitutes": "skip_grams for each window and seed, and a decomposition by numpy",
    "surface": "heads by numpy, on sentence vectors",
    "time_cache": "milliseconds, which differ by design",
    "time_passes": "milliseconds, which differ by design",
    "time_steps": "milliseconds, which differ by design",
    "train_taggers": "updates of torch's GRU by Adam, as in recall, three cells",
    "tune": "steps of a Run, as in the first steps of a training",
    "tune_again": "tune, with another seed",
    "compare_decoding": "greedy, beams, draws and the passes of futures behind one prompt",
    "train_tokenizer": "counts of integers by numpy",
}
