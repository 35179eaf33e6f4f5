"""Every row of the texts on language models, as a number that moves."""

from __future__ import annotations

import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.lessons.language_models.counted import WORDS
from seqviz.lessons.language_models.lesson import lesson
from tests.lessons.rows import Row, check, falls, rises

SMOLLM2 = {"reader": "smollm2"}
BLOCKS = {"view": "blocks"}
USES = {"view": "uses"}
BOTH = {"filler": "both"}
ROWS = {
    "0-15": Row("product", {}, {"order": WORDS[::-1]}, {"bits": (8.901, 10.897)}),
    "0-16": Row("writing", {}, {"seed": 1}, {"characters": falls}),  # a text of a seed
    "0-17": Row("sides", USES, {**USES, "item": 2}, {"difference": (5.016, 3.813)}),
    "1-01": Row("window", SMOLLM2, {**SMOLLM2, "inserted": 12}, {"effect": falls}),
    "1-02": Row("window", BLOCKS, {**BLOCKS, "positions": "first_two"}, {"same": rises}),
    "1-03": Row("product", {}, {"corpus": "Man bites dog. Man sees dog."}, {"bits": rises}),
    "1-04": Row("counts", {"n": 1}, {"n": 3}, {"impossible": (363, 778)}),
    "1-07": Row("writing", {}, {"temperature": "cool"}, {"last": rises}),
    "2-08": Row("counts", {}, {"smoothing": "kneser_ney"}, {"unseen": rises}),
    "2-09": Row("sides", {"view": "cost"}, {"view": "cost", "length": 64}, {"write": rises}),
    "2-10": Row("sides", BOTH, {**BOTH, "shuffled": True}, {"share": falls}),
}


@pytest.mark.parametrize("row", ROWS)
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_of_sides_move_in_both_languages(language):
    """Writing costs a pass per token, shuffled words cost MiniLM the gap, another text the bits."""
    facts = {
        name: lesson.benches["sides"].run(values, language, code=False).facts
        for name, values in {
            "short": {"view": "cost", "length": 8}, "long": {"view": "cost", "length": 64},
            "both": BOTH, "left": {"filler": "left"}, "whole": {"filler": "whole"},
            "shuffled": {**BOTH, "shuffled": True}, "question": USES, "other": {**USES, "item": 2},
        }.items()
    }  # fmt: skip
    assert (facts["short"]["passes"], facts["long"]["passes"]) == (8, 64)
    assert facts["long"]["write"] > 4 * facts["short"]["write"]
    assert facts["long"]["read"] < facts["long"]["write"] / 4
    share = {name: facts[name]["share"] for name in ("both", "left", "whole", "shuffled")}
    assert max(share["left"].high, share["both"].high) < share["whole"].low
    assert share["shuffled"].high < share["left"].low
    assert facts["whole"]["ms"] > 10 * facts["left"]["ms"]
    assert facts["question"]["first"] < facts["question"]["second"]
    assert facts["other"]["first"] > facts["other"]["second"]


def test_all_eleven_rows_of_the_page_are_here():
    page = "0-15 0-16 0-17 1-01 1-02 1-03 1-04 1-07 2-08 2-09 2-10"
    assert sorted(ROWS) == page.split()
