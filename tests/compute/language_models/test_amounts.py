"""N-grams that have counted a share of a text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from seqviz.compute.language_models.amounts import SHARES, BitsByAmount, bits_of_orders, spaced
from seqviz.compute.language_models.ngrams import count, fit
from seqviz.stats.estimate import stack

END, SYMBOLS = 1, 7
SENTENCES = tuple(np.array(ids) for ids in ([2, 3, 4], [3, 2, 5, 5], [6]))
ROW = np.array([END, 2, 3, 4, END, 2, 3, 5, END, 3, 4, 4, END])


def test_larger_share_contains_smaller_one_from_all_parts_of_the_text():
    for smaller, larger in pairwise(SHARES):
        assert set(spaced(1000, smaller)) < set(spaced(1000, larger))
    assert len(spaced(1000, 1.0)) == 1000
    assert len(spaced(3, 1 / 64)) == 1
    assert spaced(1000, 1 / 64)[-1] > 900


def test_bits_of_orders_are_those_of_each_model():
    read = bits_of_orders(ROW, SENTENCES, SYMBOLS, "kneser_ney", 3, END)
    assert read.characters.tolist() == [4, 5, 2]
    for n in (1, 2, 3):
        model = fit(count(ROW, SYMBOLS, 3), "kneser_ney", n)
        for ids, bits in zip(SENTENCES, read.bits[n - 1], strict=True):
            assert model.bits(np.append(ids, END), np.array([END])).sum() == pytest.approx(bits)


def test_summary_states_the_best_order_of_the_least_and_of_the_most_text():
    few = bits_of_orders(ROW[:5], SENTENCES, SYMBOLS, "witten_bell", 3, END)
    most = bits_of_orders(ROW, SENTENCES, SYMBOLS, "witten_bell", 3, END)
    result = BitsByAmount(np.array([4, 12]), stack([few.all, most.all]), np.array([[1.0] * 3] * 2))
    facts = result.summary(2)
    assert (facts["fewest"], facts["most"], facts["counted"]) == (4, 12, 1.0)
    assert facts["first"].mean == pytest.approx(few.of("2").mean)
    assert facts["last"].mean == pytest.approx(most.of("2").mean)
    assert facts["best_first"] == 1 + np.argmin([few.of(str(n)).mean for n in (1, 2, 3)])
    assert facts["best_last"] == 1 + np.argmin([most.of(str(n)).mean for n in (1, 2, 3)])
