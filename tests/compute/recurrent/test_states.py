"""Letters, own letters, readouts and pads against closed forms, torch and loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from seqviz.compute.gates.networks import log_probabilities, logits, trace
from seqviz.compute.gpt.draw import draw, uniforms
from seqviz.compute.language_models.ngrams import count
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
def test_read_bits_match_torch(name):
    network = load(name)
    result = at_work.read(name, TEXT)
    expected = torch_log2(name, [network.symbols.index("\n"), *result.ids[:-1]])
    np.testing.assert_allclose(result.log2, expected, atol=2e-5)
    cross_entropy = torch.nn.functional.cross_entropy(
        torch.tensor(expected * np.log(2)), torch.tensor(result.ids), reduction="none"
    )
    np.testing.assert_allclose(result.bits, cross_entropy.numpy() / np.log(2), atol=2e-5)
    assert result.total == pytest.approx(-result.bits.sum())
    assert result.perplexity == pytest.approx(2**result.mean_bits)
    assert result.first(1, 1)[0] == expected[0].argmax()


def test_frequencies_match_smoothed_counts():
    ids = np.array([0, 1, 2, 1, 2, 1, 0, 1])
    result = writing.frequencies(count(ids, 4, 2))
    np.testing.assert_allclose((2**result.alone).sum(), 1)
    np.testing.assert_allclose((2**result.after).sum(1), 1)
    np.testing.assert_allclose(2**result.alone, [3 / 12, 5 / 12, 3 / 12, 1 / 12])
    # After 1 came 2 twice and 0 once: two kinds among three, the rest by the letter alone.
    np.testing.assert_allclose(2 ** result.after[1, 2], (2 + 2 * 3 / 12) / 5)
    np.testing.assert_allclose(result.after[3], result.alone)  # never seen


def test_draw_rows_matches_draw():
    random = np.random.RandomState(0)
    scores = random.normal(0, 2, (50, 9))
    scores[:, 0] = -np.inf
    u = random.uniform(size=50)
    assert writing.draw_rows(scores, u).tolist() == [
        draw(row, item) for row, item in zip(scores, u, strict=True)
    ]


@pytest.mark.parametrize("name", CHARACTERS)
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_run_free_matches_full_recomputation(name, temperature):
    network = load(name)
    ids = network.encode(TEXT).ids
    numbers = uniforms(3, 12)
    own, log2 = writing.run_free(network, ids[:, None], 12, temperature, np.array(numbers)[:, None])
    read = list(ids)
    for step in range(12):
        log_p = log_probabilities(network, trace(network, np.array(read)).hidden[-1])
        np.testing.assert_allclose(log2[step, 0], log_p / np.log(2), atol=1e-4)
        log_p[0] = -np.inf
        expected = draw(log_p / temperature, numbers[step]) if temperature else log_p.argmax()
        assert own[step, 0] == expected
        read.append(int(expected))


def test_write_is_reproducible_and_shares_first_step_bits():
    """The first step costs the same bits with free and forced inputs."""
    item, again, other = (at_work.write(CHARACTERS[0], TEXT, 9, 1.0, k) for k in (1, 1, 2))
    assert item.generated == again.generated != other.generated
    assert item.free[0] == pytest.approx(item.forced[0], abs=1e-4)
    assert "".join(item.before) == TEXT[:9]
    assert len(item.free) == len(item.forced) == len(item.true) == len(TEXT) - 9
    end = at_work.write(CHARACTERS[0], TEXT, len(TEXT), 0.0, 1)
    assert np.isnan(end.mean_free)
    assert end.parted == 0


def test_bits_of_uses_input_letters_of_other_text():
    network = load(CHARACTERS[0])
    ids = np.stack([network.encode(item).ids for item in ("a slow film", "The flight.")], 1)
    straight = writing.bits_of(network, ids, 3)
    np.testing.assert_allclose(straight, writing.bits_of(network, ids, 3, ids))
    np.testing.assert_allclose(straight[:, 0], at_work.read(network.name, "a slow film").bits[3:],
                               atol=1e-5)  # fmt: skip
    swapped = ids.copy()
    swapped[3:] = swapped[3:, ::-1]
    other = writing.bits_of(network, ids, 3, swapped)
    assert other[0] == pytest.approx(straight[0])  # of the letter before
    assert other[1:].mean() > straight[1:].mean()


def test_summarized_and_trends_match_student_t():
    bits = np.random.RandomState(0).normal(2, 1, (2, 30, 400))
    bits[1, 20:] += 0.5
    mean, half = writing.summarized(bits)
    np.testing.assert_allclose(half, 1.96 / 20, rtol=0.2)
    by_hand = stats.t.ppf(0.975, 399) * stats.sem(bits, axis=-1)  # Student's t
    np.testing.assert_allclose(half, by_hand, atol=6e-4)
    np.testing.assert_allclose(mean, bits.mean(-1), atol=6e-4)
    change, around = writing.trends(bits)
    assert abs(change[0]) < 2 * around[0]
    assert change[1] == pytest.approx(0.5, abs=2 * float(around[1]))


@pytest.mark.parametrize(("symbols", "hidden", "width"), [(82, 256, 32), (50, 16, 16)])
def test_tables_match_torch_parameter_counts(symbols, hidden, width):
    result = tying.tables(symbols, hidden, width)
    for columns, tied, all_ in (
        (width, False, result.all_narrow), (hidden, False, result.all_untied),
        (hidden, True, result.all_tied),
    ):  # fmt: skip
        net = torch.nn.ModuleList([
            torch.nn.Embedding(symbols, columns), torch.nn.GRU(columns, hidden),
            torch.nn.Linear(hidden, symbols),
        ])  # fmt: skip
        if tied:
            net[2].weight = net[0].weight
        assert sum(parameter.numel() for parameter in net.parameters()) == all_
    assert result.all_untied - result.all_tied == symbols * hidden
    if symbols == 82:
        assert result.all_narrow == load("characters_gru").parameters


def test_pooled_ignores_padding():
    random = np.random.RandomState(0)
    hidden, lengths = random.normal(size=(5, 3, 4)), np.array([5, 2, 1])
    result = readouts.pooled(hidden, lengths)
    for k, n in enumerate(lengths):
        np.testing.assert_allclose(result["last"][k], hidden[n - 1, k])
        np.testing.assert_allclose(result["mean"][k], hidden[:n, k].mean(0))
        np.testing.assert_allclose(result["max"][k], hidden[:n, k].max(0))
    both = readouts.combined(result["last"], result["mean"])
    np.testing.assert_allclose(both["both_mean"] * 2, both["both_sum"])
    assert both["both_concat"].shape == (3, 8)


def test_path_ends_at_network_verdict():
    """Leaving out a word does not change the states before it."""
    network = load("sentiment_gru")
    text = "This is not a good film about a man."
    full, rest = (on_reviews.path(network.name, text, k) for k in (0, 3))
    scores = logits(network, trace(network, network.encode(text).ids).hidden[-1]).astype(float)
    expected = np.exp(scores[1]) / np.exp(scores).sum()
    assert full.verdict == pytest.approx(expected, abs=1e-6)
    np.testing.assert_array_equal(full.x[:3], rest.x[:3])
    assert full.x[3] != rest.x[3]
    assert rest.pieces == (*full.pieces[:2], *full.pieces[3:])
    assert np.sign(full.x[-1]) == np.sign(full.verdict - 0.5)
    plane = on_reviews._plane(network.name)
    assert plane.across @ plane.up == pytest.approx(0, abs=1e-6)
    assert np.linalg.norm(plane.up) == pytest.approx(1)
    with pytest.raises(UserError):
        on_reviews.path(network.name, "film", 1)


def test_padded_matches_torch_with_and_without_packing():
    network = load("sentiment_gru")
    text, pads = "This is not a good film.", 5
    result = on_reviews.padded(network.name, text)
    ids = network.encode(text).ids
    theirs, table = layer(network.weights), torch.tensor(network.embedding)
    with torch.no_grad():
        read = torch.cat([table[ids], table[[0] * pads]])[:, None]
        packed = torch.nn.utils.rnn.pack_padded_sequence(read, [len(ids)])
        for vectors, expected in ((read, result.after("unknown", pads)), (packed, result.packed)):
            last = theirs(vectors)[1][0, 0].numpy()
            assert torch.softmax(torch.tensor(logits(network, last)), -1)[1] == pytest.approx(
                expected, abs=1e-5
            )
    assert result.after("zeros", 0) == result.after("unknown", 0) == result.packed


def test_by_readout_compares_accuracies():
    right = np.array([[1, 1, 1, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 1, 1, 0]], bool)
    positive = np.array([1, 1, 1, 1, 1, 0, 0, 0], bool)
    by_readout = readouts.ByReadout(
        ("last", "mean"), right, np.arange(1, 9), positive, True, np.array([0, 5]),
        np.array([[5, 4], [5, 1]]),
    )  # fmt: skip
    assert by_readout.accuracy("last").correct == 5
    assert by_readout.accuracy("last", 5).n == by_readout.reviews(5) == 4
    assert by_readout.majority() == 5 / 8
    gain = by_readout.gain("mean", "last")
    expected = stats.ttest_rel(*right[[1, 0]].astype(float)).confidence_interval()
    assert (gain.mean, *gain.ci) == pytest.approx((-1 / 8, *expected))
    assert (gain.n, gain.verdict) == (8, "null")
    assert by_readout.paired_with("last", "mean").only_first == 2
    assert by_readout.with_pads("unknown", 5).correct == 1


def test_read_marks_word_initial_letters():
    result = at_work.read("characters_gru", "It's 3 big dogs.")
    letters = "".join(result.pieces)
    begins = "".join(letters[k] for k in np.flatnonzero(result.begins))
    assert (letters[0].lower(), begins[1:].lower()) == ("i", "sbd")
    assert not (result.begins & result.follows_letter).any()
    assert (result.begins | result.follows_letter).sum() == sum(map(str.isalpha, letters))
