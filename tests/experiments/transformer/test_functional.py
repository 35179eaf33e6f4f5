"""The pass that is written out, against the library's own and against hooks on a private copy."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, BertConfig, GPT2Config, LlamaConfig

from seqviz.experiments.transformer import functional
from seqviz.experiments.transformer.functional import Factor, Put, Variant
from seqviz.models import attention_hook as taps

LAYERS, HEADS, WIDTH, NEURONS = 4, 4, 32, 48
SIZES = {"vocab_size": 50, "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
         "num_attention_heads": HEADS, "intermediate_size": NEURONS}  # fmt: skip
CONFIGS = {
    "llama": LlamaConfig(
        **SIZES, num_key_value_heads=2, use_cache=False, attn_implementation=taps.NAME
    ),
    "bert": BertConfig(**SIZES, attn_implementation=taps.NAME),
}
IDS, SEGMENTS = np.random.RandomState(0).randint(5, 50, 7), np.zeros(7, int)
DELTA = np.random.RandomState(1).normal(0, 1, WIDTH).astype(np.float32)


@pytest.fixture(scope="module", params=CONFIGS)
def network(request):
    """A random network of each family, with weights large enough that attention is not even."""
    taps.register()
    config = copy.deepcopy(CONFIGS[request.param])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        maker = AutoModelForCausalLM if request.param == "llama" else AutoModel
        created = maker.from_config(config).eval().requires_grad_(False)
        for name, weights in created.named_parameters():
            if weights.dim() == 2 and "embed" not in name:
                weights.mul_(6)
    return created


def through(network, *variants: Variant) -> torch.Tensor:
    parts = functional.NetworkParts(network, IDS, SEGMENTS, "cpu")
    return parts.last(functional.forward(parts, variants))


def library(network) -> torch.Tensor:
    body = getattr(network, "model", network)
    return body(input_ids=torch.tensor(IDS)[None]).last_hidden_state[0]


def blocks(network):
    return network.model.layers if hasattr(network, "model") else network.encoder.layer


def modules(network, layer: int) -> dict[str, torch.nn.Module]:
    block = blocks(network)[layer]
    if hasattr(block, "self_attn"):
        return {"attention": block.self_attn.o_proj, "mlp": block.mlp.down_proj}
    return {"attention": block.attention.output.dense, "mlp": block.output.dense}


@contextmanager
def hooked(module: torch.nn.Module, change: Callable, before: bool = False) -> Iterator[None]:
    hook = (
        module.register_forward_pre_hook(lambda _, x: (change(x[0]), *x[1:]))
        if before
        else module.register_forward_hook(lambda _, __, out: change(out))
    )
    try:
        yield
    finally:
        hook.remove()


def reordered(network, order) -> torch.Tensor:
    """A private copy whose list of layers is another."""
    other = copy.deepcopy(network)
    holder = other.model if hasattr(other, "model") else other.encoder
    name = "layers" if hasattr(other, "model") else "layer"
    setattr(holder, name, torch.nn.ModuleList([getattr(holder, name)[k] for k in order]))
    other.config.num_hidden_layers = len(order)
    return library(other)


def close(result, expected):
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=2e-5)
    assert torch.isfinite(result).all()


def test_forward_is_bitwise_equal_to_network_without_changes(network):
    assert torch.equal(through(network, Variant())[0], library(network))


@pytest.mark.parametrize("by", [0.0, 0.3, -1.0])
@pytest.mark.parametrize("part", ["attention", "mlp"])
def test_factor_matches_output_scaled_by_hook(network, part, by):
    for layer in (0, LAYERS - 1):
        private = copy.deepcopy(network)
        with hooked(modules(private, layer)[part], lambda out: by * out):
            expected = library(private)
        close(through(network, Variant((Factor(part, layer, by),)))[0], expected)
        assert (expected - library(network)).abs().max() > 1e-3


@pytest.mark.parametrize(("part", "unit"), [("attention", 2), ("mlp", 11)])
def test_off_matches_zeroed_head_or_neuron_columns(network, part, unit):
    size = WIDTH // HEADS if part == "attention" else 1
    private = copy.deepcopy(network)
    modules(private, 1)[part].weight[:, unit * size : (unit + 1) * size] = 0
    close(through(network, functional.off(part, 1, unit))[0], library(private))


@pytest.mark.parametrize("part", ["attention", "mlp"])
def test_put_matches_output_replaced_or_shifted_by_hook(network, part):
    delta = torch.tensor(DELTA)

    def place(out):
        out = out.clone()
        out[:, 3] = delta
        return out

    for put, change in (
        (Put(part, 1, DELTA), lambda out: delta.expand_as(out)),
        (Put(part, 1, DELTA, add=True), lambda out: out + delta),
        (Put(part, 1, DELTA, at=3), place),
    ):
        private = copy.deepcopy(network)
        with hooked(modules(private, 1)[part], change):
            expected = library(private)
        close(through(network, Variant(puts=(put,)))[0], expected)


def test_put_into_stream_matches_shifted_layer_input(network):
    def enter(module, args, kwargs):
        if args:
            return (args[0] + torch.tensor(DELTA), *args[1:]), kwargs
        return args, {**kwargs, "hidden_states": kwargs["hidden_states"] + torch.tensor(DELTA)}

    private = copy.deepcopy(network)
    blocks(private)[2].register_forward_pre_hook(enter, with_kwargs=True)
    put = Put("stream", 2, DELTA, add=True)
    close(through(network, Variant(puts=(put,)))[0], library(private))


@pytest.mark.parametrize("make", [functional.skipped, functional.repeated], ids=["skip", "repeat"])
@pytest.mark.parametrize("layer", [0, 2, LAYERS - 1])
def test_skipped_and_repeated_match_reordered_layer_list(network, make, layer):
    variant = make(LAYERS, layer)
    close(through(network, variant)[0], reordered(network, variant.order))


def test_swapped_matches_reordered_layer_list(network):
    variant = functional.swapped(LAYERS, 0, 3)
    assert variant.order == (3, 1, 2, 0)
    close(through(network, variant)[0], reordered(network, variant.order))


def test_off_norm_or_residual_matches_layer_equation(network):
    """The last layer written out once more, from the stream that the library gives before it."""
    before = network(input_ids=torch.tensor(IDS)[None], output_hidden_states=True)
    parts = functional.NetworkParts(network, IDS, SEGMENTS, "cpu")
    x = functional.forward(parts, (functional.skipped(LAYERS, LAYERS - 1),))
    if parts.kind == "bert":
        assert torch.equal(x, before.hidden_states[-2])
    last = LAYERS - 1
    first, second = parts.norms(last)

    def mlp(x):
        return parts.down(last)(parts.neurons(last, x))

    if parts.kind == "llama":
        y = parts.attention(last, first(x))
        alone = mlp(second(y))
        plain = x + parts.attention(last, x)
        plain = plain + mlp(plain)
    else:
        alone = second(mlp(first(parts.attention(last, x))))
        plain = x + parts.attention(last, x)
        plain = plain + mlp(plain)
    result = functional.forward(
        parts, (functional.off("residual", last), functional.off("norm", last))
    )
    close(result[0], alone[0])
    close(result[1], plain[0])


def test_forward_batched_variants_match_single_runs(network):
    variants = [
        functional.off("mlp", 2), functional.repeated(LAYERS, 1), Variant(),
        functional.skipped(LAYERS, 3), functional.off("attention", 0, 1),
        functional.swapped(LAYERS, 1, 2), Variant(puts=(Put("mlp", 3, DELTA),)),
        Variant((Factor("norm", 1, 0.5), Factor("residual", 2, 0.7))),
    ]  # fmt: skip
    together = through(network, *variants)
    for row, variant in zip(together, variants, strict=True):
        close(row, through(network, variant)[0])
    close(together[2], library(network))


def test_forward_watch_reports_consistent_parts(network):
    parts = functional.NetworkParts(network, IDS, SEGMENTS, "cpu")
    observed: dict[tuple[str, int], torch.Tensor] = {}
    functional.forward(
        parts, (Variant(),), lambda part, layer, x: observed.update({(part, layer): x})
    )
    parts_of = ("attention", "mlp", "heads", "neurons", "stream", "weights", "normalized")
    assert set(observed) == {(part, layer) for layer in range(LAYERS) for part in parts_of}
    for layer in range(LAYERS):
        heads = observed["heads", layer].transpose(1, 2).flatten(2)
        close(parts.output(layer)(heads), observed["attention", layer])
        close(parts.down(layer)(observed["neurons", layer]), observed["mlp", layer])
    if parts.kind == "llama":
        added = sum(
            observed[part, layer] for part in ("attention", "mlp") for layer in range(LAYERS)
        )
        close(parts.first + added, observed["stream", LAYERS - 1])


def test_forward_leaves_shared_network_unchanged(network):
    def hooks():
        return [len(module._forward_hooks) for module in network.modules()]

    before, watched = (
        {name: parameter.clone() for name, parameter in network.named_parameters()},
        hooks(),
    )
    through(network, functional.off("mlp", 0), functional.skipped(LAYERS, 1))
    assert all(
        torch.equal(parameter, before[name]) for name, parameter in network.named_parameters()
    )
    assert hooks() == watched


def test_forward_rejects_unknown_layer_part_and_family(network):
    with pytest.raises(ValueError, match="no layer 4: they go from 0 to 3"):
        through(network, functional.off("mlp", LAYERS))
    with pytest.raises(ValueError, match="no layer -1"):
        through(network, Variant(order=(0, -1)))
    with pytest.raises(ValueError, match="not 'dropout'"):
        through(network, functional.off("dropout", 0))
    with pytest.raises(ValueError, match="attention, mlp, stream, not 'norm'"):
        through(network, Variant(puts=(Put("norm", 0, DELTA),)))
    other = AutoModelForCausalLM.from_config(GPT2Config(n_embd=8, n_layer=1, n_head=1))
    with pytest.raises(ValueError, match="'gpt2'"):
        functional.NetworkParts(other, IDS, SEGMENTS, "cpu")
