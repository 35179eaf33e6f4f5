"""The questions of the lesson on text are answered by what its benches compute."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from seqviz.core.i18n import LANGUAGES, Text, number, percent
from seqviz.data import precomputed
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.text.vectors import map as maps
from seqviz.experiments.text.windows.ids import permute
from seqviz.lessons.text.lesson import lesson
from seqviz.lessons.text.training_windows import ENCODER, OPINION, READER
from tests.lessons import quiz_helpers
from tests.lessons.textbook_rows import said

SUM = "king - man + woman"
of, message = (partial(item, "text") for item in (quiz_helpers.of, quiz_helpers.says))


def test_questions_all_have_a_test_here():
    there = {key.split(".")[0] for key in Text("en").table("text.predict")}
    assert there == {"permuted", "analogy", "carried"}
    assert set(lesson.exercises) == {"merges"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_permuted_answer_matches_accuracy(language, minilm):
    defaults = lesson.benches["ids"].declaration()
    result = permute(ENCODER, OPINION, defaults.permuted / 100, defaults.shuffle)
    assert result.both_difference == 0
    many = precomputed.result("permute_many", model=ENCODER)
    assert many.equal_at(1.0) == many.sentences
    assert int(of("permuted", "answer", language)) == 2
    assert many.positive == sentiment_split()[1].positive[: many.sentences].sum()
    assert percent(many.majority) in said(lesson, "ids", {}, language)
    coin = many.accuracy(1.0, "ids")
    assert coin.low < 0.5 < coin.high < many.as_trained().low
    message(
        "permuted", language, number(result.both_difference), str(many.sentences),
        number(many.mean(1.0, "ids").mean), percent(coin.share), percent(many.as_trained().share),
    )  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_analogy_answer_matches_nearest_word(language):
    answer, _ = maps.solve("bundled", SUM, True)
    assert (answer.first, answer.first_new) == ("king", "queen")
    options = of("analogy", "options", language)
    assert "king" in options[int(of("analogy", "answer", language))]
    many = precomputed.result("analogies", source="glove", centered=True)
    assert many.overall("excluded").low > many.overall("all").high
    message(
        "analogy",
        language,
        number(float(answer.cosines[0])),
        number(answer.top),
        str(many.questions),
        *(percent(many.overall(method).share) for method in ("excluded", "all")),
    )
    assert "463" in of("analogy", "question", language)
    assert len(maps.table("bundled").words) == 463
    for source in ("glove", "minilm"):
        of_all = precomputed.result("analogies", source=source, centered=True).candidates
        assert of_all == maps.table(source).answers.sum()
        visible = said(lesson, "map", {"view": "classes", "source": source}, language)
        assert f"{of_all:,}" in visible
    message("analogy", language, f"{many.candidates:,}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_carried_answer_matches_state_cost(language):
    result = precomputed.result("read_windows", network=READER)
    assert result.dearer(10, "reset", "random").verdict == "more"
    assert int(of("carried", "answer", language)) == 0
    methods = ("random", "reset", "sequential")
    assert sorted(methods, key=lambda method: result.mean(10, method).mean) == [
        "sequential",
        "random",
        "reset",
    ]
    first = {method: result.by_place(10, method)[0] for method in methods}
    assert first["reset"] < first["random"]
    message(
        "carried", language, *(number(result.mean(10, method).mean) for method in methods),
        *(number(first[method]) for method in ("reset", "random")),
    )  # fmt: skip
    assert round(result.characters, -3) == 48_000


def merged_by_hand(text: str, merges: int) -> list[str]:
    """Tokens after merges, by counting strings; the first of equally frequent pairs is merged."""
    tokens = list(text)
    for _ in range(merges):
        counts = Counter(pairwise(tokens))
        pair, often = counts.most_common(1)[0]  # of equal counts the one met first
        assert often > 1, "a pair that occurs once is never merged"
        merged = []
        while tokens:
            size = 2 if tuple(tokens[:2]) == pair else 1
            merged.append("".join(tokens[:size]))
            tokens = tokens[size:]
        tokens = merged
    return tokens


def test_merges_exercise_matches_merges_by_hand():
    exercise = lesson.exercises["merges"]
    for variant, case in enumerate(exercise.cases):
        assert exercise.variant_of(variant)[1] == len(merged_by_hand(**case)), case


def test_analogy_check_matches_sum_of_vectors():
    check = lesson.checks["analogy"]
    for variant, case in enumerate(check.cases):
        king, man, woman = (
            np.array([case[word], case[height]])
            for word, height in (("king", "crown"), ("man", "low"), ("woman", "high"))
        )
        assert check.variant_of(variant)[1] == (king - man + woman)[1]
