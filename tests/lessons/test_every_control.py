"""Every control of every bench at each of its ends, in one language or the other, without a page.

A control that applies only beside others is tried beside them; at every second end one of the
benches that build on its own is drawn, too. Each has its figure or one sentence that says why not.
On the pages all is tried by night (tests/pages/test_controls_at_their_ends.py).
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest

from seqviz.content import catalog
from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES
from seqviz.lessons.framework.controls import controls
from seqviz.lessons.framework.lesson import Bench
from seqviz.lessons.framework.output import Chart, ClientComponent, FramedPage, Note
from tests.pages.page_assertions import HAN, PLACEHOLDER, ends, may_refuse, needed
from tests.pages.scenes import words_of
from tests.shared_fixtures import models_of

FORMULA = re.compile(r"\$\$?[^$]+\$\$?")
NO_NUMBER = re.compile(r"nan|inf\b|None")
UNFORMATTED = re.compile(r"\d\.\d{7}")  # a float as Python prints it


def check(bench: Bench, values: dict[str, Any], language: str, refusable: bool) -> None:
    payload = (bench.name, values, language)
    try:
        visible = bench.run(values, language, code=False)
    except UserError as refusal:
        words_of(bench.lesson, f"problem.{refusal.code}", language)  # in its own words
        if not refusable:
            raise AssertionError(payload) from refusal
        return
    rendered = [*visible.of(Chart), *visible.of(ClientComponent), *visible.of(FramedPage)]
    hints = [note.sentence for note in visible.of(Note) if note.kind == "hint"]
    reasons = [*hints, *filter(None, [visible.waits])]
    assert len(rendered) + len(reasons) == 1, (payload, reasons)
    for readout in visible.readouts.values():
        assert not NO_NUMBER.search(f"{readout.value} {readout.caption or ''}"), (payload, readout)
    words = [word for item in visible.readouts.values() for word in (item.label, item.help)]
    for sentence in (*words, *visible.notes, *reasons):
        assert not PLACEHOLDER.search(FORMULA.sub("", sentence)), (payload, sentence)
        assert not UNFORMATTED.search(sentence), (payload, sentence)
    if language == "zh":
        assert all(HAN.search(sentence) for sentence in reasons), payload


@pytest.mark.parametrize("slug", [lesson.slug for lesson in catalog.LESSONS])
def test_benches_render_or_reject_at_control_ends(slug, request):
    models_of(slug, request)
    benches = import_module(f"seqviz.lessons.{slug}").lesson.benches
    tried = 0
    for bench in benches.values():
        builds = [other for other in benches.values() if bench.name in other.after]
        for name, value in ends(bench.declaration):
            values = {**needed(bench.declaration, name), name: value}
            control = dict(controls(bench.declaration))[name]
            refusable = may_refuse(bench.name, name, value, control)
            check(bench, values, LANGUAGES[tried % 2], refusable)
            turn = tried // 2
            if builds and tried % 2:
                above = {f"{bench.name}.{key}": its for key, its in values.items()}
                check(builds[turn % len(builds)], above, LANGUAGES[turn % 2], refusable)
            tried += 1
    assert tried > 50
