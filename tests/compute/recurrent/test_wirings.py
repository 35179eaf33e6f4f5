"""One cell by hand, six notations, wirings and their influence, the collapse: against PyTorch."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqviz.compute.recurrent.wirings import collapse as linear
from seqviz.compute.recurrent.wirings import influence, step
from seqviz.compute.recurrent.wirings.gradient_flow import UnrolledNetwork, edge_gradients
from seqviz.compute.recurrent.wirings.graph import (
    CELLS,
    ENTER,
    HISTORY,
    PURPOSES,
    READ,
    WIRINGS,
    WiringGraph,
    suited,
)
from seqviz.compute.recurrent.wirings.notations import NOTATIONS, all_written, swapped
from seqviz.compute.recurrent.wirings.order import orders, pieces
from seqviz.core.errors import UserError
from seqviz.core.units import unbroken

EVERY = tuple(
    WiringGraph(cell, layers, both, enter, read, 5, 3)
    for cell, layers, both, enter, read in product(CELLS, (1, 3), (False, True), ENTER, READ)
)


@pytest.fixture
def small() -> step.CellSteps:
    return step.steps("0.8 -0.6; 0.6 0.8", "1; 0", "0.1 -0.2", "2 0; 0 2", "2 0 1", 6, "softmax")


def test_steps_match_torch_rnn(small):
    rnn = nn.RNN(1, 2).double()
    with torch.no_grad():
        rnn.weight_hh_l0.copy_(torch.tensor(small.cell.recurrent))
        rnn.weight_ih_l0.copy_(torch.tensor(small.cell.inputs))
        rnn.bias_ih_l0.copy_(torch.tensor(small.cell.bias))
        rnn.bias_hh_l0.zero_()
        h, _ = rnn(torch.tensor(small.x))
        y = torch.softmax(h @ torch.tensor(small.cell.output).T, -1)
    np.testing.assert_allclose(small.h[1:], h, atol=1e-12)
    np.testing.assert_allclose(small.y, y, atol=1e-12)
    assert small.parameters == 4 + 2 + 2 + 4


@pytest.mark.parametrize(("t", "unit"), [(1, 1), (3, 2), (6, 1)])
def test_steps_terms_add_up_to_preactivation(small, t, unit):
    terms = small.terms(t, unit)
    assert [term.of for term in terms] == ["h", "h", "x", "b"]
    assert sum(term.product for term in terms) == pytest.approx(small.sum_of(t, unit), abs=1e-14)
    assert np.tanh(small.sum_of(t, unit)) == pytest.approx(small.state_of(t, unit), abs=1e-14)


def test_steps_sigmoid_output_is_elementwise(small):
    other = step.run(small.cell, small.x, "sigmoid")
    np.testing.assert_allclose(other.y, 1 / (1 + np.exp(-small.h[1:] @ small.cell.output.T)))


def test_steps_zero_input_weight_has_no_effect():
    deaf = step.steps("1 0; 0 1", "0; 0", "0 0", "1 1", "5", 4, "softmax")
    assert deaf.x_apart == 0
    assert step.steps("1 0; 0 1", "1; 0", "0 0", "1 1", "5", 4, "softmax").x_apart > 0


def test_inputs_pads_zeros_and_parses_unicode_signs():
    np.testing.assert_array_equal(step.inputs("−1；2, 3 4", 2, 3), [[-1, 2], [3, 4], [0, 0]])
    np.testing.assert_array_equal(step.inputs("", 1, 2), [[0], [0]])


@pytest.mark.parametrize("text", ["", "a", "nan", "inf", "101", ";", "1e999", "1 <b>"])
def test_matrix_rejects_malformed_text(text):
    with pytest.raises(UserError) as refused:
        step.matrix(text, "W_h")
    assert refused.value.code == "no_matrix"


def test_matrix_and_cell_name_the_row_and_the_shape_that_do_not_fit():
    with pytest.raises(UserError) as refused:
        step.matrix("1 2; 3", "W_h")
    assert refused.value.code == "uneven_rows"
    assert refused.value.details == {"name": "W_h", "row": 2, "found": 1, "first": 2}
    with pytest.raises(UserError, match="must be square") as refused:
        step.cell("1 2 3; 4 5 6", "1; 1", "0 0", "1 1")
    assert refused.value.code == "not_square"
    assert refused.value.details["shape"] == unbroken("2 × 3")


@pytest.mark.parametrize(
    ("texts", "name", "code"),
    [
        (("1 0; 0 1", "1", "0 0", "1 1"), "W_x", "shapes"),
        (("1 0; 0 1", "1; 1", "0", "1 1"), "b", "shapes"),
        (("1 0; 0 1", "1; 1", "0; 0", "1"), "W_y", "shapes"),
        (("1 0 0 0", "1", "0", "1"), "W_h", "large_matrix"),
    ],
)
def test_cell_shape_error_names_matrix(texts, name, code):
    with pytest.raises(UserError) as refused:
        step.cell(*texts)
    assert (refused.value.code, refused.value.details["name"]) == (code, name)


def test_inputs_rejects_incomplete_row():
    with pytest.raises(UserError) as refused:
        step.inputs("1 2 3", 2, 4)
    assert refused.value.details == {"found": 3, "width": 2}


# --- six notations --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_notations_are_bitwise_equal(seed):
    random = np.random.RandomState(seed)
    cell = step.CellWeights(random.normal(size=(3, 3)), random.normal(size=(3, 2)), np.zeros(3),
                     np.ones((1, 3)))  # fmt: skip
    h, x = random.normal(size=3), random.normal(size=2)
    every = all_written(cell, h, x)
    assert list(every) == list(NOTATIONS)
    assert [item.difference for item in every.values()] == [0.0] * 6
    np.testing.assert_allclose(
        every["s0"].result, np.tanh(cell.recurrent @ h + cell.inputs @ x), atol=1e-15
    )


def test_notations_joined_form_is_block_matrix(small):
    every = all_written(small.cell, small.h[1], small.x[1])
    joined, code = every["joined"], every["code"]
    np.testing.assert_array_equal(
        joined.matrices[0], np.hstack([small.cell.recurrent, small.cell.inputs])
    )
    np.testing.assert_array_equal(joined.vectors[0], [*small.h[1], *small.x[1]])
    np.testing.assert_array_equal(code.vectors[0], [*small.x[1], *small.h[1]])
    np.testing.assert_array_equal(every["s2"].matrices[0], every["s1"].matrices[1])


def test_notations_without_bias_differ(small):
    every = all_written(small.cell, small.h[1], small.x[1])
    assert every["s1"].difference > 0
    assert every["s2"].difference == 0


def test_swapped_matrices_mismatch_or_give_wrong_result(small):
    assert swapped(small.cell, small.h[1], small.x[1]) is None
    square = step.steps("0 1; 1 0", "1 0; 0 1", "0 0", "1 1", "1 2 3 4", 2, "softmax")
    h, x = square.h[1], square.x[1]
    wrong = np.abs(np.tanh(h + x[::-1]) - np.tanh(h[::-1] + x)).max()
    assert swapped(square.cell, h, x) == pytest.approx(wrong, abs=1e-12)


# --- two orders -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [("我打车去商场", "我去商场打车"), ("the dog bites the man", "the man bites the dog")],
)
def test_orders_differ_in_state_but_not_in_sum(one, other):
    for seed in range(10):
        order_distance = orders(one, other, seed)
        assert order_distance.sum_apart == 0
        assert order_distance.apart > 0.1
        assert order_distance.others.min() > 0.1


def test_orders_is_zero_for_same_text_and_rejects_blank_text():
    same, other = orders("a b c", "a b c", 1), orders("a b", "a c d", 1)
    assert same.apart == same.sum_apart == same.others.max() == 0
    assert other.sum_apart > 0
    assert len(other.states) == 3
    assert pieces("人工 智能") == ("人工", "智能")
    assert pieces(" 智能 ") == ("智", "能")
    with pytest.raises(UserError):
        orders("a", "  ", 1)


# --- wirings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wiring", EVERY, ids=lambda w: "-".join(map(str, vars(w).values())))
def test_jacobian_is_nonzero_exactly_where_reachable(wiring):
    net = influence.network(wiring, 0)
    x = torch.randn(wiring.inputs, 4, influence.INPUT, dtype=torch.float64)
    norm = influence.jacobian(net, x).pow(2).sum((1, 2, 4)).numpy()
    np.testing.assert_array_equal(norm > 0, wiring.reach())


@pytest.mark.parametrize("wiring", [w for w in EVERY if w.layers == 3 and w.enter == "each"][::3],
                         ids=lambda w: "-".join(map(str, vars(w).values())))  # fmt: skip
def test_jacobian_matches_autograd_and_finite_differences(wiring):
    net = influence.network(wiring, 3)
    x = torch.randn(wiring.inputs, 1, influence.INPUT, dtype=torch.float64)
    result = influence.jacobian(net, x)[:, :, 0]
    full = torch.autograd.functional.jacobian(net, x)[:, 0, :, :, 0]
    np.testing.assert_allclose(result, full, atol=1e-6)
    small, s, k = 1e-5, 1, 2
    change = torch.zeros_like(x)
    change[s, 0, k] = small
    with torch.no_grad():
        slope = (net(x + change) - net(x - change))[:, 0] / (2 * small)
    np.testing.assert_allclose(result[:, :, s, k], slope, atol=1e-8)


@pytest.mark.parametrize("cell", CELLS)
def test_network_packed_batch_matches_single_sequences(cell):
    """Two sequences of unequal length, packed, are those read alone."""
    net = influence.network(WiringGraph(cell, 2, True, steps=5), 1)
    x = torch.randn(5, 2, influence.INPUT, dtype=torch.float64)
    with torch.no_grad():
        packed, _ = net.core(pack_padded_sequence(x, [5, 3]))
        states, lengths = pad_packed_sequence(packed)
        short = influence.network(WiringGraph(cell, 2, True, steps=3), 1)
        np.testing.assert_allclose(net.out(states)[:, :1], net(x[:, :1]), atol=1e-6)
        np.testing.assert_allclose(net.out(states)[:3, 1:], short(x[:3, 1:]), atol=1e-6)
    assert lengths.tolist() == [5, 3]


@pytest.mark.parametrize("cell", CELLS)
def test_network_decoder_starts_from_last_state_and_feeds_back_output(cell):
    wiring = WiringGraph(cell, 2, False, read="after", steps=4, written=3)
    net = influence.network(wiring, 2)
    x = torch.randn(4, 1, influence.INPUT, dtype=torch.float64)
    with torch.no_grad():
        _, state = net.core(x)
        y, expected = torch.zeros(1, 1, influence.OUTPUT, dtype=torch.float64), []
        for _ in range(3):
            h, state = net.decoder(y, state)
            y = net.out(h)
            expected.append(y)
        np.testing.assert_allclose(net(x), torch.cat(expected), atol=1e-12)


def test_wirings_reach_matches_published_diagrams():
    reach = {name: wiring.reach() for name, wiring in WIRINGS.items()}
    np.testing.assert_array_equal(reach["many_many"], np.tri(4, dtype=bool))
    np.testing.assert_array_equal(reach["stacked"], np.tri(4, dtype=bool))
    for name, shape in (("one_one", (1, 1)), ("one_many", (4, 1)), ("many_one", (1, 4)),
                        ("encoder", (3, 4)), ("both", (4, 4))):  # fmt: skip
        np.testing.assert_array_equal(reach[name], np.ones(shape, bool))


def test_influence_backward_half_at_last_step_covers_one_input():
    for cell in CELLS:
        last = influence.of_one(cell, 1, True, "each", "last")
        ends = influence.of_one(cell, 1, True, "each", "ends")
        assert last.backward_read == (1, 6)
        assert last.backward[-1] > 0
        assert ends.backward_read == (6, 6)
    assert influence.of_one("rnn", 1, False, "each", "ends").backward.size == 0


@pytest.mark.parametrize("name", HISTORY)
def test_past_networks_are_as_drawn(name):
    item = influence.of_past(name)
    assert item.as_drawn
    assert item.inputs_of(3)[0] == (3 if name in ("jordan", "elman", "hochreiter") else 6)
    years = [year for year, _ in HISTORY.values()]
    assert years == sorted(years)


def test_jordan_network_reads_its_last_output():
    """Without the way back from the output, no earlier input matters; with it, all do."""
    wiring = HISTORY["jordan"][1]
    net, x = influence.network(wiring, 0), torch.randn(6, 2, influence.INPUT, dtype=torch.float64)
    assert (influence.jacobian(net, x).abs().sum((1, 2, 4)) > 0).tril().sum() == 21
    with torch.no_grad():
        net.back.weight[:] = 0
    alone = influence.jacobian(net, x).abs().sum((1, 2, 4)) > 0
    np.testing.assert_array_equal(alone, np.eye(6, dtype=bool))
    assert influence.parameters(wiring) == 3 * 8 + 8 + 2 * 8 + 8 * 2 + 2
    elman = influence.parameters(HISTORY["elman"][1])
    assert elman == 3 * 8 + 8 * 8 + 2 * 8 + 8 * 2 + 2


def test_suited_follows_measured_influence():
    influences = influence.of_all()
    assert {purpose: suited(influences, purpose) for purpose in PURPOSES} == {
        "tags": ("both",), "forecast": ("many_many", "stacked"), "review": ("many_one",),
        "translation": ("encoder",), "caption": ("one_many",), "image": ("one_one",),
    }  # fmt: skip
    blind = [replace(item, norm=0 * item.norm) for item in influences]
    assert suited(blind, "forecast") == suited(blind, "tags") == ()


@pytest.mark.parametrize("executed", range(1, 15))
def test_program_runs_line_by_line(small, executed):
    first, states, outputs, done = small.program(executed)
    assert [line.runs for line in (first, states, outputs, done)] == [
        1, min(executed // 2, 6), min((executed - 1) // 2, 6), int(executed == 14)
    ]  # fmt: skip
    assert sum(line.runs for line in (first, states, outputs, done)) == executed
    assert sum(line.is_last for line in (first, states, outputs, done)) == 1
    if states.runs:
        np.testing.assert_array_equal(states.value, small.h[states.runs])
    if outputs.runs:
        np.testing.assert_array_equal(outputs.value, small.y[outputs.runs - 1])


def test_influence_of_page_wirings_matches_diagrams():
    assert all(item.as_drawn for item in influence.of_all("gru", 7))
    assert influence.of_all("rnn")[3].nonzero == (10, 16)
    entry = influence.influence(replace(WiringGraph(), layers=2), 1)
    assert entry.inputs_of(3) == (3, 6)
    assert (entry.seeds, entry.samples) == (influence.SEEDS, influence.SAMPLES)


def test_influence_preserves_global_rng_state():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    influence.influence(WiringGraph(), 3)
    assert torch.equal(before, torch.get_rng_state())


# --- without tanh ---------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [1, 4, 16, 64])
def test_collapse_of_linear_network_is_exact(units):
    for seed in range(5):
        exact = linear.collapse(0.0, 1.0, units, "float64", seed)
        single = linear.collapse(0.0, 1.0, units, "float32", seed)
        assert max(exact.superposition, exact.error) < 1e-13
        assert 0 < max(single.superposition, single.error) < 2e-5
        assert exact.network.dtype == np.float64
        assert single.network.dtype == np.float32
        assert exact.parameters == units**2 + 3 * units


def test_kernel_matches_impulse_response():
    """K_k = W_yh W_hh^k W_hx, by torch: S0's cell with its one layer over [x, h]."""
    network = linear._Network(np.array([[0.5, -0.3], [0.2, 0.4]]), np.array([1.0, -1.0]),
                              np.zeros(2), np.array([2.0, 1.0]))  # fmt: skip
    impulse = np.zeros((1, linear.STEPS))
    impulse[0, 0] = 1
    i2h = nn.Linear(3, 2).double()
    with torch.no_grad():
        i2h.weight.copy_(torch.tensor(np.hstack([network.new[:, None], network.back])))
        i2h.bias.zero_()
        h, outputs = torch.zeros(2, dtype=torch.float64), []
        for value in impulse[0]:
            h = i2h(torch.cat([torch.tensor([value]), h]))
            outputs.append(float(h @ torch.tensor(network.out)))
    np.testing.assert_allclose(linear._kernel(network), outputs, atol=1e-15)
    np.testing.assert_allclose(network.read(impulse, 0.0)[0], outputs, atol=1e-15)


