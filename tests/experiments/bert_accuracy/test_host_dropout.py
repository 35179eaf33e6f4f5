"""Every device gets the dropout masks that a CPU draws."""

from __future__ import annotations

import ast
from contextlib import nullcontext

import pytest
import torch
from torch.nn import functional

from seqviz.core.paths import ROOT
from seqviz.experiments.bert_accuracy import encoding, trainable_copy
from seqviz.experiments.bert_accuracy.host_dropout import HostDropout
from seqviz.experiments.bert_accuracy.trainable_copy import DropoutGenerator

TEXTS = ["A fine film.", "Not so fine, and much too long for what it has to say."]
DRAWS = {"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "dropout"}


def test_host_dropout_equals_torch_on_cpu_to_the_bit(minilm):
    network = trainable_copy.make_trainable(minilm, "head").network.train()
    batch = encoding.pad(encoding.tokenize(minilm, TEXTS), 0)
    results = []
    for context in (nullcontext(), HostDropout(), HostDropout()):
        generator = DropoutGenerator(len(results) // 2, "cpu")  # another seed for the last
        with torch.no_grad(), generator.installed(), context:
            results.append(encoding.hidden(network, "cpu", batch)[0])
    assert torch.equal(*results[:2])
    assert not torch.equal(*results[1:])


def test_host_dropout_gradients_equal_those_of_torch():
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0), requires_grad=True)
    gradients = []
    for context in (nullcontext(), HostDropout()):
        with torch.random.fork_rng(devices=[]), context:
            torch.manual_seed(3)
            (functional.dropout(x, 0.4, True) ** 2).sum().backward()
        gradients.append(x.grad)
        x.grad = None
    assert torch.equal(*gradients)
    assert (gradients[0] == 0).any()


def test_host_dropout_draws_on_cpu_for_other_devices():
    """A tensor without storage stands for one of a GPU: no CPU draw would happen for it."""
    elsewhere = torch.empty(3, 5, device="meta")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        before = torch.get_rng_state()
        functional.dropout(elsewhere, 0.5, True)
        assert torch.equal(torch.get_rng_state(), before)
        with HostDropout():
            assert functional.dropout(elsewhere, 0.5, True).device.type == "meta"
            assert not torch.equal(torch.get_rng_state(), before)
            drawn = torch.get_rng_state()
            assert functional.dropout(elsewhere, 0.5, False) is elsewhere
            assert functional.dropout(elsewhere, 0.0, True) is elsewhere
        assert torch.equal(torch.get_rng_state(), drawn)


@pytest.mark.parametrize("kind", [torch.bool, torch.float32, None])
def test_host_attention_equals_torch_with_any_mask(kind):
    source = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 2, 4, 5, 8, generator=source)
    allowed = torch.rand(2, 1, 5, 5, generator=source) > 0.2
    mask = {torch.bool: allowed, None: None}.get(kind, allowed.float().log())
    results = []
    for context in (nullcontext(), HostDropout()):
        with torch.random.fork_rng(devices=[]), context:
            torch.manual_seed(3)
            results.append(functional.scaled_dot_product_attention(q, k, v, mask, dropout_p=0.3))
    torch.testing.assert_close(*results, rtol=1e-6, atol=1e-6, equal_nan=True)


def test_nothing_else_is_drawn_on_a_device():
    """Weights and samples come from NumPy, or from a generator of the CPU.

    Left out: timings, whose numbers nobody sees; dropout of trainings, of which a step draws
    millions; the word models of `tied_words`, which are trained on the CPU whatever the device.
    """
    apart = {"time_steps", "_train", "_read", "_dropout"}
    found = set()
    for path in (ROOT / "seqviz").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in ast.walk(function):
                if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                    continue
                owner = ast.unparse(call.func.value)
                name = call.func.attr.rstrip("_")
                is_drawn = owner in ("torch", "torch.nn.functional") or call.func.attr[-1] == "_"
                if name in DRAWS and is_drawn:
                    keywords = {keyword.arg for keyword in call.keywords}
                    if "generator" not in keywords:
                        found.add(function.name)
    assert found == apart
