"""A bench in a notebook, live: its controls beside the figure, which is drawn again as they move.

There is no server of ours: the kernel runs the bench, and the browser draws with the slider and the
Plotly.js of the pages (`assets/static`), so nothing is fetched. Needs anywidget, which Jupyter, VS
Code, Colab and marimo show (`pip install '.[notebook]'`); without it `Output` shows a figure that
stands still.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import LIGHT, opaque
from seqviz.lessons.bench import controls
from seqviz.lessons.bench.controls_told import offered
from seqviz.lessons.bench.output import Note, Output, Readout
from seqviz.lessons.bench.problems import sentence
from seqviz.lessons.bench.words import Words
from seqviz.packed import whole
from seqviz.paths import STATIC
from seqviz.text import Text

if TYPE_CHECKING:
    from seqviz.lessons.bench.lesson import Bench


SCRIPTS = ("words.js", "number_field.js", "slider.js", "number_box.js", "order.js",
           "plain_controls.js", "plotly.min.js", "notebook.js")  # fmt: skip
STYLES = ("slider.css", "plain_controls.css", "notebook.css")


def _inline(name: str) -> str:
    """The HTML of an option's name, of whose Markdown there are only letters in italics."""
    return re.sub(r"\*([^*]+)\*", r"<i>\1</i>", html.escape(name))


def _module() -> str:
    """Controls, Plotly.js and the bench as one module: a notebook cannot load one from another."""
    *ours, plotly, bench = (whole(STATIC / name).decode() for name in SCRIPTS)
    controls = re.sub(r"(?m)^(export |import .*$)", "", "\n".join(ours))
    return "\n".join([controls, plotly, bench])


class LiveBench(anywidget.AnyWidget):
    """One bench with its controls. `output` is what it shows at the settings as they stand.

    shown: what the browser draws; asked: what it asks for, as the texts of a permalink by control.
    """

    _esm = _module()
    _css = "\n".join((STATIC / name).read_text("utf-8") for name in STYLES)
    shown = traitlets.Dict().tag(sync=True)
    asked = traitlets.Dict().tag(sync=True)

    def __init__(self, bench: Bench, output: Output, given: Mapping[str, Any], language: str):
        self._bench, self._given, self._text = bench, dict(given), Text(language)
        self._own = {name for name, _ in controls.controls(bench.declaration)}
        self.output = output
        raw = {name: controls.encoded(v) for name, v in given.items() if name in self._own}
        super().__init__(asked={"values": raw, "number": 0})
        self.shown = self._shown(output, self._params(raw), 0)
        self.observe(self._answer, "asked")

    def _params(self, raw: Mapping[str, str]) -> dict[str, Any]:
        """The values of the texts of a link. Raises ValueError or KeyError for what is none."""
        known = dict(controls.controls(self._bench.declaration))
        return {name: known[name].clean(text) for name, text in raw.items()}

    def _answer(self, change: Mapping[str, Any]) -> None:
        asked = change["new"]
        try:
            values = self._params(asked["values"])
            others = {name: v for name, v in self._given.items() if name not in self._own}
            self.output = self._bench.run(values | others, self._text.lang)
            self.shown = self._shown(self.output, values, asked["number"])
        except (ValueError, KeyError) as refusal:
            problem = sentence(refusal, Words(self._bench.lesson.slug, self._text))
            self.shown = {**self.shown, "problem": problem, "number": asked["number"]}

    def _shown(self, output: Output, values: Mapping[str, Any], number: int) -> dict[str, Any]:
        params = controls.filled(self._bench.declaration, values)
        words = Words(self._bench.lesson.slug, self._text)
        figure = output.figure
        said = [(one.kind, one.sentence) for one in output.of(Note)]
        read = [
            f"{one.label} **{one.value}**" + (f" ({one.beside})" if one.beside else "")
            for one in output.of(Readout)
        ]
        return {
            "controls": offered(params, words, "", _inline),
            "figure": opaque(figure, LIGHT).to_json() if isinstance(figure, Figure) else "",
            "said": [("readouts", " · ".join(read)), *said, ("hint", output.waits)],
            "more": self._text("frame.more"),
            "problem": "",
            "number": number,
        }
