"""The simulated course: a clock that can be checked by hand, and what the command writes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import engine
from benchmarks.engine import MOST, Law, fitted, machines, needed, percentiles, waits

LAW = Law(0.008, 0.016, 0.01)


def test_waits_serves_first_request_alone_then_batches_rest():
    item, many = LAW.fixed + LAW.each, 2 * MOST + 1
    assert waits(LAW, 1, [0.0]) == pytest.approx([item + LAW.way])
    full = LAW.fixed + LAW.each * MOST
    passes = [item] + [item + full] * MOST + [item + 2 * full] * MOST
    assert waits(LAW, 1, [0.0] * many) == pytest.approx(np.array(passes) + LAW.way)
    assert waits(LAW, 1, [0.0, 1.0]) == pytest.approx([item + LAW.way] * 2)


def test_waits_second_replica_halves_longest_wait():
    """Every text is answered, and a second replica takes half of the work."""
    first = [0.001 * n for n in range(500)]
    alone, two = (waits(LAW, replicas, first) for replicas in (1, 2))
    assert len(alone) == len(two) == 500
    assert alone.max() == pytest.approx(500 * LAW.each + 17 * LAW.fixed + LAW.way - 0.499, abs=0.3)
    assert two.max() == pytest.approx(alone.max() / 2, rel=0.2)


def test_waits_repeats_requests_after_think_time():
    """Ten of them never fill a quick replica: each has a cycle of its own."""
    quick = Law(0.0, 1e-6, 0.1)
    result = waits(quick, 1, [0.0] * 10, lambda draw: 0.4, 5.0)
    assert len(result) == 10 * math.ceil(5.0 / 0.5)
    assert result == pytest.approx(0.1, abs=1e-3)


def test_fitted_recovers_simulated_law():
    measured = {n: percentiles(waits(LAW, 1, [0.0] * n)) for n in engine.FITTED}
    for name, value in vars(fitted(measured)).items():
        assert value == pytest.approx(getattr(LAW, name), rel=0.02), name


def test_machines_scales_replicas_within_p95_goal():
    small, large = (machines(LAW, 0.4, students) for students in (100, 5000))
    assert (small["apps"], small["machines"]) == (1, 1)
    assert large["replicas"] > small["replicas"]
    assert large["p95_ms"] <= 200
    replicas, _ = needed(LAW, 5000)
    assert replicas > 5000 / 60 * LAW.each  # else a queue would grow for ever


def test_put_replaces_only_marked_block(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("# Before\n")
    engine.put(path, "one")
    engine.put(path, "two")
    assert path.read_text() == f"# Before\n\n{engine.BEGIN}\n\ntwo\n\n{engine.END}\n"
    path.write_text(f"{path.read_text()}\nAfter\n")
    engine.put(path, "three")
    assert path.read_text().startswith("# Before\n\n")
    assert "three" in path.read_text()
    assert path.read_text().endswith(f"{engine.END}\n\nAfter\n")
