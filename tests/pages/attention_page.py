"""What a visitor of the lesson on attention sees, and what the library says it should be."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from looking import bench, figures

from seqviz.figures.grammar.style import LIVE, Style
from seqviz.lessons.bench import controls
from seqviz.lessons.bench import output as output_kinds

SLUG = "attention"
ENCODER = "The animal did not cross the street because it was too tired."
DECODER = "When Mary and John went to the store, John gave a drink to"
MODEL_BENCHES = ("real", "apart", "masks", "ablate")  # each waits for the model
AFTER = ("sentence", "furthest", "next_after", "bits")
READOUTS = {
    "by_hand": ("score", "weight", "row_sum", "column_sum"),
    "scale": ("variance", "unscaled", "divided", "too_much"),
    "real": ("habit", "entropy", "distance", "special"),
    "apart": ("product", "divided_by", "divided_score", "weight"),
    "masks": ("allowed", "on_pads", *AFTER),
    "ablate": ("off_count", "pair", "worth", "half", *AFTER),
}


def opened(visit, lang: str = "en", **settings: object):
    """The page with some settings in its link, "real__view" for one."""
    return visit(SLUG, lang, **{f"at__{key}": controls.encoded(v) for key, v in settings.items()})


def read_by(model: str) -> str:
    """The text that a model reads when nobody has changed it."""
    return ENCODER if model == "minilm" else DECODER


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


def figure(page, name: str) -> dict[str, Any]:
    """The one figure of a bench."""
    (found,) = figures(bench(page.app, name))
    return found


def drawn(page, name: str) -> list:
    return figure(page, name)["data"]


def traces(page, draw, *args, **more) -> list:
    """The traces that a figure function gives for these arguments."""
    return json.loads(draw(*args, style=Style(LIVE, page.text.lang), **more).to_json())["data"]


class Passage(HTMLParser):
    """The colored text under a figure: its letters, and the attributes of each piece."""

    def __init__(self, page, html: str = "") -> None:
        super().__init__()
        if page is not None:
            (shown,) = bench(page.app, "real").get("html")
            html = shown.proto.body
        self.text = ""
        self.spans: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "span":
            self.spans.append(dict(attrs))

    def handle_data(self, data):
        self.text += data

    def deep(self) -> list[float]:
        """How strong the color of each piece is."""
        found = (re.search(r"rgba\(\d+,\d+,\d+,([\d.]+)\)", span["style"]) for span in self.spans)
        return [float(color[1]) for color in found]

    def outlined(self) -> list[int]:
        """The places of the outlined pieces, from 1."""
        return [n for n, span in enumerate(self.spans, 1) if "outline" in (span["style"] or "")]


def colored(output) -> list[Passage]:
    """The colored texts that a bench shows."""
    return [Passage(None, item.html) for item in output.of(output_kinds.Passage)]
