"""Metrics, notes and tables as HTML, shared by page, embeds, print and notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from seqviz.lessons.framework import markdown
from seqviz.lessons.framework.output import (
    ColoredText,
    EquationLine,
    FramedPage,
    Hidden,
    Item,
    Metric,
    Note,
    Table,
    Target,
    TokenPicker,
)

_PAGE = (
    '<iframe class="page" sandbox="allow-scripts" loading="lazy" '
    'height="{height}" title="{alt}" srcdoc="{html}"></iframe>'
)


def note_html(note: Note | ColoredText | EquationLine) -> str | None:
    """Return a note as HTML; HTML tags in it are escaped.

    Returns None for a displayed formula (`$$`), which only a Streamlit page can typeset.
    """
    if isinstance(note, ColoredText | EquationLine):
        return note.html
    if isinstance(note, Target):  # `assets/static/bench/progress.js` reads the data attributes
        state = f'data-target="{note.name}" data-reached="{str(note.reached).lower()}"'
        return f'<div class="seqviz-target" {state}>{markdown.html(note.sentence)}</div>'
    return None if "$$" in note.sentence else markdown.html(note.sentence)


def hidden_html(item: Hidden) -> str:
    """Return a gray bar in place of what a veiled bench does not show."""
    return f'<div class="seqviz-hidden" aria-hidden="true" style="height: {item.height}px"></div>'


def readouts_html(items: Iterable[Item]) -> str:
    """Return the metrics among the items as HTML terms and values."""
    return "".join(_readout(item) for item in items if isinstance(item, Metric))


def sentences_html(items: Iterable[Item]) -> str:
    """Return the other items, except figures and files, as HTML in their order."""
    return "".join(map(_sentence, items))


def _readout(item: Metric) -> str:
    beside = f"<small>{escape(item.caption)}</small>" if item.caption else ""
    return (
        f'<div title="{escape(item.help)}"><dt>{markdown.inline(item.label)}</dt>'
        f"<dd><span>{escape(item.value)}</span>{beside}</dd></div>"
    )


def _sentence(item: Item) -> str:
    match item:
        case Note() | ColoredText() | EquationLine():
            kind = item.kind if isinstance(item, Note) else "passage"
            # A formula leaves an empty element, because live answers address notes by index.
            return f'<div class="sentence {kind}">{note_html(item) or ""}</div>'
        case FramedPage():
            return _PAGE.format(height=item.height, alt=escape(item.alt), html=escape(item.html))
        case Table():
            return _table(item)
        case TokenPicker():
            return _token_picker(item)
        case Hidden():
            return hidden_html(item)
    return ""


def _table(item: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in item.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in zip(*item.columns.values(), strict=False)
    )
    return f'<div class="rows" tabindex="0"><table><tr>{head}</tr>{rows}</table></div>'


def _token_picker(item: TokenPicker) -> str:
    buttons = "".join(
        f'<button type="button" data-sets="{item.control}" value="{position}" '
        f'aria-pressed="{str(position == item.chosen).lower()}">{escape(word)}</button>'
        for position, word in enumerate(item.words, 1)
    )
    return f'<div class="pieces" role="group" aria-label="{escape(item.label)}">{buttons}</div>'
