"""The networks that come with the app: whole, as good as their cards say, equal to PyTorch."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from seqviz.compute.gates.activations import activation
from seqviz.compute.gates.encoding import END, words
from seqviz.compute.gates.networks import (
    NETWORK_KINDS,
    accuracy,
    log_probabilities,
    logits,
    trace,
)
from seqviz.compute.gates.tasks import TASKS, draw
from seqviz.compute.recurrent import as_dtype
from seqviz.core.errors import UserError
from seqviz.data.reviews import sentiment_split
from seqviz.models import checkpoints
from tools.train_characters import corpus


def bits_per_symbol(network, ids):
    """-log2 of the probability that a language model gave to each symbol before it came.

    Read by PyTorch's module, which is quicker; that ours has the same states is tested below.
    """
    read = [network.symbols.index(END), *ids[:-1]]
    with torch.no_grad():
        out, _ = modules(network)(torch.tensor(network.embedding[read])[:, None])
    before = log_probabilities(network, out[:, 0].numpy())
    return -before[np.arange(len(ids)), ids] / np.log(2)


NAMES = checkpoints.names()


def modules(network):
    """The same recurrent layer made of PyTorch's own module, in the network's precision."""
    kind = torch.nn.LSTM if network.cell == "lstm" else torch.nn.GRU
    layer = kind(network.embedding.shape[1], network.weights.hidden)
    layer = layer.to(torch.tensor(network.embedding).dtype)
    w = network.weights
    with torch.no_grad():
        for parameter, array in (
            (layer.weight_ih_l0, w.input_hidden),
            (layer.weight_hh_l0, w.hidden_hidden),
            (layer.bias_ih_l0, w.input_bias),
            (layer.bias_hh_l0, w.hidden_bias),
        ):
            parameter.copy_(torch.tensor(array))
    return layer


def test_checkpoints_have_lstm_and_gru_of_every_kind():
    assert sorted(NAMES) == sorted(
        f"{kind}_{cell}" for kind in NETWORK_KINDS for cell in ("lstm", "gru")
    )


def in_precision(name, dtype):
    """A network with its numbers rounded to a precision."""
    network = checkpoints.load(name)
    return replace(
        network,
        embedding=network.embedding.astype(dtype),
        weights=as_dtype(network.weights, dtype),
    )


def by_pytorch(network, ids):
    """States by PyTorch, and the gates that it does not give out, from its states and weights."""
    layer = modules(network)
    read = [network.symbols.index(END), *ids] if network.kind == "characters" else list(ids)
    vectors = torch.tensor(network.embedding[read])[:, None]
    with torch.no_grad():
        out, _ = layer(vectors)
        before = torch.cat([torch.zeros_like(out[:1]), out])[:-1]
        a = vectors @ layer.weight_ih_l0.T + layer.bias_ih_l0
        b = before @ layer.weight_hh_l0.T + layer.bias_hh_l0
    skip, result = len(read) - len(ids), {"h": out[len(read) - len(ids) :, 0].numpy()}
    for index, symbol in enumerate("ifgo" if network.cell == "lstm" else "rz"):
        part = slice(index * network.weights.hidden, (index + 1) * network.weights.hidden)
        total = (a + b)[skip:, 0, part]
        result[symbol] = (torch.tanh(total) if symbol == "g" else torch.sigmoid(total)).numpy()
    return result


def by_us(network, ids):
    """The same, by what the pages run."""
    result = trace(network, ids)
    gates = {symbol: activation(result, symbol) for symbol in ("ifgo", "rz")[network.cell == "gru"]}
    return {"h": result.hidden[1:], **gates}


@pytest.mark.parametrize("name", NAMES)
def test_trace_states_and_gates_match_torch(name):
    network = in_precision(name, np.float64)
    ids = np.random.RandomState(0).randint(len(network.symbols), size=60)
    theirs = by_pytorch(network, ids)
    for symbol, ours in by_us(network, ids).items():
        np.testing.assert_allclose(ours, theirs[symbol], 0, 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_trace_float32_error_is_comparable_to_torch(name):
    """Rounding grows on the way, in some texts to 2e-5, in PyTorch as well as here.

    So both are compared with the same weights in float64, in the median of twelve texts.
    """
    network, exact = in_precision(name, np.float32), in_precision(name, np.float32)
    exact = replace(
        exact,
        embedding=exact.embedding.astype(np.float64),
        weights=as_dtype(exact.weights, np.float64),
    )
    strays: dict[str, list[float]] = {"ours": [], "theirs": []}
    for seed in range(12):
        ids = np.random.RandomState(seed).randint(len(network.symbols), size=60)
        truth = by_us(exact, ids)
        for whose, result in (("ours", by_us(network, ids)), ("theirs", by_pytorch(network, ids))):
            assert {values.dtype for values in result.values()} == {np.dtype(np.float32)}
            strays[whose].append(
                max(np.abs(values - truth[symbol]).max() for symbol, values in result.items())
            )
    assert np.median(strays["ours"]) < max(5e-7, 1.5 * np.median(strays["theirs"]))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_tiny_networks_match_card_accuracy(task, cell):
    network, card = checkpoints.load(f"{task}_{cell}"), checkpoints.card(f"{task}_{cell}")
    length = int(card.metric.split(" of ")[1].split()[0])
    for n, expected in ((length, card.value), (2 * length, card.twice_as_long)):
        result = accuracy(network, draw(task, n, 2000, np.random.RandomState(12345)))
        assert result == pytest.approx(expected, abs=2e-3)  # other machines round ties otherwise
    assert card.value > 0.99 > card.baseline_value
    # The baseline is the answer that is right most often, whatever was read.
    for n, expected in ((length, card.baseline_value), (2 * length, card.baseline_twice)):
        batch = draw(task, n, 2000, np.random.RandomState(12345))
        given = [
            (batch.answers == index)[batch.scored].mean() for index in range(len(network.head))
        ]
        assert max(given) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_classifiers_match_card_accuracy(cell):
    network, card = checkpoints.load(f"sentiment_{cell}"), checkpoints.card(f"sentiment_{cell}")
    _, test = sentiment_split()
    ids = [words(text, network.symbols).ids for text in test.texts]
    batch = torch.nn.utils.rnn.pad_sequence([torch.tensor(item) for item in ids])
    with torch.no_grad():
        out, _ = modules(network)(torch.tensor(network.embedding)[batch])
    last = out[[len(item) - 1 for item in ids], range(len(ids))].numpy()
    right = (logits(network, last).argmax(axis=-1) == 1) == test.positive
    assert right.mean() == pytest.approx(card.value, abs=2e-3)
    assert card.value >= 0.74
    assert card.value > card.baseline_value


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_language_models_match_card_and_beat_trigram(cell):
    network, card = checkpoints.load(f"characters_{cell}"), checkpoints.card(f"characters_{cell}")
    _, held_out = corpus()
    anchor = {symbol: i for i, symbol in enumerate(network.symbols)}
    ids = np.array([anchor.get(c, 0) for c in held_out[:20_000]])
    bits = bits_per_symbol(network, ids).mean()
    # The first quarter of the held-out text, so near the card's number and not equal to it.
    assert bits == pytest.approx(card.value, abs=0.05)
    assert card.value < card.baseline_value - 0.5
    assert card.five_gram < card.value  # five characters in a row are counted better than learned


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_language_models_match_card_per_sentence(cell):
    """As a page reads; the first sixty held-out sentences, so near the card's number."""
    network, card = checkpoints.load(f"characters_{cell}"), checkpoints.card(f"characters_{cell}")
    _, held_out = corpus()
    bits = [
        bits_per_symbol(network, network.encode(sentence).ids)
        for sentence in held_out.split(END)[:60]
    ]
    assert np.concatenate(bits).mean() == pytest.approx(card.alone, abs=0.08)
    assert card.alone > card.five_gram_alone  # the page says so
    assert card.alone > card.value  # a sentence read from its beginning is the harder one


