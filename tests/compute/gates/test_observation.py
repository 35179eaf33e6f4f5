"""A network on a text: any text, probabilities as PyTorch has them, the numbers of one step."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch

from seqviz.compute.gates import tasks
from seqviz.compute.gates.activations import SIGNED, symbols, time_constants
from seqviz.compute.gates.encoding import END, normalized, word
from seqviz.compute.gates.networks import GatedNetwork
from seqviz.compute.gates.observation import MAX_SYMBOLS, LSTMStep, compare, observe, one_step
from seqviz.compute.recurrent import as_dtype
from seqviz.core.errors import UserError
from seqviz.models import checkpoints
from tests.compute.torch_reference import layer

NAMES = checkpoints.names()
TEXTS = {
    "characters": 'It is "not" a great film, but I loved it.',
    "sentiment": "This film isn't good at all, but I loved every minute.",
    **tasks.EXAMPLES,
}
EVERY = pytest.mark.parametrize("name", NAMES)


@cache
def exact(name: str) -> GatedNetwork:
    """A bundled network in float64, so that only rounding of the last digits is left."""
    network = checkpoints.load(name)
    return replace(
        network,
        embedding=network.embedding.astype(float),
        weights=as_dtype(network.weights, np.float64),
        head=network.head.astype(float),
        head_bias=network.head_bias.astype(float),
    )


def text_of(name: str) -> str:
    return TEXTS[checkpoints.load(name).kind]


def known(network: GatedNetwork, piece: str) -> bool:
    return (word(piece) if network.kind == "sentiment" else piece) in network.symbols


# ------------------------------------------------------------------------- every kind of network
@EVERY
def test_observe_returns_consistent_fields(name):
    network = checkpoints.load(name)
    observation = observe(network, text_of(name))
    steps, units = len(observation.pieces), network.weights.hidden
    assert (observation.network, observation.cell, observation.kind) == (
        name,
        network.cell,
        network.kind,
    )
    assert (observation.left_out, observation.hidden, observation.unknown.any()) == (
        0,
        units,
        False,
    )
    for symbol in symbols(observation.trace):
        values = observe(network, text_of(name), symbol).values
        assert values.shape == (steps, units)
        assert np.isfinite(values).all()
        assert symbol in SIGNED or (values.min() >= 0 and values.max() <= 1)
    retained = observe(network, text_of(name), "f" if network.cell == "lstm" else "z").values
    np.testing.assert_array_equal(observation.retention, retained)
    np.testing.assert_array_equal(observation.time_constants, time_constants(retained))


def right_answer(task: str, pieces: tuple[str, ...], t: int) -> str | None:
    """What the task asks for after step t (from 0), in plain Python; None where it does not ask."""
    read = pieces[: t + 1]
    if task == "latch":
        return pieces[0]
    if task == "parity":
        return "odd" if read.count("1") % 2 else "even"
    if task == "count":
        n = pieces.count("a")
        return ("b" if t + 1 < 2 * n else ".") if n <= t < 2 * n else None
    marked = [int(piece[0]) for piece in read if piece.endswith("*")]
    return str(sum(marked)) if len(marked) == 2 else None


@EVERY
@pytest.mark.parametrize(("network", "tolerance"), [(exact, 1e-12), (checkpoints.load, 2e-5)])
def test_observe_matches_torch(name, network, tolerance):
    """In float64 to rounding, in the float32 of the files to its own."""
    network = network(name)
    observation = observe(network, text_of(name))
    kind = network.kind
    anchor = {symbol: k for k, symbol in enumerate(network.symbols)}
    ids = [anchor[word(piece) if kind == "sentiment" else piece] for piece in observation.pieces]
    read = [anchor[END], *ids] if kind == "characters" else ids
    with torch.no_grad():
        vectors = torch.tensor(network.embedding[read], dtype=torch.float64)
        out, _ = layer(network.weights, torch.float64)(vectors)
        scores = out @ torch.tensor(network.head, dtype=torch.float64).T
        p = torch.softmax(scores + torch.tensor(network.head_bias), dim=-1).numpy()
    if kind == "characters":
        expected = p[np.arange(len(ids)), ids]
    elif kind == "sentiment":
        expected = p[:, 1]
    else:
        answers = [right_answer(kind, observation.pieces, t) for t in range(len(ids))]
        expected = [
            np.nan if answer is None else p[t, tasks.ANSWERS[kind].index(answer)]
            for t, answer in enumerate(answers)
        ]
    assert np.isfinite(expected).any()
    np.testing.assert_allclose(observation.probability, expected, 0, tolerance)
    np.testing.assert_array_equal(observation.answer, p[len(read) - len(ids) :].argmax(axis=-1))


# ----------------------------------------------------------------------------------- hostile texts
@pytest.mark.parametrize("text", ["", " ", " \t\r\n ", "\u3000\u2003"])
def test_observe_and_compare_reject_blank_text(text):
    for name, request in product(NAMES, (observe, compare)):
        with pytest.raises(UserError) as refused:
            request(checkpoints.load(name), text)
        assert refused.value.code == "no_text"


HOSTILE = {
    "one letter": "a",
    "one of no alphabet": "\u00df",
    "Arabic": "لم يعجبني هذا الفيلم، لكن القصة جميلة",
    "Chinese": "我不喜欢这部电影，但是演员很好。",
    "emoji": "a good film 👩‍👩‍👧 🙂🏽",
    "markup": "</script><script>alert('x')</script> <b>good</b> &amp;",
    "controls": "a\x00b\x1b[0m\u202ec",
    "accents": "cafe\u0301 café",
}


@EVERY
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_observe_accepts_any_text_and_flags_unknown_symbols(name, text):
    network = checkpoints.load(name)
    observation = observe(network, text)
    between = "" if network.kind == "characters" else " "
    full = normalized(text)
    assert "".join(observation.pieces) == (full if between == "" else full.replace(" ", ""))
    assert list(observation.unknown) == [not known(network, piece) for piece in observation.pieces]
    assert observation.left_out == 0
    assert np.isfinite(observation.values).all()
    if network.kind in ("characters", "sentiment"):
        assert ((observation.probability >= 0) & (observation.probability <= 1)).all()
    elif (
        observation.unknown.any()
    ):  # nobody knows the right answer to what is no sequence of the task
        assert np.isnan(observation.probability[observation.unknown.argmax() :]).all()


def test_hostile_texts_contain_known_and_unknown_symbols():
    for name in ("characters_lstm", "sentiment_gru"):
        result = {bool(u) for t in HOSTILE.values() for u in observe(exact(name), t).unknown}
        assert result == {True, False}


@pytest.mark.parametrize(
    ("name", "one"),
    [("characters_gru", "x"), ("sentiment_lstm", "good"), ("parity_gru", "1"),
     ("adding_lstm", "7*")],
)  # fmt: skip
def test_observe_truncates_long_text_to_max_symbols(name, one):
    network = checkpoints.load(name)
    between = "" if network.kind != "sentiment" else " "
    count = 10_000 // len(one + between)
    text = between.join([one] * count)
    observation = observe(network, text)
    assert observation.pieces == (one,) * MAX_SYMBOLS
    retained = between.join(observation.pieces)
    assert observation.left_out == len(text) - len(retained)
    full = observe(network, retained)
    assert full.left_out == 0
    np.testing.assert_array_equal(observation.values, full.values)
    one_more = observe(network, f"{retained}{between}{one}")
    assert (one_more.pieces, one_more.left_out) == (observation.pieces, len(one + between))


@pytest.mark.parametrize("name", ["characters_lstm", "sentiment_gru", "count_lstm"])
def test_observe_reads_megabyte_text_within_two_seconds(name):
    text = " ".join(["good film."] * 100_000)
    started = time.process_time()
    observation = observe(checkpoints.load(name), text)
    assert time.process_time() - started < 2  # 0.06 s on two cores; reading all of it takes 20 s
    assert len(observation.pieces) == MAX_SYMBOLS
    read = "".join(observation.pieces).replace(" ", "")
    end = next(k for k in range(3000) if text[:k].replace(" ", "") == read)
    assert observation.left_out == len(text) - end


# ------------------------------------------------------------------------------------- one step
@pytest.mark.parametrize("name", ["sentiment_lstm", "characters_gru", "count_lstm", "count_gru"])
def test_one_step_matches_trace_and_equations(name):
    """Of a GRU under both names of its gate."""
    observation = observe(exact(name), text_of(name))
    values = {s: observe(exact(name), text_of(name), s).values for s in symbols(observation.trace)}
    for unit, step in ((1, 1), (observation.hidden, len(observation.pieces)), (3, 5)):
        v = one_step(observation, unit, step)
        for symbol, value in values.items():
            assert getattr(v, symbol) == value[step - 1, unit - 1]
        if isinstance(v, LSTMStep):
            assert v.f * v.c_before + v.i * v.g == pytest.approx(v.c, rel=1e-14, abs=1e-15)
            assert np.tanh(v.c) == v.tanh_c
            assert v.o * v.tanh_c == pytest.approx(v.h, rel=1e-14)
            continue
        assert v.z * v.h_before + (1 - v.z) * v.n == pytest.approx(v.h, rel=1e-14)
        assert one_step(observation, unit, step, "write") == replace(v, z=1 - v.z, update="write")
        w, before = exact(name).weights, observation.trace.hidden[step - 1]
        past = (w.block(2) @ before + w.hidden_bias[2 * observation.hidden :])[unit - 1]
        assert v.past == pytest.approx(past, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(("unit", "step"), [(0, 1), (9, 1), (1, 0), (1, 14), (-1, -1)])
def test_one_step_rejects_unit_or_step_out_of_range(unit, step):
    for cell in ("lstm", "gru"):  # 8 units, 13 symbols
        with pytest.raises(ValueError, match=f"no unit {unit} at step {step}"):
            one_step(observe(exact(f"count_{cell}"), TEXTS["count"]), unit, step)
