"""What a bench has said and drawn, as HTML and as figures for a page of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from seqviz.core.i18n import duration
from seqviz.lessons.framework.output import (
    Chart,
    ClientComponent,
    ColoredText,
    FramedPage,
    Item,
    Metric,
    Note,
    Provenance,
    Table,
    TokenPicker,
)
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIGHT
from seqviz.ui.render import html, markdown

_PAGE = (
    '<iframe class="page" sandbox="allow-scripts" loading="lazy" '
    'height="{height}" title="{alt}" srcdoc="{html}"></iframe>'
)


def figure_payload(items: Sequence[Item], start: Mapping[str, Any]) -> dict[str, Any]:
    """The figure, of whatever kind it is. start: the defaults of the bench."""
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
    """An Altair chart as a picture on paper: what moves in it, moves in its lesson only."""
    import vl_convert

    colored = chart.configure_range(category=list(LIGHT.colors()))
    colored = colored.configure_axis(labelFontSize=13, titleFontSize=14, gridColor=LIGHT.grid)
    sized = colored.properties(width=680, height=330)
    return str(vl_convert.vegalite_to_svg(sized.to_dict()))


def note_payload(items: Sequence[Item], words: LessonWords, seconds: float) -> dict[str, Any]:
    """What stands above the figure, its read-outs, what is said below, and where it comes from."""
    position = next(
        (k for k, item in enumerate(items) if isinstance(item, Chart | ClientComponent)), len(items)
    )
    read = [item for item in items if isinstance(item, Metric)]
    figure = items[position] if position < len(items) else None
    origin = ""
    if isinstance(figure, Chart | ClientComponent):
        origin = _origin(figure.provenance, words, seconds)
    return {
        "over": _html(items[:position], words),
        "readouts": "".join(map(_readout, read)),
        "under": _html(items[position:], words) + _moves(items, words),
        "themed": any(isinstance(item, ColoredText | FramedPage) for item in items),
        "origin": origin,
    }


def _moves(items: Sequence[Item], words: LessonWords) -> str:
    """Where a figure is a picture here, where it moves."""
    charts = [item.figure.chart for item in items if isinstance(item, Chart)]
    if all(isinstance(chart, Figure) for chart in charts):
        return ""
    return f'<div class="caption">{escape(words("embed.only_there"))}</div>'


def _readout(item: Metric) -> str:
    beside = f"<small>{escape(item.caption)}</small>" if item.caption else ""
    return (
        f'<div title="{escape(item.help)}"><dt>{markdown.inline(item.label)}</dt>'
        f"<dd><span>{escape(item.value)}</span>{beside}</dd></div>"
    )


def _html(items: Iterable[Item], words: LessonWords) -> str:
    return "".join(_one(item, words) for item in items)


def _one(item: Item, words: LessonWords) -> str:
    match item:
        case Note() | ColoredText():
            kind = item.kind if isinstance(item, Note) else "passage"
            # A formula stands in the lesson; its place is kept, as answers count the sentences.
            return f'<div class="sentence {kind}">{html.note_html(item) or ""}</div>'
        case FramedPage():
            return _PAGE.format(height=item.height, alt=escape(item.alt), html=escape(item.html))
        case Table():
            return _table(item)
        case TokenPicker():
            return _pieces(item, words)
    return ""  # a file to save is in the lesson


def _table(item: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in item.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in zip(*item.columns.values(), strict=False)
    )
    return f'<div class="rows" tabindex="0"><table><tr>{head}</tr>{rows}</table></div>'


def _pieces(item: TokenPicker, words: LessonWords) -> str:
    buttons = "".join(
        f'<button type="button" data-sets="{item.control}" value="{position}" '
        f'aria-pressed="{str(position == item.chosen).lower()}">{escape(word)}</button>'
        for position, word in enumerate(item.words, 1)
    )
    return f'<div class="pieces" role="group" aria-label="{escape(item.label)}">{buttons}</div>'


def _origin(origin: Provenance, words: LessonWords, seconds: float) -> str:
    """As the badge of the bench in its lesson."""
    label = words(f"frame.{origin.kind}")
    if origin.kind == "browser":
        return label
    if origin.kind == "live":
        return f"{label} · {duration(seconds)}"
    note = origin.note.replace(" cores", f" {words('frame.cores')}")  # shipped results say it so
    return f"{label} · {note}"
