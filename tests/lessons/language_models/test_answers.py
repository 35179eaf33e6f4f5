"""Questions and sentences of the lesson on language models, answered by its own benches."""

from __future__ import annotations

import inspect
import re

import pytest

from seqviz.core import content_hash
from seqviz.core.i18n import LANGUAGES, Text, catalogue, number
from seqviz.lessons.framework.controls import Choice, controls
from seqviz.lessons.framework.host import LocalHost
from seqviz.lessons.language_models.lesson import lesson


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
def test_copied_answer_matches_longest_spans(language):
    result = facts("writing", language)
    assert result["people"].high > result["last"].mean
    assert answer("copied", language) == 1
    for value in (result["people"].mean, result["last"].mean):
        assert number(value) in reveal("copied", language)


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


@pytest.mark.parametrize(
    ("bench", "view"),
    [(name, {"view": view} if view else {})
     for name, bench in lesson.benches.items()
     for view in dict(controls(bench.declaration)).get("view", Choice("")).options or ("",)],
)  # fmt: skip
def test_results_of_every_view_can_be_cached(bench, view):
    assert lesson.benches[bench].run(view, host=HashingHost(), code=False).figure


BOTH = (  # bench, settings, what its sentence says, other settings, what it says then
    ("product", {}, "rank 1 of 6", {"n": 1}, "All 6 orders cost"),
    ("product", {"sentence": "dog bites cat"}, "Not in the corpus: cat",
     {"sentence": "dog bites dog bites man man"}, "1 more are left out"),
    ("product", {"smoothing": "none", "sentence": "man bites dog"},
     "has probability 0", {}, "rank"),
    ("counts", {}, "occurs 8 times", {"context": "zebra dances"}, "never occurs. Without"),
    ("counts", {"smoothing": "witten_bell", "context": "zebra dances"}, "of a shorter context",
     {"n": 1}, "no word before is read"),
    ("counts", {"smoothing": "add_k"}, "Add 1 gives", {"smoothing": "kneser_ney"}, "lose"),
    ("counts", {"view": "lower"}, "“york” occurs 282 times", {"view": "lower", "texts": "foreign"},
     "“但”"),
    ("counts", {"counted": "the actors are here. the actors are gone."}, "occurs 2 times", {},
     "occurs 8 times"),
    ("ladder", {}, "fewer than GRU", {"n": 3}, "more than GRU"),
    ("ladder", {"n": 1, "against": "ngram1"}, "choose another", {"measured_on": "zh"},
     "Only n-grams are measured"),
    ("ladder", {"measured_on": "zh", "fitted": "witten_bell"}, "more than 3-gram, Witten-Bell",
     {"measured_on": "zh"}, "fewer than 3-gram, Witten-Bell"),
    ("writing", {"n": 1}, "The text for n = 1", {"n": 6}, "the 6-gram and the 5-gram agree"),
    ("window", {"reader": "gru"}, "no effect of the plural", {"reader": "smollm2"}, "raises"),
    ("window", {}, "by exactly 0", {"view": "blocks"}, "one row of 90 numbers"),
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
