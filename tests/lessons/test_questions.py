"""Questions: declared with their bench, their words complete, and their bench veiled before."""

from __future__ import annotations

import json
import re

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework import controls
from seqviz.lessons.framework import output as items
from seqviz.lessons.framework.host import LocalHost
from seqviz.lessons.framework.output_html import readouts_html, sentences_html
from seqviz.lessons.framework.veil import UNKNOWN
from seqviz.plotting.style import Style

LESSONS = [getattr(lessons, record.slug).lesson for record in catalog.LESSONS]
QUESTIONS = [(lesson, item) for lesson in LESSONS for item in lesson.questions.values()]
IDS = [f"{lesson.slug}.{item.name}" for lesson, item in QUESTIONS]
VEILED = [bench for lesson in LESSONS for bench in lesson.benches.values() if bench.veiled_by]
# Decimal numbers, percentages and thousands; no version, and no mantissa of a power of ten.
NUMBER = re.compile(r"(?<![\d.])(?:\d[\d,]*\.\d+(?!\.?\d|\s×)|\d+(?=%)|\d{1,3}(?:,\d{3})+)")
# Numbers of an explanation that are not its answer, and stand elsewhere.
PREMISES = {
    "transformer.knows": {"6.98"},  # the largest part of the logit, as the question says
    "vanishing_gradients.index": {"1.61"},  # another quantity of the first bench
    "gpt.shots": {"88.3"},  # without examples: the question of the drawn prediction names it
    "gates.force": {"1.00"},  # tanh of a large cell state in the first figure, too
    "ar_fitting.epochs": {"0.977"},  # the error of the line, with which the network is compared
}


def answer_numbers(slug: str, name: str, lang: str) -> set[str]:
    """The numbers that an explanation names and its question does not.

    Those of one or two digits may stand for anything and do not count.
    """
    text, key = Text(lang), f"{slug}.predict.{name}"
    asked = " ".join([text(f"{key}.question"), *text.items(f"{key}.options")])
    numbers = set(NUMBER.findall(text(f"{key}.reveal"))) - set(NUMBER.findall(asked))
    long = {number for number in numbers if len(re.sub(r"(?:,000)+$|^0*\.?0*|\D", "", number)) > 2}
    return long - PREMISES.get(f"{slug}.{name}", set())


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_questions_declared_match_words(lesson, lang):
    words = Text(lang).table(f"{lesson.slug}.predict")
    assert {key.split(".")[0] for key in words} == set(lesson.questions)
    assert all(question.bench in lesson.benches for question in lesson.questions.values())


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("lesson", "question"), QUESTIONS, ids=IDS)
def test_question_words_complete(lesson, question, lang):
    text, key = Text(lang), f"{lesson.slug}.predict.{question.name}"
    options, right = text.items(f"{key}.options"), int(text(f"{key}.answer"))
    assert len(options) >= 3
    assert 0 <= right < len(options)
    feedback = text.items(f"{key}.feedback")
    assert [bool(item) for item in feedback] == [at != right for at in range(len(options))]


@pytest.mark.parametrize(("lesson", "question"), QUESTIONS, ids=IDS)
def test_question_settings_differ_from_defaults(lesson, question):
    bench = lesson.benches[question.bench]
    if question.at is None:
        assert question.veils
    else:
        assert controls.permalink(
            bench.prefix, controls.parse_params(bench.declaration, question.at)
        )


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("bench", VEILED, ids=lambda bench: bench.prefix)
def test_veiled_bench_shows_no_result(bench, lang):
    output = bench.run(language=lang, host=LocalHost(), veiled=True)
    assert output.code == ""
    for item in output.items:
        match item:
            case items.Chart():
                figure = json.loads(item.figure.chart.to_json())
                assert not any(trace["x"] or trace["y"] for trace in figure["data"])
                assert not {"shapes", "images", "meta", "annotations"} & set(figure["layout"])
                assert item.figure.alt == Text(lang)("frame.veiled_alt")
            case items.Metric():
                assert (item.value, item.caption) == (UNKNOWN, None)
            case _:
                assert isinstance(item, items.Hidden | items.TokenPicker)
    html = readouts_html(output.items) + sentences_html(output.items)
    for question in bench.questions:
        assert not answer_numbers(bench.lesson.slug, question.name, lang) & set(
            NUMBER.findall(html)
        )


@pytest.mark.parametrize(("lesson", "question"), QUESTIONS, ids=IDS)
def test_unveiled_bench_answers_only_at_other_settings(lesson, question):
    """A bench that opens its lesson is live at once, so its defaults may not give the answer."""
    if question.veils:
        return
    bench = lesson.benches[question.bench]
    assert bench.name in (next(iter(lesson.benches)), lesson.record.first[0])  # home's is live, too
    output = bench.run(style=Style(), host=LocalHost())
    html = readouts_html(output.items) + sentences_html(output.items)
    assert not answer_numbers(lesson.slug, question.name, "en") & set(NUMBER.findall(html))
