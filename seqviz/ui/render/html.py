"""Response of the live route: output of a bench as JSON for the browser."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

from seqviz.core.i18n import Text
from seqviz.lessons.framework.arrangement import arrange
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.output import (
    Chart,
    ColoredText,
    EquationLine,
    Item,
    Metric,
    Note,
    Output,
)
from seqviz.lessons.framework.output_html import note_html
from seqviz.plotting.figure import Array, Figure
from seqviz.plotting.style import LIVE, Style
from seqviz.ui.render.badge import badge
from seqviz.ui.render.encoding import compress


def style(lang: str, presenting: bool) -> Style:
    """Return the figure style in the theme's color roles; larger in presenter mode."""
    return Style(LIVE, lang, height=525, scale=1.25) if presenting else Style(LIVE, lang)


@dataclass(frozen=True)
class LiveResponse:
    """Response of the live route.

    Attributes:
        around: metadata and texts around the figure.
        figure: its JSON in parts, with large arrays separate.
    """

    around: Mapping[str, Any]
    figure: tuple[bytes | Array, ...]

    def encode(self, known_arrays: Set[str] = frozenset()) -> bytes:
        """Return two lines of JSON, metadata and figure, compressed where that is worthwhile.

        Args:
            known_arrays: names of arrays that the browser has; only these names are sent.
        """
        names = [part.name for part in self.figure if isinstance(part, Array)]
        head = json.dumps({**self.around, "arrays": names}, ensure_ascii=False).encode()
        named = (
            b"#" + part.name.encode()
            if isinstance(part, Array) and part.name in known_arrays
            else part
            for part in self.figure
        )
        return compress((head, b"\n", *named))


def layout_signature(items: Sequence[Item]) -> str | None:
    """Return a digest of the page content outside live responses; None where it varies.

    Two runs with equal signatures differ only in what the browser has already drawn.
    """
    parts: list[tuple[object, ...]] = []
    for item in chain(*arrange(items)):
        match item:
            case Chart() if isinstance(item.figure.chart, Figure):
                parts.append(("chart", item.provenance.kind, item.clicks))
            case Metric():
                parts.append(("readout", item.label, item.help, item.caption is None))
            case Note() if "$" not in item.sentence:  # only the page can render a formula
                parts.append((item.kind,))
            case ColoredText() | EquationLine():
                parts.append(("passage",))
            case _:
                return None
    alone = [kind for kind, *_ in parts].count("chart") == 1
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest() if alone else None


def serialize(output: Output, text: Text) -> LiveResponse:
    """Return the output of a bench as a live response.

    A figure that is not Plotly's has no JSON: the page draws it. Raises PendingError without a
    figure.
    """
    items = output.items
    charts = [item for item in items if isinstance(item, Chart)]
    if not charts:
        raise PendingError
    rendered = charts[0].figure
    around: dict[str, Any] = {
        "alt": rendered.alt,
        "readouts": [
            {"value": item.value, "caption": item.caption}
            for item in items
            if isinstance(item, Metric)
        ],
        "notes": [
            note_html(item)
            for item in chain(*arrange(items))
            if isinstance(item, Note | ColoredText | EquationLine)
        ],
        "badge": badge(charts[0].provenance, output, text),
        "layout_signature": layout_signature(items),
    }
    if output.step is not None:
        around["step"] = {"number": output.step.number, "html": note_html(output.step)}
    return LiveResponse(around, rendered.parts if isinstance(rendered.chart, Figure) else ())
