"""docs/add-a-lesson.md, proved by following it: a lesson of one bench, in a copy of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seqviz.paths import ROOT

SAMPLE = Path(__file__).parent / "fixtures" / "lesson_sample"
LINE = '    Lesson("decay", "de", "ar", "time_series", ":material/timer:", ("curve", "rate")),\n'
ALONE = """
import sys
from seqviz import lessons
shown = lessons.decay.curve(rate=0.5)
assert shown.figure.alt == "After the last step 9.54e-07 is left."
space = {}
exec(shown.code, space)
assert space["figure"] == shown.figure
assert "streamlit" not in sys.modules
from seqviz.figures.grammar.example import functions
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
    for name in ("app.py", "pages", "seqviz", "assets", ".streamlit"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    (folder / "static").symlink_to("assets/static")
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    catalog = folder / "seqviz" / "catalog.py"
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


def test_it_takes_at_most_sixty_lines():
    """Page, mathematics, figure, bench and words of both languages; blank lines are not counted."""
    files = [path for path in SAMPLE.rglob("*") if path.suffix in (".py", ".toml", ".md")]
    lines = [
        line for path in files for line in path.read_text("utf-8").splitlines() if line.strip()
    ]
    assert len(files) == 8
    assert len(lines) + 1 <= 60


def test_the_bench_runs_alone(project):
    run(project, ALONE)


def test_the_page_opens_in_both_languages(project):
    run(project, PAGE)
