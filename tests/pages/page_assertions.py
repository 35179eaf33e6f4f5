"""What a visitor sees on a page that AppTest ran: figures, sentences, the settings that apply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import chain, combinations
from typing import Any

from streamlit.testing.v1 import AppTest

from seqviz.lessons.framework import controls
from seqviz.lessons.framework.arrangement import arrange
from seqviz.lessons.framework.host import LocalHost, TrainingResult
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.output import (
    ClientComponent,
    ColoredText,
    EquationLine,
    FramedPage,
    Note,
    Output,
    Target,
)
from seqviz.lessons.framework.output_html import note_html
from seqviz.plotting.style import LIVE, Style
from tests.sliders import sliders

CHART = "seqviz_chart"
DRAWN = ("seqviz_sinusoid",)  # drawings that the browser makes, from numbers and words
LACKING = {("learned", "model", "smollm2")}  # has no table of positions
PLACEHOLDER = re.compile(r"{[\w.]*(?::[^{}]*)?}")
HAN = re.compile(r"[\u4e00-\u9fff]")


def walk(node: Any) -> Iterator[Any]:
    """A block and everything in it."""
    yield node
    for child in getattr(node, "children", {}).values():
        yield from walk(child)


def bench(app: AppTest, name: str) -> Any:
    """The bordered box of one bench."""
    return app.get_by_key(f"bench-{name}")


def figures(position: Any) -> list[dict[str, Any]]:
    """What every chart in a place is drawn from: Plotly's, Vega's, the browser's, and pages."""
    ours = [element.proto for element in position.get("bidi_component")]
    return [
        *(json.loads(p.bytes.split(b"\n")[1]) for p in ours if p.component_name == CHART),
        *(json.loads(p.json)[0] for p in ours if p.component_name in DRAWN),
        *(json.loads(chart.proto.spec) for chart in position.get("vega_lite_chart")),
        *({"page": frame.proto.srcdoc} for frame in position.get("iframe")),
    ]


def ends(declaration: type[Any]) -> Iterator[tuple[str, Any]]:
    """(field, value) for every control of a bench at each of its ends."""
    for name, control in controls.controls(declaration):
        for value in control.bounds():
            yield name, value


def alerts(position: Any) -> dict[str, list[str]]:
    """What the boxes in a place say, by kind."""
    kinds = ("error", "warning", "info", "success")
    return {kind: [box.value for box in position.get(kind)] for kind in kinds}


def sentences(app: AppTest) -> list[str]:
    """Every sentence on the page; code and formulas are left out."""
    messages = []
    for kind in ("title", "markdown", "caption", "error", "warning", "info", "success"):
        messages += [element.value for element in app.get(kind)]
    for metric in app.metric:
        messages += [metric.label, metric.value, metric.delta]
    for slider in sliders(app).values():
        messages += [slider["label"], slider["help"] or "", *slider.get("names", {}).values()]
        # where something stands is filled in by the browser
        messages += [
            words for name, words in slider["words"].items() if name not in ("place", "field")
        ]
        messages += [stop["text"] for stop in slider.get("stops", ())]
    for kind in ("toggle", "selectbox", "number_input", "radio",
                 "button", "download_button", "button_group", "expander"):  # fmt: skip
        for widget in app.get(kind):
            messages.append(widget.label if hasattr(widget, "label") else "")
            messages += [str(option) for option in getattr(widget, "options", ())]
            messages.append(getattr(widget, "help", "") or "")
    return [re.sub(r"\$\$?[^$]+\$\$?", "", sentence or "") for sentence in messages]


def applied(declaration: type, state: dict[str, Any]) -> dict[str, bool]:
    """Which controls apply when some are set and the others have their defaults."""
    values: dict[str, Any] = {}
    visible = {}
    for name, control in controls.controls(declaration):
        visible[name] = control.when is None or bool(control.when(values))
        values[name] = state.get(name, control.default) if visible[name] else control.default
    return visible


def fixed(control: controls.Control) -> bool:
    """Whether there is nothing to set: a menu of models where only one is offered."""
    return set(control.bounds()) == {control.default}


