"""Interactive notebook widget: a bench with its controls (`LiveBench`).

The kernel runs the bench. The browser draws with one script, made of the sliders and the Plotly.js
of the app (`assets/static`), so nothing is downloaded. A saved notebook contains the script once
(`Script`), and under each bench an image and the bench's notes, which the page hides where the
widget is displayed.
Requires anywidget, which Jupyter, VS Code, Colab and marimo support (`pip install '.[notebook]'`);
without it, `Output` shows a static figure.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import threading
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from seqviz.core.brotli_assets import read_asset
from seqviz.core.i18n import Text
from seqviz.core.languages import DEFAULT
from seqviz.core.paths import STATIC
from seqviz.lessons.framework import controls, markdown
from seqviz.lessons.framework.control_schema import describe_controls
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.output import Note, Output
from seqviz.lessons.framework.output_html import readouts_html, sentences_html
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIGHT, opaque

if TYPE_CHECKING:
    from seqviz.lessons.framework.lesson import Bench


SCRIPTS = (
    "components/format.js", "components/number_field.js", "components/slider.js",
    "components/number_box.js", "components/sortable.js", "components/native_controls.js",
    "plotly.min.js", "embed/notebook.js",
)  # fmt: skip
LOADER = "embed/notebook_loader.js"
STYLES = ("components/slider.css", "components/native_controls.css", "embed/notebook.css")


@cache
def packed() -> str:
    """Return the script of all benches, gzipped and base64-encoded: a third of its length."""
    return base64.b64encode(gzip.compress(_module().encode(), 9, mtime=0)).decode("ascii")


def _module() -> str:
    """Return controls, Plotly.js and the bench joined into one module.

    A notebook has no files to import, so the imports between the controls are removed.
    """
    *ours, plotly, bench = (read_asset(STATIC / name).decode() for name in SCRIPTS)
    controls = re.sub(r"(?m)^(export |import .*$)", "", "\n".join(ours))
    return "\n".join([controls, plotly, bench])


@cache
def _version() -> str:
    return hashlib.sha256(packed().encode()).hexdigest()[:16]


class Script(ipywidgets.Widget):
    """The script that all benches of a notebook share: a widget model without a view."""

    packed = traitlets.Unicode().tag(sync=True)


_shared = threading.local()  # marimo serves each session in a separate thread


def _script() -> Script:
    """Return the script of this notebook; a new one after all widgets were closed."""
    script: Script | None = getattr(_shared, "script", None)
    if script is None or script.comm is None:
        script = _shared.script = Script(packed=packed())
    return script


class LiveBench(anywidget.AnyWidget):
    """Widget of one bench with its controls.

    Attributes:
        output: output at the current settings.
        shown: what the browser draws, with the `number` of the request that it answers.
        asked: what the browser requests: `values`, permalink texts by control, and the `number` of
            the request.
        script: the script that draws it.
        version: hash of that script.
        mark: CSS class of the static elements that it hides.
    """

    _esm = (STATIC / LOADER).read_text("utf-8")
    script = traitlets.Instance(Script).tag(sync=True, **ipywidgets.widget_serialization)
    version = traitlets.Unicode().tag(sync=True)
    mark = traitlets.Unicode().tag(sync=True)
    _css = "\n".join((STATIC / name).read_text("utf-8") for name in STYLES)
    shown = traitlets.Dict().tag(sync=True)
    asked = traitlets.Dict().tag(sync=True)

    def __init__(self, bench: Bench, output: Output, given: Mapping[str, Any], language: str):
        self._bench, self._given, self._text = bench, dict(given), Text(language)
        if len(controls.languages(bench.declaration)) > 1:
            relative = controls.defaults_language(bench.declaration, given, language)
            self._given[controls.DEFAULTS] = relative
        self._own = {name for name, _ in controls.controls(bench.declaration)}
        self.output = output
        raw = {name: controls.encoded(v) for name, v in given.items() if name in self._own}
        super().__init__(asked={"values": raw, "number": 0}, script=_script(), version=_version())
        self.shown = self._shown(output, self._params(raw), 0)
        self.mark = f"seqviz-still-{self.model_id}"
        self.observe(self._answer, "asked")
        self.on_msg(self._send_script)

    def _send_script(self, _: Any, message: Any, buffers: Any) -> None:
        if message == {"wants": "script"}:
            self.send({"packed": packed()})

    def _ipython_display_(self) -> None:
        """Display the widget, then its static image and notes, as two outputs.

        A page displays only one MIME type of each output. It selects the widget wherever the state
        of the widget was saved or Jupyter is open, even if it cannot draw it; an image in the same
        output would then not be displayed.
        """
        from IPython.display import display

        if (live := super()._repr_mimebundle_()) is None:
            return
        still = self.output.static_bundle()
        below = {kind: still.pop(kind) for kind in [*still] if kind.startswith("image/")}
        below["text/html"] = f'<div class="{self.mark}">{still["text/html"]}</div>'
        above = {**live[0], **still, "text/html": "<!-- its picture and words are below -->"}
        display(above, metadata=live[1], raw=True)
        display({**below, "text/plain": ""}, raw=True)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the widget with the static form for pages without widgets."""
        live = super()._repr_mimebundle_(**options)
        return live and ({**live[0], **self.output.static_bundle()}, live[1])

    def _params(self, raw: Mapping[str, str]) -> dict[str, Any]:
        """Parse permalink texts; raise ValueError or KeyError for an invalid one."""
        declared = dict(controls.controls(self._bench.declaration))
        return {name: declared[name].parse(text) for name, text in raw.items()}

    def _answer(self, change: Mapping[str, Any]) -> None:
        request = change["new"]
        try:
            values = self._params(request["values"])
            others = {name: v for name, v in self._given.items() if name not in self._own}
            self.output = self._bench.run(values | others, self._text.lang)
            self.shown = self._shown(self.output, values, request["number"])
        except (ValueError, KeyError) as refusal:
            words = LessonWords(self._bench.lesson.slug, self._text)
            problem = sentences_html([Note(to_message(refusal, words), "problem")])
            self.shown = {**self.shown, "problem": problem, "number": request["number"]}

    def _shown(self, output: Output, values: Mapping[str, Any], number: int) -> dict[str, Any]:
        relative = self._given.get(controls.DEFAULTS, DEFAULT)
        params = controls.parse_params(
            self._bench.declaration, {**values, controls.DEFAULTS: relative}
        )
        words = LessonWords(self._bench.lesson.slug, self._text)
        figure = output.figure
        waits = [Note(output.waits, "hint")] if output.waits else []
        return {
            "controls": describe_controls(params, words, "", markdown.inline),
            "figure": opaque(figure, LIGHT).to_json() if isinstance(figure, Figure) else "",
            "readouts": readouts_html(output.items),
            "words": sentences_html([*output.of(Note), *waits]),
            "more": self._text("frame.more"),
            "problem": "",
            "number": number,
        }
