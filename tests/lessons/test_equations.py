"""Equations under the figures: symbols, numbers, what they light up, colors, veils."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from html.parser import HTMLParser

import pytest

from seqviz import lessons
from seqviz.content import catalog, glossary
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.paths import STATIC
from seqviz.lessons.framework import controls, equations
from seqviz.lessons.framework.equations import Equation, Symbol
from seqviz.lessons.framework.lesson import Bench, Lesson
from seqviz.lessons.framework.output import Chart, ClientComponent, EquationLine, Output
from seqviz.lessons.framework.steps import ControlLight, Trace
from seqviz.plotting.figure import Figure
from seqviz.ui.render.html import layout_signature, serialize
from tests.lessons.test_steps import is_in_figure

LESSONS = [getattr(lessons, record.slug).lesson for record in catalog.LESSONS]
DECLARED = [
    (lesson.benches[name], number)
    for lesson in LESSONS
    for name, declared in lesson.equations.items()
    for number in range(len(declared))
]
WITHOUT = {
    "vanishing_gradients": ["back"],  # its sentence is the equation with its numbers, typeset
}
BACKGROUNDS = ("#FFFFFF", "#11161D")
HAN = re.compile(r"[\u4e00-\u9fff]")

each_equation = pytest.mark.parametrize(
    ("bench", "number"), DECLARED, ids=lambda item: getattr(item, "prefix", str(item))
)


class Symbols(HTMLParser):
    """The symbols of an equation as written: what is heard before the number, and the number."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.labels: list[str] = []
        self.numbers: list[str] = []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = {key: value or "" for key, value in attributes}
        self.inside = named.get("class", self.inside)
        if self.inside == "number":
            self.numbers.append("")
        if self.inside == "spoken":
            self.labels.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == "span" else self.inside

    def handle_data(self, data: str) -> None:
        if self.inside == "number":
            self.numbers[-1] += data
        if self.inside == "spoken":
            self.labels[-1] += data


def settings(bench: Bench, number: int) -> list[dict]:
    """Settings at which the equation applies, one for each of its views."""
    equation = bench.equations[number]
    values = {name: options[0] for name, options in equation.when.items()}
    return [{**values, "view": view} for view in equation.when.get("view", ())] or [values]


@cache
def outputs(bench: Bench, number: int, lang: str = "en") -> list[Output]:
    return [bench.run(values, language=lang, code=False) for values in settings(bench, number)]


def line_of(output: Output) -> str:
    (shown,) = output.of(EquationLine)
    return str(shown.html)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_every_core_bench_has_an_equation(lesson):
    without = [name for name in lesson.core if name not in lesson.equations]
    assert without == WITHOUT.get(lesson.slug, [])
    for name in lesson.core:  # at its defaults, too
        bench = lesson.benches[name]
        if bench.equations:
            assert any(item.applies(bench.declaration()) for item in bench.equations), name


@each_equation
def test_equation_is_directly_under_the_figure(bench, number):
    for output in outputs(bench, number):
        kinds = [type(item) for item in output.items]
        at = next(k for k, kind in enumerate(kinds) if kind in (Chart, ClientComponent))
        assert kinds.count(EquationLine) == 1
        assert kinds[at + 1] is EquationLine


@each_equation
def test_equation_has_numbers_of_the_run(bench, number):
    """A run states every declared number; one equation of a bench has some."""
    equation = bench.equations[number]
    numbers = [Symbols(line_of(output)).numbers for output in outputs(bench, number)]
    assert all(len(row) == len(equation.terms) for row in numbers)
    for term, values in zip(
        (equation.terms[name] for name in re.findall(r"\[([^\]]+)\]", equation.line)),
        zip(*numbers, strict=True), strict=True,
    ):  # fmt: skip
        assert bool(term.value) == any(values), (term, values)
        assert not re.search(r"[{}]|nan|-\d", "".join(values)), values
    assert any(term.value for item in bench.equations for term in item.terms.values())


@each_equation
def test_equation_lights_exist(bench, number):
    text = Text("en")
    declared = {"": {name for name, _ in controls.controls(bench.declaration)}} | {
        name: {key for key, _ in controls.controls(bench.lesson.benches[name].declaration)}
        for name in bench.after
    }
    for symbol, term in bench.equations[number].terms.items():
        assert term.lights, symbol
        for light in term.lights:
            if isinstance(light, ControlLight):
                other, _, name = light.name.rpartition(".")
                assert name in declared[other], (symbol, light)
            else:
                drawn = [item for item in outputs(bench, number) if isinstance(item.figure, Figure)]
                assert any(is_in_figure(light, item, text) for item in drawn), (symbol, light)


