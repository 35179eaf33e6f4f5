"""The scores of a token through filters: what is cut, what is left, and on what u falls."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt.continuation import NextToken
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.gpt.filtered import filtered, largest_difference
from seqviz.compute.gpt.filters import Chain

CHANCES = np.array([0.5, 0.25, 0.125, 0.0625, 0.0625])


def next_of(probabilities: np.ndarray = CHANCES, before: tuple[int, ...] = (1,)) -> NextToken:
    none = np.zeros(len(before), bool)
    prompt = Tokens(("a",) * len(before), np.array(before), none.astype(int), none, ~none, 0)
    ids = np.argsort(-probabilities, kind="stable")
    return NextToken(prompt, (), np.log(probabilities), ids, tuple(f"t{k}" for k in ids))


def test_filtered_without_filters_keeps_all_tokens():
    result = filtered(next_of(), Chain())
    assert result.entropy == result.next_token.entropy == pytest.approx(1.875)
    assert (result.cut, result.n_kept, result.stages) == (0.0, 5, ())
    np.testing.assert_allclose(result.chances, CHANCES, atol=1e-15)


def test_filtered_top_p_keeps_fewest_tokens_of_mass():
    result = filtered(next_of(), Chain(top_p=0.7))
    assert result.n_kept == 2
    assert result.cut == pytest.approx(0.25)
    np.testing.assert_allclose(result.chances, [2 / 3, 1 / 3, 0, 0, 0], atol=1e-15)
    assert [result.cut_by(token) for token in range(5)] == ["", "", "top_p", "top_p", "top_p"]


def test_filtered_cut_by_names_first_filter():
    chain = Chain(top_k=4, top_p=0.7, order=("top_k", "top_p"))
    result = filtered(next_of(np.array([0.5, 0.25, 0.125, 0.1, 0.025])), chain)
    assert [result.cut_by(token) for token in range(5)] == ["", "", "top_p", "top_p", "top_k"]


@pytest.mark.parametrize("number", range(1, 30))
def test_filtered_u_lies_within_drawn_token(number):
    result = filtered(next_of(), Chain(temperature=1.7, penalty=1.3), seed=4, number=number)
    low, high = result.ends
    assert result.u == uniforms(4, number)[-1]
    assert low <= result.u < high
    assert high - low == pytest.approx(result.chances[result.token])


def test_filtered_penalty_covers_prompt_and_appended_tokens():
    plain = next_of()
    more = NextToken(plain.prompt, (3,), plain.scores, plain.ids, plain.pieces)
    assert more.text_ids == (1, 3)
    changed = filtered(more, Chain(penalty=2.0)).scores != plain.scores
    np.testing.assert_array_equal(changed, [False, True, False, True, False])


def test_filtered_depends_on_order_of_temperature_and_top_p():
    item, other = (
        filtered(next_of(), Chain(temperature=2.0, top_p=0.74, order=order))
        for order in (("temperature", "top_p"), ("top_p", "temperature"))
    )
    assert (item.n_kept, other.n_kept) == (3, 2)
    assert largest_difference(item, item) == 0
    third = np.sqrt(CHANCES[:3]) / np.sqrt(CHANCES[:3]).sum()
    second = np.sqrt(CHANCES[:2]) / np.sqrt(CHANCES[:2]).sum()
    assert largest_difference(item, other) == pytest.approx(
        max(abs(third[:2] - second).max(), third[2])
    )
