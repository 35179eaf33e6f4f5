"""The code under a figure, run without the page, gives that very figure."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from seqviz.core.i18n import LANGUAGES
from tests.pages.page_assertions import as_state, bench, figures
from tests.tiers import first_only
from tools import measure_trainings

SLUG = "ar_fitting"
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "second views": {
        "process.view": "lag_plot", "fit.view": "order", "forecast.view": "errors",
        "real.view": "correlations",
    },
    "third views": {"process.view": "roots", "fit.view": "sampling", "real.view": "order"},
    "shuffled": {"process.shuffle": True, "forecast.view": "errors"},
    "shuffled lag plot": {"process.shuffle": True, "process.view": "lag_plot"},
    "other noise": {
        "process.noise": "student_t", "process.df": 3.0, "process.sigma": 2.5,
        "process.burn_in": 200, "process.n": 200, "process.seed": 77,
    },
    "order 3": {
        "process.order": 3, "fit.same": False, "fit.model": 4, "fit.intercept": True,
        "fit.methods": ["yule_walker", "exact_ml"], "forecast.model": 3,
        "forecast.intercept": True,
    },
    "free": {"process.order": 2, "process.free": True, "process.b1": -0.45},
    # A fitted model that is not stationary has no long-run mean: `nan` in the code.
    "explosive": {"process.phi": 1.2, "forecast.horizon": 5},
    "monthly": {"real.source": "co2", "real.model": 12, "real.horizon": 50},
    "residuals": {
        "real.source": "co2", "real.view": "residuals", "real.difference": True,
        "real.seasonal": True, "fit.view": "sampling", "fit.estimator": "exact_ml",
    },
    "quarterly": {"real.source": "macro_inflation", "real.view": "correlations"},
}  # fmt: skip


def executed(source: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(source, "<code under the figure>", "exec"), space)
    return space


def essence(spec: dict[str, Any]) -> list[Any]:
    """Words and numbers of a figure; colors and sizes are the page's own."""
    if "layer" in spec:  # Vega: the numbers are in the sentence that the browser computes
        return [
            step["calculate"]
            for part in spec["layer"]
            for step in part.get("transform", ())
            if step["as"] == "words"
        ]
    layout = spec["layout"]
    return [
        layout["meta"]["alt"],
        *(layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")),
        *([trace.get("name"), trace.get("x"), trace.get("y")] for trace in spec["data"]),
    ]


def same(current: Any, on_page: dict[str, Any]) -> None:
    """Compared as they are sent: typed arrays in base64, to the last bit."""
    ours, theirs = essence(json.loads(current.to_json())), essence(on_page)
    assert len(ours) == len(theirs) > 0
    for mine, its in zip(ours, theirs, strict=True):
        if mine != its:
            raise AssertionError(f"{str(mine)[:200]}\n is not \n{str(its)[:200]}")


@pytest.mark.parametrize("turn", first_only(range(2)))
def test_code_reproduces_figure(visit, turn):
    """On one page in each language, in turn; a bench that has not changed is looked at once."""
    pages = [visit(SLUG, lang) for lang in LANGUAGES]
    benches = pages[0].lesson.benches
    defaults = {f"{name}.{key}": value for name, its in benches.items()
                for key, value in vars(its()).items()}  # fmt: skip
    every = {key: as_state(defaults[key]) for state in SETTINGS.values() for key in state}
    observed = set()
    for index, (case, state) in enumerate(SETTINGS.items(), turn):
        page = pages[index % 2]
        # One control brings another to the page, whose value must not be taken for a stale one.
        page.run(**{f"ar.{key}": value for key, value in {**every, **state}.items()})
        for name, source in page.lesson.sources().items():
            if name == "networks":
                continue  # a minute of training: test_training.py runs a shorter one
            on_page = figures(bench(page.app, name))
            if (both := (source, str(on_page))) in observed:
                continue
            observed.add(both)
            assert len(on_page) == 1, (case, name)
            assert len(source) < 3000, f"{name}: numbers listed that have a name"
            same(executed(source)["figure"], on_page[0])
    assert len(observed) > 6 * 2 + len(SETTINGS)


def test_code_reads_uploaded_file_from_folder(visit, tmp_path, monkeypatch):
    page = visit(SLUG, ar__real__source="csv")
    values = np.random.RandomState(3).normal(size=120).cumsum()
    content = ("year;level\n" + "\n".join(
        f"{k};{value:.4f}".replace(".", ",") for k, value in enumerate(values)
    )).encode()  # fmt: skip
    page.app.get("file_uploader")[0].set_value(("my file.csv", content, "text/csv"))
    page.app.run()
    page.healthy()
    page.run(ar__real__column="level")
    source = page.lesson.sources()["real"]
    assert "0,49" not in source
    assert len(source) < 2000
    (tmp_path / "your.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    space = executed(source)
    np.testing.assert_allclose(space["values"], values, atol=5.1e-5)
    same(space["figure"], figures(bench(page.app, "real"))[0])


def test_code_follows_slider_changes(visit):
    page = visit(SLUG)
    before = page.lesson.sources()
    page.run(ar__process__phi=-0.25)
    after = page.lesson.sources()
    changed = {name for name in before if before[name] != after[name]}
    benches = {
        bench.name: bench for bench in measure_trainings.benches() if bench.lesson.slug == SLUG
    }
    trained = {name for name in before if measure_trainings.calls(benches[name])}
    assert changed == {"process", *page.lesson.dependents("process")} - trained
    assert "(-0.25,)" in after["forecast"]
