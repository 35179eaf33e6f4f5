"""What holds for every training: its seed, its reports, its cancel, its settings."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import fit_network
from seqviz.compute.bert_accuracy.results import TuneSettings
from seqviz.compute.gates.tiny import TinySettings, train_tiny
from seqviz.compute.language_models import window_training
from seqviz.compute.language_models.window_training import WindowSettings
from seqviz.compute.positions.tiny import OrderSettings, train
from seqviz.compute.training.loop import TrainingRecord, run
from seqviz.compute.training.progress import Pulse, moments
from seqviz.compute.training.settings import Settings
from seqviz.compute.transformer.learning import StackSettings
from seqviz.compute.transformer.pair import PairSettings
from seqviz.compute.transformer.pair_training import train_pair
from seqviz.compute.transformer.stack_training import train_stacks
from seqviz.compute.vanishing_gradients.recall import RecallSettings, compare, find_longest_delay
from seqviz.core import content_hash
from seqviz.core.errors import UserError
from seqviz.jobs import JobQueue


@dataclass(frozen=True)
class Training:
    """One training. before: its arguments before the settings. many: with a great many updates.

    heavy: so heavy that fifty reports are seconds apart.
    """

    function: Callable[..., Any]
    small: Any
    many: Any
    before: tuple[Any, ...] = ()
    heavy: Any = None

    def __call__(self, settings: Any, report: Callable[[Any], None] | None = None) -> Any:
        return self.function(*self.before, settings, report)


SERIES = np.random.RandomState(0).normal(size=40).cumsum()
RECALL = RecallSettings(delay=4, hidden=6, batch=8, updates=5, learning_rate=0.01)
SHORT = RecallSettings(delay=2, hidden=8, batch=8, updates=20, cells=("rnn", "gru"))
ORDER = OrderSettings("copy", 6, updates=3, runs=2, encodings=("none", "learned", "alibi"))
TINY = TinySettings("parity", "gru", hidden=4, updates=20, batch=16)
PAIR = PairSettings(updates=3)
WINDOW = WindowSettings(words=10, updates=3)
STACKS = StackSettings(blocks=1, updates=3, runs=2)
FORECAST = NetworkSettings(cell="gru", hidden=3, epochs=4, train=0.5, validation=0.5)
TRAININGS = {
    "compare": Training(
        compare,
        RECALL,
        replace(RECALL, updates=3000),
        heavy=RecallSettings(delay=200, hidden=64, batch=128, updates=3000),
    ),
    "find_longest_delay": Training(find_longest_delay, SHORT, replace(SHORT, updates=3000)),
    "order": Training(
        train,
        ORDER,
        replace(ORDER, updates=1000),
        heavy=OrderSettings("copy", 12, updates=1000, runs=5),
    ),
    "tiny": Training(train_tiny, TINY, replace(TINY, updates=10_000)),
    "pair": Training(train_pair, PAIR, replace(PAIR, updates=2000)),
    "stacks": Training(
        train_stacks,
        STACKS,
        replace(STACKS, updates=1000),
        heavy=StackSettings(blocks=12, updates=1000),
    ),
    "window": Training(
        window_training.train,
        WINDOW,
        replace(WINDOW, updates=2000),
        (np.ones((9, 3), int), np.arange(9), tuple("abcdefghij")),
    ),
    "forecaster": Training(fit_network, FORECAST, replace(FORECAST, epochs=10_000), (SERIES,)),
}
every = pytest.mark.parametrize("training", TRAININGS.values(), ids=TRAININGS.keys())


def numbers(result: Any, location: str = "") -> Iterator[tuple[str, object]]:
    """All that a result is made of, bit by bit, but how long it took."""
    if dataclasses.is_dataclass(result):
        for part in dataclasses.fields(result):
            if part.name not in ("seconds", "settings"):
                yield from numbers(getattr(result, part.name), f"{location}.{part.name}")
    elif isinstance(result, tuple | list):
        for i, part in enumerate(result):
            yield from numbers(part, f"{location}[{i}]")
    else:
        exact = (result.shape, result.tobytes()) if isinstance(result, np.ndarray) else result
        yield location, "nan" if exact != exact else exact


# --- the same again -----------------------------------------------------------------------------


@every
def test_training_is_determined_by_seed(training):
    """The global generators are neither read nor written."""
    once = dict(numbers(training(training.small)))
    torch.manual_seed(11)
    np.random.seed(11)
    before, of_numpy = torch.random.get_rng_state(), np.random.get_state()[1]
    assert dict(numbers(training(training.small))) == once
    assert dict(numbers(training(replace(training.small, seed=1)))) != once
    assert torch.equal(torch.random.get_rng_state(), before)
    np.testing.assert_array_equal(np.random.get_state()[1], of_numpy)


@every
def test_training_is_reproducible_across_threads(training):
    settings = [replace(training.small, seed=seed) for seed in range(2)]
    alone = [dict(numbers(training(setting))) for setting in settings]
    got: list[Any] = [None] * len(settings)
    together = threading.Barrier(len(settings))

    def work(i: int) -> None:
        together.wait(30)
        got[i] = dict(numbers(training(settings[i])))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(settings))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert got == alone


# --- reports, stop and cancel -------------------------------------------------------------------


@every
def test_training_reports_increasing_fraction(training):
    shares = []
    training(training.small, lambda record: shares.append(record.fraction))
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1


@every
def test_training_stops_if_report_raises(training):
    class Stop(Exception):
        pass

    payloads = []

    def report(record: Any) -> None:
        payloads.append(record)
        if len(payloads) == 3:
            raise Stop

    with pytest.raises(Stop):
        training(training.many, report)
    assert len(payloads) == 3


@pytest.mark.timing
@pytest.mark.parametrize("name", [name for name, training in TRAININGS.items() if training.heavy])
def test_training_job_cancels_within_two_seconds(name):
    training, jobs = TRAININGS[name], JobQueue()
    try:
        job = jobs.submit(training.function, training.heavy, owner="a student")
        deadline = time.monotonic() + 60
        while not job.trail and time.monotonic() < deadline:
            time.sleep(0.02)
        assert job.state == "running"
        left = time.monotonic()
        job.unsubscribe("a student")
        assert job.wait(20)
        # 0.4 s between beats and one update of one network (60 ms); the rest is a busy machine
        assert time.monotonic() - left < 2
        assert job.state == "cancelled"
    finally:
        jobs.close()


@pytest.mark.parametrize("updates", [1, 2, 49, 50, 51, 99, 101, 600, 3000])
def test_moments_span_updates_with_bounded_count(updates):
    got = moments(updates)
    assert got[0] == 0
    assert got[-1] == updates
    assert len(set(got)) == len(got)
    assert got == sorted(got)
    assert len(got) <= 52
    assert updates < 50 or len(got) >= 26


def test_pulse_repeats_latest_record_after_interval():
    observed = []
    pulse = Pulse(observed.append)
    time.sleep(0.45)
    pulse.beat()
    assert observed == []  # nothing to repeat yet
    pulse.report("a")
    pulse.beat()
    assert observed == ["a"]
    time.sleep(0.45)
    pulse.beat()
    assert observed == ["a", "a"]
    Pulse(None).report("nobody listens")


@pytest.mark.parametrize("untrained", [True, False])
def test_run_updates_in_order_and_records_moments(untrained):
    created, payload = [], []
    records = run(
        created.append,
        lambda done, new: (done, new, len(created)),
        70,
        Pulse(payload.append),
        untrained=untrained,
    )
    assert created == list(range(70))
    assert [record[0] for record in records] == moments(70)[0 if untrained else 1 :]
    assert all(done == updates for done, _, updates in records)
    assert sum(new for _, new, _ in records) == 70
    assert payload[0] == (0, 0, 0)  # at once: a report is where it hears that nobody wants it
    assert tuple(dict.fromkeys(payload))[0 if untrained else 1 :] == records


def test_run_stops_on_record():
    built = []
    records = run(
        built.append,
        lambda done, new: TrainingRecord(done, 10),
        10,
        Pulse(None),
        stop=lambda record: record.fraction >= 0.3,
    )
    assert [record.update for record in records] == [0, 1, 2, 3]
    assert built == [0, 1, 2]


# --- settings -----------------------------------------------------------------------------------


@every
def test_settings_hash_by_value(training):
    item, two, other = (
        content_hash.hash_call(training.function, (*training.before, settings), {})
        for settings in (training.small, replace(training.small), training.many)
    )
    assert item == two != other


BAD = [
    (WindowSettings, {"words": 9}, "words must be between 10 and 10000, not 9"),
    (WindowSettings, {"updates": 0}, "updates must be between"),
    (RecallSettings, {"task": "copy"}, "The task must be one of first, adding, not 'copy'"),
    (RecallSettings, {"cells": ("rnn", "mlp")}, "must be one of rnn, lstm, gru, not 'mlp'"),
    (RecallSettings, {"cells": ("rnn", "rnn")}, "A cell is chosen once, not as in rnn, rnn"),
    (RecallSettings, {"delay": 0}, "delay must be between 1 and 200, not 0"),
    (RecallSettings, {"delay": 201}, "delay must be between 1 and 200"),
    (RecallSettings, {"hidden": 0}, "hidden must be between"),
    (RecallSettings, {"batch": 129}, "batch must be between"),
    (RecallSettings, {"updates": 0}, "updates must be between"),
    (RecallSettings, {"learning_rate": 0.0}, "learning rate must be positive, not 0.0"),
    (RecallSettings, {"learning_rate": math.nan}, "learning rate must be positive"),
    (RecallSettings, {"optimizer": "rmsprop"}, "optimizer must be one of adam, sgd"),
    (RecallSettings, {"clip": 0.0}, "gradient norm must be positive"),
    (RecallSettings, {"clip": math.inf}, "gradient norm must be positive"),
    (RecallSettings, {"forget_bias": 11.0}, "forget bias must be between -10 and 10, not 11"),
    (RecallSettings, {"forget_bias": math.nan}, "forget bias must be between"),
    (RecallSettings, {"seed": -1}, "seed must be between 0 and 4294967295"),
    (OrderSettings, {"task": "shift"}, "task must be one of before, copy"),
    (OrderSettings, {"encodings": ("none", "t5")}, "must be one of none, sinusoidal.*not 't5'"),
    (OrderSettings, {"encodings": ("none", "none")}, "An encoding is chosen once"),
    (OrderSettings, {"length": 5}, "length must be between 6 and 12, not 5"),
    (OrderSettings, {"length": 13}, "length must be between 6 and 12"),
    (OrderSettings, {"updates": 0}, "updates must be between"),
    (OrderSettings, {"runs": 6}, "runs must be between"),
    (OrderSettings, {"seed": -1}, "seed must be between"),
    (TinySettings, {"task": "sort"}, "task must be one of latch, count"),
    (TinySettings, {"cell": "rnn"}, "cell must be one of lstm, gru, not 'rnn'"),
    (TinySettings, {"length": 2}, "length must be at least 3, not 2"),
    (TinySettings, {"rate": -0.1}, "learning rate must be positive"),
    (TinySettings, {"updates": 0}, "updates must be at least 1"),
    (TinySettings, {"seed": 2**32}, "seed must be between"),
    (PairSettings, {"language": "german"}, "language must be one of english, chinese"),
    (PairSettings, {"seed": -1}, "seed must be between"),
    (PairSettings, {"updates": 0}, "updates must be between"),
    (StackSettings, {"blocks": 13}, "blocks must be between 1 and 12, not 13"),
    (StackSettings, {"rate": 0.0}, "learning rate must be positive"),
    (StackSettings, {"seed": -1}, "seed must be between"),
    (StackSettings, {"updates": 1001}, "updates must be between"),
    (StackSettings, {"warm_up": 0}, "warm_up must be between"),
    (StackSettings, {"runs": 6}, "runs must be between"),
    (NetworkSettings, {"cell": "transformer"}, "cell must be one of"),
    (NetworkSettings, {"optimizer": "lbfgs"}, "optimizer must be"),
    (NetworkSettings, {"lags": 0}, "lags must be at least 1"),
    (NetworkSettings, {"hidden": 0}, "hidden must be at least 1"),
    (NetworkSettings, {"layers": 0}, "layers must be at least 1"),
    (NetworkSettings, {"epochs": 0}, "epochs must be at least 1"),
    (NetworkSettings, {"learning_rate": 0.0}, "learning rate must be positive"),
    (NetworkSettings, {"learning_rate": math.nan}, "learning rate must be positive"),
    (NetworkSettings, {"train": 0.0}, "training fraction"),
    (NetworkSettings, {"train": 1.1}, "training fraction"),
    (NetworkSettings, {"validation": 0.1}, "validation fraction"),
    (NetworkSettings, {"train": 0.5, "validation": -0.1}, "validation fraction"),
    (NetworkSettings, {"train": 0.5, "validation": 0.6}, "validation fraction"),
    (NetworkSettings, {"seed": -1}, "seed must be"),
    (TuneSettings, {"regime": "none"}, "regime must be one of random, head"),
    (TuneSettings, {"batch": 0}, "batch must be at least 1"),
    (TuneSettings, {"runs": 0}, "runs must be at least 1"),
]


@pytest.mark.parametrize(("kind", "change", "message"), BAD)
def test_settings_reject_bad_values(kind, change, message):
    with pytest.raises(ValueError, match=message):
        kind(**change)


@pytest.mark.parametrize(
    ("kind", "change", "code"),
    [
        (RecallSettings, {"cells": ()}, "no_cells"),
        (OrderSettings, {"encodings": ()}, "no_encodings"),
    ],
)
def test_settings_reject_empty_selection(kind, change, code):
    with pytest.raises(UserError, match="Choose at least one") as refused:
        kind(**change)
    assert refused.value.code == code


def test_settings_limits_name_existing_fields():
    kinds = Settings.__subclasses__()
    assert {kind for kind, _, _ in BAD} == set(kinds)
    for kind in kinds:
        kind()  # the defaults are within
        assert set(kind.limits) <= {field.name for field in dataclasses.fields(kind)}, kind
