"""What a visitor of the accuracy lesson sees, and where its numbers are from."""

from __future__ import annotations

import json
import re
from typing import Any

from looking import bench, figures

from seqviz.data import precomputed
from seqviz.experiments.accuracy import shipped
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.lessons.bench import controls

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
    (found,) = figures(bench(page.app, name))
    return found


def drawn(page, draw, *args, **more) -> dict[str, Any]:
    """What a figure function gives for these arguments, in the page's language and colors."""
    return json.loads(draw(*args, style=Style(LIVE, page.text.lang), **more).to_json())


def said(page, name: str) -> list[str]:
    """Sentences under a figure, the badge among them."""
    box = bench(page.app, name)
    return [element.value for kind in ("markdown", "caption") for element in box.get(kind)]


def badge(page, name: str) -> str:
    """Where the numbers of a bench's figure come from."""
    (found,) = (
        match[1] for words in said(page, name) if (match := re.match(r":\w+-badge\[(.*)\]", words))
    )
    return found


def warned(page, name: str) -> list[str]:
    return [box.value for box in bench(page.app, name).warning]


def shown(page, name: str) -> dict[str, str | tuple[str, str]]:
    """The read-outs of a bench by key: the value, or the value and what stands beside it."""
    box = bench(page.app, name)
    named: dict[str, str] = {}
    for key in page.text.table(f"{SLUG}.metric"):
        if key.endswith(".label"):
            named.setdefault(page.text(f"{SLUG}.metric.{key}"), key.removesuffix(".label"))
    return {named[m.label]: (m.value, m.delta) if m.delta else m.value for m in box.metric}
