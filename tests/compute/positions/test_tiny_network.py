"""The Transformer: against torch's own modules, and what each encoding may and may not tell."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from seqviz.compute.positions import relative, rotary, sinusoidal
from seqviz.compute.positions.tiny.network import TinyEncoder, rotate
from seqviz.compute.positions.tiny.settings import ENCODINGS

TIME = 11
EACH_ENCODING = pytest.mark.parametrize("encoding", ENCODINGS)


pytestmark = pytest.mark.usefixtures("one_thread")


def network(encoding: str, causal: bool = False, runs: int = 2, dtype=torch.float64) -> TinyEncoder:
    randoms = [np.random.RandomState(run) for run in range(runs)]
    created = TinyEncoder(encoding, 7, 5, TIME, randoms, causal).to(dtype)
    with torch.no_grad():  # biases start at zero, where a mistake with them would not show
        for name, parameter in created.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(torch.as_tensor(randoms[0].standard_normal(parameter.shape)))
    return created


def symbols(time: int = TIME) -> torch.Tensor:
    return torch.as_tensor(np.random.RandomState(9).randint(7, size=(2, 3, time)))


def answers(tiny_encoder: TinyEncoder, read: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return tiny_encoder(read)


@pytest.mark.parametrize("encoding", ["none", "alibi"])
@pytest.mark.parametrize("causal", [False, True])
def test_tiny_encoder_layer_matches_torch(encoding, causal):
    """Pre-norm, ReLU, with the weights of one run copied into torch's module."""
    created = network(encoding, causal)
    mask = created.bias(TIME)
    per_head = None if mask is None else mask.expand(4, TIME, TIME).repeat(3, 1, 1)
    for run, block in [(run, block) for run in range(2) for block in created.blocks]:
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
        with torch.no_grad():
            expected, got = torch_s(x[run], src_mask=per_head), block(x, None, mask)[run]
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-11)


# --- runs ---------------------------------------------------------------------------------------


@EACH_ENCODING
def test_tiny_encoder_runs_are_independent(encoding):
    """Two runs side by side give what each gives alone, gradients too."""
    both = network(encoding)
    read = symbols()
    both(read).square().sum().backward()
    for run in range(2):
        item = TinyEncoder(encoding, 7, 5, TIME, [np.random.RandomState(run)]).double()
        with torch.no_grad():
            for mine, theirs in zip(item.parameters(), both.parameters(), strict=True):
                mine.copy_(theirs[run : run + 1])
        out = item(read[run : run + 1])
        torch.testing.assert_close(out, answers(both, read)[run : run + 1], rtol=0, atol=1e-12)
        out.square().sum().backward()
        for mine, theirs in zip(item.parameters(), both.parameters(), strict=True):
            assert mine.grad is not None
            torch.testing.assert_close(mine.grad[0], theirs.grad[run], rtol=1e-9, atol=1e-9)


def test_tiny_encoder_initial_weights_are_same_for_every_encoding():
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


@EACH_ENCODING
def test_tiny_encoder_encodings_match_lesson(encoding):
    """Each is handed over as it is, to its own place; the other places stay empty."""
    created = network(encoding)
    added, angles = created.added(TIME), created.angles(TIME)
    expected = np.zeros((1, 1, 1, 32))
    if encoding == "sinusoidal":
        expected = sinusoidal.encoding(TIME, 32).table[None, None]
    elif encoding == "learned":
        expected = created.table.detach().numpy()[:, None]
    np.testing.assert_array_equal(added.detach().numpy(), expected)
    if encoding == "alibi":
        for causal in (False, True):
            bias = network("alibi", causal).bias(TIME)
            np.testing.assert_array_equal(bias.numpy(), relative.alibi_bias(4, TIME, causal))
    else:
        assert created.bias(TIME) is None
    if encoding == "rotary":
        vectors = np.random.RandomState(3).randn(2, 3, TIME, 8)
        got = rotate(torch.as_tensor(vectors), angles)
        np.testing.assert_allclose(got, rotary.rotate(vectors, np.arange(TIME)), atol=1e-12)
    else:
        assert angles is None


@EACH_ENCODING
@pytest.mark.parametrize("causal", [False, True])
def test_tiny_encoder_is_equivariant_only_without_encoding_and_mask(encoding, causal):
    """Without encoding and mask the outputs move with the letters, and only then (D-40)."""
    created, read = network(encoding, causal, dtype=torch.float32), symbols()
    order = torch.as_tensor(np.random.RandomState(4).permutation(TIME))
    moved = answers(created, read[..., order]) - answers(created, read)[:, :, order]
    if encoding == "none" and not causal:
        assert moved.abs().max() < 1e-5  # float32 sums of 64 numbers of size 1 in another order
    else:
        assert moved.abs().max() > 0.1


@EACH_ENCODING
def test_tiny_encoder_causal_does_not_look_ahead(encoding):
    created, read = network(encoding, causal=True), symbols()
    other = read.clone()
    other[..., 7:] = (other[..., 7:] + 1) % 7
    change = (answers(created, read) - answers(created, other)).abs().amax((0, 1, 3))
    assert (change[:7] == 0).all()
    assert (change[7:] > 1e-3).all()


def test_tiny_encoder_rejects_long_input_and_unknown_encoding():
    created = network("learned")
    assert answers(created, symbols()).shape == (2, 3, TIME, 5)
    with pytest.raises(ValueError, match="11 rows, too few for 12 symbols"):
        created(symbols(12))
    with pytest.raises(ValueError, match="encoding must be one of none, sinusoidal"):
        network("t5")