def test_collapse_error_grows_with_tanh_and_input_size():
    errors = linear.collapse(1.0, 1.0, 16, "float64", 1).errors
    assert errors[0] < 1e-13
    assert (np.diff(errors[1:-3]) > 0).all()
    small, large = (linear.collapse(1.0, size, 16, "float64", 1) for size in (0.01, 3.0))
    assert small.superposition < 0.1 * large.superposition
    assert large.superposition > 0.1


# --- gradient by edge -----------------------------------------------------------------------------


@pytest.mark.parametrize("wiring", [
    *(replace(item, enter="each") for item in EVERY[::2]), *(item for _, item in HISTORY.values()),
])  # fmt: skip
def test_unrolled_network_matches_torch_layers(wiring):
    net = influence.network(wiring, 0)
    x = torch.randn(wiring.inputs, 3, influence.INPUT, dtype=torch.float64)
    with torch.no_grad():
        unrolled = UnrolledNetwork(net, x).outputs()
        assert torch.allclose(unrolled, net(x), rtol=0, atol=1e-12)


def test_edge_of_an_input_carries_its_influence():
    result = influence.of_one("gru", 1, False, "each", "each")
    edges = list(result.wiring.edges())
    carried = [result.flow[:, at] for at, (source, _) in enumerate(edges) if source[0] == "x"]
    np.testing.assert_allclose(np.transpose(carried), result.norm, rtol=1e-12)


def test_edge_between_states_carries_product_of_jacobians():
    wiring = WiringGraph()
    net = influence.network(wiring, 4)
    x = torch.randn(wiring.inputs, 1, influence.INPUT, dtype=torch.float64)
    with torch.no_grad():
        slopes = 1 - net.core(x)[0][:, 0] ** 2
        recurrent, read = net.core.weight_hh_l0, net.out.weight
        carried = read  # what output 4 carries into state 4, then into 3, 2 and 1
        expected = {}
        for t in (4, 3, 2):
            carried = carried @ torch.diag(slopes[t - 1]) @ recurrent
            expected[("h", 1, 1, t - 1), ("h", 1, 1, t)] = float(carried.norm())
    flow = edge_gradients(net, x)
    edges = list(wiring.edges())
    for edge, norm in expected.items():
        assert float(flow[3, edges.index(edge)]) == pytest.approx(norm, rel=1e-12)
    later = edges.index((("h", 1, 1, 4), ("h", 1, 1, 5)))
    assert float(flow[3, later]) == 0


def test_influence_of_all_wirings_has_no_flow():
    assert [item.flow for item in influence.of_all()] == [None] * len(WIRINGS)
