"""A figure in the making: a sheet with panels, and in a panel lines, points, bars, cells, words.

    sheet = Sheet(style)
    left = sheet.panel(axis("t"), axis("value"), across=(0, 0.44))
    left.line(x, y, "LSTM", style.palette.lstm)
    sheet.headline(words)
    return sheet.described("alt.loss", last=number(y[-1]))

Every method takes further keys of Plotly's, which go before its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqviz.core.units import unbroken
from seqviz.plotting.figure import Figure
from seqviz.plotting.panel import Panel, annotation
from seqviz.plotting.style import Style, axis_layout, layout


class Sheet:
    """One figure of a style; `more` are keys of Plotly's layout that differ from the house's."""

    def __init__(self, style: Style, **more: Any):
        self.style = style
        self.traces: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []
        self.page = {**layout(style), **more}
        self.legend_names: set[str | None] = set()
        self._last = {"x": 0, "y": 0}
        del self.page["xaxis"], self.page["yaxis"]

    def margin(self, **pixels: float) -> None:
        """Another margin at some sides: l, r, t, b."""
        self.page["margin"] = {**self.page["margin"], **pixels}

    def legend(self, **more: Any) -> None:
        """Other keys of the legend."""
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
        """A panel with these axes (see `axes`), or with an axis of another panel.

        across, up: where it begins and ends, as shares of the width and of the height.
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
        titles: Sequence[str] = (),
    ) -> tuple[Panel, ...]:
        """Put panels side by side.

        Args:
            panels: x axis and y axis of each, from left to right, as in `panel`.
            gaps: where the first panel ends, the second begins and ends, ..., as shares of the
                width; the first begins at 0 and the last ends at 1.
            titles: of the panels.

        Returns:
            The panels, from left to right.
        """
        edges = [0.0, *gaps, 1.0]
        domains = zip(edges[::2], edges[1::2], strict=True)
        named = zip(panels, domains, titles or [""] * len(panels), strict=True)
        return tuple(self.panel(x, y, across=ends, title=title) for (x, y), ends, title in named)

    def _name(self, letter: str) -> str:
        self._last[letter] += 1
        return letter if self._last[letter] == 1 else f"{letter}{self._last[letter]}"

    def words(self, text: str, x: float, y: float, **layout: Any) -> None:
        """Words at a place of the whole sheet, as shares of its width and height."""
        self.annotations.append(
            annotation(self.style, text, xref="paper", yref="paper", x=x, y=y, **layout)
        )

    def headline(self, text: str, **layout: Any) -> None:
        """One line over the figure that says what is chosen."""
        above = {"xanchor": "left", "yanchor": "bottom", "yshift": 10 * self.style.scale,
                 "align": "left", "size": 14}  # fmt: skip
        self.words(text, 0, 1, **{**above, **layout})

    def finish(
        self,
        alt: str,
        names: Mapping[str, Sequence[str]] | None = None,
        gap: float | None = None,
    ) -> Figure:
        """The figure with its description, made from the numbers: what can be seen.

        names: for an axis ("x", "y2") whose numbers 1, 2, ... stand for words, these words; the
        table behind the figure has them in a column of their own. gap: share of the height between
        panels that a narrow screen puts one below the other (responsive_panels.js), where labels
        need more than usual.
        """
        meta: dict[str, Any] = {"alt": unbroken(alt)}
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
        """`finish` with the description that stands under `key`, filled with these words."""
        return self.finish(self.style.text(key, **words), names, gap)
