"""Questions and sentences of the lesson on language models, answered by its own benches."""

from __future__ import annotations

import inspect
import math
import re

import numpy as np
import pytest

from seqviz.compute.language_models.ngrams import ORDER, SMOOTHINGS
from seqviz.core import content_hash
from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text, catalogue, number
from seqviz.experiments.language_models.counting import MAX_LISTED, by_continuation
from seqviz.experiments.language_models.guessing import SENTENCES
from seqviz.lessons.framework.controls import Choice, controls
from seqviz.lessons.framework.host import LocalHost
from seqviz.lessons.framework.output import Chart, Metric, Table
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.language_models.counted import CountsParams
from seqviz.lessons.language_models.lesson import lesson
from seqviz.models import pretrained


def facts(bench: str, language: str = "en", **values):
    return lesson.benches[bench].run(values, language, code=False).facts


def notes(bench: str, language: str = "en", **values) -> str:
    return "\n".join(lesson.benches[bench].run(values, language, code=False).notes)


def answer(name: str, language: str) -> int:
    return int(catalogue(language)[f"language_models.predict.{name}.answer"])


def reveal(name: str, language: str) -> str:
    return Text(language)(f"language_models.predict.{name}.reveal")


@pytest.mark.parametrize("language", LANGUAGES)
def test_alone_answer_is_that_orders_do_not_differ(language):
    single = facts("product", language, n=1)
    assert single["best"] == single["worst"]
    assert answer("alone", language) == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_impossible_answer_matches_share_of_sentences(language):
    share = facts("counts", language)["share"]
    assert share.mean > 0.9
    assert answer("impossible", language) == 2
    for value in (share.correct, share.n, f"{100 * share.mean:.1f}%"):
        assert str(value) in reveal("impossible", language)
    single = facts("counts", language, n=1)["share"]
    assert f"{100 * single.mean:.1f}%" in reveal("impossible", language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_add_one_answer_matches_held_out_bits(language):
    triples, single, discounted = (
        facts("counts", language, n=n, smoothing=smoothing)
        for n, smoothing in ((3, "add_k"), (1, "witten_bell"), (3, "kneser_ney"))
    )
    assert triples["excess"].low > 0
    assert triples["bits"].mean > single["bits"].mean > discounted["bits"].mean
    assert answer("add_one", language) == 1
    for value in (triples, single, discounted):
        assert f"{value['bits'].mean:.2f}" in reveal("add_one", language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("smoothing", [name for name in SMOOTHINGS if name != "none"])
def test_no_held_out_sentence_is_impossible_with_smoothing(smoothing, language):
    sentence = Text(language)("language_models.note.counts.smoothed")
    assert math.isfinite(facts("counts", language, smoothing=smoothing)["bits"].mean)
    assert sentence in notes("counts", language, smoothing=smoothing)
    assert sentence not in notes("counts", language)


@pytest.mark.parametrize("measured_on", ["en", "zh"])
@pytest.mark.parametrize("fitted", ["witten_bell", "modified_kneser_ney"])
def test_all_of_the_training_text_gives_the_number_on_the_ruler(measured_on, fitted):
    values = {"measured_on": measured_on, "fitted": fitted, "n": 6}
    whole = facts("ladder", **values)
    amount = facts("ladder", **values, view="amount")
    assert amount["last"].mean == pytest.approx(whole["bits"].mean, abs=1e-6)
    assert amount["last"].high < amount["first"].low
    assert amount["counted"] < amount["last"].low


@pytest.mark.parametrize("language", LANGUAGES)
def test_click_on_a_bar_lists_its_training_sentences(language):
    bench = lesson.benches["counts"]
    for chosen in (1, 2):
        output = bench.run({"follower": chosen}, language, code=False)
        (chart,) = (item for item in output.items if isinstance(item, Chart))
        assert chart.clicks.picks == ("", "follower")
        bars = [bar for bar in chart.figure.chart.data if bar.meta == "pick"]
        assert len(bars) == 3
        name = output.figure.axis("y")["ticktext"][chosen - 1]
        (table,) = (item for item in output.items if isinstance(item, Table))
        (sentences,) = table.columns.values()
        assert 1 <= len(sentences) <= MAX_LISTED
        assert all(name in sentence.lower() for sentence in sentences)


@pytest.mark.parametrize("language", LANGUAGES)
def test_bits_that_add_one_asks_for_are_a_readout_under_smoothing(language):
    label = Text(language)("language_models.metric.held_out.label")
    assert label in reveal("add_one", language)
    for smoothing in SMOOTHINGS:
        output = lesson.benches["counts"].run({"smoothing": smoothing}, language, code=False)
        shown = {item.label: item.value for item in output.items if isinstance(item, Metric)}
        assert len(shown) == 2
        assert (label in shown) == (smoothing != "none")
        if smoothing != "none":
            assert f"{output.facts['bits'].mean:.2f}" in shown[label]


@pytest.mark.parametrize("language", LANGUAGES)
def test_steps_name_the_sentences_they_change_to_and_no_wrong_count(language):
    said = catalogue(language)
    for step in lesson.steps["ladder"]:
        chosen = step.values.get("measured_on", "en")
        if chosen != "en":
            name = said[f"language_models.option.measured_on.{chosen}"]
            for part in ("do", "says"):
                assert name in said[f"language_models.step.ladder.{step.name}.{part}"]
    assert by_continuation(language).contexts[0] > 1
    question = said["language_models.step.counts.lower.do"]
    assert not re.search("one word|一个词", question)


@pytest.mark.parametrize("number", range(1, len(SENTENCES) + 1))
def test_game_says_which_model_leads_here_and_on_all_sentences(number):
    """SmolLM2 leads on all sentences and on none of the six: the page says both."""
    values = facts("ladder", view="you", secret=number)
    assert values["leader"] == "SmolLM2"
    assert values["best"] != "SmolLM2"
    assert values["best_bits"] < values["here"]
    assert facts("ladder", against="smollm2")["other"].mean == pytest.approx(values["overall"])
    says = plain(notes("ladder", view="you", secret=number))
    assert "SmolLM2, 1.56; on this one" in says
    assert values["lower"] <= values["bits"]  # no sentence of the page is about the other case
    assert ("between them" in says) == (values["bits"] <= values["upper"])
    assert ("more than both" in says) == (values["bits"] > values["upper"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_cheaper_answer_matches_ladder(language):
    result = facts("ladder", language)
    assert result["difference"].low > 0
    assert result["bits"].mean < result["other"].mean
    assert answer("cheaper", language) == 1
    for value in (result["bits"].mean, result["other"].mean):
        assert f"{value:.3f}" in reveal("cheaper", language)
    decoder = facts("ladder", language, against="smollm2")
    assert decoder["other"].mean < decoder["bits"].mean


@pytest.mark.parametrize("language", LANGUAGES)
def test_ladder_sketch_says_what_each_letter_saves(language):
    bench = lesson.benches["ladder"]
    assert "lm.sketch.ladder" in bench.veiled_by
    traces = bench.run({}, language, code=False).figure.traces
    curves = [trace["y"] for trace in traces[:3]]
    text = Text(language)("language_models.sketch.ladder.reveal")
    for saved in (curves[2][0] - curves[2][1], curves[2][4] - curves[2][5]):
        assert f"{saved:.2f}" in text
    apart = np.ptp(curves, 0) / np.mean(curves, 0)
    assert apart[:4].max() < 0.002
    assert apart[4:].min() > 0.008


@pytest.mark.parametrize("language", LANGUAGES)
def test_copied_answer_matches_longest_spans(language):
    result = facts("writing", language)
    assert result["people"].high > result["last"].mean
    assert answer("copied", language) == 1
    for value in (result["people"].mean, result["last"].mean):
        assert number(value) in reveal("copied", language)


def test_pointer_on_a_factor_shows_its_probability():
    bars, dots, *_ = lesson.benches["product"].run({}, code=False).figure.traces
    for trace in (bars, dots):
        assert "customdata" in trace["hovertemplate"]
        chances = [float(p) for p in trace["customdata"]]
        assert chances == pytest.approx((2.0 ** -np.array(trace["y"])).tolist(), rel=5e-3)
    assert math.prod(float(p) for p in bars["customdata"]) == pytest.approx(
        2 ** -facts("product")["bits"], rel=0.02
    )


def test_words_outside_the_corpus_leave_the_sum_in_the_equation():
    output = lesson.benches["product"].run({"sentence": "she sees cats"}, code=False)
    assert output.facts["bits"] == pytest.approx(sum(output.figure.traces[0]["y"]))
    assert output.facts["bits"] > output.facts["unknown"] > output.facts["unknown_alone"]


def test_each_order_of_few_words_has_its_words_below_and_at_the_pointer():
    figure = lesson.benches["product"].run({}, code=False).figure
    assert figure.axis("x2")["ticktext"][:2] == ["dog<br>bites<br>man", "man<br>bites<br>dog"]
    *_, orders, this, _ = figure.traces
    assert list(orders["customdata"])[1] == "man bites dog"
    assert list(this["customdata"]) == ["dog bites man"]
    for trace in (orders, this):
        assert "customdata" in trace["hovertemplate"]
    many = lesson.benches["product"].run({"sentence": "the dog bites man"}, code=False).figure
    assert "ticktext" not in many.axis("x2")
    assert len(many.traces[2]["customdata"]) == 24


def test_hint_formula_gives_accepted_answer():
    exercise = lesson.exercises["smoothed"]
    for variant, case in enumerate(exercise.cases):
        _, expected, within = exercise.variant_of(variant)
        weight = case["kinds"] / (case["total"] + case["kinds"])
        by_weight = (1 - weight) * case["count"] / case["total"] + weight * case["below"]
        assert abs(by_weight - expected) <= within
        assert abs(1.05 * by_weight - expected) > within


class HashingHost(LocalHost):
    """Host that identifies each function, as the app's result cache does."""

    def call(self, function, args, keywords):
        assert not inspect.ismethod(function)  # that of a class checked in tests has a name
        content_hash.hash_function(function)
        content_hash.hash_value((args, keywords))
        return super().call(function, args, keywords)


VIEWS = [
    (name, {"view": view} if view else {})
    for name, bench in lesson.benches.items()
    for view in dict(controls(bench.declaration)).get("view", Choice("")).options or ("",)
]


@pytest.mark.parametrize(("bench", "view"), VIEWS)
def test_every_view_opens_in_a_clone_without_models(bench, view, monkeypatch):
    def missing(record):
        raise AssertionError(f"{record.name} is not on this disk.")

    monkeypatch.setattr(pretrained, "_loaded", {})
    monkeypatch.setattr(pretrained, "_load", missing)
    assert lesson.benches[bench].run(view, code=False).figure


@pytest.mark.parametrize(("bench", "view"), VIEWS)
def test_results_of_every_view_can_be_cached(bench, view):
    assert lesson.benches[bench].run(view, host=HashingHost(), code=False).figure


BOTH = (  # bench, settings, what its sentence says, other settings, what it says then
    ("product", {}, "rank 1 of 6", {"n": 1}, "All 6 orders cost"),
    ("product", {"sentence": "dog bites cat"}, "Not in the corpus: cat",
     {"sentence": "dog bites dog bites man man"}, "1 more are left out"),
    ("product", {"smoothing": "none", "sentence": "man bites dog"},
     "has probability 0", {}, "rank"),
    ("product", {"smoothing": "none"}, "Of these, 5 have probability 0", {}, "The orders cost"),
    ("counts", {}, "occurs 8 times", {"context": "zebra dances"}, "never occurs. Without"),
    ("counts", {"smoothing": "witten_bell", "context": "zebra dances"}, "of a shorter context",
     {"n": 1}, "no word before is read"),
    ("counts", {"smoothing": "add_k"}, "Add 1 gives", {"smoothing": "kneser_ney"}, "lose"),
    ("counts", {"view": "lower"}, "“york” occurs 282 times", {"view": "lower", "texts": "foreign"},
     "“但”"),
    ("counts", {"counted": "the actors are here. the actors are gone."}, "occurs 2 times", {},
     "occurs 8 times"),
    ("counts", {"smoothing": "add_k"}, "more than with n = 1", {"smoothing": "kneser_ney"},
     "fewer than with n = 1"),
    ("counts", {"smoothing": "kneser_ney"}, "“actors are so”: 1. Occurrences: 1",
     {"smoothing": "kneser_ney", "context": "zebra dances"}, "No training sentence contains"),
    ("ladder", {}, "fewer than GRU", {"n": 3}, "more than GRU"),
    ("ladder", {"n": 1, "against": "ngram1"}, "choose another", {"measured_on": "zh"},
     "Only n-grams are measured"),
    ("ladder", {"measured_on": "zh", "fitted": "witten_bell"}, "more than 3-gram, Witten-Bell",
     {"measured_on": "zh"}, "fewer than 3-gram, Witten-Bell"),
    ("writing", {"n": 1}, "The text for n = 1", {"n": 6}, "the 6-gram and the 5-gram agree"),
    ("window", {"reader": "gru"}, "no effect of the plural", {"reader": "smollm2"}, "raises"),
    ("window", {}, "by exactly 0", {"view": "blocks"}, "one row of 90 numbers"),
    ("window", {"view": "next", "place": 4}, "So the text goes on", {"view": "next", "place": 6},
     "The text goes on with"),
    ("window", {"view": "next", "read": "The zyzzyva"}, "1 of 2, zyzzyva",
     {"view": "next", "read": "The zyzzyva", "place": 1}, "does not know “zyzzyva”"),
    ("window", {"view": "blocks"}, "One block costs 0.043 more",
     {"view": "blocks", "positions": "ends"}, "With 5 random seeds"),
    ("ladder", {"view": "you"}, "more than both", {"view": "you", "secret": 2}, "between them"),
    ("ladder", {"view": "you"}, "on this sentence: GRU, 1.22", {"view": "you", "secret": 6},
     "on this sentence: 6-gram, modified Kneser-Ney, 1.52"),
    ("product", {"sentence": "cats chase mice"}, "All 6 orders cost 22.6 bits: this corpus",
     {"sentence": "cats chase mice", "n": 1}, "does not depend on its position"),
    ("product", {"sentence": "she sees cats"}, "cost 15.1 bits here, by frequency alone 12.3",
     {"sentence": "dog bites man"}, "P(w3, w2, w1)"),
    ("ladder", {"view": "own"}, "has 43 characters", {"view": "own", "own": "Ça va?"},
     "as one unknown character: Ç"),
    ("ladder", {"view": "own"}, "among 9 models", {"view": "own", "own": "狗咬人。"},
     "Only n-grams are measured"),
    ("sides", {}, "points more than SmolLM2, left side", {"filler": "both", "shuffled": True},
     "points less than MiniLM, both sides"),
    ("sides", {"filler": "both"}, "show no difference", {"filler": "left"}, "show no difference"),
    ("sides", {"filler": "left"}, "the sentence once", {"filler": "whole"}, "100 times"),
    ("sides", {"view": "cost"}, "needs 32 passes", {"view": "cost", "length": 8}, "8 passes"),
    ("sides", {"view": "uses"}, "is right", {"view": "uses", "item": 2}, "would be right"),
)  # fmt: skip


@pytest.mark.parametrize("place", range(len(BOTH)))
def test_note_changes_with_numbers(place):
    bench, values, expected, other, then = BOTH[place]
    first, second = notes(bench, **values), notes(bench, **other)
    assert expected in plain(first), first
    assert then in plain(second), second
    assert notes(bench, "zh", **values) != notes(bench, "zh", **other)


def plain(sentence: str) -> str:
    return re.sub(r"\s", " ", sentence.replace("\\", ""))


@pytest.mark.parametrize("language", LANGUAGES)
def test_empty_field_names_its_context_and_the_end_has_a_name(language):
    """A student sees after what is counted, and no sign for the end of a sentence."""
    context = {"en": "the actors are", "zh": "房间很"}[language]
    assert context in notes("counts", language)
    assert context not in notes("counts", language, n=1)  # no word before is read
    empty = Text(language)("language_models.note.counts.default", context=context)
    assert empty not in notes("counts", language, context=context)
    figure = lesson.benches["counts"].run({"n": 1}, language, code=False).figure
    names = figure.axis("y")["ticktext"]
    assert Text(language)("figure.followers_end") in names
    assert not any("⏎" in name for name in names)


HOSTILE = (
    "<b>bold</b> <script>", "$\\alpha$ `code` [link](x)", "\u05e9\u05dc\u05d5\u05dd \u202eabc",
    "\U0001f600 and \U0001f600", "e\u0301 n\u0303", "[MASK] <unk> </s>", "\ud800 half",
    "ab " * 350_000,
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_counted_as_it_is(text):
    """Signs, markup, right-to-left, emoji and 1 MB: no bench fails, and no table says unknown."""
    for bench, values in (
        ("product", {"corpus": text}), ("product", {"sentence": f"{text[:150]} dog"}),
        ("counts", {"counted": text}), ("counts", {"counted": text, "level": "letters", "n": 6}),
        ("counts", {"context": text[:150]}), ("window", {"view": "next", "read": text[:150]}),
        ("ladder", {"view": "you", "played": text[:150]}),
        ("ladder", {"view": "own", "own": text[:120]}),
        ("ladder", {"view": "own", "own": f"狗{text[:100]}"}),
    ):  # fmt: skip
        output = lesson.benches[bench].run(values, code=False)
        assert output.figure
        assert "<unk" not in plain("\n".join(output.notes)).replace("[MASK] <unk> </s>", "")


@pytest.mark.parametrize("values", [{"corpus": "!?"}, {"sentence": "..."}, {"corpus": "\n\n."}])
def test_text_without_a_word_is_refused_with_a_sentence(values):
    with pytest.raises(UserError) as refusal:
        lesson.benches["product"].run(values, code=False)
    assert refusal.value.code == "no_text"


@pytest.mark.parametrize(("language", "counted"), [("en", "Dog bites."), ("zh", "狗咬人。")])
def test_own_corpus_without_a_context_opens_with_its_own_beginning(language, counted):
    values = facts("counts", language, counted=counted, n=2)
    assert (values["seen"], values["kinds"]) == (1, 1)
    unknown = LessonWords("language_models", Text(language))("list.unknown")
    assert unknown not in notes("counts", language, counted=counted)


def test_corpus_of_one_word_says_that_n_falls():
    for level, n, longest in (("words", 6, 3), ("letters", 6, 5)):
        said = notes("counts", counted="dog", n=n, level=level)
        assert f"has {longest} parts" in said
        parsed = CountsParams(counted="dog", level=level)
        assert dict(controls(CountsParams))["n"].top(vars(parsed)) == longest
    assert "parts" not in notes("counts", counted="dog bites man. man bites dog.", n=3)
    for counted in ("", "...", " "):
        assert dict(controls(CountsParams))["n"].top(vars(CountsParams(counted=counted))) == ORDER
    assert "bits" in notes("product", corpus="dog", n=3)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_word_outside_the_corpus_is_named_and_costs_bits(smoothing):
    said = notes("product", sentence="zyzzyva", smoothing=smoothing)
    assert "Not in the corpus: zyzzyva" in said
    assert ("probability 0" in said) == (smoothing == "none")
    assert "(unknown)” never occurs" in plain(notes("counts", context="zyzzyva"))


@pytest.mark.parametrize(("language", "text"), [("en", "possible one, with "),
                                                ("zh", "你写的句子数：")])  # fmt: skip
def test_target_counts_sentences_that_were_typed(language, text):
    values = {"n": 3, "smoothing": "modified_kneser_ney"}
    result = lesson.benches["product"].run(values, language, code=False)
    assert f"{text}0" in "\n".join(result.notes)
    typed = lesson.benches["product"].run({"corpus": "Dog bites man."}, language, code=False)
    assert f"{text}1" in "\n".join(typed.notes)
