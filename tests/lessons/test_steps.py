"""Steps to try at a bench: their settings, words, sentences and lights, over all declared steps."""

from __future__ import annotations

import functools
import re
from string import Formatter

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Bench, Lesson
from seqviz.lessons.framework.output import ClientComponent, Output
from seqviz.lessons.framework.steps import (
    MAX_DO_WORDS,
    MAX_SAYS_WORDS,
    Axis,
    Cell,
    Light,
    Step,
    Trace,
    light_json,
    settings,
)
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.render.html import serialize

HAN = re.compile(r"[\u4e00-\u9fff]")
HAN_PER_WORD = 2
BENCHES = [
    bench
    for record in catalog.LESSONS
    for bench in getattr(lessons, record.slug).lesson.benches.values()
    if bench.steps
]
STEPS = [(bench, number) for bench in BENCHES for number in range(1, len(bench.steps) + 1)]


def name_of(value: object) -> str:
    return value.prefix if isinstance(value, Bench) else str(value)


each_bench = pytest.mark.parametrize("bench", BENCHES, ids=name_of)
each_step = pytest.mark.parametrize(("bench", "number"), STEPS, ids=name_of)
each_language = pytest.mark.parametrize("lang", LANGUAGES)


@functools.cache
def output_of(bench: Bench, number: int, lang: str = "en") -> Output:
    among = controls.languages(bench.declaration)
    relative = {controls.DEFAULTS: lang} if lang in among and len(among) > 1 else {}
    return bench.run(bench.step_settings(number, lang) | relative, language=lang)


def template(bench: Bench, number: int, part: str, lang: str) -> str:
    words = LessonWords(bench.lesson.slug, Text(lang))
    return words(f"{bench.steps[number - 1].key}.{part}")


def n_words(sentence: str) -> float:
    """Words between ordinary spaces; of Chinese, two characters count as a word."""
    n_han = len(HAN.findall(sentence))
    rest = re.sub("[，。：；、？（）“”]", " ", HAN.sub(" ", sentence))
    return n_han / HAN_PER_WORD + sum(any(c.isalnum() for c in part) for part in rest.split(" "))


WITHOUT_STEPS = {
    "attention": ["bertviz"],  # a page of another program, without figure and numbers
    "gates": ["conventions"],  # its one control has two settings
}


@pytest.mark.parametrize("slug", [record.slug for record in catalog.LESSONS])
def test_steps_are_declared_for_benches(slug):
    benches = getattr(lessons, slug).lesson.benches
    without = [name for name, bench in benches.items() if not bench.steps]
    assert without == WITHOUT_STEPS.get(slug, [])


@each_bench
def test_steps_of_a_bench_are_two_or_three(bench):
    assert len(bench.steps) in (2, 3)
    assert len({step.name for step in bench.steps}) == len(bench.steps)


@each_bench
@each_language
def test_step_settings_are_distinct(bench, lang):
    """Each differs from the others and from the defaults, for the same controls."""
    settings = [bench.step_settings(number, lang) for number in range(1, len(bench.steps) + 1)]
    opened = controls.parse_params(bench.declaration, {}, lang=lang)
    defaults = {name: getattr(opened, name) for name in settings[0]}
    compared = [tuple(values.items()) for values in (*settings, defaults)]
    assert len(set(compared)) == len(compared)
    assert {tuple(values) for values in settings} == {tuple(defaults)}


@each_step
@each_language
def test_step_settings_are_active(bench, number, lang):
    """What a step names and changes applies, wherever the other controls are."""
    declared, values = dict(controls.controls(bench.declaration)), bench.step_settings(number, lang)
    for name, value in bench.steps[number - 1].named(lang).items():
        assert values[name] == declared[name].parse(controls.encoded(value)), name
    for free in declared.keys() - values.keys():
        for bound in declared[free].bounds():
            params = controls.parse_params(bench.declaration, {**values, free: bound})
            assert {name: getattr(params, name) for name in values} == values, (free, bound)


@each_step
@each_language
def test_step_words_are_short(bench, number, lang):
    action = template(bench, number, "do", lang)
    assert 0 < n_words(action) <= MAX_DO_WORDS
    assert "{" not in action
    sentence = output_of(bench, number, lang).step.sentence
    assert 0 < n_words(sentence) <= MAX_SAYS_WORDS
    assert bool(HAN.search(action + sentence)) == (lang == "zh")


