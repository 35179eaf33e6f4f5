"""What *Masked or not* asks: every answer and every quoted number comes out of the page's benches.

And what it says under its figures: other numbers, another sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from seqviz.compute.bert_accuracy.results import FillIn, FillSettings, SystemPredictions
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import baselines, fill, systems
from seqviz.lessons.bert_accuracy.encoders import FILMS, MAX_SENTENCE_TOKENS
from seqviz.lessons.bert_accuracy.lesson import lesson
from seqviz.lessons.framework.controls import controls
from seqviz.lessons.framework.output import EquationLine, Output
from seqviz.models import pretrained

pytestmark = pytest.mark.usefixtures("vectors")
# The settings at which each question is answered: bench, values.
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "half": ("knife", {"share": 50}),
    "padding": ("padding", {}),
    "direction": ("looks", {}),
    "rate": ("heads", {"feature": "pooler", "head_rate": 1e-5}),
}
# What else a reveal quotes, and names.
ALSO: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "rate": (("heads", {"feature": "pooler", "head_rate": 3e-2}), ("compare", {})),
}


def share(output: Output, name: str) -> float:
    """A read-out in percent."""
    return float(output.readouts[name].value.removesuffix("%"))


def half() -> int:
    options = Text("en").items("bert_accuracy.predict.half.options")
    offered = [float(re.search(r"\d+", option)[0]) for option in options]
    result = share(lesson.benches["knife"].run({"share": 50}), "accuracy_here")
    return int(np.argmin([abs(item - result) for item in offered]))


def padding() -> int:
    flipped = share(lesson.benches["padding"].run({}), "flipped")
    assert 20 < flipped < 30  # one in four
    (mean,) = re.findall(r"([\d.]+)% are \*positive", said("padding", "in_mean", length=256))
    assert float(mean) == 0  # "not one answer is positive"
    return 1


def direction() -> int:
    visible = lesson.benches["looks"].run({})
    result = re.findall(r"([\d.]+)%", visible.notes[0])
    said_left, said_both, _, guessed_left, guessed_both = map(float, result)
    lost = [said_both - said_left, guessed_both - guessed_left]
    assert lost == [
        pytest.approx(share(visible, "look_both") - share(visible, "look_left")),
        lost[1],
    ]
    assert min(lost) > 0  # not "neither"
    return int(np.argmax(lost))


def rate() -> int:
    run = lesson.benches["heads"].run
    slow, fast = (
        share(run({"feature": "pooler", "head_rate": r}), "trained") for r in (1e-5, 3e-2)
    )
    (random,) = (answer for answer in systems.answers() if answer.system == "random_head")
    minimum, *_, maximum = random.runs(systems.truth())
    assert slow < fast - 10  # neither "about what it can" nor "more than at 3e-2"
    assert 100 * minimum.share < slow < 100 * maximum.share
    return 1


COMPUTED = {"half": half, "padding": padding, "direction": direction, "rate": rate}


def test_questions_all_checked():
    request = {key.split(".")[0] for key in Text("en").table("bert_accuracy.predict")}
    assert request == set(ASKED) == set(COMPUTED)


@pytest.mark.parametrize("name", ASKED)
def test_predict_answer_matches_bench(name):
    for lang in LANGUAGES:
        assert int(Text(lang)(f"bert_accuracy.predict.{name}.answer")) == COMPUTED[name]()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ASKED)
def test_reveal_quotes_bench_numbers(name, lang):
    messages: list[str] = []
    for bench, values in (ASKED[name], *ALSO.get(name, ())):
        visible = lesson.benches[bench].run(values, lang)
        messages += [
            *visible.notes,
            *(f"{readout.value} {readout.caption}" for readout in visible.readouts.values()),
        ]
    there = {f"{float(item):g}" for item in re.findall(r"\d+\.\d+", " ".join(messages))}
    there |= {f"{round(float(item)):d}" for item in there}
    reveal = Text(lang)(f"bert_accuracy.predict.{name}.reveal")
    quoted = re.findall(r"([\d.]+)%", reveal) + re.findall(r"0\.00\d+", reveal)
    assert quoted
    assert {f"{float(item):g}" for item in quoted} <= there, (quoted, sorted(there))


def by_the_hint(name: str, given: Mapping[str, Any]) -> float:
    """The formula in the words of each hint, written out."""
    if name == "replaced":
        return given["share"] / 100 * given["tokens"] * 0.10
    back, loss = given["adapted"] - given["masked"], given["unmasked"] - given["masked"]
    return 100 * back / loss


@pytest.mark.parametrize("name", lesson.exercises)
def test_exercise_accepts_hint_formula(name):
    exercise = lesson.exercises[name]
    for variant in range(len(exercise.cases)):
        given, answer, tolerance = exercise.variant_of(variant)
        assert abs(by_the_hint(name, given) - answer) <= tolerance / 10, given
        if name == "shift":  # a whole percentage, part of the loss
            assert answer == pytest.approx(round(answer))
            assert 0 < answer < 100


# ------------------------------------------------------------------------- sentences from numbers
def said(bench: str, key: str, language: str = "en", **values: Any) -> str:
    """The sentence of this key under the figure; empty where another one stands."""
    words = re.split(r"{[^{}]*}", Text(language)(f"bert_accuracy.note.{key}"))
    pattern = re.compile(".+?".join(re.escape(word) for word in words))
    notes = lesson.benches[bench].run(values, language).notes
    return next((note for note in notes if pattern.fullmatch(note)), "")


SENTENCES = (
    ("knife", "fall.shown", {"share": 35}, {"share": 50}),
    ("knife", "own_turned", {"view": "own", "share": 100}, None),
    ("fill", "fill", {}, {"view": "share", "selected": 60}),
    ("guess", "guess", {"text": "the capital of france is paris", "place": 6}, {"place": 2}),
    ("padding", "in_mean", {"length": 64}, {"length": 128}),
    ("padding", "median_drift", {"view": "drift"}, {"view": "drift", "length": 64}),
    ("padding", "own_pads.kept", {"view": "own", "length": 32}, {"view": "own", "length": 64}),
    ("looks", "looks", {}, {"feature": "cls"}),
    ("looks", "looks_cls", {"feature": "cls"}, None),
    ("looks", "looks_own", {"view": "own"}, {"view": "own", "place": 2}),
    ("heads", "adam", {"head_rate": 1e-5}, {"head_rate": 1e-2}),
    ("tune", "epoch_time", {}, {"regime": "top"}),
    ("count", "trained.one", {}, {"regime": "top"}),
    ("count", "trained.all", {"regime": "all"}, {}),
    ("count", "trained.most", {"regime": "top", "layers": 12}, {"regime": "top", "layers": 11}),
    ("compare", "no_seed", {"first": "bag_of_words"}, {"first": "lstm"}),
    ("modes", "gradient", {}, {"repeats": 5}),
    ("search", "best.less", {"method": "grid"}, {"view": "race"}),
    ("compare", "seeds_between", {"first": "head_mean"}, {"first": "head_cls"}),
    ("compare", "one_seed", {"first": "lstm"}, {"first": "gru"}),
    ("compare", "random_seeds", {}, None),
)  # fmt: skip


@pytest.mark.parametrize(("bench", "key", "values", "other"), SENTENCES)
def test_note_changes_with_numbers(bench, key, values, other):
    for language in LANGUAGES:
        item = said(bench, key, language, **values)
        assert item, key
        if other is not None:
            assert said(bench, key, language, **other) != item
            assert lesson.benches[bench].run(other, language).notes


def test_knife_note_reports_nothing_masked_at_share_zero():
    assert said("knife", "fall.none_masked", share=0)
    assert not said("knife", "fall.null", share=0)
    assert not said("knife", "fall.shown", share=0)
    assert not said("knife", "fall.none_masked", share=5)


def test_compare_note_reports_identical_systems():
    same = {"view": "paired", "first": "lstm", "second": "lstm"}
    assert said("compare", "same_system", **same)
    assert lesson.benches["compare"].run(same, "en").readouts["needed"].value == "∞"
    assert not said("compare", "same_system", **same | {"second": "gru"})


def test_padding_note_reports_text_that_fills_length():
    long = {"view": "own", "text": "A good film. " * 12}
    assert "50 tokens" in said("padding", "own_pads.none", length=32, **long)
    assert not said("padding", "own_pads.none", length=64, **long)
    just = long | {"text": "good " * 30}  # and two special tokens
    assert "32 tokens" in said("padding", "own_pads.none", length=32, **just)
    assert not said("padding", "own_pads.none", view="own", length=32)


def test_fill_note_omits_treatments_without_tokens(monkeypatch):
    """Every selected token is masked: the sentence has no dash for those replaced or left alone."""

    def fill_in(settings: FillSettings, model: str, device: str) -> FillIn:
        return FillIn(settings, np.zeros(4, int), np.array([1, 1, 1, 7]), np.array([1, 9, 9, 9]))

    monkeypatch.setattr(fill, "fill_in", fill_in)
    for language in LANGUAGES:
        visible = lesson.benches["fill"].run({"mask": 100}, language, train=True, code=False)
        assert "[MASK] 75.0%" in visible.notes[0]
        assert "–" not in visible.notes[0]


def test_count_note_states_one_in_n_only_for_small_shares():
    assert said("count", "trained.one", regime="top", network="minilm", layers=6)
    assert not said("count", "trained.one", regime="top", layers=12)


def test_tune_bench_opens_with_shipped_run_per_regime():
    for regime in ("top", "lora", "all"):
        assert lesson.benches["tune"].run({"regime": regime}, "en").readouts["trained"].value


def test_knife_note_claims_no_shift_between_similar_heads():
    """All words masked: each head has one answer for everything, and p is 0.195."""
    assert said("knife", "fall.null", share=100)
    assert not said("knife", "fall.shown", share=100)
    assert said("knife", "fall.shown", share=95)


def test_systems_without_seed_train_deterministically():
    texts, positive = [f"good {n % 7} film" for n in range(60)], np.arange(60) % 2 == 0
    item, other = (baselines.bag_of_words() for _ in range(2))
    np.random.seed(0)
    first = item.fit(texts, positive).predict_proba(texts)
    np.random.seed(1)
    assert (first == other.fit(texts, positive).predict_proba(texts)).all()
    assert systems.WITHOUT_SEED == ("bag_of_words",)


def test_guesses_rank_film_high_and_fox_low():
    text = "The quick brown fox jumps over the lazy dog."
    result = fill.guesses("minilm", text, 4, seed=lesson.benches["guess"].declaration().seed)
    assert result.truth == "fox"
    assert "film" in result.candidates[0][:8]
    assert result.rank_of("mask") > 10_000


def test_compare_note_lists_differences_only_for_two_systems():
    for second, listed in (("all", False), ("head_mean", True)):
        visible = lesson.benches["compare"].run({"view": "paired", "second": second})
        assert any("P(positive)" in note for note in visible.notes) is listed


def test_compare_note_omits_warning_for_random_head_near_chance(monkeypatch):
    """The sentence follows from the answers: five seeds that are right on about half."""
    existing = systems.answers()
    half = np.where(np.arange(len(systems.truth())) % 2, systems.truth(), ~systems.truth())
    tame = SystemPredictions("random_head", np.tile(0.1 + 0.8 * half, (5, 1)))
    monkeypatch.setattr(systems, "answers", lambda: (tame, *existing[1:]))
    assert existing[0].system == "random_head"
    assert said("compare", "random_seeds_within")
    assert not said("compare", "random_seeds")


def test_search_note_follows_sign_of_test_difference():
    """Which of the two sentences stands is the sign of the difference."""
    for method in ("grid", "random", "bayes"):
        visible = lesson.benches["search"].run({"method": method})
        less = share(visible, "best") - share(visible, "best_test")
        key = "best.less" if less > 0 else "best.not_less"
        assert said("search", key, method=method)


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "more frequent in training"), ("zh", "训练句多数类")],
)
def test_random_head_is_compared_with_majority_of_training(language, words):
    """Most training sentences are negative, and most test sentences positive."""
    guess = systems.majority().share
    assert guess < 0.5 < systems.truth().mean() == pytest.approx(1 - guess)
    notes = lesson.benches["compare"].run({}, language).notes
    (visible,) = (note for note in notes if words in note)
    assert f"{100 * guess:.1f}%" in visible


def test_majority_counts_the_sentences_that_are_tested():
    first = sentiment_split()[1].positive[:200]
    negative = int((~first).sum())  # most training sentences are negative
    guess = systems.majority(sentences=200)
    assert (guess.correct, guess.n) == (negative, 200)
    assert systems.majority().n == 2000


@pytest.mark.parametrize("language", LANGUAGES)
def test_padding_step_states_sentences_read(language):
    """From 256 tokens on, 300 sentences are read, not 2,000."""
    told = SimpleNamespace(share=0.5, n=300)
    says = Text(language)("bert_accuracy.step.padding.long.says", told=told, untold=told,
                          flipped=told)  # fmt: skip
    assert "300" in says


@pytest.mark.parametrize("language", LANGUAGES)
def test_padding_equation_states_sentences_read(language):
    """The same number as in the figure."""
    for length, n in ((128, "2,000"), (256, "300")):
        visible = lesson.benches["padding"].run({"length": length}, language, code=False)
        (line,) = visible.of(EquationLine)
        assert f'"number">{n}<' in line.html


def test_token_slider_ends_at_last_token():
    """The text has eleven tokens; of a longer one, the first can be chosen."""
    pretrained.load("minilm")
    for bench in ("guess", "looks"):
        place = dict(controls(lesson.benches[bench].declaration))["place"]
        assert place.top({"text": FILMS}) == 11
        assert place.top({"text": "good " * 200}) == MAX_SENTENCE_TOKENS
        assert place.top({"text": ""}) == 1


def test_small_chance_is_written_as_in_the_figure():
    visible = lesson.benches["guess"].run({"place": 2}, "en")
    captions = [readout.caption for readout in visible.readouts.values()]
    assert "0.0%" not in captions
