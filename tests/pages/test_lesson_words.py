"""Every word that a lesson's declarations ask for, and what the page makes of its tables."""

from __future__ import annotations

import re

import pytest
from looking import PLACEHOLDER, sentences, walk

from seqviz import catalog
from seqviz.lessons.bench.controls import Choice, Order, controls
from seqviz.text import LANGUAGES, catalogue

SLUGS = [lesson.slug for lesson in catalog.LESSONS]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_control_and_option_has_words_in_both_languages(untouched, slug):
    lesson = untouched(slug).lesson
    asked = 0
    for lang in LANGUAGES:
        known = catalogue(lang)
        for bench, declaration in lesson.benches.items():
            for name, control in controls(declaration):
                label = {f"{slug}.control.{name}.label", f"control.{name}.label"} & set(known)
                assert label, (lang, bench, name)
                unit = getattr(control, "unit", "")
                assert not unit or f"unit.{unit}" in known, (lang, bench, name)
                options = control.options if isinstance(control, Choice) else ()
                options = control.default if isinstance(control, Order) else options
                for option in options:
                    keys = {f"{slug}.option.{name}.{option}", f"option.{option}"}
                    if name == "model":  # a teacher's own models have no words of ours
                        keys = {"frame.model"}
                    assert keys & set(known), (lang, bench, name, option)
                    asked += 1
    assert asked > 20


@pytest.mark.parametrize("slug", SLUGS)
def test_options_of_one_control_have_different_names(untouched, slug):
    """Two buttons with the same name cannot be told apart (and Streamlit refuses them)."""
    for lang in LANGUAGES:
        lesson = untouched(slug, lang).lesson
        for declaration in lesson.benches.values():
            for name, control in controls(declaration):
                if isinstance(control, Choice | Order):
                    options = control.options if isinstance(control, Choice) else control.default
                    names = [lesson.words.option(name, option) for option in options]
                    assert len(set(names)) == len(names), name


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_what_the_texts_say_is_a_table_of_three_columns(untouched, slug, lang):
    """A bar inside a cell, as in P(x | y), would begin another column and push the last one out."""
    page = untouched(slug, lang)
    (box,) = (e for e in page.app.expander if e.label == page.text("frame.texts"))
    (table,) = (m.value for m in box.markdown if m.value.startswith("|"))
    lines = table.splitlines()
    assert len(lines) == 2 + len(page.text.items(f"{slug}.texts.rows"))
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 4, line


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_no_placeholder_reaches_the_page(untouched, slug, lang):
    said = sentences(untouched(slug, lang).app)
    assert len(said) > 100
    assert not [sentence for sentence in said if PLACEHOLDER.search(sentence)]


@pytest.mark.parametrize("slug", SLUGS)
def test_controls_and_readouts_are_few(untouched, slug):
    """At most five controls at first sight and four read-outs (the house's rule for a bench)."""
    page = untouched(slug)
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
            and not widget.key.endswith((".view", ".chart", ".settle", ".hand"))
        } - hidden  # fmt: skip
        assert len(front) <= 5, (name, front)
