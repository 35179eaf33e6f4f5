"""A bench in a notebook, live: its controls beside the figure, which is drawn again as they move.

There is no server of ours: the kernel runs the bench, and the browser draws with the slider and the
Plotly.js of the pages (`assets/static`), so nothing is fetched. Needs anywidget, which Jupyter, VS
Code, Colab and marimo show (`pip install '.[notebook]'`); without it `Output` shows a figure that
stands still.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import LIGHT, opaque
from seqviz.lessons.bench import controls
from seqviz.lessons.bench.controls import Choice, Control, Seed, Slider, Steps, Toggle
from seqviz.lessons.bench.output import Note, Output, Readout
from seqviz.lessons.bench.problems import sentence
from seqviz.lessons.bench.slider_options import slider_options
from seqviz.lessons.bench.words import Words
from seqviz.paths import STATIC
from seqviz.text import Text

if TYPE_CHECKING:
    from seqviz.lessons.bench.lesson import Bench


def _module() -> str:
    """Slider, Plotly.js and the bench as one module: a notebook cannot load one from another."""
    slider, plotly, bench = (
        (STATIC / name).read_text("utf-8") for name in ("slider.js", "plotly.min.js", "notebook.js")
    )
    return "\n".join([re.sub(r"(?m)^export ", "", slider), plotly, bench])


class LiveBench(anywidget.AnyWidget):
    """One bench with its controls. `output` is what it shows at the settings as they stand.

    shown: what the browser draws; asked: what it asks for, as the texts of a permalink by control.
    """

    _esm = _module()
    _css = "\n".join((STATIC / name).read_text("utf-8") for name in ("slider.css", "notebook.css"))
    shown = traitlets.Dict().tag(sync=True)
    asked = traitlets.Dict().tag(sync=True)

    def __init__(self, bench: Bench, output: Output, given: Mapping[str, Any], language: str):
        self._bench, self._given, self._text = bench, dict(given), Text(language)
        self._own = {name for name, _ in controls.controls(bench.declaration)}
        self.output = output
        raw = {name: controls.encoded(v) for name, v in given.items() if name in self._own}
        super().__init__(
            asked={"values": raw, "number": 0},
        )
        self.shown = self._shown(output, self._params(raw), 0)
        self.observe(self._answer, "asked")

    def _params(self, raw: Mapping[str, str]) -> dict[str, Any]:
        """The values of the link's texts; Raises ValueError, KeyError for one that is none."""
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
        figure = output.figure
        said = [(one.kind, one.sentence) for one in output.of(Note)]
        read = [
            f"{one.label} **{one.value}**" + (f" ({one.beside})" if one.beside else "")
            for one in output.of(Readout)
        ]
        return {
            "controls": self._controls(controls.filled(self._bench.declaration, values)),
            "figure": opaque(figure, LIGHT).to_json() if isinstance(figure, Figure) else "",
            "said": [("readouts", " · ".join(read)), *said, ("hint", output.waits)],
            "more": self._text("frame.more"),
            "problem": "",
            "number": number,
        }

    def _controls(self, params: Any) -> list[dict[str, Any]]:
        """Those that apply beside the others, as the browser is told."""
        words = Words(self._bench.lesson.slug, self._text)
        values: dict[str, Any] = {}
        told = []
        for name, control in controls.controls(type(params)):
            if control.when is None or control.when(values):
                one = _told(name, control, params, values, words)
                told.append({"name": name, "more": control.more, **one})
            values[name] = getattr(params, name)
        return told


def _told(
    name: str, control: Control, params: Any, values: Mapping[str, Any], words: Words
) -> dict[str, Any]:
    (label, help_text), value = words.control(name), getattr(params, name)
    common = {"label": label, "help": help_text}
    if isinstance(control, Slider | Steps):
        top = control.top(values) if isinstance(control, Slider) else None
        told = slider_options(control, value, label, help_text, words.text, top)
        return {"kind": "slider", "options": told}
    if isinstance(control, Choice):
        options = [(option, words.option(name, option)) for option in control.options]
        chosen = value if control.many else (value,)
        return {**common, "kind": "choice", "many": control.many, "options": options,
                "chosen": chosen}  # fmt: skip
    kind = {Toggle: "checkbox", Seed: "number"}.get(type(control), "text")
    return {**common, "kind": kind, "value": controls.encoded(value)}
