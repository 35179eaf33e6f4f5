"""What a visitor of the lesson on gate activations sees, and what the library says it should be."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
from looking import bench, figures

from seqviz.compute.gates import tasks
from seqviz.compute.gates.observation import Observation
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.lessons.bench import controls
from seqviz.text import number

SLUG = "gates"
READOUTS = {
    "watch": ("value", "constant", "correlation", "answer"),
    "force": ("free", "forced", "state", "largest"),
    "learn": ("usual", "twice", "parameters"),
    "conventions": ("same", "furthest", "size"),
    "agreement": ("bits_lstm", "bits_gru"),
    "size": ("count_rnn", "count_gru", "count_lstm"),
}


def opened(visit, lang: str, **settings: object):
    """The page with some settings in its link, "watch__kind" for one."""
    link = {f"ga__{name}": controls.encoded(value) for name, value in settings.items()}
    return visit(SLUG, lang, **link)


def settings(page, name: str):
    """The parameters of a bench as its controls stand, else as they are declared."""
    declaration = page.lesson.benches[name]
    values = {}
    for control, _ in controls.controls(declaration):
        value = page.value(name, control)
        if value is not None:
            values[control] = tuple(value) if isinstance(value, list) else value
    return declaration(**values)


def shown(page, name: str) -> dict[str, tuple[str, str]]:
    """The read-outs of a bench, by key: the value and what stands beside it."""
    named = {page.text(f"{SLUG}.metric.{key}.label"): key for key in READOUTS[name]}
    assert len(named) == len(READOUTS[name])
    return {named[m.label]: (m.value, m.delta) for m in bench(page.app, name).metric}


def said(page, name: str) -> list[str]:
    box = bench(page.app, name)
    return [element.value for kind in ("markdown", "caption") for element in box.get(kind)]


def note(page, key: str, **values: object) -> str:
    return page.text(f"{SLUG}.note.{key}", **values)


def metric(page, key: str, **values: object) -> str:
    return page.text(f"{SLUG}.metric.{key}", **values)


def option(page, name: str, value: str) -> str:
    return page.text.first(f"{SLUG}.option.{name}.{value}", f"option.{value}")


def drawn(page, name: str) -> list:
    """The traces of a bench's one figure."""
    (figure,) = figures(bench(page.app, name))
    return figure["data"]


def traces(page, draw, *args) -> list:
    """The traces that a figure function gives for these arguments."""
    return json.loads(draw(*args, style=Style(LIVE, page.text.lang)).to_json())["data"]


def answer(page, seen: Observation) -> tuple[str, str]:
    """The answer at the end of the text and how sure the network is, from the observation."""
    if seen.kind == "characters":
        bits = -np.log2(seen.probability).sum() / len(seen.pieces)
        return number(bits), metric(page, "answer.bits")
    if seen.kind == "sentiment":
        p = float(seen.probability[-1])
        verdict = metric(page, "answer.positive" if p > 0.5 else "answer.negative")
        return verdict, f"P = {number(p)}"
    return tasks.ANSWERS[seen.kind][seen.answer[-1]], metric(page, "answer.at_end")


class Passage(HTMLParser):
    """The colored text under a figure: its letters, and the attributes of each piece."""

    def __init__(self, page) -> None:
        super().__init__()
        (html,) = bench(page.app, "watch").get("html")
        self.source = html.proto.body
        self.text = ""
        self.spans: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.feed(self.source)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "span":
            self.spans.append(dict(attrs))

    def handle_data(self, data):
        self.text += data

    def with_look(self, word: str) -> list[bool]:
        return [word in (span["style"] or "") for span in self.spans]
