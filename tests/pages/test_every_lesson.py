"""What holds for every lesson: languages, controls together, links, notebook."""

from __future__ import annotations

import io

import nbformat
import pytest
from nbclient import NotebookClient
from rings import in_turn, one_of

from seqviz import catalog
from seqviz.lessons.bench import controls
from seqviz.text import Text
from seqviz.ui.page import notebook

SLUGS = [lesson.slug for lesson in catalog.LESSONS]


def as_state(value):
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(("slug", "lang"), in_turn(SLUGS))
def test_a_lesson_draws_all_its_benches(untouched, slug, lang):
    page = untouched(slug, lang)
    # A bench that waits for a training run or a file shows a hint in place of its chart.
    hints = [info.value for info in page.app.info]
    assert page.charts() + len(hints) == len(page.lesson.benches)
    assert len(page.app.metric) >= page.charts()
    assert all(metric.value.strip() for metric in page.app.metric)


@pytest.mark.nightly  # by day one by one, without a page: tests/lessons/test_every_control.py
@pytest.mark.parametrize("end", [0, -1])
@pytest.mark.parametrize("slug", SLUGS)
def test_all_controls_at_one_end_in_chinese(visit, slug, end):
    page = visit(slug, "zh")
    state = {}
    for bench, declaration in page.lesson.benches.items():
        for name, control in controls.controls(declaration):
            state[f"{page.lesson.prefix(bench)}.{name}"] = as_state(control.extremes()[end])
    page.run(**state)


BROKEN = ("", "nan", "inf", "1e999", "-3", "²", "<script>", "9" * 400)


def broken(page, turn: int) -> dict[str, str]:
    """For each control a text that it does not take; which one it is changes with the turn."""
    links = {}
    for bench, declaration in page.lesson.benches.items():
        for place, (name, control) in enumerate(controls.controls(declaration)):
            for text in range(len(BROKEN)):
                raw = BROKEN[(turn + place + text) % len(BROKEN)]
                try:
                    control.clean(raw)
                except (ValueError, KeyError):
                    links[f"{page.lesson.prefix(bench)}.{name}"] = raw
                    break
    return links


@pytest.mark.parametrize("turn", one_of(range(len(BROKEN))))
@pytest.mark.parametrize("slug", one_of(SLUGS))
def test_a_broken_link_falls_back_to_the_defaults(visit, untouched, slug, turn):
    """All that no control takes, in one link; the texts go round the controls by night."""
    page = untouched(slug)
    links = broken(page, turn)
    assert len(links) >= len(page.lesson.benches)
    again = visit(slug, **links)
    for bench, declaration in again.lesson.benches.items():
        for name, control in controls.controls(declaration):
            drawn = again.value(bench, name)
            if f"{again.lesson.prefix(bench)}.{name}" in links and drawn is not None:
                assert drawn == as_state(control.default)


@pytest.mark.parametrize("slug", one_of(SLUGS))
def test_the_notebook_runs_without_streamlit(untouched, slug):
    page = untouched(slug, "zh")
    assert set(page.lesson.sources()) == set(page.lesson.benches)
    built = notebook.build(slug, Text("zh"), page.lesson.sources())
    assert built == notebook.build(slug, Text("zh"), page.lesson.sources())
    book = nbformat.read(io.BytesIO(built), as_version=4)
    nbformat.validate(book)
    book.cells.append(
        nbformat.v4.new_code_cell("import sys\nassert 'streamlit' not in sys.modules\nfigure")
    )
    root = str(page.app._script_path).rsplit("/", 1)[0]
    NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": root}}
    ).execute()
    outputs = [cell.outputs for cell in book.cells if cell.cell_type == "code"]
    assert all(cell for cell in outputs[:-1]), "a cell that shows nothing"
