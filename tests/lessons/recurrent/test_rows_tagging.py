"""The rows of the texts that the bench of tagging shows, and its claims at the defaults.

As in test_text_rows: a bench at some values, what it says, and values at which it does not.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from seqviz.compute.recurrent.tagging.letters import WIRINGS
from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES
from seqviz.core.units import unbroken
from seqviz.data import precomputed
from seqviz.experiments.recurrent.tagging.letters import TASKS, tag_text
from seqviz.lessons.recurrent.lesson import lesson
from seqviz.lessons.recurrent.letter_tagging import CHINESE, ENGLISH, compare_taggers, train_taggers
from tests.lessons import textbook_rows
from tests.lessons.rows import Row, check

AHEAD, LETTERS = {"view": "ahead"}, {"view": "letters"}
TASK = {"task": "words"}
YOURS = {**LETTERS, **TASK}
ROWS = {
    "0-23": Row(
        "tagging",
        {},
        {"task": "words"},
        {"metric.wrong_two": (18.95, 18.13), "metric.wrong_uni": (19.14, 18.46)},
        (("two layers", "两层"), ("in each layer", "两层每层")),
    ),
    "0-24": Row(
        "tagging",
        {"view": "ahead", "task": "words", "ahead": 1},
        {"view": "ahead", "task": "words", "ahead": 0},
        {"metric.wrong_ahead": (12.3, 18.53), "metric.wrong_cut": (14.39, 24.42)},
        (("get 12.3 of 100 wrong (mean of 3 seeds)", "标错 12.3 个（3 个种子平均）"), "14.4"),
    ),
    "0-24 which outputs": Row(
        "tagging",
        {"view": "letters", "task": "words", "ahead": 0},
        {"view": "letters", "task": "words", "ahead": 1},
        {"tagging.letters.cut": (2, 0)},
        (("cut 0 ahead, 2", "0 个字符时 2 个"),),
    ),
    "0-26": Row(
        "tagging",
        {"task": "words"},
        {},
        {"metric.wrong_bi": (12.4, 9.641), "metric.wrong_uni": (18.46, 19.14)},
        (("6.06 fewer", "少 6.06 个"), ("E ends", "E 词尾")),
    ),
    "1-18": Row(
        "tagging",
        {"view": "letters", "task": "words"},
        {"view": "letters", "task": "words", "chinese": "很好。"},
        {"tagging.letters.uni": (5, 0)},
        (("下 at 4 (S → B)", "第 4 个字符“下”（S → B）"),),
    ),
    "1-18 bars": Row(
        "tagging",
        {"view": "letters", "task": "words"},
        {"view": "letters", "task": "words", "letter": 5},
        {"tagging.loss.uni": (0.2355, 0.6931), "tagging.loss.bi": (0.9155, 0.9844)},
        ("0.235", ("is B.", "的标签是 B")),
    ),
    "1-20": Row(
        "tagging",
        {"task": "words"},
        {},
        {"metric.wrong_two": (18.13, 18.95)},
        (("difference of 0.334 is not shown", "相差 0.334 个，不能说明"),),
    ),
    "1-21": Row(
        "tagging",
        {"task": "words", "joined": "sum"},
        {"task": "words", "joined": "product"},
        {
            "tagging.joined_*.difference:sentences.mean": (0.3415, 0.2677),
            "metric.wrong_joined": (12.63, 12.55),
        },
        ("12.6", "0.342"),
    ),
    "1-21 English": Row(
        "tagging",
        {"joined": "product"},
        {"joined": "sum"},
        {"metric.wrong_joined": (10.51, 9.61)},
        ("10.5", "0.840"),
    ),
    "2-13": Row(
        "tagging",
        {"view": "letters"},
        {"view": "letters", "english": "The end."},
        {"tagging.letters.letters": (41, 6), "tagging.letters.uni": (11, 1)},
        (("41 letters. Wrong:", "共 41 个字符，标错的有"),),
    ),
    "3-14": Row(
        "tagging",
        {"view": "letters", "task": "words"},
        {"view": "letters", "task": "words", "chinese": "很好。"},
        {"metric.loss_uni": (6.801, 0.4519), "metric.loss_bi": (1.203, 0.1045)},
        ("6.80", "1.20", unbroken("L_4 = 1.45")),
    ),
}
message = partial(textbook_rows.said, lesson, "tagging")


@textbook_rows.each(ROWS)
def test_row_moves(row, language):
    check(lesson, ROWS[row], language)


@pytest.mark.parametrize("task", TASKS)
def test_compare_taggers_favors_two_directions_at_equal_size(task):
    result = precomputed.find(compare_taggers, {"task": task}).result
    assert result.seeds == 5
    assert result.better("bi").verdict == "more"
    assert result.better("bi").value > 4
    assert abs(result.better("two").value) < 0.2 * result.better("bi").value
    assert result.parameters.max() <= 1.01 * result.parameters.min()
    for wiring in WIRINGS:
        assert result.error(wiring).value < result.baseline("alone") < result.baseline("majority")
    assert result.error_cut(20).value == pytest.approx(result.error("bi").value, abs=0.5)
    assert result.seconds.max() < 60


@pytest.mark.parametrize(("task", "text"), [("spaces", ENGLISH), ("words", CHINESE)])
def test_tag_text_needs_right_context_for_default_sentences(task, text):
    taggers = precomputed.find(train_taggers, {"task": task, "seed": 1}).result
    tagged_text = tag_text(task, taggers, text, 1)
    assert tagged_text.needs_right.sum() >= 5
    assert tagged_text.wrong[1].sum() <= 2 < tagged_text.wrong[0].sum()
    assert np.allclose(tagged_text.probabilities.sum(-1), 1)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["\0", "👨‍👩‍👧", "", " ", "123"])
def test_tagging_rejects_text_without_letters(text, language):
    for values in ({**LETTERS, "english": text}, {**YOURS, "chinese": text}):
        with pytest.raises(UserError) as refused:
            lesson.benches["tagging"].run(values, language, code=False)
        assert refused.value.code == "nothing_to_tag"


@pytest.mark.parametrize("text", ["a", "x" * 100, "<b>&", "שלום", "$x_1$ \\frac", "İß"])
def test_tagging_accepts_hostile_text(text):
    assert message({**LETTERS, "english": text}, "en")
    assert message({**YOURS, "chinese": f"好{text}"[:100]}, "zh")
