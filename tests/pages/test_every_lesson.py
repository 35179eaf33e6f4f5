"""What holds for every lesson: its words, its page as it opens, broken links, its notebook."""

from __future__ import annotations

import ast
import io
import re
from importlib import import_module

import nbformat
import pytest
from nbclient import NotebookClient

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text, catalogue
from seqviz.core.paths import ROOT
from seqviz.lessons.framework.controls import Choice, Sortable, controls
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.page import notebook
from tests.line_breaks import parted
from tests.pages.page_assertions import PLACEHOLDER, as_state, sentences, walk
from tests.tiers import alternate, first_only

SLUGS = [lesson.slug for lesson in catalog.LESSONS]


@pytest.mark.parametrize("slug", SLUGS)
def test_lesson_words_cover_every_control_and_option(slug):
    n_requests = 0
    for lang in LANGUAGES:
        existing, words = catalogue(lang), LessonWords(slug, Text(lang))
        for bench, its in import_module(f"seqviz.lessons.{slug}").lesson.benches.items():
            for name, control in controls(its.declaration):
                label = {f"{slug}.control.{name}.label", f"control.{name}.label"} & set(existing)
                assert label, (lang, bench, name)
                unit = getattr(control, "unit", "")
                assert not unit or f"unit.{unit}" in existing, (lang, bench, name)
                options = control.options if isinstance(control, Choice) else ()
                options = control.default if isinstance(control, Sortable) else options
                for option in options:
                    keys = {f"{slug}.option.{name}.{option}", f"option.{option}"}
                    if name == "model":  # a teacher's own models have no words of ours
                        keys = {"frame.model"}
                    assert keys & set(existing), (lang, bench, name, option)
                    n_requests += 1
                # Two buttons with one name cannot be told apart (and Streamlit refuses them).
                assert len({words.option(name, option) for option in options}) == len(options), name
    assert n_requests > 20


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS))
def test_lesson_opens_with_chart_or_hint_for_each_bench(untouched, slug, lang):
    page = untouched(slug, lang)
    # A bench that waits for a training run or a file shows a hint in place of its chart.
    assert page.charts() + len(page.app.info) == len(page.lesson.benches)
    assert len(page.app.metric) >= page.charts()
    assert all(metric.value.strip() for metric in page.app.metric)
    message = sentences(page.app)
    assert len(message) > 100
    assert not [sentence for sentence in message if PLACEHOLDER.search(sentence)]
    assert not [part for sentence in message for part in parted(sentence)]


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS))
def test_lesson_texts_table_has_three_columns(visit, slug, lang):
    """A bar inside a cell, as in P(x | y), would begin another column and push the last one out."""
    page = visit(slug, lang, course="zh5")
    head = "| " + page.text.items(f"{slug}.texts.rows")[0][0]
    (table,) = (m.value for m in page.app.markdown if f"\n{head}" in m.value)
    lines = table.splitlines()
    assert len(lines) == 2 + len(page.text.items(f"{slug}.texts.rows"))
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 4, line


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS))
def test_lesson_benches_show_few_controls_and_readouts(untouched, slug, lang):
    """At most five controls at first sight and four read-outs (the house's rule for a bench)."""
    page = untouched(slug, lang)
    for name in page.lesson.benches:
        box = page.app.get_by_key(f"bench-{name}")
        assert len(box.metric) <= 4, name
        prefix = f"{page.lesson.prefix(name)}."
        hidden = {node.key for more in box.expander for node in walk(more) if hasattr(node, "key")}
        front = {
            widget.key
            for kind in ("bidi_component", "toggle", "selectbox", "number_input", "button_group")
            for widget in box.get(kind)
            if (widget.key or "").startswith(prefix)
            and not widget.key.endswith((".view", ".chart", ".debounce", ".commit", ".step-chips"))
        } - hidden  # fmt: skip
        assert len(front) <= 5, (name, front)


@pytest.mark.nightly  # by day one by one, without a page: tests/lessons/test_every_control.py
@pytest.mark.parametrize("end", [0, -1])
@pytest.mark.parametrize("slug", SLUGS)
def test_lesson_runs_with_all_controls_at_one_end(visit, slug, end):
    page = visit(slug, "zh")
    state = {}
    for bench, declaration in page.lesson.benches.items():
        for name, control in controls(declaration):
            state[f"{page.lesson.prefix(bench)}.{name}"] = as_state(control.bounds()[end])
    page.run(**state)


BROKEN = ("", "nan", "inf", "1e999", "-3", "²", "<script>", "9" * 400)


def broken(page, turn: int) -> dict[str, str]:
    """For each control a text that it does not take; which one it is changes with the turn."""
    links = {}
    for bench, declaration in page.lesson.benches.items():
        for index, (name, control) in enumerate(controls(declaration)):
            for text in range(len(BROKEN)):
                raw = BROKEN[(turn + index + text) % len(BROKEN)]
                try:
                    control.parse(raw)
                except (ValueError, KeyError):
                    links[f"{page.lesson.prefix(bench)}.{name}"] = raw
                    break
    return links


@pytest.mark.parametrize("turn", first_only(range(len(BROKEN))))
@pytest.mark.parametrize("slug", first_only(SLUGS))
def test_lesson_link_falls_back_to_defaults_if_invalid(visit, untouched, slug, turn):
    """All that no control takes, in one link; the texts go round the controls by night."""
    page = untouched(slug)
    links = broken(page, turn)
    assert len(links) >= len(page.lesson.benches)
    again = visit(slug, **links)
    for bench, declaration in again.lesson.benches.items():
        for name, control in controls(declaration):
            rendered = again.value(bench, name)
            if f"{again.lesson.prefix(bench)}.{name}" in links and rendered is not None:
                assert rendered == as_state(control.default)


@pytest.mark.parametrize("slug", first_only(SLUGS))
def test_lesson_notebook_runs_without_streamlit(untouched, slug):
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


@pytest.mark.parametrize("slug", SLUGS)
def test_core_lists_benches_in_the_order_of_the_page(slug):
    """The page's statements outside of cards; so the numbered dots in its header go down it."""
    tree = ast.parse((ROOT / "pages" / f"{slug}.py").read_text("utf-8"))
    placed = [
        node.value.args[0].value
        for node in tree.body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "lesson.bench"
    ]
    lesson = import_module(f"seqviz.lessons.{slug}").lesson
    assert list(lesson.core)[: len(placed)] == placed
    assert [name for name in lesson.benches if name in placed] == placed
