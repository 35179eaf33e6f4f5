"""Conversion of output items to HTML and figures for an embedded bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from seqviz.lessons.framework.arrangement import arrange
from seqviz.lessons.framework.output import (
    Chart,
    ClientComponent,
    ColoredText,
    FramedPage,
    Item,
    Output,
)
from seqviz.lessons.framework.output_html import readouts_html, sentences_html
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIGHT
from seqviz.ui.render.badge import badge


def figure_payload(items: Sequence[Item], start: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figure: Plotly JSON, SVG of an Altair chart, or a client component.

    Args:
        items: output of the bench.
        start: defaults of its controls.
    """
    for item in items:
        match item:
            case Chart():
                return {"alt": item.figure.alt, **_chart(item)}
            case ClientComponent():
                values = dict(item.values)
                component = {"values": values, "start": dict(start), "words": dict(item.words)}
                return {"component": {"name": item.component, **component}}
    return {}


def _chart(item: Chart) -> dict[str, Any]:
    if isinstance(item.figure.chart, Figure):
        clicks = item.clicks
        return {"figure": item.figure.json.decode(), "picks": bool(clicks.picks or clicks.toggles)}
    return {"vega": svg(item.figure.chart)}


def svg(chart: Any) -> str:
    """Return an Altair chart as a static SVG in light colors."""
    import vl_convert

    colored = chart.configure_range(category=list(LIGHT.colors()))
    colored = colored.configure_axis(labelFontSize=13, titleFontSize=14, gridColor=LIGHT.grid)
    sized = colored.properties(width=680, height=330)
    return str(vl_convert.vegalite_to_svg(sized.to_dict()))


def note_payload(items: Sequence[Item], output: Output, words: LessonWords) -> dict[str, Any]:
    """Return the texts above and below the figure, the metrics, and the badge."""
    visible, folded = arrange(items)
    position = next(
        (k for k, item in enumerate(visible) if isinstance(item, Chart | ClientComponent)),
        len(visible),
    )
    figures = visible[position : position + 1]
    origins = [item.provenance for item in figures if isinstance(item, Chart | ClientComponent)]
    return {
        "over": sentences_html(visible[:position]),
        "readouts": readouts_html(items),
        "under": sentences_html(visible[position:]) + _fold(folded, words) + _moves(items, words),
        "themed": any(isinstance(item, ColoredText | FramedPage) for item in items),
        "origin": badge(origins[0], output, words.text) if origins else "",
    }


def _fold(folded: Sequence[Item], words: LessonWords) -> str:
    """Return the sentences that open with a click."""
    if not folded:
        return ""
    label = escape(words.text("frame.details"))
    return f"<details><summary>{label}</summary>{sentences_html(folded)}</details>"


def _moves(items: Sequence[Item], words: LessonWords) -> str:
    """Return a sentence that an interactive chart is in the lesson, where it is static here."""
    charts = [item.figure.chart for item in items if isinstance(item, Chart)]
    if all(isinstance(chart, Figure) for chart in charts):
        return ""
    return f'<div class="caption">{escape(words("embed.only_there"))}</div>'
