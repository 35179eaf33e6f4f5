"""Every row of the texts on language models that has a bench, as a number that moves.

Rows 0-17, 2-09 and 2-10 (left, right, both sides) have none yet.
"""

from __future__ import annotations

import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.lessons.language_models.counted import WORDS
from seqviz.lessons.language_models.lesson import lesson
from tests.lessons.frozen import Row, becomes, check, each, falls, rises

SMOLLM2 = {"reader": "smollm2"}
BLOCKS = {"view": "blocks"}
ROWS = {
    "0-15": Row("product", {}, {"order": WORDS[::-1]}, "bits", becomes(8.901, 10.897)),
    "0-16": Row("writing", {}, {"seed": 1}, "characters", falls),  # a text of a seed
    "1-01": Row("window", SMOLLM2, {**SMOLLM2, "inserted": 12}, lambda f: f["effect"].mean, falls),
    "1-02": Row("window", BLOCKS, {**BLOCKS, "positions": "first_two"}, "same", rises),
    "1-03": Row("product", {}, {"corpus": "Man bites dog. Man sees dog."}, "bits", rises),
    "1-04": Row("counts", {"n": 1}, {"n": 3}, "impossible", becomes(363, 778)),
    "1-07": Row("writing", {}, {"temperature": "cool"}, lambda f: f["last"].mean, rises),
    "2-08": Row("counts", {}, {"smoothing": "kneser_ney"}, "unseen", rises),
}  # fmt: skip


@each(ROWS)
def test_row_moves(row):
    check(lesson, ROWS[row])


@pytest.mark.parametrize("language", LANGUAGES)
def test_order_and_unigram_agree_in_both_languages(language):
    """The written order costs less than the reversed one; by frequency alone both cost the same."""
    bench = lesson.benches["product"]
    facts, turned = (
        bench.run(values, language, code=False).facts for values in ({}, {"order": WORDS[::-1]})
    )
    assert facts["bits"] < turned["bits"]
    assert facts["alone"] == turned["alone"]
    assert facts["spread_alone"] == 0
    single = bench.run({"n": 1, "order": WORDS[::-1]}, language, code=False).facts
    assert single["bits"] == single["best"] == single["worst"] == facts["alone"]


@pytest.mark.parametrize("reader", ["ngram", "window"])
def test_models_of_a_window_are_blind_at_every_distance(reader):
    for inserted in (0, 12):
        output = lesson.benches["window"].run({"reader": reader, "inserted": inserted}, code=False)
        assert output.facts["effect"].mean == 0
        assert "by exactly 0" in output.notes[0]
