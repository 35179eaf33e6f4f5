"""Parts of SmolLM2 against the network's own hidden states, and the shipped result."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.transformer.components import DECODER_PARTS
from seqviz.data import precomputed
from seqviz.experiments.transformer.components import decoder_parts
from seqviz.models import texts
from seqviz.models.pretrained import decoder

TEXT = "The capital of France is"


@pytest.fixture(scope="module")
def parts(smollm2):
    return decoder_parts("smollm2", TEXT)


def test_stream_matches_hidden_states_of_network(parts):
    pretrained = decoder("smollm2")
    ids = torch.tensor(texts.tokens(pretrained, TEXT).ids)[None]

    def work(network, device):
        return network(ids.to(device), output_hidden_states=True)

    output = pretrained.run(work)
    states = torch.stack(output.hidden_states)[:, 0].float().cpu()  # the last one is normalized
    expected = states.norm(dim=-1).numpy()
    np.testing.assert_allclose(parts.find("embed").norm[0], expected[0], rtol=1e-4)
    np.testing.assert_allclose(parts.find("sum_2").norm[:-1], expected[1:-1], rtol=1e-3)
    np.testing.assert_allclose(parts.find("final_norm").norm[0], expected[-1], rtol=1e-3)
    scores = output.logits[0, -1].float().cpu().numpy()
    likeliest = np.sort(scores)[::-1][:12]
    np.testing.assert_allclose(parts.find("unembed").values[0, -1], likeliest, atol=2e-2)
    assert parts.words[0] == "␣Paris"


def test_attention_weights_are_causal_and_sum_to_one(parts):
    weights = parts.find("heads").values.reshape(30, 5, 9, 5)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=2e-3)
    assert weights[:, np.triu_indices(5, 1)[0], :, np.triu_indices(5, 1)[1]].max() == 0


def test_shares_of_what_a_layer_read_and_of_its_parts_add_up(parts):
    """At the first sum exactly; at the second the attention's vector is the rest."""
    np.testing.assert_allclose(parts.find("sum_1").share + parts.find("attention").share, 1,
                               atol=1e-4)  # fmt: skip
    kept, mlp = parts.find("sum_2").share, parts.find("mlp").share
    assert not np.allclose(kept + mlp, 1, atol=1e-2)


def test_most_of_the_stream_passes_every_layer_from_layer_2_on(parts):
    """As the page says of its default text; in layers 0 and 1 it does not."""
    kept = parts.find("sum_2").share[:, -1]
    assert kept[2:].min() > 0.5
    assert kept[:2].max() < 0.5
    assert (round(parts.stream()[0], 2), round(parts.stream()[-1])) == (2.60, 619)


def test_shipped_parts_equal_computed_ones(parts):
    shipped = precomputed.result("decoder_parts", model="smollm2", text=TEXT)
    assert tuple(part.name for part in shipped.parts) == DECODER_PARTS
    for mine, theirs in zip(parts.parts, shipped.parts, strict=True):
        np.testing.assert_allclose(mine.norm, theirs.norm, rtol=1e-3)
        np.testing.assert_allclose(mine.share, theirs.share, atol=1e-3)


def test_summary_names_vectors_that_point_against_the_stream(parts):
    """A negative share is no part of a whole, nor is one above 100%: each has a sentence."""
    numbers = {name: number for number, name in enumerate(DECODER_PARTS, 1)}
    first = parts.summary(numbers["sum_2"], 0)
    assert (first.variant, first["share"] < 0) == ("sum_against", True)
    beyond = parts.summary(numbers["mlp"], 0)
    assert (beyond.variant, beyond["share"] > 1) == ("adds_beyond", True)
    assert parts.summary(numbers["mlp"], 20).variant == "adds"
    # The first token of a text, whose norm is in the thousands, is shortened by layer 28.
    shortened = parts.summary(numbers["mlp"], 28, token=5)
    assert (shortened.variant, shortened["share"] < 0) == ("adds_against", True)
    longer, shorter = (parts.norm(numbers[name], 28, 5) for name in ("sum_1", "sum_2"))
    assert shorter < longer
    assert parts.summary(numbers["sum_2"], 28, token=5).variant == "sum_beyond"
