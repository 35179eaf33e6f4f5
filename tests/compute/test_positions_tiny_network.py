"""The Transformer: against torch's own modules, and what each encoding may and may not tell."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from seqviz.compute.positions import relative, rotary, sinusoidal
from seqviz.compute.positions.tiny import ENCODINGS
from seqviz.compute.positions.tiny.network import Encoder, attention, rotate

TIME = 11
EACH_ENCODING = pytest.mark.parametrize("encoding", ENCODINGS)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def network(encoding: str, causal: bool = False, runs: int = 2, dtype=torch.float64) -> Encoder:
    randoms = [np.random.RandomState(run) for run in range(runs)]
    made = Encoder(encoding, 7, 5, TIME, randoms, causal).to(dtype)
    with torch.no_grad():  # biases start at zero, where a mistake with them would not show
        for name, parameter in made.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(torch.as_tensor(randoms[0].standard_normal(parameter.shape)))
    return made


def symbols(runs: int = 2, time: int = TIME) -> torch.Tensor:
    return torch.as_tensor(np.random.RandomState(9).randint(7, size=(runs, 3, time)))


def answers(made: Encoder, read: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return made(read)


# --- attention ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "causal", "alibi", "alibi causal"])
def test_attention_is_torch_s(kind):
    random = np.random.RandomState(0)
    query, key, value = (torch.as_tensor(random.randn(2, 3, 4, TIME, 8)) for _ in range(3))
    bias = {
        "plain": None,
        "causal": torch.full((1, TIME, TIME), -torch.inf, dtype=torch.float64).triu(1),
        "alibi": torch.as_tensor(relative.alibi_bias(4, TIME, causal=False)),
        "alibi causal": torch.as_tensor(relative.alibi_bias(4, TIME, causal=True)),
    }[kind]
    got = attention(query, key, value, bias)
    expected = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)  # sums of 11 float64 of size 1
    if kind == "causal":
        built_in = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        torch.testing.assert_close(got, built_in, rtol=0, atol=1e-12)


@pytest.mark.parametrize("causal", [False, True])
def test_a_layer_is_nn_transformer_encoder_layer(causal):
    """Pre-norm, ReLU, with the weights of one run copied into torch's module."""
    made = network("none", causal)
    for run, block in [(run, block) for run in range(2) for block in made.blocks]:
        torch_s = nn.TransformerEncoderLayer(
            32, 4, 64, dropout=0.0, batch_first=True, norm_first=True, dtype=torch.float64
        )
        with torch.no_grad():
            torch_s.self_attn.in_proj_weight.copy_(block.into.weight[run].T)
            torch_s.self_attn.in_proj_bias.copy_(block.into.bias[run, 0])
            for mine, theirs in [
                (block.out, torch_s.self_attn.out_proj),
                (block.up, torch_s.linear1),
                (block.down, torch_s.linear2),
            ]:
                theirs.weight.copy_(mine.weight[run].T)
                theirs.bias.copy_(mine.bias[run, 0])
        x = torch.as_tensor(np.random.RandomState(1).randn(2, 3, TIME, 32))
        mask = made.bias(TIME)
        with torch.no_grad():
            expected = torch_s(x[run], src_mask=None if mask is None else mask[0])
            got = block(x, None, mask)[run]
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-11)


# --- runs ---------------------------------------------------------------------------------------


@EACH_ENCODING
def test_runs_share_nothing(encoding):
    """Two runs side by side give what each gives alone, gradients too."""
    both = network(encoding)
    read = symbols()
    both(read).square().sum().backward()
    for run in range(2):
        one = Encoder(encoding, 7, 5, TIME, [np.random.RandomState(run)]).double()
        with torch.no_grad():
            for mine, theirs in zip(one.parameters(), both.parameters(), strict=True):
                mine.copy_(theirs[run : run + 1])
        out = one(read[run : run + 1])
        torch.testing.assert_close(out, answers(both, read)[run : run + 1], rtol=0, atol=1e-12)
        out.square().sum().backward()
        for mine, theirs in zip(one.parameters(), both.parameters(), strict=True):
            assert mine.grad is not None
            torch.testing.assert_close(mine.grad[0], theirs.grad[run], rtol=1e-9, atol=1e-9)