@each_step
@each_language
def test_step_sentence_has_values_of_the_run(bench, number, lang):
    output = output_of(bench, number, lang)
    assert output.waits == ""
    assert output.step.number == number
    fields = [
        field
        for _, field, _, _ in Formatter().parse(template(bench, number, "says", lang))
        if field
    ]
    assert fields  # a sentence without a value could be wrong
    assert {re.split(r"[.[]", field)[0] for field in fields} <= output.facts.keys()
    assert not re.search(r"[{}]|–\B|nan", output.step.sentence)


@each_step
def test_step_is_in_the_live_response(bench, number):
    output = output_of(bench, number)
    if output.of(ClientComponent):  # the page has the sentence, because the browser draws
        return
    around = serialize(output, Text("en")).around
    assert around["step"]["number"] == number
    assert around["step"]["html"].startswith("<p>")


def is_in_figure(light: Light, output: Output, text: Text) -> bool:
    traces, layout = output.figure.traces, output.figure.page
    if isinstance(light, Trace):
        name = light_json(light, text)["name"]
        return any(
            (index == name if isinstance(name, int) else trace.get("name") == name)
            and light.axis in ("", trace.get("yaxis", "y"))
            for index, trace in enumerate(traces)
        )
    names = [light.name] if isinstance(light, Axis) else [*light.axes]
    keys = [f"{name[0]}axis{name[1:]}" for name in names]
    return all(key in layout for key in keys) and isinstance(light, Axis | Cell)


@each_step
@each_language
def test_step_lights_are_in_the_figure(bench, number, lang):
    output, lights = output_of(bench, number, lang), bench.steps[number - 1].lights
    assert lights
    assert [item for item in lights if not is_in_figure(item, output, Text(lang))] == []


LIT = [
    (bench, question)
    for record in catalog.LESSONS
    for bench in getattr(lessons, record.slug).lesson.benches.values()
    for question in bench.questions
    if question.lights
]


@pytest.mark.parametrize(("bench", "question"), LIT, ids=lambda item: getattr(item, "name", None))
@each_language
def test_options_of_a_question_light_up_parts_of_the_answering_figure(bench, question, lang):
    text = Text(lang)
    output = bench.run(question.at or {}, language=lang)
    options = text.items(f"{bench.lesson.slug}.predict.{question.name}.options")
    assert len(question.lights) == len(options)
    lights = [light for option in question.lights for light in option]
    assert [item for item in lights if not is_in_figure(item, output, text)] == []
    assert len({str(option) for option in question.lights}) == len(options)


def test_step_rejects_unknown_settings():
    """When the settings are asked for; a declaration loads no checkpoint for a bound."""
    declaration = lessons.ar_fitting.lesson.benches["process"].declaration
    with pytest.raises(ValueError, match="phi cannot be"):
        settings(declaration, [Step("process", "far", {"phi": 7.0})], "en")
    with pytest.raises(ValueError, match="no psi"):
        settings(declaration, [Step("process", "far", {"psi": 1.0})], "en")
    copy = Lesson("ar_fitting")
    with pytest.raises(KeyError):
        copy.step("nowhere", "far", {})
    assert copy.steps == {}


def test_step_matches_whatever_other_controls_are():
    bench = lessons.ar_fitting.lesson.benches["process"]
    assert bench.run({"phi": -0.8, "n": 100}).step.number == 1
    assert bench.run({"phi": -0.79}).step is None
    assert bench.run({"phi": -0.8, "view": "roots"}).step is None


def test_step_resets_slider_to_its_initial_position():
    """Not to the lower end: the default of such a slider only means that it was not moved."""
    bench = lessons.attention.lesson.benches["features"]
    assert [bench.step_settings(number, "en")["key"] for number in (1, 2, 3)] == [8, 2, 9]
    assert bench.run({"stage": 7}).step.number == 2
    assert bench.run({"stage": 7, "key": 2}).step.number == 2
    assert bench.run({"stage": 7, "key": 1}).step is None


def test_step_has_no_sentence_without_its_values():
    bench = lessons.ar_fitting.lesson.benches["networks"]
    output = bench.run({"preset": "held_out", "seed": 7})  # has to be trained first
    assert output.waits
    assert output.step is None
