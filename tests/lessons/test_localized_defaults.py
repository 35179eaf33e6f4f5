"""Controls that open in Chinese on Chinese pages: on the page, in embeds, rooms and notebooks."""

from __future__ import annotations

import importlib
import re

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.languages import LANGUAGES
from seqviz.export.notebook_widget import LiveBench
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.output import Note
from seqviz.lessons.framework.room_validation import validate_message
from seqviz.ui.embed.request import parse_request
from seqviz.ui.live import handler
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.run_context import Session

HAN = re.compile(r"[\u4e00-\u9fff]")
BENCHES = {
    bench.prefix: bench
    for record in catalog.LESSONS
    for bench in importlib.import_module(
        f"seqviz.lessons.{record.slug}.lesson"
    ).lesson.benches.values()
}
LOCALIZED = {
    f"{prefix}.{name}": control
    for prefix, bench in BENCHES.items()
    for name, control in controls.controls(bench.declaration)
    if control.translated
}
TAGGING, STEP = (
    lessons.recurrent.lesson.benches["tagging"],
    lessons.recurrent.lesson.benches["step"],
)
ORDER = {"view": "order", controls.DEFAULTS: "zh"}


def notes(output: object) -> str:
    return " ".join(item.sentence for item in output.of(Note))


def test_controls_that_open_in_chinese():
    assert {key: dict(control.translated) for key, control in LOCALIZED.items()} == {
        "tx.neighbors.line": {"zh": "小狗咬了路人"},
        "tx.neighbors.reordered": {"zh": "路人咬了小狗"},
        "rn.step.one_text": {"zh": "狗咬人"},
        "rn.step.other_text": {"zh": "人咬狗"},
        "rn.tagging.task": {"zh": "words"},
    }


@pytest.mark.parametrize("key", LOCALIZED)
def test_translated_default_is_a_value_of_its_control(key):
    control = LOCALIZED[key]
    assert isinstance(control, controls.TextInput | controls.Choice)  # a slider is drawn from one
    for language, value in control.translated.items():
        assert language in LANGUAGES[1:]
        assert control.parse(value) == value != control.default
        assert isinstance(control, controls.Choice) or HAN.search(value)


def test_no_control_has_the_name_of_the_language_of_the_defaults():
    names = {name for bench in BENCHES.values() for name, _ in controls.controls(bench.declaration)}
    assert controls.DEFAULTS not in names


def test_translated_texts_are_the_same_words_in_another_order():
    for one, other in (("line", "reordered"), ("one_text", "other_text")):
        texts = [
            control.translated["zh"]
            for key, control in LOCALIZED.items()
            if key.rpartition(".")[2] in (one, other)
        ]
        assert len(texts) == 2
        assert sorted(texts[0]) == sorted(texts[1])


def test_library_opens_as_the_page_of_the_language():
    assert "18.5" in notes(TAGGING.run({}, "zh"))
    assert "19.1" in notes(TAGGING.run({}, "en"))
    assert "10.0" in notes(TAGGING.run({"view": "ahead"}, "zh"))  # as an old link: English
    assert "3.35" in notes(STEP.run(ORDER, "en"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_live_answer_has_the_setting_of_its_page(lang):
    """Also while a slider of the bench moves, which adds a value to the query."""
    session = Session("localized", 0.0)
    expected = STEP.run(ORDER | {"seed": 2}, lang)
    with run_context.acting_as(session, "recurrent", "step"):
        params = controls.parse_params(STEP.declaration, ORDER)
        live = handler.live_descriptor(STEP, {STEP.prefix: params}, lang, False, False)
        query = {**live["query"], "rn.step.seed": "2"}
        answer = handler.render_bench(STEP, query, session)
    assert live["query"]["rn.step.defaults"] == "zh"
    assert str(expected.facts["apart"])[:4] in str(answer.around)


def test_first_answer_to_a_chinese_page_has_its_defaults():
    session = Session("localized", 0.0)
    with run_context.acting_as(session, "recurrent", "tagging"):
        shown = [str(handler.render_bench(TAGGING, {"lang": lang}, session).around)
                 for lang in ("en", "zh")]  # fmt: skip
    assert "19.1" in shown[0]
    assert "18.5" in shown[1]
    assert "19.1" not in shown[1]


@pytest.mark.parametrize("reader", LANGUAGES)
def test_embed_opens_as_its_address_says(reader):
    task = {"en": "spaces", "zh": "words"}[reader]
    assert parse_request(TAGGING, {}, {}, reader).bench_parameters.task == task
    old = parse_request(TAGGING, {"rn.tagging.view": "ahead"}, {}, reader)
    assert (old.bench_parameters.task, old.bench_parameters.view) == ("spaces", "ahead")
    named = {"rn.tagging.view": "ahead", "rn.tagging.defaults": "zh"}
    request = parse_request(TAGGING, named, {}, reader)
    assert request.bench_parameters.task == "words"
    again = parse_request(TAGGING, request.link, {}, reader)
    assert again.bench_parameters == request.bench_parameters
    assert parse_request(TAGGING, old.link, {}, reader).bench_parameters == old.bench_parameters


def test_room_passes_on_the_language_of_the_defaults():
    values = {"rn.step.view": "order", "rn.step.defaults": "zh", "rn.tagging.defaults": "fr",
              "rn.bill.defaults": "zh"}  # fmt: skip
    message = {"kind": "send", "lesson": "recurrent", "bench": "step", "values": values}
    kept = validate_message(message)["values"]
    assert kept == {"rn.step.view": "order", "rn.step.defaults": "zh"}
    assert STEP.parse_link(kept) == ORDER


def test_notebook_keeps_the_defaults_of_its_language():
    widget = LiveBench(TAGGING, TAGGING.run({}, "zh"), {}, "zh")
    assert [item["value"] for item in widget.shown["controls"] if item["key"] == "task"] == [
        "words"
    ]
    widget.asked = {"values": {"view": "ahead"}, "number": 1}
    assert [item["value"] for item in widget.shown["controls"] if item["key"] == "task"] == [
        "words"
    ]
    assert "12.3" in notes(widget.output)
