"""docs/add-a-lesson.md and docs/add-a-bench.md, proved by following them in a copy of the project.

A lesson of one bench comes first, then a bench in that lesson.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seqviz.core.paths import ROOT

SAMPLE = Path(__file__).parent / "fixtures" / "lesson_sample"
LINE = (
    '    LessonRecord("decay", "de", "ar", "time_series", ":material/timer:", ("curve", "rate")),\n'
)
ALONE = """
import sys
from seqviz import lessons
shown = lessons.decay.curve(rate=0.5)
assert shown.figure.alt == "After the last step 9.54e-07 is left."
space = {}
exec(shown.code, space)
assert space["figure"] == shown.figure
assert "streamlit" not in sys.modules
from testing.figure_examples import functions
assert "decay_curve" in [f.__name__ for f in functions()]  # found: it has to have an example
"""
PAGE = """
from streamlit.testing.v1 import AppTest
for lang, title in (("en", "Decay"), ("zh", "衰减")):
    app = AppTest.from_file("app.py", default_timeout=60)
    app.query_params["lang"] = lang
    app.run()
    app.switch_page("pages/decay.py")
    app.query_params["lang"] = lang
    app.query_params["de.curve.rate"] = "0.7"
    app.run()
    assert not app.exception, app.exception
    assert not app.error, app.error
    assert app.title[0].value == title
    assert app.session_state["de.curve.rate"] == 0.7
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project with the sample in it, and its line in the catalogue."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("app.py", "pages", "seqviz", "testing", "assets", ".streamlit"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    (folder / "static").symlink_to("assets/static")
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    catalog = folder / "seqviz" / "content" / "catalog.py"
    text = catalog.read_text("utf-8")
    end = text.index("\n)", text.index("LESSONS = (")) + 1
    catalog.write_text(text[:end] + LINE + text[end:], "utf-8")
    return folder


def run(folder: Path, script: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


def test_sample_lesson_takes_at_most_sixty_lines():
    """Page, mathematics, figure, bench and words of both languages; blank lines are not counted."""
    files = [path for path in SAMPLE.rglob("*") if path.suffix in (".py", ".toml", ".md")]
    lines = [
        line for path in files for line in path.read_text("utf-8").splitlines() if line.strip()
    ]
    assert len(files) == 9
    assert len(lines) + 1 <= 60


def test_sample_bench_runs_alone(project):
    run(project, ALONE)


def test_sample_page_opens_in_both_languages(project):
    run(project, PAGE)


# --- a bench in a lesson that exists -------------------------------------------------------------

ADDED = {  # what the guide's files hold, in its order
    "seqviz/compute/decay/half_life.py": '''
"""When half is left."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class HalfLives:
    """rates: shape (n,). steps: until half is left, shape (n,)."""

    rates: np.ndarray
    steps: np.ndarray

    @property
    def longest(self) -> float:
        """The largest number of steps."""
        return float(self.steps.max())


def half_lives(n: int) -> HalfLives:
    """Return the steps until half is left, for n rates from 0.1 to 0.9."""
    rates = np.linspace(0.1, 0.9, n)
    return HalfLives(rates, np.log(0.5) / np.log(rates))
''',
    "seqviz/figures/decay/half_life.py": '''
"""When half is left, drawn."""

from seqviz.plotting.axes import axis
from seqviz.plotting.figure import Figure
from seqviz.plotting.sheet import Sheet
from seqviz.plotting.style import Style


def half_life_curve(result, style=Style()) -> Figure:
    """Draw the steps until half is left over the rate."""
    text = style.text
    sheet = Sheet(style)
    panel = sheet.panel(axis(text("decay.rate")), axis(text("decay.step")))
    panel.line(result.rates, result.steps, text("decay.step"), style.palette.prediction)
    return sheet.finish(text("decay.alt_half", longest=f"{result.longest:.2f}"))
''',
    "seqviz/lessons/decay/half_life.py": '''
"""When half is left: the declaration and the body of the bench."""

from dataclasses import dataclass

from seqviz.compute.decay.half_life import half_lives
from seqviz.figures.decay.half_life import half_life_curve
from seqviz.lessons.framework.controls import slider
from seqviz.lessons.framework.show import Show


@dataclass(frozen=True)
class HalfLifeParams:
    """How many rates."""

    points: int = slider(3, 20, 9, 1)


def half_life(p: HalfLifeParams, show: Show) -> None:
    result = show.run(half_lives, p.points)
    show.figure(half_life_curve, result)
    show.readouts(result, "longest")
''',
}
APPENDED = {
    "seqviz/lessons/decay/lesson.py": """
from seqviz.lessons.decay.half_life import HalfLifeParams, half_life
lesson.bench("half_life", HalfLifeParams)(half_life)
""",
    "assets/lessons/decay/en.toml": """
rate = "rate"
alt_half = "At most {longest} steps."
bench.half_life = "Half-life"
control.points.label = "Rates"
metric.longest.label = "Longest"
metric.longest.help = "Of these rates."
""",
    "assets/lessons/decay/zh.toml": """
rate = "速率"
alt_half = "最多 {longest} 步。"
bench.half_life = "半衰期"
control.points.label = "速率个数"
metric.longest.label = "最长"
metric.longest.help = "在这些速率中。"
""",
}
BENCH_ALONE = """
from seqviz import lessons
shown = lessons.decay.lesson.benches["half_life"].run({"points": 5})
assert shown.figure.alt == "At most 6.58 steps."
assert shown.readouts["longest"].value == "6.58"
assert "result = half_lives(n=5)" in shown.code or "result = half_lives(5)" in shown.code
space = {}
exec(shown.code, space)
assert space["figure"] == shown.figure
"""
BENCH_PAGE = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60)
app.query_params["lang"] = "zh"
app.run()
app.switch_page("pages/decay.py")
app.query_params["lang"] = "zh"
app.query_params["de.half_life.points"] = "7"
app.run()
assert not app.exception, app.exception
assert "半衰期" in [one.value.removeprefix("## ") for one in app.markdown]
assert app.session_state["de.half_life.points"] == 7
"""


@pytest.fixture(scope="module")
def with_bench(project) -> Path:
    for name, text in ADDED.items():
        (project / name).write_text(text.lstrip(), "utf-8")
    for name, text in APPENDED.items():
        path = project / name
        path.write_text(path.read_text("utf-8") + text, "utf-8")
    page = project / "pages" / "decay.py"
    script = page.read_text("utf-8").replace(
        "lesson.end()", 'lesson.bench("half_life")\nlesson.end()'
    )
    page.write_text(script, "utf-8")
    return project


def test_added_bench_runs_alone(with_bench):
    run(with_bench, BENCH_ALONE)


def test_added_bench_is_on_page_and_in_links(with_bench):
    run(with_bench, BENCH_PAGE)
