"""The homework notebooks: those in the folder are those of the sources, and they can be done.

The solution passes the check, and what a student gets does not, until it is done. In the first ring
the cells run in this process; `nightly` they run as a notebook, in a kernel of their own.
"""

from __future__ import annotations

import re

import nbformat
import pytest
from nbclient import NotebookClient

from seqviz.core.i18n import LANGUAGES
from seqviz.core.paths import ROOT
from tools import build_teaching

SOURCES = sorted(build_teaching.SOURCES.glob("*.py"))
MODEL = ("attention-2",)  # need a pretrained model

each = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
by_day = pytest.mark.parametrize(
    "source",
    [
        pytest.param(path, marks=[pytest.mark.nightly] if path.stem in MODEL else [], id=path.stem)
        for path in SOURCES
    ],
)


def code(source, solved: bool) -> list[str]:
    book = nbformat.reads(
        build_teaching.notebook(source.read_text("utf-8"), "en", solved), as_version=4
    )
    return [cell.source for cell in book.cells if cell.cell_type == "code"]


def run(source, solved: bool) -> None:
    variables: dict = {"__name__": "__main__"}
    for cell in code(source, solved):
        exec(compile(cell, source.name, "exec"), variables)


def test_notebooks_number_two_per_lesson():
    assert {path.stem for path in SOURCES} == {
        f"{s}-{n}" for s in build_teaching.SLUGS for n in (1, 2)
    }


def test_notebooks_match_sources():
    """`python -m tools.build_teaching` builds them."""
    there = {path: path.read_text("utf-8") for path in build_teaching.NOTEBOOKS.glob("*.ipynb")}
    assert there == build_teaching.built()


@each
@pytest.mark.parametrize("lang", LANGUAGES)
def test_notebook_is_valid_and_in_one_language(source, lang):
    book = nbformat.reads(build_teaching.notebook(source.read_text("utf-8"), lang), as_version=4)
    nbformat.validate(book)
    words = [cell.source for cell in book.cells if cell.cell_type == "markdown"]
    assert len(words) >= 4
    assert words[0].startswith("# ")
    for cell in words:
        assert bool(re.search("[一-鿿]", cell)) == (lang == "zh"), cell


@by_day
def test_notebook_solution_passes_checks(source, capsys):
    run(source, solved=True)


@by_day
def test_notebook_checks_reject_unsolved_tasks(source, capsys):
    """With the tasks as they are given, a cell below them fails."""
    assert any("..." in cell for cell in code(source, solved=False))
    with pytest.raises((AssertionError, TypeError, ValueError)):
        run(source, solved=False)


@pytest.mark.nightly
@each
@pytest.mark.parametrize("lang", LANGUAGES)
def test_notebook_solution_runs_in_kernel(source, lang):
    """As a teacher would: the solved notebook from the first cell to the last."""
    solved = build_teaching.notebook(source.read_text("utf-8"), lang, solved=True)
    book = nbformat.reads(solved, as_version=4)
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
