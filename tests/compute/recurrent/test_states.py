"""Letters, own letters, readouts and pads against closed forms, torch and loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.gates.networks import log_probabilities, logits, trace
from seqviz.compute.gpt.draw import draw
from seqviz.compute.gpt.uniform import uniforms
from seqviz.compute.recurrent.states import readouts, tying, writing
from seqviz.core.errors import UserError
from seqviz.experiments.recurrent.states import readouts as on_reviews
from seqviz.experiments.recurrent.states import writing as at_work
from seqviz.models.checkpoints import load
from tests.compute.torch_reference import layer

TEXT = "The flights the airline was"
CHARACTERS = ("characters_gru", "characters_lstm")


def torch_log2(name: str, ids: list[int]) -> np.ndarray:
    """log2 of the chances after each of these symbols, by PyTorch's own layer."""
    network = load(name)
    with torch.no_grad():
        out, _ = layer(network.weights)(torch.tensor(network.embedding[ids]))
        scores = out @ torch.tensor(network.head.T) + torch.tensor(network.head_bias)
        return torch.log_softmax(scores.double(), -1).numpy() / np.log(2)


@pytest.mark.parametrize("name", CHARACTERS)
def test_bits_are_those_of_torch(name):
    network = load(name)
    found = at_work.read(name, TEXT)
    wanted = torch_log2(name, [network.symbols.index("\n"), *found.ids[:-1]])
    np.testing.assert_allclose(found.log2, wanted, atol=2e-5)
    cross_entropy = torch.nn.functional.cross_entropy(
        torch.tensor(wanted * np.log(2)), torch.tensor(found.ids), reduction="none"
    )
    np.testing.assert_allclose(found.bits, cross_entropy.numpy() / np.log(2), atol=2e-5)
    assert found.total == pytest.approx(-found.bits.sum())
    assert found.perplexity == pytest.approx(2**found.mean_bits)
    assert found.first(1, 1)[0] == wanted[0].argmax()


def test_frequencies_are_probabilities_and_those_of_the_counts():
    ids = np.array([0, 1, 2, 1, 2, 1, 0, 1])
    found = writing.frequencies(ids, 4)
    np.testing.assert_allclose((2**found.alone).sum(), 1)
    np.testing.assert_allclose((2**found.after).sum(1), 1)
    np.testing.assert_allclose(2**found.alone, [3 / 12, 5 / 12, 3 / 12, 1 / 12])
    # After 1 came 2 twice and 0 once: two kinds among three, the rest by the letter alone.
    np.testing.assert_allclose(2 ** found.after[1, 2], (2 + 2 * 3 / 12) / 5)
    np.testing.assert_allclose(found.after[3], found.alone)  # never seen


def test_a_row_is_drawn_as_the_house_draws():
    random = np.random.RandomState(0)
    scores = random.normal(0, 2, (50, 9))
    scores[:, 0] = -np.inf
    u = random.uniform(size=50)
    assert writing.draw_rows(scores, u).tolist() == [
        draw(row, one) for row, one in zip(scores, u, strict=True)
    ]


@pytest.mark.parametrize("name", CHARACTERS)
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_own_letters_are_those_of_a_loop_that_reads_everything_again(name, temperature):
    network = load(name)
    ids = network.encode(TEXT).ids
    numbers = uniforms(3, 12)
    own, log2 = writing.run_free(network, ids[:, None], 12, temperature, np.array(numbers)[:, None])
    read = list(ids)
    for step in range(12):
        log_p = log_probabilities(network, trace(network, np.array(read)).hidden[-1])
        np.testing.assert_allclose(log2[step, 0], log_p / np.log(2), atol=1e-4)
        log_p[0] = -np.inf
        wanted = draw(log_p / temperature, numbers[step]) if temperature else log_p.argmax()
        assert own[step, 0] == wanted
        read.append(int(wanted))


def test_the_first_step_costs_the_same_and_the_same_seed_writes_the_same():
    one, again, other = (at_work.write(CHARACTERS[0], TEXT, 9, 1.0, k) for k in (1, 1, 2))
    assert one.own == again.own != other.own
    assert one.free[0] == pytest.approx(one.forced[0], abs=1e-4)
    assert "".join(one.before) == TEXT[:9]
    assert len(one.free) == len(one.forced) == len(one.true) == len(TEXT) - 9
    end = at_work.write(CHARACTERS[0], TEXT, len(TEXT), 0.0, 1)
    assert np.isnan(end.mean_free)
    assert end.parted == 0


def test_reading_another_text_is_reading_its_letters():
    network = load(CHARACTERS[0])
    ids = np.stack([network.encode(one).ids for one in ("a slow film", "The flight.")], 1)
    straight = writing.bits_of(network, ids, 3)
    np.testing.assert_allclose(straight, writing.bits_of(network, ids, 3, ids))
    np.testing.assert_allclose(straight[:, 0], at_work.read(network.name, "a slow film").bits[3:],
                               atol=1e-5)  # fmt: skip
    swapped = ids.copy()
    swapped[3:] = swapped[3:, ::-1]
    other = writing.bits_of(network, ids, 3, swapped)
    assert other[0] == pytest.approx(straight[0])  # of the letter before
    assert other[1:].mean() > straight[1:].mean()


