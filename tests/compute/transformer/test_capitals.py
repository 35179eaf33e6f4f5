"""`CapitalAttributions`: shares of the difference, and the part that is largest most often."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.transformer.interpretability.account import CapitalAttributions
from seqviz.core.errors import UserError
from seqviz.experiments.transformer.interpretability import account as accounts

# Embedding, then attention and MLP of two layers.
PARTS = np.array([[0.0, 1.0, 1.0, 6.0, 2.0], [1.0, 1.0, 1.0, 4.0, 3.0], [0.0, 2.0, 5.0, 1.0, 2.0]])


def test_capital_shares_leave_out_unknown_countries():
    result = CapitalAttributions(("A", "B", "C"), PARTS, np.array([True, True, False]))
    assert result.known_countries == ("A", "B")
    assert result.attention == pytest.approx([0.7, 0.5])
    assert (result.largest, result.largest_count) == (3, 2)
    assert result.largest_share == pytest.approx([0.6, 0.4])
    assert result.summary()["attention"] == pytest.approx(0.6)


def test_capital_attribution_adds_up_to_logit_differences(smollm2):
    text = "The capital of Norway is"
    result = accounts.account_capitals("smollm2", text)
    against = [item for item in accounts.CAPITALS.values() if item != "Oslo"]
    apart = np.array(
        [accounts.account("smollm2", text, "Oslo", other).parts for other in against]
    ).mean(0)
    at = result.countries.index("Norway")
    assert result.parts[at] == pytest.approx(apart, abs=1e-4)
    assert len(result.known_countries) == 16
    # The review's own code: attention of layer 23 in 15 of 16, all attentions 52 % (27 to 72 %).
    assert (result.largest, result.largest_count) == (47, 15)
    assert result.attention_mean == pytest.approx(0.525, abs=0.01)


def test_capital_attribution_refuses_text_without_country(smollm2):
    with pytest.raises(UserError) as caught:
        accounts.account_capitals("smollm2", "I like tea")
    assert caught.value.code == "no_country"
