"""`BenchView`: layout of a bench on a page, which renders its output items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from seqviz.core.i18n import Text, escape_markdown
from seqviz.lessons.framework import output as items
from seqviz.lessons.framework.arrangement import Arrangement
from seqviz.lessons.framework.output_html import hidden_html, note_html
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import Style
from seqviz.ui.page import components
from seqviz.ui.page.spreadsheet import no_formula
from seqviz.ui.render.clicks import apply_browser_values, on_pick

ICONS = {"hint": ":material/arrow_forward:"}
MAX_METRICS = 2  # in sight; more of them are in a fold
_WHOLE = 8  # rows; a longer table scrolls
_ROOM = 640  # pixels beside the controls; cells of a wider table are wrapped


def _widths(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the widths of a table's columns in pixels, each by its longest cell.

    Without widths all columns grow alike, and the end of the longest is cut off. Chinese characters
    are twice as wide as letters.
    """
    return {
        name: st.column_config.Column(
            width=24 + max(sum(7 if c < "⺀" else 14 for c in str(cell)) for cell in (name, *cells))
        )
        for name, cells in columns.items()
    }


@dataclass
class BenchView:
    """Layout of a bench.

    Attributes:
        prefix: of the bench.
        words: labels of its lesson.
        stage: column of the figure.
        side: column of the controls.
        readouts: row of metrics.
        declaration: controls of the bench.
        style: of its figures.
        equation: container under the figure, for its equation.
        below: container under that, for the footer.
        live: descriptor of live requests (`live_descriptor`).
        displayed: the item of the figure, with its provenance.
        saying: container of the next sentence.
        n_sentences: number of such containers.
        arrangement: decides which sentences are folded.
        details: row of the fold.
        fold: the fold in it, for further sentences and for metrics after the first `MAX_METRICS`.
        folded_sentences: their container.
        n_metrics: number of metrics.
        training: identifies the job that the figure shows; empty without one.
    """

    prefix: str
    words: LessonWords
    stage: Any
    side: Any
    readouts: Any
    declaration: type[Any]
    style: Style = field(default_factory=Style)
    equation: Any = None
    below: Any = None
    live: Mapping[str, Any] | None = None
    displayed: items.Chart | items.ClientComponent | None = None
    saying: Any = None
    n_sentences: int = 0
    arrangement: Arrangement = field(default_factory=Arrangement)
    details: Any = None
    fold: Any = None
    folded_sentences: Any = None
    n_metrics: int = 0
    training: str = ""

    @property
    def text(self) -> Text:
        """Translations shared by lessons."""
        return self.words.text

    def emit(self, item: items.Item) -> None:
        """Render an item where it belongs."""
        visible, folded = self.arrangement.split(item)
        if isinstance(visible, items.Metric):
            self.n_metrics += 1
            with self.readouts if self.n_metrics <= MAX_METRICS else self._folded():
                self._put(visible)
        elif visible is not None:
            if not isinstance(visible, items.Note | items.ColoredText | items.EquationLine):
                self.saying = None
            with self.stage:
                self._put(visible)
        if folded is not None:
            if self.folded_sentences is None:
                self.folded_sentences = self._folded().container(key=f"{self.prefix}.notes.folded")
            with self.folded_sentences:
                self._sentence(folded)

    def _folded(self) -> Any:
        """Return the container of what is folded."""
        if self.fold is None:
            label, key = self.text("frame.details"), f"{self.prefix}.fold"
            self.fold = self.details.expander(label, key=key)
        return self.fold

    def _put(self, item: items.Item) -> None:
        match item:
            case items.Chart():
                self.chart(item.figure, item.clicks)
                self._put_below(item)
            case items.ClientComponent():
                self._live(item)
                self._put_below(item)
            case items.Metric():
                st.metric(
                    item.label,
                    item.value,
                    delta=item.caption,
                    delta_color="off",
                    delta_arrow="off",
                    help=item.help,
                    border=True,
                    height="stretch",
                )
            case items.EquationLine():
                self.equation.html(item.html)
            case items.Note() | items.ColoredText():
                self._say(item)
            case items.Hidden():
                st.html(hidden_html(item))
            case items.FramedPage():
                st.iframe(item.html, height=item.height, alt=item.alt)
            case items.Table():
                self._table(item)
            case items.TokenPicker():
                self._pieces(item)
            case items.Game():
                report = partial(apply_browser_values, self.prefix, self.declaration)
                draw = components.GAMES[item.component]
                draw(f"{self.prefix}.{item.component}", dict(item.values), item.words, report)
            case items.Download():
                st.download_button(
                    item.label,
                    item.content,
                    item.file_name,
                    item.mime,
                    key=f"{self.prefix}.{item.name}",
                    on_click="ignore",
                    type="tertiary",
                    icon=":material/download:",
                )

    def _table(self, item: items.Table) -> None:
        """Render a table, with the cells of a short one wrapped where its rows do not fit."""
        widths = _widths(item.columns)
        count = max(map(len, item.columns.values()), default=0)
        if count <= _WHOLE and sum(column["width"] for column in widths.values()) > _ROOM:
            cells = {name: [escape_markdown(str(cell)) for cell in column]
                     for name, column in item.columns.items()}  # fmt: skip
            st.table(cells, hide_index=True)
            return
        columns = {name: [no_formula(cell) for cell in column]
                   for name, column in item.columns.items()}  # fmt: skip
        st.dataframe(columns, key=f"{self.prefix}.{item.name}", hide_index=True,
                     height=38 + 35 * count if count <= _WHOLE else 260,
                     column_config=widths)  # fmt: skip

    def _put_below(self, item: items.Chart | items.ClientComponent) -> None:
        """Make room under a figure: the equation of its run comes last, and stands first."""
        if self.equation is None:
            self.equation = st.container(key=f"{self.prefix}.equation")
        self.below, self.displayed = st.container(), item

    def chart(
        self, picture: items.RenderedFigure, clicks: items.ClickBindings | None = None
    ) -> None:
        """Render the figure alone, at the height of the style."""
        with st.container(key=f"{self.prefix}.figure", height=self.style.height, border=False):
            key = f"{self.prefix}.chart"
            if isinstance(picture.chart, Figure):
                missing = self.text("frame.no_library")
                payload = on_pick(self.prefix, self.declaration, clicks) if clicks else None
                components.chart(key, picture.json, picture.alt, missing, payload, self.live)
            else:
                spec = json.loads(picture.json)
                spec.pop("description", None)  # Streamlit would warn of both
                st.vega_lite_chart(spec, key=key, alt=picture.alt)

    def replay(self, chart: object) -> None:
        """Show the buttons that play a training again, if the chart is a figure of one."""
        if isinstance(chart, Figure) and "replay" in (chart.page.get("meta") or {}):
            words = self.text.table("replay")
            components.replay(f"{self.prefix}.replay", self.prefix, words, self.training)

    def _say(self, item: items.Note | items.ColoredText) -> None:
        """Render a sentence; consecutive ones share a container that the fast path writes to."""
        if self.saying is None:
            self.n_sentences += 1
            self.saying = st.container(key=f"{self.prefix}.notes.{self.n_sentences}")
        with self.saying:
            self._sentence(item)

    def _sentence(self, item: items.Item) -> None:
        match item:
            case items.ColoredText() | items.Target():
                st.html(note_html(item) or "")
            case items.Note(kind="caption"):
                st.caption(item.sentence)
            case items.Note(kind="hint"):
                st.info(item.sentence, icon=ICONS["hint"])
            case items.Note():
                st.markdown(item.sentence)

    def _live(self, item: items.ClientComponent) -> None:
        with st.container(key=f"{self.prefix}.figure", border=False):
            report = partial(apply_browser_values, self.prefix, self.declaration)
            draw = components.IN_BROWSER[item.component]
            words = {**item.words, "exact": self.text("frame.exact"),
                     "field": self.text.table("number_field")}  # fmt: skip
            start = vars(self.declaration())
            draw(f"{self.prefix}.live", dict(item.values), start, words, report)

    def _pieces(self, item: items.TokenPicker) -> None:
        """Render the words of a text as pills that set a control."""
        key = f"{self.prefix}.{item.control}"
        st.session_state[f"{key}.pick"] = item.chosen

        def moved() -> None:
            if picked := st.session_state[f"{key}.pick"]:  # a second click deselects
                st.session_state[key] = picked

        st.pills(
            item.label,
            range(1, len(item.words) + 1),
            format_func=lambda position: escape_markdown(item.words[position - 1]),
            key=f"{key}.pick",
            on_change=moved,
            label_visibility="collapsed",
            wrap=True,
        )
