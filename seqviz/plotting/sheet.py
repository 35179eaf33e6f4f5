"""`Sheet`: builder of one figure with panels, headline and text description.

    sheet = Sheet(style)
    left = sheet.panel(axis("t"), axis("value"), across=(0, 0.44))
    left.line(x, y, "LSTM", style.palette.lstm)
    sheet.headline(words)
    return sheet.described("alt.loss", last=number(y[-1]))

Every method accepts further Plotly keys, which override its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqviz.core.units import unbroken
from seqviz.plotting.figure import Figure
from seqviz.plotting.panel import Panel, annotation
from seqviz.plotting.style import Style, axis_layout, layout


class Sheet:
    """Builder of one figure.

    Args:
        style: style of the figure.
        **more: Plotly layout keys that differ from the template.

    Attributes:
        traces: Plotly traces in drawing order.
        shapes: Plotly shapes.
        annotations: Plotly annotations.
        page: Plotly layout.
        legend_names: names that already have a legend entry.
        meta: what scripts read beside the description (`maps.Map`).
    """

    def __init__(self, style: Style, **more: Any):
        self.style = style
        self.traces: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []
        self.page = {**layout(style), **more}
        self.legend_names: set[str | None] = set()
        self.meta: dict[str, Any] = {}
        self._last = {"x": 0, "y": 0}
        del self.page["xaxis"], self.page["yaxis"]

    def margin(self, **pixels: float) -> None:
        """Set margins in pixels by side: l, r, t, b."""
        self.page["margin"] = {**self.page["margin"], **pixels}

    def legend(self, **more: Any) -> None:
        """Override Plotly keys of the legend."""
        self.page["legend"] = {**self.page["legend"], **more}

    def panel(
        self,
        x: Mapping[str, Any] | Panel,
        y: Mapping[str, Any] | Panel,
        *,
        across: Sequence[float] | None = None,
        up: Sequence[float] | None = None,
        title: str = "",
    ) -> Panel:
        """Add a panel with its own axes or with an axis of another panel.

        Args:
            x: x axis (see `axes`), or a panel whose x axis is shared.
            y: y axis, likewise.
            across: left and right end, as shares of the width.
            up: lower and upper end, as shares of the height.
            title: title above the panel.
        """
        names = [
            other.x if isinstance(other, Panel) and letter == "x"
            else other.y if isinstance(other, Panel)
            else self._name(letter)
            for letter, other in (("x", x), ("y", y))
        ]  # fmt: skip
        for name, anchor, axis, domain in (
            (names[0], names[1], x, across),
            (names[1], names[0], y, up),
        ):
            if isinstance(axis, Panel):
                continue
            own: dict[str, Any] = {} if names == ["x", "y"] else {"anchor": anchor}
            if domain is not None:
                own["domain"] = list(domain)
            self.page[f"{name[0]}axis{name[1:]}"] = axis_layout(self.style, **{**own, **axis})
        panel = Panel(self, names[0], names[1], right=across[1] if across else 1.0)
        if title:
            panel.title(title)
        return panel

    def row(
        self,
        *panels: tuple[Mapping[str, Any] | Panel, Mapping[str, Any] | Panel],
        gaps: Sequence[float],
        begin: float = 0.0,
        titles: Sequence[str] = (),
    ) -> tuple[Panel, ...]:
        """Add panels side by side.

        Args:
            *panels: x axis and y axis of each, from left to right, as in `panel`.
            gaps: end of the first panel, start and end of the second, ..., as shares of the width;
                the last ends at 1, or at a further value.
            begin: start of the first panel, as a share of the width; room for long labels.
            titles: titles of the panels.

        Returns:
            The panels, from left to right.
        """
        edges = [begin, *gaps, 1.0][: 2 * len(panels)]
        domains = zip(edges[::2], edges[1::2], strict=True)
        named = zip(panels, domains, titles or [""] * len(panels), strict=True)
        return tuple(self.panel(x, y, across=ends, title=title) for (x, y), ends, title in named)

    def _name(self, letter: str) -> str:
        self._last[letter] += 1
        return letter if self._last[letter] == 1 else f"{letter}{self._last[letter]}"

    def words(self, text: str, x: float, y: float, **layout: Any) -> None:
        """Add an annotation at sheet coordinates.

        Args:
            text: the text, as HTML of Plotly.
            x: share of the width.
            y: share of the height.
            **layout: further arguments of `annotation`.
        """
        self.annotations.append(
            annotation(self.style, text, xref="paper", yref="paper", x=x, y=y, **layout)
        )

    def headline(self, text: str, **layout: Any) -> None:
        """Add a line above the figure that states the current selection.

        Args:
            text: the text.
            **layout: further arguments of `words`.
        """
        above = {"xanchor": "left", "yanchor": "bottom", "yshift": 10 * self.style.scale,
                 "align": "left", "size": 14}  # fmt: skip
        self.words(text, 0, 1, **{**above, **layout})

    def finish(
        self,
        alt: str,
        names: Mapping[str, Sequence[str]] | None = None,
        gap: float | None = None,
    ) -> Figure:
        """Return the figure with its text description.

        Args:
            alt: description of what is visible, made from the numbers.
            names: by axis ("x", "y2"), the names of the positions 1, 2, ...; the data table shows
                them in a separate column.
            gap: share of the height between panels stacked on narrow screens
                (responsive_panels.js), where labels need more than the default.
        """
        meta: dict[str, Any] = {**self.meta, "alt": unbroken(alt)}
        if names:
            meta["names"] = {axis: list(words) for axis, words in names.items()}
        if gap is not None:
            meta["gap"] = gap
        marks = {"shapes": self.shapes, "annotations": self.annotations}
        there = {key: some for key, some in marks.items() if some}
        return Figure(self.traces, {**self.page, **there, "meta": meta})

    def described(
        self,
        key: str,
        /,
        names: Mapping[str, Sequence[str]] | None = None,
        gap: float | None = None,
        **words: object,
    ) -> Figure:
        """Return the figure with the text description under a translation key.

        Args:
            key: translation key.
            names: as in `finish`.
            gap: as in `finish`.
            **words: values of the fields of the description.
        """
        return self.finish(self.style.text(key, **words), names, gap)
