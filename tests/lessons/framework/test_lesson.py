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


def test_a_bench_gives_everything_as_data():
    visible = source(phi=0.8)
    path = ar.simulate((0.8,), n=50, seed=1)
    line = ar.fit(path.values, 1, "ols")
    assert visible.figure.to_json() == lag_plot(path.values, line, 0.8).to_json()
    assert visible.readouts["sigma_hat"].value == f"{line.sigma:.3f}"
    assert visible.readouts["variance"].value == f"{path.values.var():.2f}"
    assert visible.readouts["variance"].caption == "σ²"
    assert len(visible.notes) == 1
    assert [type(item).__name__ for item in visible.items] == ["Chart", "Metric", "Metric", "Note"]


def test_the_code_gives_the_figure_and_the_read_outs_again():
    visible = source(phi=0.8)
    space: dict[str, object] = {}
    exec(visible.code, space)
    assert space["figure"].to_json() == visible.figure.to_json()
    assert f"{space['sigma_hat']:.3f}" == visible.readouts["sigma_hat"].value
    assert "sigma_hat = line.sigma" in visible.code
    assert visible.code.strip().endswith("figure")


def test_a_chinese_figure_says_so_in_its_code():
    visible = source.run({"phi": 0.3}, language="zh")
    space: dict[str, object] = {}
    exec(visible.code, space)
    assert space["figure"].to_json() == visible.figure.to_json()
    assert visible.figure.to_json() != source(phi=0.3).figure.to_json()


def test_a_bench_that_builds_on_another_is_given_its_values():
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
def test_values_that_no_control_has_are_refused(values):
    with pytest.raises(ValueError):  # noqa: PT011
        source.run(values)


def test_long_work_waits_until_somebody_asks_for_it():
    waits = training.run({"n": 12})
    assert waits.figure is None
    assert waits.waits
    done = training.run({"n": 12}, train=True)
    assert done.readouts["variance"].value == "12"
    # The code is the same in both states: the notebook trains what nobody has trained here.
    assert waits.code == done.code
    assert "figure = drawn(done, 'x')" in waits.code


def test_what_is_not_there_yet_ends_a_body_and_nothing_else():
    class Nothing(LocalHost):
        def training_result(self, function, keywords, so_far):
            return None

    visible = training.run({"n": 12}, host=Nothing())
    assert visible.waits
    assert not visible.readouts
    with pytest.raises(PendingError):
        raise PendingError("a model")


def test_filled_values_are_those_of_a_page():
    assert controls.parse_params(Source, {"n": 20}) == Source(n=20)
    assert LocalHost({"source": Source(n=20)}).values("source").n == 20


def test_a_unit_is_read_from_what_a_property_returns():
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
def test_a_unit_is_read_from_a_field(value, wanted):
    counted = Counted((1, 2), 0.1)
    name = "off" if isinstance(value, tuple) else "moved"
    assert format_value(value, unit_of(type(counted), name)) == wanted
    assert format_value(0.5, unit_of(type(counted), "plain")) == "0.500"


def test_a_chart_knows_where_its_numbers_come_from():
    (chart,) = source().of(Chart)
    assert chart.provenance.kind == "live"


@pytest.mark.parametrize("slug", [record.slug for record in catalog.LESSONS])
def test_every_bench_of_a_lesson_is_a_function_of_its_package(slug):
    package = getattr(lessons, slug)
    offered = {bench.name for bench in vars(package).values() if isinstance(bench, Bench)}
    assert offered == package.lesson.benches.keys()
