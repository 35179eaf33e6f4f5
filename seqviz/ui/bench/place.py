"""The place of a bench: figure, read-outs, notes, a text to click on, a file, a menu."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from seqviz.code_trace import Recipe
from seqviz.figures.grammar.colored_text import colored_text
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import DARK, LIGHT, Style
from seqviz.text import Text, literal
from seqviz.ui.shared import components, css
from seqviz.ui.shared.caching import Drawn
from seqviz.ui.shared.spreadsheet import no_formula


@dataclass
class Place:
    """The place of one bench on the page, during one run.

    stage: where the figure is. side: where its controls are. readouts: the row below.
    """

    prefix: str
    text: Text
    words: Callable[..., str]
    names: Callable[[str, str], str]
    stage: Any
    side: Any
    readouts: Any
    link: Callable[[], str]
    recipe: Recipe = field(default_factory=Recipe)
    seconds: float = 0.0
    device: str = "CPU"
    style: Style = field(default_factory=Style)
    declaration: type[Any] | None = None

    def chart(self, picture: Drawn, on_pick: Callable[[float, float], None] | None = None) -> None:
        """The figure alone, at the height that the frame (or the presenter) gives it."""
        with st.container(key=f"{self.prefix}.figure", height=self.style.height, border=False):
            key = f"{self.prefix}.chart"
            if isinstance(picture.chart, Figure):
                missing = self.text("frame.no_library")
                components.chart(key, picture.json, picture.alt, missing, on_pick=on_pick)
            else:
                st.vega_lite_chart(json.loads(picture.json), key=key)

    def metrics(self, **values: str | tuple[str, str | None]) -> None:
        """Read-outs under the figure, at most four: each a value, or a value and what it is beside.

        Label and help of each come from `metric.<name>` of the lesson's words.
        """
        with self.readouts:
            for name, shown in values.items():
                value, beside = shown if isinstance(shown, tuple) else (shown, None)
                st.metric(
                    self.words(f"metric.{name}.label"),
                    value,
                    delta=beside,
                    delta_color="off",
                    delta_arrow="off",
                    help=self.words(f"metric.{name}.help"),
                    border=True,
                    height="stretch",
                )

    def note(self, key: str, **values: object) -> None:
        """One sentence under the figure that says what this very picture shows."""
        with self.stage:
            st.markdown(self.words(f"note.{key}", **values))

    def say(self, key: str, **values: object) -> None:
        """As `note`, with a sentence that lessons share."""
        with self.stage:
            st.markdown(self.text(key, **values))

    def passage(self, pieces: Sequence[str], values: Any, **more: Any) -> None:
        """A text under the figure, each piece on a color that tells its value (`colored_text`)."""
        palette = DARK if self.dark else LIGHT  # HTML does not know the live colors
        style = Style(palette, self.text.lang)
        with self.stage:
            st.html(colored_text(pieces, values, style=style, **more))

    @property
    def dark(self) -> bool:
        """Whether the reader's page is dark."""
        return css.theme() == "dark"

    def option(self, control: str, value: str) -> str:
        """The reader's word for an option of a control."""
        return self.names(control, value)

    def hint(self, key: str) -> None:
        """What to do next, where there is no figure yet."""
        with self.stage:
            st.info(self.words(f"hint.{key}"), icon=":material/arrow_forward:")

    def download(self, key: str, content: Callable[[], bytes], file_name: str, mime: str) -> None:
        """A button that saves a file, made when it is pressed; `key` names its words."""
        with self.stage:
            st.download_button(
                self.words(f"download.{key}"),
                content,
                file_name,
                mime,
                key=f"{self.prefix}.{key}",
                on_click="ignore",
                type="tertiary",
                icon=":material/download:",
            )

    def page(self, html: str, height: int, alt: str) -> None:
        """A page of its own in a frame; its maker has escaped what students wrote."""
        with self.stage:
            st.iframe(html, height=height, alt=alt)

    def pieces(self, name: str, words: Sequence[str], chosen: int) -> int:
        """The words of a text to click on; a click moves the control `name` (1: the first word)."""
        key = f"{self.prefix}.{name}"
        st.session_state[f"{key}.pick"] = chosen

        def take() -> None:
            if picked := st.session_state[f"{key}.pick"]:  # a click on the chosen one takes it back
                st.session_state[key] = picked

        with self.stage:
            st.pills(
                self.words(f"control.{name}.label"),
                range(1, len(words) + 1),
                format_func=lambda place: literal(words[place - 1]),
                key=f"{key}.pick",
                on_change=take,
                label_visibility="collapsed",
                wrap=True,
            )
        return chosen

    def rows(self, key: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """A table to read under the figure; the name of each column is `column.<name>`."""
        with self.stage:
            st.dataframe(
                {
                    self.words(f"column.{name}"): [no_formula(cell) for cell in column]
                    for name, column in columns.items()
                },
                key=f"{self.prefix}.{key}",
                hide_index=True,
                height=260,
            )

    def caption(self, sentence: str) -> None:
        """A quiet line under the figure: where the data come from."""
        with self.stage:
            st.caption(sentence)

    def upload(self, name: str) -> bytes | None:
        """A file of the student's own; None until there is one."""
        with self.side:
            file = st.file_uploader(
                self.words(f"control.{name}.label"),
                type=["csv", "txt", "tsv"],
                key=f"{self.prefix}.{name}",
                help=self.words(f"control.{name}.help"),
            )
        return bytes(file.getvalue()) if file is not None else None

    def pick(self, name: str, options: Sequence[str], first: int = 0) -> str:
        """A choice that only the data can offer, such as a column of the student's file."""
        with self.side:
            chosen = st.selectbox(
                self.words(f"control.{name}.label"), options, first, key=f"{self.prefix}.{name}"
            )
        return str(chosen)