@each_equation
def test_equation_traces_by_index_hold_in_one_view_only(bench, number):
    """An index names another trace in another view."""
    equation = bench.equations[number]
    indices = [
        light
        for term in equation.terms.values()
        for light in term.lights
        if isinstance(light, Trace) and isinstance(light.name, int)
    ]
    assert not indices or len(settings(bench, number)) == 1 or bench.name in ("real", "ablate")


@each_equation
@pytest.mark.parametrize("lang", LANGUAGES)
def test_equation_symbols_are_named_for_screen_readers(bench, number, lang):
    equation = bench.equations[number]
    output = outputs(bench, number, lang)[0]
    labels = Symbols(line_of(output)).labels
    assert len(labels) == len(equation.terms)
    assert all(bool(HAN.search(label)) == (lang == "zh") for label in labels), labels


@each_equation
def test_equation_comes_with_the_live_response(bench, number):
    output = outputs(bench, number)[0]
    if output.of(ClientComponent):
        return
    around = serialize(output, Text("en")).around
    assert line_of(output) in around["notes"]


def test_veiled_bench_shows_no_equation():
    """Before a question is answered nothing that holds its answer is sent."""
    veiled = [bench for bench, _ in DECLARED if bench.veiled_by]
    assert veiled
    for bench in dict.fromkeys(veiled):
        assert bench.run(code=False, veiled=True).of(EquationLine) == [], bench.prefix


def test_letter_has_one_color_in_all_lessons():
    groups = glossary._read("letters")["color"]
    letters = [glyph for group in groups.values() for glyph in group.split()]
    assert len(set(letters)) == len(letters)
    used: dict[str, set[str]] = {}
    for bench, number in DECLARED:
        html = line_of(outputs(bench, number)[0])
        for group, glyph in re.findall(r'<i class="(\w+)">(.[\u0300-\u20ff]*)</i>', html):
            used.setdefault(unicodedata.normalize("NFD", glyph)[0], set()).add(group)
    assert len(used) > 15
    assert {glyph: len(found) for glyph, found in used.items() if len(found) > 1} == {}
    assert used.items() >= {"x": {"data"}, "h": {"state"}, "φ": {"weight"}, "ε": {"error"}}.items()


def luminance(color: str) -> float:
    channels = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(c * w for c, w in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def test_colors_of_letters_have_enough_contrast():
    css = (STATIC / "bench/equation.css").read_text("utf-8")
    colors = {
        group: (light, dark)
        for group, light, dark in re.findall(
            r"\.seqviz-equation \.(\w+) { color: light-dark\((#\w{6}), (#\w{6})\)", css
        )
    }
    assert colors.keys() == glossary._read("letters")["color"].keys()
    for pair in colors.values():
        for color, background in zip(pair, BACKGROUNDS, strict=True):
            low, high = sorted((luminance(color), luminance(background)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, color


def test_equation_rejects_symbols_that_are_not_in_it():
    term = Symbol("lag", (ControlLight("phi"),))
    with pytest.raises(ValueError, match="not those declared"):
        Equation("process", "[x_t] = φ", {"φ": term})
    with pytest.raises(KeyError):
        Lesson("ar_fitting").equation("nowhere", "[k]", {"k": ("lag", "", ControlLight("phi"))})


def test_equation_html_escapes_and_omits_what_is_not_stated():
    equation = Equation("b", "[k] = 1", {"k": Symbol("lag", (ControlLight("k"),), "{word}{n:,}")})
    text = Text("en")
    whole = equations.html(equation, {"word": "<b>", "n": -2}, {"": "ar.b"}, text)
    assert '<span class="number">&lt;b&gt;−2</span>' in whole
    assert "ar.b.k" in whole
    part = equations.html(equation, {"word": "a"}, {"": "ar.b"}, text)
    assert '<span class="number"></span>' in part


def test_drag_to_another_order_brings_its_equation():
    """The browser replaces an equation with other symbols (`bench/equation.js: updateEquation`)."""
    process = lessons.ar_fitting.lesson.benches["process"]
    runs = {order: process.run({"order": order}) for order in (1, 2)}
    assert layout_signature(runs[1].items) == layout_signature(runs[2].items) is not None
    for order, lags in ((1, "φ"), (2, "φ_2")):
        assert lags in process.equations[order - 1].terms
        assert line_of(runs[order]) in serialize(runs[order], Text("en")).around["notes"]
    numbers = Symbols(line_of(runs[2])).numbers
    assert numbers == ["", "0.900", "−0.500", ""]
    assert line_of(runs[1]) != line_of(runs[2])