def test_a_run_starts_from_the_same_weights_with_every_encoding():
    plain = dict(network("none").named_parameters())
    for encoding in ENCODINGS:
        others = dict(network(encoding).named_parameters())
        assert set(others) - set(plain) == ({"table"} if encoding == "learned" else set())
        for name, weights in plain.items():
            if not name.endswith("bias"):  # drawn by `network` above, after the table
                torch.testing.assert_close(others[name], weights, rtol=0, atol=0)
    table = network("learned").table
    # 2 x 11 x 32 draws of variance 1: mean square 1 with a standard error of sqrt(2/704) = 0.05
    assert table.square().mean().item() == pytest.approx(1, abs=0.2)
    assert not torch.equal(table[0], table[1])


# --- encodings ----------------------------------------------------------------------------------


def test_encodings_are_those_of_the_lesson():
    """Each is handed over as it is: float32 rounds what numpy computed in float64."""
    made = network("sinusoidal", dtype=torch.float32)
    table = sinusoidal.encoding(TIME, 32).table
    np.testing.assert_allclose(made.added(TIME)[0, 0].numpy(), table, atol=1e-7)
    for causal in (False, True):
        bias = network("alibi", causal).bias(TIME)
        assert bias is not None
        np.testing.assert_array_equal(bias.numpy(), relative.alibi_bias(4, TIME, causal))
    angles = network("rotary").angles(TIME)
    assert angles is not None
    vectors = np.random.RandomState(3).randn(2, 3, TIME, 8)
    got = rotate(torch.as_tensor(vectors), angles)
    np.testing.assert_allclose(got, rotary.rotate(vectors, np.arange(TIME)), atol=1e-12)


def test_other_encodings_leave_each_place_alone():
    for encoding in ENCODINGS:
        made = network(encoding)
        assert (made.angles(TIME) is not None) == (encoding == "rotary")
        assert (made.bias(TIME) is not None) == (encoding == "alibi")
        assert bool(made.added(TIME).any()) == (encoding in ("sinusoidal", "learned"))


@EACH_ENCODING
@pytest.mark.parametrize("causal", [False, True])
def test_shuffled_letters(encoding, causal):
    """Without encoding and mask the outputs move with the letters, and only then (D-40)."""
    made, read = network(encoding, causal, dtype=torch.float32), symbols()
    order = torch.as_tensor(np.random.RandomState(4).permutation(TIME))
    moved = answers(made, read[..., order]) - answers(made, read)[:, :, order]
    if encoding == "none" and not causal:
        assert moved.abs().max() < 1e-5  # float32 sums of 64 numbers of size 1 in another order
    else:
        assert moved.abs().max() > 0.1


def test_the_same_symbol_gets_the_same_answer_without_encoding():
    read = symbols()
    read[..., 6:] = 6
    slots = answers(network("none", dtype=torch.float32), read)[:, :, 6:]
    assert (slots - slots[:, :, :1]).abs().max() < 1e-5
    for encoding in ENCODINGS[1:]:
        slots = answers(network(encoding, dtype=torch.float32), read)[:, :, 6:]
        assert (slots - slots[:, :, :1]).abs().max() > 0.01


@EACH_ENCODING
def test_a_causal_network_does_not_look_ahead(encoding):
    made, read = network(encoding, causal=True), symbols()
    other = read.clone()
    other[..., 7:] = (other[..., 7:] + 1) % 7
    change = (answers(made, read) - answers(made, other)).abs().amax((0, 1, 3))
    assert (change[:7] == 0).all()
    assert (change[7:] > 1e-3).all()


@EACH_ENCODING
def test_only_relative_encodings_forget_where_a_sequence_begins(encoding):
    """Behind five symbols that nobody may attend to, a sequence looks new or the same."""
    made, read = network(encoding), symbols(time=6)
    shifted = made.added(TIME)
    with torch.no_grad():
        x = nn.functional.one_hot(read, 7).double() @ made.embedding[:, None]
        hidden = []
        for first in (0, 5):
            late = slice(first, first + 6)
            angles, bias = made.angles(TIME), made.bias(TIME)
            added = shifted[..., late, :] if shifted.shape[2] == TIME else shifted
            hidden.append(
                made.blocks[0](
                    x + added,
                    None if angles is None else angles[late],
                    None if bias is None else bias[:, late, late],
                )
            )
    change = (hidden[0] - hidden[1]).abs().max().item()
    if encoding in ("sinusoidal", "learned"):
        assert change > 0.1
    else:
        assert change < 1e-12  # float64


def test_a_learned_table_ends():
    made = network("learned")
    assert answers(made, symbols()).shape == (2, 3, TIME, 5)
    with pytest.raises(ValueError, match="11 rows, too few for 12 symbols"):
        made(symbols(time=12))


def test_an_unknown_encoding_is_refused():
    with pytest.raises(ValueError, match="encoding must be one of none, sinusoidal"):
        network("t5")
