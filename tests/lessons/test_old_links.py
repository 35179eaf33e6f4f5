"""Links of the first edition (39cb03d) open the same figures: their numbers are those of that day.

`tests/fixtures/old_links.json` was written there, by visiting each lesson with these links in all
of its views: for each figure the lists of numbers that it draws, each told by its length, its
largest size, and two sums (`told`). Not among them: `back` of vanishing gradients, whose table has
lengths of gradients now and not places of circles, and `search` of masked or not, which looks for
its learning rate in a wider range. `ablate` of attention opened with head 0.2 off, which its link
says now: it opens with another one. `knife` of masked or not opened with all its lines, which its
link says now: it opens with two of them.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Bench
from tests.shared_fixtures import models_of

FIXTURE = Path(__file__).parents[1] / "fixtures" / "old_links.json"
ROWS = json.loads(FIXTURE.read_text("utf-8"))


def told(values: Any) -> list[float]:
    """A list of numbers by its length, largest size, and, divided by it, two weighted sums.

    Not the numbers rounded: where one lies between two, the processor decides. Of more than five
    thousand the sums are left out, as in them its rounding is as large as a fault would be.
    """
    flat = np.ravel(np.asarray(values, float))
    flat = np.where(np.isfinite(flat), flat, 0.0)
    size = np.abs(flat).max(initial=0) or 1.0
    angle = np.arange(1, flat.size + 1) * (1 + np.sqrt(5)) / 2
    sums = [] if flat.size > 5000 else [np.cos(angle) @ flat / size, np.sin(angle) @ flat / size]
    return [flat.size, float(f"{size:.4g}"), *np.round(sums, 4).tolist()]


def same(left: list[float], right: list[float]) -> bool:
    """Whether two lists are told alike, but for the last bits in which processors differ."""
    if left[0] != right[0] or len(left) != len(right):
        return False
    return bool(
        np.allclose(left[1:2], right[1:2], rtol=2e-3)
        and np.allclose(left[2:], right[2:], rtol=0, atol=5e-4)
    )


def drawn(figure: Any) -> list[list[float]]:
    """What a figure draws, list by list: heights, cells, and the lengths of bars that lie."""
    results = []
    for trace in figure.traces:
        keys = ("y", "z", "x") if trace.get("orientation") == "h" else ("y", "z")
        for key in keys:
            values = trace.get(key)
            if values is None or (trace.get("hoverinfo") == "skip" and key != "x"):
                continue
            try:
                flat = np.ravel([np.nan if v is None else v for v in np.ravel(values)]).astype(
                    float
                )
            except ValueError:  # names
                continue
            if flat.size >= 3:
                results.append(told(flat))
    return sorted(results)


def values(bench: Bench, link: dict[str, str]) -> dict[str, Any]:
    """The settings of a link that a bench reads: its own, and those of the benches above."""
    result = {}
    for name in (bench.name, *bench.after):
        item = bench.lesson.benches[name]
        for key, control in controls.controls(item.declaration):
            if (raw := link.get(f"{item.prefix}.{key}")) is not None:
                result[key if item is bench else f"{name}.{key}"] = control.parse(raw)
    return result


@pytest.mark.parametrize("slug", sorted({row["lesson"] for row in ROWS}))
def test_old_link_opens_same_figure(slug, request):
    models_of(slug, request)
    benches = import_module(f"seqviz.lessons.{slug}").lesson.benches
    rows = [row for row in ROWS if row["lesson"] == slug]
    other = {}
    for row in rows:
        bench = benches[row["bench"]]
        settings = values(bench, row["link"])
        result = drawn(bench.run(settings).figure)
        if missing := [
            item for item in row["numbers"] if not any(same(item, new) for new in result)
        ]:
            other[f"{row['bench']} {settings}"] = {"missing": missing, "found": result}
    assert rows
    assert not other
