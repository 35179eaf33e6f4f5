"""Every control of every bench at each of its ends, in one language or the other, without a page.

A control that applies only beside others is tried beside them; in turn with it is drawn one of the
benches that build on its own. Each has its figure or one sentence that says why not. On the pages
the same is tried by night (tests/pages/test_controls_at_their_ends.py).
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
from looking import HAN, PLACEHOLDER, ends, may_refuse, needed
from scenes import words_of

from seqviz import catalog
from seqviz.code_trace import Args, Function, Keywords
from seqviz.lessons.bench.controls import controls
from seqviz.lessons.bench.host import Alone, Found
from seqviz.lessons.bench.lesson import Bench
from seqviz.lessons.bench.output import Chart, Live, Note, Page
from seqviz.refusal import Refusal
from seqviz.text import LANGUAGES
from seqviz.ui.shared.caching import cached

MODELS = {
    "attention": ("minilm", "smollm2"),
    "positions": ("minilm", "smollm2"),
    "transformer": ("minilm", "smollm2"),
    "bert_accuracy": ("vectors",),
    "gpt": ("smollm2",),
    "text": ("minilm", "smollm2", "glove"),
    "recurrent": ("lac",),
}
FORMULA = re.compile(r"\$\$?[^$]+\$\$?")
NO_NUMBER = re.compile(r"nan|inf\b|None")


class Keeping(Alone):
    """Computes a request once, as a page does: most of a bench hears nothing of a control."""

    def call(self, function: Function, args: Args, keywords: Keywords) -> Found:
        return cached(function)(*args, **keywords)


def check(bench: Bench, values: dict[str, Any], language: str, refusable: bool) -> None:
    told = (bench.name, values, language)
    try:
        shown = bench.run(values, language, host=Keeping(), code=False)
    except Refusal as refusal:
        words_of(bench.lesson, f"problem.{refusal.code}", language)  # in its own words
        if not refusable:
            raise AssertionError(told) from refusal
        return
    drawn = [*shown.of(Chart), *shown.of(Live), *shown.of(Page)]
    hints = [note.sentence for note in shown.of(Note) if note.kind == "hint"]
    reasons = [*hints, *filter(None, [shown.waits])]
    assert len(drawn) + len(reasons) == 1, (told, reasons)
    for one in shown.readouts.values():
        assert not NO_NUMBER.search(f"{one.value} {one.beside or ''}"), (told, one)
    words = [word for one in shown.readouts.values() for word in (one.label, one.help)]
    for sentence in (*words, *shown.notes, *reasons):
        assert not PLACEHOLDER.search(FORMULA.sub("", sentence)), (told, sentence)
    if language == "zh":
        assert all(HAN.search(sentence) for sentence in reasons), told


@pytest.mark.parametrize("slug", [lesson.slug for lesson in catalog.LESSONS])
def test_every_control_at_both_ends(slug, request):
    for model in MODELS.get(slug, ()):
        request.getfixturevalue(model)
    benches = import_module(f"seqviz.lessons.{slug}").lesson.benches
    tried = 0
    for bench in benches.values():
        builds = [other for other in benches.values() if bench.name in other.after]
        for name, value in ends(bench.declaration):
            values = {**needed(bench.declaration, name), name: value}
            control = dict(controls(bench.declaration))[name]
            refusable = may_refuse(bench.name, name, value, control)
            language = LANGUAGES[tried % 2]
            check(bench, values, language, refusable)
            if builds:
                above = {f"{bench.name}.{key}": its for key, its in values.items()}
                check(builds[tried % len(builds)], above, language, refusable)
            tried += 1
    assert tried > 50
