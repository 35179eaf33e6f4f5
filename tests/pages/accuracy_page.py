"""What a visitor of the accuracy lesson sees, and where its numbers are from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from looking import bench, figures

from seqviz.data import precomputed
from seqviz.experiments.accuracy import shipped
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.lessons.bench import controls
from seqviz.lessons.bench.output import Chart, Output, Passage, Rows
from seqviz.lessons.bert_accuracy import lesson
from seqviz.text import Text

SLUG = "bert_accuracy"
VIEWS = {
    "knife": ("class", "own"),
    "fill": ("treatments", "share"),
    "guess": (),
    "padding": ("accuracy", "flipped", "drift", "on_pads", "own", "tokens"),
    "looks": ("class", "own"),
    "heads": (),
    "tune": (),
    "count": (),
    "search": ("surface", "race"),
    "modes": (),
    "compare": ("systems", "running", "paired", "confusion"),
}
NEED_MODEL = ("guess", "modes")  # these have nothing to show without MiniLM
SHIPPED = ("knife", "fill", "padding", "looks", "heads", "tune", "search", "compare")
# Benches and views that read a sentence of the student's own.
OWN = (("knife", "own"), ("guess", ""), ("padding", "own"), ("padding", "tokens"), ("looks", "own"),
       ("modes", ""))  # fmt: skip


class Ran:
    """The benches of the lesson at some settings, without a page: a hundred times faster."""

    def __init__(self, lang: str, settings: dict[str, Any]) -> None:
        self.text = Text(lang)
        self.values: dict[str, dict[str, Any]] = {name: {} for name in lesson.benches}
        self.shown: dict[str, Output] = {}
        self.run(**settings)

    def run(self, **settings: Any) -> None:
        """As of a page: "ba__knife__view" for one."""
        for key, value in settings.items():
            _, name, control = key.split("__")
            known = dict(controls.controls(lesson.benches[name].declaration))[control]
            self.values[name][control] = known.clean(controls.encoded(value))
            self.shown.pop(name, None)

    def output(self, name: str) -> Output:
        if name not in self.shown:
            style = Style(LIVE, self.text.lang)
            self.shown[name] = lesson.benches[name].run(self.values[name], style=style)
        return self.shown[name]


@pytest.fixture
def ran(vectors: None) -> Callable[..., Ran]:
    """In place of `visit`, where a test only compares what benches show."""
    return lambda slug, lang="en", **settings: Ran(lang, settings)


def opened(visit, lang: str = "en", **settings: object):
    """The page with some settings in its link, "knife__view" for one."""
    return visit(SLUG, lang, **{f"ba__{key}": controls.encoded(v) for key, v in settings.items()})


def result(name: str) -> Any:
    """A shipped result by the name of its experiment."""
    function, keywords = shipped.calls()[name]
    there = precomputed.find(function, keywords)
    assert there is not None, name
    return there.result


def figure(page, name: str) -> dict[str, Any]:
    """The one figure of a bench."""
    if isinstance(page, Ran):
        (chart,) = page.output(name).of(Chart)
        return json.loads(chart.drawn.chart.to_json())
    (found,) = figures(bench(page.app, name))
    return found


def drawn(page, draw, *args, **more) -> dict[str, Any]:
    """What a figure function gives for these arguments, in the page's language and colors."""
    return json.loads(draw(*args, style=Style(LIVE, page.text.lang), **more).to_json())


def said(page, name: str) -> list[str]:
    """Sentences under a figure; on a page the badge is among them."""
    if isinstance(page, Ran):
        return page.output(name).notes
    box = bench(page.app, name)
    return [element.value for kind in ("markdown", "caption") for element in box.get(kind)]


def badge(page, name: str) -> str:
    """Where the numbers of a bench's figure come from."""
    if isinstance(page, Ran):
        (chart,) = page.output(name).of(Chart)
        return f"{page.text(f'frame.{chart.provenance.kind}')} · {chart.provenance.note}"
    (found,) = (
        match[1] for words in said(page, name) if (match := re.match(r":\w+-badge\[(.*)\]", words))
    )
    return found


def warned(page, name: str) -> list[str]:
    return [box.value for box in bench(page.app, name).warning]


def shown(page, name: str) -> dict[str, str | tuple[str, str]]:
    """The read-outs of a bench by key: the value, or the value and what stands beside it."""
    if isinstance(page, Ran):
        found = page.output(name).readouts.values()
        return {one.name: (one.value, one.beside) if one.beside else one.value for one in found}
    box = bench(page.app, name)
    named: dict[str, str] = {}
    for key in page.text.table(f"{SLUG}.metric"):
        if key.endswith(".label"):
            named.setdefault(page.text(f"{SLUG}.metric.{key}"), key.removesuffix(".label"))
    return {named[m.label]: (m.value, m.delta) if m.delta else m.value for m in box.metric}


def colored(page, name: str) -> str:
    """The one text under a figure whose words are colored, as HTML."""
    if isinstance(page, Ran):
        (passage,) = page.output(name).of(Passage)
        return passage.html
    (html,) = (element.proto.body for element in bench(page.app, name).get("html"))
    return html


def rows(page, name: str) -> list[dict[str, Any]]:
    """The one table to read under a figure: its rows by the names of its columns."""
    (table,) = page.output(name).of(Rows)
    return [dict(zip(table.columns, row, strict=True))
            for row in zip(*table.columns.values(), strict=True)]  # fmt: skip