def needed(declaration: type, name: str) -> dict[str, Any]:
    """The fewest other settings with which a control applies: none, one or two."""
    if fixed(dict(controls.controls(declaration))[name]):
        return {}
    others = [
        (other, value)
        for other, control in controls.controls(declaration)
        for value in places(control)
        if other != name and value != control.default
    ]
    for count in range(3):
        for chosen in combinations(others, count):
            if applied(declaration, dict(chosen))[name]:
                return dict(chosen)
    raise AssertionError(f"no setting brings {name} to the page")


def places(control: controls.Control) -> tuple[Any, ...]:
    """The ends of a control; of a stepper every step, as each may have controls of its own."""
    if isinstance(control, controls.Slider) and control.buttons:
        return tuple(range(int(control.low), int(control.high) + 1))
    return control.bounds()


def may_refuse(bench_name: str, name: str, value: Any, control: controls.Control) -> bool:
    """Whether a sentence is in order in place of a figure.

    Free coefficients at the ends of their sliders explode, a text of one word is too short to read,
    a model may lack what is shown.
    """
    free = re.fullmatch(r"b\d", name) is not None
    return free or isinstance(control, controls.TextInput) or (bench_name, name, value) in LACKING


def as_state(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def shows(page: Any, name: str, output: Output) -> None:
    """A bench of a page says and draws what it gives without a page (with the page's style)."""
    position = bench(page.app, name)
    readouts = [
        (readout.label, readout.value, readout.caption or "")
        for readout in output.readouts.values()
    ]
    assert [(m.label, m.value, m.delta) for m in position.metric] == readouts
    kinds = ("markdown", "caption", "info")
    messages = [element.value for kind in kinds for element in position.get(kind)]
    messages += [element.proto.body for element in position.get("html")]
    noted = {note_html(item) if isinstance(item, Target) else item.sentence
             for item in chain(*arrange(output.items)) if isinstance(item, Note)}  # fmt: skip
    noted |= {item.html for item in output.of(EquationLine)}
    assert noted <= set(messages)
    if output.of(ClientComponent):  # the browser draws it, from numbers and words
        return
    pages = [{"page": item.html} for item in output.of(FramedPage)]
    rendered = [] if output.figure is None else [json.loads(output.figure.to_json())["data"]]
    assert [figure if "page" in figure else figure["data"] for figure in figures(position)] == (
        pages or rendered
    )
    if output.waits:
        assert alerts(position)["info"] == [output.waits]


def every_bench_shows(page: Any, lesson: Lesson, link: dict[str, Any], lang: str) -> None:
    """The benches of a page that was opened by a link ("bench.parameter" -> value), one by one."""
    for name, bench in lesson.benches.items():
        values = {
            key.removeprefix(f"{name}."): value
            for key, value in link.items()
            if key.split(".")[0] in (name, *bench.after)
        }
        shows(page, name, bench.run(values, style=Style(LIVE, lang)))


class Colored(HTMLParser):
    """A colored text under a figure: its letters, and the attributes of each piece."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.spans: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "span":
            self.spans.append(dict(attrs))

    def handle_data(self, data):
        self.text += data

    def with_look(self, word: str) -> list[bool]:
        return [word in (span["style"] or "") for span in self.spans]

    def deep(self) -> list[float]:
        """How strong the color of each piece is."""
        result = (re.search(r"rgba\(\d+,\d+,\d+,([\d.]+)\)", span["style"]) for span in self.spans)
        return [float(color[1]) for color in result]

    def outlined(self) -> list[int]:
        """The places of the outlined pieces, from 1."""
        return [position for position, item in enumerate(self.with_look("outline"), 1) if item]


def colored(output: Output) -> list[Colored]:
    """The colored texts that a bench shows."""
    return [Colored(item.html) for item in output.of(ColoredText)]


class Given(LocalHost):
    """No page, and a training whose result is at hand."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result

    def training_result(self, function: Any, keywords: Any, so_far: Any) -> TrainingResult[Any]:
        return TrainingResult(self.result, 0.0, "CPU")
