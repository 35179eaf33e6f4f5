"""A bench runs without a page: its figure, read-outs, notes and code, as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from seqviz import lessons
from seqviz.compute import ar_fitting as ar
from seqviz.content import catalog
from seqviz.core.i18n import format_value
from seqviz.core.units import FineShare, Fraction, Share, unbroken, unit_of
from seqviz.figures.ar_fitting.series import lag_plot
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.controls import choice, slider
from seqviz.lessons.framework.host import LocalHost, PendingError
from seqviz.lessons.framework.lesson import Bench, Lesson
from seqviz.lessons.framework.output import Chart

lesson = Lesson("ar_fitting")  # a lesson that has words


@dataclass(frozen=True)
class Source:
    """A process."""

    phi: float = slider(-1.0, 1.0, 0.5, 0.01)
    n: int = slider(10, 100, 50)


@dataclass(frozen=True)
class Look:
    """What is fitted to it."""

    kind: str = choice(("ols", "yule_walker"), "ols")
    order: int = slider(1, 5, 1, within=lambda v: lesson.values("source").n // 10)


@lesson.bench("source", Source, leads=True)
def source(p: Source, show) -> None:
    path = show.run(ar.simulate, (p.phi,), n=p.n, seed=1, name="path")
    line = show.run(ar.fit, path.values, 1, "ols", name="line")
    show.figure(lag_plot, path.values, line, p.phi)
    show.readouts(line, sigma_hat="sigma")
    show.readout("variance", np.var, path.values, caption="σ²")
    show.note("lag_line", slope=0.5)


@lesson.bench("look", Look, after=("source",))
def look(p: Look, show) -> None:
    world = lesson.values("source")
    path = show.run(ar.simulate, (world.phi,), n=world.n, seed=1, name="path")
    show.run(ar.fit, path.values, p.order, p.kind, name="line")


def train(settings: int, report=None, device: str = "cpu") -> np.ndarray:
    return np.arange(float(settings))


def drawn(values: np.ndarray, chosen: str, style=None):
    path = ar.simulate((0.5,), n=20, seed=1)
    return lag_plot(path.values, ar.fit(path.values, 1, "ols"), float(values[-1]), style=style)


@lesson.bench("train", Source)
def training(p: Source, show) -> None:
    result = show.job(train, name="done", settings=p.n, then=(drawn, "x"))
    show.metrics(variance=str(len(result)))


def test_bench_returns_figure_readouts_and_notes():
    visible = source(phi=0.8)
    path = ar.simulate((0.8,), n=50, seed=1)
    line = ar.fit(path.values, 1, "ols")
    assert visible.figure.to_json() == lag_plot(path.values, line, 0.8).to_json()
    assert visible.readouts["sigma_hat"].value == f"{line.sigma:.3f}"
    assert visible.readouts["variance"].value == f"{path.values.var():.2f}"
    assert visible.readouts["variance"].caption == "σ²"
    assert len(visible.notes) == 1
    assert [type(item).__name__ for item in visible.items] == ["Chart", "Metric", "Metric", "Note"]


def test_bench_code_reproduces_figure_and_readouts():
    visible = source(phi=0.8)
    space: dict[str, object] = {}
    exec(visible.code, space)
    assert space["figure"].to_json() == visible.figure.to_json()
    assert f"{space['sigma_hat']:.3f}" == visible.readouts["sigma_hat"].value
    assert "sigma_hat = line.sigma" in visible.code
    assert visible.code.strip().endswith("figure")


def test_bench_code_keeps_figure_language():
    visible = source.run({"phi": 0.3}, language="zh")
    space: dict[str, object] = {}
    exec(visible.code, space)
    assert space["figure"].to_json() == visible.figure.to_json()
    assert visible.figure.to_json() != source(phi=0.3).figure.to_json()


def test_bench_receives_values_of_upstream_bench():
    visible = look.run({"source.phi": -0.5, "source.n": 30, "kind": "yule_walker", "order": 5})
    assert "simulate((-0.5,), n=30" in visible.code
    assert "3, 'yule_walker'" in visible.code  # 30 values: an order of 3 at most
    assert look.run({"order": 5}).code.count("5, 'ols'") == 1
    assert lesson.values("source") == Source()  # nobody's values outlive the run


@pytest.mark.parametrize(
    "values",
    [{"phi": 2.0}, {"phi": "x"}, {"no": 1}, {"n": 10.5}],
    ids=["far", "word", "name", "half"],
)
def test_bench_rejects_invalid_values(values):
    with pytest.raises(ValueError):  # noqa: PT011
        source.run(values)


def test_parse_link_gives_own_and_upstream_settings_and_ignores_others():
    from seqviz.lessons import ar_fitting

    bench = ar_fitting.lesson.benches["forecast"]
    link = {
        "ar.forecast.horizon": "7",
        "ar.process.phi": "0.5",
        "ar.process.order": "x",  # no number
        "ar.fit.view": "sampling",  # a bench that it does not depend on
        "lang": "zh",
    }
    assert bench.parse_link(link) == {"horizon": 7, "process.phi": 0.5}


def test_bench_job_waits_until_requested():
    waits = training.run({"n": 12})
    assert waits.figure is None
    assert waits.waits
    done = training.run({"n": 12}, train=True)
    assert done.readouts["variance"].value == "12"
    # The code is the same in both states: the notebook trains what nobody has trained here.
    assert waits.code == done.code
    assert "figure = drawn(done, 'x')" in waits.code


def test_bench_stops_at_pending_result():
    class Nothing(LocalHost):
        def training_result(self, function, keywords, so_far):
            return None

    visible = training.run({"n": 12}, host=Nothing())
    assert visible.waits
    assert not visible.readouts
    with pytest.raises(PendingError):
        raise PendingError("a model")


def test_parse_params_fills_defaults():
    assert controls.parse_params(Source, {"n": 20}) == Source(n=20)
    assert LocalHost({"source": Source(n=20)}).values("source").n == 20


def test_unit_of_reads_property_annotation():
    class Found:
        @property
        def leak(self) -> Share:
            return 0.25

        @cached_property
        def kept(self) -> Share:
            return 0.75

    assert unit_of(Found.leak.fget).kind == "share"
    assert unit_of(type(Found()), "leak").kind == "share"
    assert unit_of(type(Found()), "kept").kind == "share"


@dataclass(frozen=True)
class Counted:
    off: Fraction
    moved: FineShare
    plain: float = 0.5


@pytest.mark.parametrize(
    ("value", "wanted"),
    [((3, 1200), unbroken("3 / 1,200")), (0.17512, "17.5%"), (0.0, "0%"), (float("nan"), "–"),
     (2e-9, unbroken("2.00 × 10⁻⁷%"))],
)  # fmt: skip
def test_unit_of_reads_field_annotation(value, wanted):
    counted = Counted((1, 2), 0.1)
    name = "off" if isinstance(value, tuple) else "moved"
    assert format_value(value, unit_of(type(counted), name)) == wanted
    assert format_value(0.5, unit_of(type(counted), "plain")) == "0.500"


def test_chart_has_live_provenance():
    (chart,) = source().of(Chart)
    assert chart.provenance.kind == "live"


@pytest.mark.parametrize("slug", [record.slug for record in catalog.LESSONS])
def test_lesson_package_exports_every_bench(slug):
    package = getattr(lessons, slug)
    offered = {bench.name for bench in vars(package).values() if isinstance(bench, Bench)}
    assert offered == package.lesson.benches.keys()
