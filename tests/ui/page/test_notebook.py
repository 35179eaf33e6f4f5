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


def test_it_is_valid(lang):
    nbformat.validate(book(lang))
    assert book(lang).metadata.kernelspec.name == "python3"


def test_it_begins_with_what_it_is_and_how_to_run_it(lang):
    text = Text(lang)
    first, second = book(lang).cells[:2]
    assert first.source.startswith(f"# {text(f'{SLUG}.title')}")
    assert text(f"{SLUG}.goal") in first.source
    assert second.source == text("frame.notebook_setup")


def test_every_bench_has_its_words_and_its_code(lang):
    text = Text(lang)
    cells = book(lang).cells[2:]
    assert [cell.cell_type for cell in cells] == ["markdown", "code", "markdown", "code"]
    for (name, source), words, code in zip(RECIPES.items(), cells[::2], cells[1::2], strict=True):
        assert words.source.startswith(f"## {text(f'{SLUG}.bench.{name}')}")
        assert sections(SLUG, lang)[name] in words.source
        assert code.source == source.strip()


def test_the_same_settings_give_the_same_file(lang):
    built = [notebook.build(SLUG, Text(lang), dict(RECIPES)) for _ in range(2)]
    assert built[0] == built[1]
    assert len({cell.id for cell in book(lang).cells}) == len(book(lang).cells)


def test_languages_differ_in_words_and_not_in_code():
    english, chinese = (book(lang) for lang in LANGUAGES)
    for e, c in zip(english.cells, chinese.cells, strict=True):
        assert (e.source == c.source) == (e.cell_type == "code")


def test_chinese_is_written_as_chinese():
    """Readable in a diff and in an editor, not as escapes."""
    assert Text("zh")(f"{SLUG}.title") in notebook.build(SLUG, Text("zh"), RECIPES).decode("utf-8")


def test_it_has_no_outputs_and_needs_no_streamlit(lang):
    raw = notebook.build(SLUG, Text(lang), RECIPES).decode()
    for cell in json.loads(raw)["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            assert "streamlit" not in "".join(cell["source"])
