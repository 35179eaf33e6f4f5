"""A lesson as a notebook: a valid file, the same for the same settings, with nothing left out.

`tests/pages` runs the notebook of every lesson.
"""

from __future__ import annotations

import json

import nbformat
import pytest

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text, sections
from seqviz.ui.page import notebook

SLUG = catalog.LESSONS[0].slug
RECIPES = {
    "process": "from seqviz.compute.ar_fitting import simulate\n\npath = simulate((0.8,))\n",
    "fit": "x = 1\nx\n",
}


@pytest.fixture(params=LANGUAGES)
def lang(request) -> str:
    return request.param


def book(lang: str) -> nbformat.NotebookNode:
    return nbformat.reads(notebook.build(SLUG, Text(lang), RECIPES).decode(), as_version=4)


def test_notebook_is_valid_nbformat(lang):
    nbformat.validate(book(lang))
    assert book(lang).metadata.kernelspec.name == "python3"


def test_notebook_starts_with_title_goal_and_setup(lang):
    text = Text(lang)
    first, second = book(lang).cells[:2]
    assert first.source.startswith(f"# {text(f'{SLUG}.title')}")
    assert text(f"{SLUG}.goal") in first.source
    assert second.source == text("frame.notebook_setup")


def test_notebook_includes_text_and_code_of_each_bench(lang):
    text = Text(lang)
    cells = book(lang).cells[2:]
    assert [cell.cell_type for cell in cells] == ["markdown", "code", "markdown", "code"]
    for (name, source), words, code in zip(RECIPES.items(), cells[::2], cells[1::2], strict=True):
        assert words.source.startswith(f"## {text(f'{SLUG}.bench.{name}')}")
        assert sections(SLUG, lang)[name] in words.source
        assert code.source == source.strip()


def test_notebook_is_deterministic_for_same_settings(lang):
    built = [notebook.build(SLUG, Text(lang), dict(RECIPES)) for _ in range(2)]
    assert built[0] == built[1]
    assert len({cell.id for cell in book(lang).cells}) == len(book(lang).cells)


def test_notebook_translates_text_but_not_code():
    english, chinese = (book(lang) for lang in LANGUAGES)
    for e, c in zip(english.cells, chinese.cells, strict=True):
        assert (e.source == c.source) == (e.cell_type == "code")


def test_notebook_writes_chinese_unescaped():
    """Readable in a diff and in an editor, not as escapes."""
    assert Text("zh")(f"{SLUG}.title") in notebook.build(SLUG, Text("zh"), RECIPES).decode("utf-8")


def test_notebook_has_no_outputs_and_no_streamlit(lang):
    raw = notebook.build(SLUG, Text(lang), RECIPES).decode()
    for cell in json.loads(raw)["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            assert "streamlit" not in "".join(cell["source"])
