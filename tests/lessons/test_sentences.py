"""Every bench of every lesson says in a sentence what its figure shows, and means these numbers.

The sentences are those that `show.note` and `show.say` make; a quiet caption and a hint are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from seqviz.content import catalog
from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES
from seqviz.lessons.framework.arrangement import arrange
from seqviz.lessons.framework.controls import SelectSlider, Slider, controls
from seqviz.lessons.framework.lesson import Bench
from seqviz.lessons.framework.output import Note
from tests.pages.page_assertions import needed
from tests.shared_fixtures import models_of

BENCHES = [
    (record.slug, name)
    for record in catalog.LESSONS
    for name in import_module(f"seqviz.lessons.{record.slug}").lesson.benches
]
# BertViz' own picture, with a caption of where it comes from.
SAYS_NOTHING = {"attention.bertviz"}


@pytest.fixture
def bench(slug, name, request) -> Bench:
    models_of(slug, request)
    return import_module(f"seqviz.lessons.{slug}").lesson.benches[name]


def said(bench: Bench, values: dict[str, Any]) -> list[str] | None:
    """Its sentences at these settings; None where it refuses them, or has to train first."""
    try:
        output = bench.run(values, code=False)
    except UserError:
        return None
    if output.waits:
        return None
    return [note.sentence for note in output.of(Note) if note.kind == "note"]


def moved(bench: Bench) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Settings with which a numeric control applies, and the same with it at one of its ends.

    Those that apply by themselves come first.
    """
    numeric = [
        (needed(bench.declaration, name), name, control)
        for name, control in controls(bench.declaration)
        if isinstance(control, Slider | SelectSlider)
    ]
    for around, name, control in sorted(numeric, key=lambda item: len(item[0])):
        for value in control.bounds():
            if value != control.default:
                yield around, {**around, name: value}


@pytest.mark.parametrize(("slug", "name"), BENCHES)
def test_bench_has_note_under_figure(slug, name, bench):
    assert bool(said(bench, {})) == (f"{slug}.{name}" not in SAYS_NOTHING)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("slug", "name"), BENCHES)
def test_bench_has_one_whole_sentence_in_sight(slug, name, bench, lang):
    """It is what a slide shows: no heading of a passage below it."""
    visible, _ = arrange(bench.run(language=lang, code=False).items)
    sentences = [item.sentence for item in visible if isinstance(item, Note)
                 and item.kind == "note" and "$$" not in item.sentence]  # fmt: skip
    assert len(sentences) == (f"{slug}.{name}" not in SAYS_NOTHING)
    assert all(re.search(r"[.!?。！？]\**$", sentence) for sentence in sentences)


def changes(bench: Bench) -> bool | None:
    """Whether some end of a numeric control reads another sentence; None where none is tried."""
    first: dict[str, list[str] | None] = {}
    tried = False
    for around, values in moved(bench):
        if (key := str(around)) not in first:
            first[key] = said(bench, around)
        before, after = first[key], said(bench, values)
        if before is None or after is None:
            continue
        if before and after and before != after:
            return True
        tried = True
    return False if tried else None


@pytest.mark.parametrize(("slug", "name"), BENCHES)
def test_bench_note_changes_with_numbers(slug, name, bench):
    """Unless it has no control with numbers, or each other value means another training."""
    assert changes(bench) is not False
