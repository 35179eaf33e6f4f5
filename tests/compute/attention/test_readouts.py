"""The numbers that stand under the figures of attention, by hand on matrices of a few cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.attention.patterns import habits
from seqviz.compute.attention.results import AttentionMap, Change, Effects, HeadParts, ReadText
from seqviz.compute.attention.saturation import SCALINGS, saturation
from seqviz.compute.attention.scaled import AttentionStages
from seqviz.core.units import unit_of
from testing.fake import fake

TEXT = fake(
    ReadText, pieces=("[CLS]", "a", "b", "[PAD]"), real=np.arange(4) < 3, layers=6, heads=12
)
WEIGHTS = np.array(
    [[0.5, 0.2, 0.1, 0.2], [0.3, 0.3, 0.3, 0.1], [0.1, 0.6, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0]]
)
VECTORS = np.zeros((4, 4))


@pytest.mark.parametrize("head", [(), (1,)])
def test_attention_stages_report_single_head_or_one_of_several(head):
    heads = np.stack([np.eye(4), WEIGHTS]) if head else WEIGHTS
    attention_stages = AttentionStages(
        10 * heads, heads, heads, heads, np.zeros((*heads.shape[:-1], 2))
    )
    assert attention_stages.score_at(*head, 2, 1) == pytest.approx(6)
    assert attention_stages.weight_at(*head, 1, 3) == 0.1
    assert attention_stages.row_sum(*head, 2) == pytest.approx(1)
    assert attention_stages.column_sum(*head, 3) == pytest.approx(1.6)
    assert attention_stages.later(*head) == pytest.approx((0.2 + 0.1 + 0.2 + 0.3 + 0.1 + 0.3) / 4)


def test_saturation_reports_values_at_one_length():
    result = saturation(keys=4)
    for row, scaling in enumerate(SCALINGS):
        at = row, list(result.d_k).index(64)
        assert result.variance_at(64, scaling) == result.variance[at]
        assert result.largest_at(64, scaling) == result.largest[at]


def test_habits_idle_sums_first_and_separator():
    special = np.array([True, False, False, True])
    result = habits(WEIGHTS[None, None], np.array([1, 5, 6, 2]), special)
    first, separators = (0.3 + 0.1 + 0) / 3, (0.1 + 0.3 + 1) / 3  # all queries but the first
    assert result.idle(0, 0) == pytest.approx(first + separators)
    assert result.of("first", 0, 0) == pytest.approx(first)


def test_attention_map_reports_mask_share():
    allowed = np.ones((4, 4), bool)
    allowed[0, 1:] = False
    attention_map = AttentionMap(TEXT, WEIGHTS, 0, 0, np.zeros(4), allowed)
    assert attention_map.share_allowed == 13 / 16
    assert attention_map.on_padding == pytest.approx((0.2 + 0.1 + 0.3) / 3)  # of the real tokens
    assert not attention_map.blind
    allowed[0, 0] = False
    assert attention_map.blind
    assert replace(attention_map, text=replace(TEXT, real=np.ones(4, bool))).on_padding == 0


def test_head_parts_report_cell_values():
    norms = np.array([0.5, 1, 2, 4])
    head_parts = HeadParts(
        TEXT, 0, 0, np.eye(4), VECTORS + 3, 10 * WEIGHTS, VECTORS, WEIGHTS, norms, VECTORS < 1
    )
    assert head_parts.carried[2].tolist() == pytest.approx([0.05, 0.6, 0, 1.2])
    assert head_parts.largest_product(2, 1) == (3, 3.0)
    assert head_parts.product_at(2, 1) == pytest.approx(6)
    assert head_parts.divided_at(2, 1) == pytest.approx(3)
    assert head_parts.weight_at(2, 1) == 0.6
    assert unit_of(type(head_parts), "divisor").digits == 4


def test_change_reports_largest_shift():
    probabilities = np.array([[0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    change = Change(TEXT, np.array([0, 0.4, 0.1]), 0.9, np.array([0.25, 0.75]),
                    ("x", "y", "z"), probabilities, 0.5, 3)  # fmt: skip
    assert change.heads_off == (3, 72)
    assert (change.furthest, change.furthest_piece) == (0.4, "a")
    assert change.likeliest == ("y", "z")
    assert (change.pair_before, change.pair_after) == (0.25, 0.75)


def test_effects_report_most_missed_head():
    effects = Effects(np.array([[0.02, 0.5, 0.049], [0.051, 0.3, 0.01]]), True, 1.0)
    assert effects.most_missed == (0, 1)
    assert effects.largest == 0.5
    assert effects.hardly_missed == 0.5