def test_intervals_and_trends():
    bits = np.random.RandomState(0).normal(2, 1, (2, 30, 400))
    bits[1, 20:] += 0.5
    mean, half = writing.summarized(bits)
    np.testing.assert_allclose(half, 1.96 / 20, rtol=0.2)
    np.testing.assert_allclose(mean, bits.mean(-1), atol=6e-4)
    change, around = writing.trends(bits)
    assert abs(change[0]) < 2 * around[0]
    assert change[1] == pytest.approx(0.5, abs=2 * float(around[1]))


@pytest.mark.parametrize(("symbols", "hidden", "width"), [(82, 256, 32), (50, 16, 16)])
def test_tables_are_counted_as_torch_counts(symbols, hidden, width):
    found = tying.tables(symbols, hidden, width)
    for columns, tied, all_ in (
        (width, False, found.all_narrow), (hidden, False, found.all_untied),
        (hidden, True, found.all_tied),
    ):  # fmt: skip
        net = torch.nn.ModuleList([
            torch.nn.Embedding(symbols, columns), torch.nn.GRU(columns, hidden),
            torch.nn.Linear(hidden, symbols),
        ])  # fmt: skip
        if tied:
            net[2].weight = net[0].weight
        assert sum(one.numel() for one in net.parameters()) == all_
    assert found.all_untied - found.all_tied == symbols * hidden
    if symbols == 82:
        assert found.all_narrow == load("characters_gru").parameters


def test_readouts_leave_pads_out():
    random = np.random.RandomState(0)
    hidden, lengths = random.normal(size=(5, 3, 4)), np.array([5, 2, 1])
    found = readouts.pooled(hidden, lengths)
    for k, n in enumerate(lengths):
        np.testing.assert_allclose(found["last"][k], hidden[n - 1, k])
        np.testing.assert_allclose(found["mean"][k], hidden[:n, k].mean(0))
        np.testing.assert_allclose(found["max"][k], hidden[:n, k].max(0))
    both = readouts.combined(found["last"], found["mean"])
    np.testing.assert_allclose(both["both_mean"] * 2, both["both_sum"])
    assert both["both_concat"].shape == (3, 8)


def test_the_path_ends_at_the_verdict_of_the_network_and_begins_unmoved():
    network = load("sentiment_gru")
    text = "This is not a good film about a man."
    whole, rest = (on_reviews.path(network.name, text, k) for k in (0, 3))
    scores = logits(network, trace(network, network.encode(text).ids).hidden[-1]).astype(float)
    wanted = np.exp(scores[1]) / np.exp(scores).sum()
    assert whole.verdict == pytest.approx(wanted, abs=1e-6)
    np.testing.assert_array_equal(whole.x[:3], rest.x[:3])
    assert whole.x[3] != rest.x[3]
    assert rest.pieces == (*whole.pieces[:2], *whole.pieces[3:])
    assert np.sign(whole.x[-1]) == np.sign(whole.verdict - 0.5)
    plane = on_reviews._plane(network.name)
    assert plane.across @ plane.up == pytest.approx(0, abs=1e-6)
    assert np.linalg.norm(plane.up) == pytest.approx(1)
    with pytest.raises(UserError):
        on_reviews.path(network.name, "film", 1)


def test_pads_move_the_last_state_and_packing_does_not():
    network = load("sentiment_gru")
    text, pads = "This is not a good film.", 5
    found = on_reviews.padded(network.name, text)
    ids = network.encode(text).ids
    theirs, table = layer(network.weights), torch.tensor(network.embedding)
    with torch.no_grad():
        read = torch.cat([table[ids], table[[0] * pads]])[:, None]
        packed = torch.nn.utils.rnn.pack_padded_sequence(read, [len(ids)])
        for vectors, wanted in ((read, found.after("unknown", pads)), (packed, found.packed)):
            last = theirs(vectors)[1][0, 0].numpy()
            assert torch.softmax(torch.tensor(logits(network, last)), -1)[1] == pytest.approx(
                wanted, abs=1e-5
            )
    assert found.after("zeros", 0) == found.after("unknown", 0) == found.packed


def test_what_readouts_say_of_each_other():
    right = np.array([[1, 1, 1, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 1, 1, 0]], bool)
    positive = np.array([1, 1, 1, 1, 1, 0, 0, 0], bool)
    found = readouts.ByReadout(
        ("last", "mean"), right, np.arange(1, 9), positive, True, np.array([0, 5]),
        np.array([[5, 4], [5, 1]]),
    )  # fmt: skip
    assert found.accuracy("last").correct == 5
    assert found.accuracy("last", 5).n == found.reviews(5) == 4
    assert found.majority() == 5 / 8
    gain, low, high = found.gain("mean", "last")
    assert gain == -1 / 8
    assert low < gain < high
    assert found.paired_with("last", "mean").only_first == 2
    assert found.with_pads("unknown", 5).correct == 1


def test_letters_that_begin_a_word_and_those_behind():
    found = at_work.read("characters_gru", "It's 3 big dogs.")
    letters = "".join(found.pieces)
    begins = "".join(letters[k] for k in np.flatnonzero(found.begins))
    assert (letters[0].lower(), begins[1:].lower()) == ("i", "sbd")
    assert not (found.begins & found.follows_letter).any()
    assert (found.begins | found.follows_letter).sum() == sum(map(str.isalpha, letters))