@pytest.mark.parametrize("name", NAMES)
def test_checkpoints_are_small_read_only_and_documented(name):
    assert (checkpoints.FOLDER / f"{name}.safetensors").stat().st_size <= 5_000_000
    network, card = checkpoints.load(name), checkpoints.card(name)
    assert checkpoints.load(name) is network
    assert all(not array.flags.writeable for array in checkpoints.arrays(network).values())
    assert card.parameters == network.parameters  # counted in tests/compute/gates/test_readings
    assert card.license
    assert card.data
    assert (checkpoints.FOLDER.parent.parent / card.script).exists()


def test_checkpoints_reject_damaged_or_unknown_file(tmp_path, monkeypatch):
    for path in checkpoints.FOLDER.glob("latch_lstm.*"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(checkpoints, "FOLDER", tmp_path)
    weights = tmp_path / "latch_lstm.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(UserError, match="damaged"):
        checkpoints.load.__wrapped__("latch_lstm")
    (tmp_path / "latch_lstm.json").write_text(json.dumps({"name": "latch_lstm"}))
    with pytest.raises(UserError, match="damaged"):
        checkpoints.card.__wrapped__("latch_lstm")
    for text in ("[]", '{"metric": "x", "name": "a", "data": "", "license": ""}'):
        (tmp_path / "latch_lstm.json").write_text(text)
        with pytest.raises(UserError, match="damaged"):
            checkpoints.card.__wrapped__("latch_lstm")
    with pytest.raises(ValueError, match="Unknown network"):
        checkpoints.load.__wrapped__("../secret")
