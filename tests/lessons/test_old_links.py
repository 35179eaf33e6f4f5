"""Links of the first edition (39cb03d) open the same figures: their numbers are those of that day.

`tests/fixtures/old_links.json` was written there, by visiting each lesson with these links in all
of its views: for each figure the lists of numbers that it draws, each as a digest with its length
and its largest size.
"""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqviz.lessons.bench import controls
from seqviz.lessons.bench.lesson import Bench

ROUNDING = 1e-9  # what is no larger is the last bit of a sum
FIXTURE = Path(__file__).parents[1] / "fixtures" / "old_links.json"
ROWS = json.loads(FIXTURE.read_text("utf-8"))
MODELS = {"attention": ("minilm",), "positions": ("minilm",), "bert_accuracy": ("vectors",)}
# What is drawn otherwise on purpose, and why.
WANTED = {
    ("vanishing_gradients", "back"): "the table has lengths of gradients, not places of circles",
}


def digest(values: Any) -> str:
    """A list of numbers, told by its shape to four digits, its length and its largest size."""
    flat = np.ravel(np.asarray(values, float))
    flat = np.where(np.isfinite(flat), flat, 0.0)
    size = np.abs(flat).max(initial=0) or 1.0
    rounded = np.round(flat / size, 4) + 0.0
    told = hashlib.sha256(rounded.astype("<f4").tobytes()).hexdigest()[:12]
    # Of ten thousand numbers some lie where the last bit of a product decides how they are rounded.
    return f"{told if flat.size <= 5000 else ''}/{flat.size}/{size:.4g}"


def drawn(figure: Any) -> list[str]:
    """Digests of what a figure draws: heights, cells, and the lengths of bars that lie."""
    found = []
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
                found.append(digest(flat))
    return sorted(found)


def values(bench: Bench, link: dict[str, str]) -> dict[str, Any]:
    """The settings of a link that a bench reads: its own, and those of the benches above."""
    found = {}
    for name in (bench.name, *bench.after):
        one = bench.lesson.benches[name]
        for key, control in controls.controls(one.declaration):
            if (raw := link.get(f"{one.prefix}.{key}")) is not None:
                found[key if one is bench else f"{name}.{key}"] = control.clean(raw)
    return found


@pytest.mark.parametrize("slug", sorted({row["lesson"] for row in ROWS}))
def test_an_old_link_opens_the_same_figure(slug, request):
    for model in MODELS.get(slug, ()):
        request.getfixturevalue(model)
    benches = import_module(f"seqviz.lessons.{slug}").lesson.benches
    other, seen = {}, 0
    for row in [row for row in ROWS if row["lesson"] == slug]:
        bench = benches[row["bench"]]
        settings = values(bench, row["link"])
        if (slug, row["bench"]) in WANTED:
            continue
        found = drawn(bench.run(settings).figure)
        seen += 1
        real = {one for one in row["numbers"] if float(one.rsplit("/", 1)[1]) > ROUNDING}
        if missing := sorted(real - set(found)):
            other[f"{row['bench']} {settings}"] = {"missing": missing, "found": found}
    assert not other
    assert seen
