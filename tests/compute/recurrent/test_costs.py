"""Parameters against PyTorch and the printed numbers; terms of a loss against torch's own."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from seqviz.compute.gates import counting as of_gates
from seqviz.compute.recurrent.costs import counting
from seqviz.compute.recurrent.costs.counting import NetworkSizes
from seqviz.compute.recurrent.costs.terms import AnswerTerms
from seqviz.compute.recurrent.costs.timing import StepTimes
from seqviz.core.errors import UserError
from seqviz.experiments.recurrent import costs
from seqviz.models.checkpoints import load
from tests.compute.torch_reference import layer

MODULES = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}


@pytest.mark.parametrize("cell", MODULES)
def test_parameter_counts_match_torch(cell):
    for inputs, hidden, layers, directions, biases in product(
        (1, 5), (1, 3, 32), (1, 2, 4), (1, 2), ("none", "two")
    ):
        wiring = NetworkSizes(inputs, hidden, layers, directions, biases)
        module = MODULES[cell](
            inputs, hidden, layers, bias=biases == "two", bidirectional=directions == 2
        )
        expected = sum(parameter.numel() for parameter in module.parameters())
        assert counting.by_formula(cell, wiring) == counting.by_counting(cell, wiring) == expected


@pytest.mark.parametrize("cell", MODULES)
def test_parameter_counts_match_gates_lesson(cell):
    for biases in of_gates.BIASES:
        wiring = NetworkSizes(3, 7, biases=biases)
        counted = of_gates.by_counting(cell, 3, 7, biases)
        assert of_gates.by_formula(cell, 3, 7, biases) == counted
        assert counting.by_formula(cell, wiring) == counting.by_counting(cell, wiring)
        assert counting.by_formula(cell, wiring) == counted.total


def test_bill_matches_printed_numbers():
    result = counting.bill(NetworkSizes(), 1)
    assert {cell: result.count(cell) for cell in result.cells} == {
        "rnn": 1120, "gru": 3360, "lstm": 4480
    }  # fmt: skip
    assert result.total("rnn") == result.unshared("rnn") == 1153
    bare = counting.bill(NetworkSizes(biases="none"), 1)
    assert bare.counted == bare.formula == (1056, 3168, 4224)


def test_bill_only_unshared_grows_with_length():
    short, long = (counting.bill(NetworkSizes(), steps) for steps in (10, 100))
    assert short.counted == long.counted
    assert long.unshared("lstm") - short.unshared("lstm") == 90 * 4480
    assert long.unshared("lstm", 10) == short.unshared("lstm")


def test_shapes_match_torch_and_cover_every_parameter():
    wiring = NetworkSizes(5, 3, directions=2, outputs=4, biases="one")
    result = counting.shapes("lstm", wiring)
    module = torch.nn.LSTM(5, 3, bidirectional=True)
    assert result["W_x"] == tuple(module.weight_ih_l0.shape)
    assert result["W_h"] == tuple(module.weight_hh_l0.shape)
    sizes = {name: int(np.prod(shape)) for name, shape in result.items()}
    assert 2 * (sizes["W_x"] + sizes["W_h"] + sizes["b_h"]) == counting.by_formula("lstm", wiring)
    assert sizes["W_y"] + sizes["b_y"] == counting.of_output(wiring)
    assert {*counting.shapes("rnn", NetworkSizes(outputs=0))} == {"W_x", "W_h", "b_h"}


@pytest.fixture(scope="module")
def scored() -> AnswerTerms:
    return costs.score("characters_gru", "The music", "is good.")


def test_score_matches_torch_cross_entropy(scored):
    network = load("characters_gru")
    with torch.no_grad():
        ids = network.encode("\nThe music is good.".replace("\n", "")).ids
        read = np.concatenate([[network.symbols.index("\n")], ids])
        states, _ = layer(network.weights)(torch.from_numpy(network.embedding[read]))
        logits = states @ torch.from_numpy(network.head).T + torch.from_numpy(network.head_bias)
        for output, shift in (("before", 0), ("same", 1)):
            predicted = logits[10 + shift : 18 + shift]
            loss = torch.nn.functional.cross_entropy(
                predicted, torch.from_numpy(ids[10:]), reduction="sum"
            )
            bits = float(loss) / np.log(2)
            assert scored.bits(output) == pytest.approx(bits, rel=1e-4)
            assert scored.perplexity(output) == pytest.approx(2 ** (bits / 8), rel=1e-4)


def test_score_sum_to_tx_ends_at_shorter_sequence(scored):
    assert (scored.read, len(scored.pieces), scored.summed("tx")) == (10, 8, 8)
    short = costs.score("characters_gru", "A", "is good.")
    assert (short.read, short.summed("tx"), short.summed("ty")) == (2, 2, 8)
    assert short.bits("before", "tx") == pytest.approx(short.before[:2].sum())
    alone = costs.score("characters_gru", "", "is good.")
    assert alone.read == alone.summed("tx") == 0
    assert np.isnan(alone.perplexity("before", "tx"))


@pytest.mark.parametrize("text", ["", "  \t", "\n"])
def test_score_rejects_blank_text(text):
    with pytest.raises(UserError, match="nothing to read"):
        costs.score("characters_gru", "The", text)


def test_score_flags_unknown_symbols():
    result = costs.score("characters_gru", "我", "打车 a\ud800")
    assert result.pieces == ("打", "车", " ", "a", "?")
    assert result.unknown.tolist() == [True, True, False, False, False]
    assert np.isfinite(result.before).all()


def test_as_printed_fails_without_batch():
    failed = costs.as_printed(1, 32, batched=False)
    assert (failed.input, failed.hidden, failed.state) == ((1,), (32,), None)
    assert failed.error.startswith("IndexError: Dimension out of range")
    assert costs.as_printed(3, 8, batched=True).state == (1, 8)


def test_step_times_report_medians_and_ratio():
    seconds = np.array([[[[0.001, 0.004], [0.009, 0.008], [0.002, 0.005]]],
                        [[[0.001, 0.001], [0.001, 0.001], [0.001, 0.001]]]])  # fmt: skip
    step_times = StepTimes(4, (1,), np.array([1, 8]), seconds)
    assert step_times.milliseconds(1, 8) == pytest.approx((5, 1))
    assert step_times.ratio(1, 8) == pytest.approx(5)
    assert step_times.a_step(1, 8) == pytest.approx(5 / 8)
    facts = step_times.compared(1, 8)
    assert facts.variant == "slower"
    assert facts["ratio"] * facts["inverse"] == pytest.approx(1)


def test_time_steps_returns_times_and_reports_progress():
    done: list[float] = []
    step_times = costs.time_steps(8, (1, 4), (1, 2), 2, report=lambda share, *_: done.append(share))
    assert step_times.seconds.shape == (2, 2, 2, 2)
    assert (step_times.seconds > 0).all()
    assert done == sorted(done)
    assert done[-1] == 1


def test_matrix_product_has_as_many_weights_as_two_steps():
    """As many weights in the product's matrix as in both of the steps', without the biases."""
    hidden = costs.HIDDEN
    assert 2 * hidden * hidden == counting.by_formula(
        "rnn", NetworkSizes(hidden, hidden, biases="none")
    )
