"""Filters are transformers' own, and the numbers that tokens are drawn with are Random123's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import chisquare, kstest

from seqviz.compute.gpt import draw, filters
from seqviz.compute.gpt.draw import philox, uniforms
from seqviz.compute.gpt.filters import ORDER, Chain
from seqviz.core import content_hash

LIBRARY = {
    "penalty": "RepetitionPenaltyLogitsProcessor",
    "temperature": "TemperatureLogitsWarper",
    "top_k": "TopKLogitsWarper",
    "top_p": "TopPLogitsWarper",
    "min_p": "MinPLogitsWarper",
    "typical": "TypicalLogitsWarper",
}


def library(chain: Chain, scores: np.ndarray, ids: list[int]) -> np.ndarray:
    import transformers

    result = torch.tensor(scores)[None]
    for name in chain.order:
        value = getattr(chain, name)
        if value != getattr(Chain(), name):
            result = getattr(transformers, LIBRARY[name])(value)(torch.tensor([ids]), result)
    return result[0].numpy()


def chains(rng: np.random.RandomState) -> Chain:
    values = {
        "penalty": rng.uniform(0.7, 2),
        "temperature": rng.uniform(0.2, 3),
        "top_k": int(rng.randint(1, 60)),
        "top_p": rng.uniform(0.05, 0.999),
        "min_p": rng.uniform(0.001, 0.5),
        "typical": rng.uniform(0.05, 0.999),
    }
    some = [name for name in ORDER if rng.uniform() < 0.5]
    return Chain(**{name: values[name] for name in some}, order=tuple(rng.permutation(ORDER)))


def test_chain_matches_transformers_in_any_order():
    rng = np.random.RandomState(0)
    cuts = 0
    for _ in range(1000):
        size = rng.randint(5, 300)
        scores = rng.normal(rng.uniform(-5, 10), rng.uniform(0.3, 5), size)
        ids = rng.randint(0, size, rng.randint(1, 12)).tolist()
        chain = chains(rng)
        result, expected = chain(scores, ids), library(chain, scores, ids)
        np.testing.assert_array_equal(np.isneginf(result), np.isneginf(expected))
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)
        cuts += np.isneginf(result).any()
    assert cuts > 500


def test_chain_default_order_matches_generate():
    """The names of the processors that generate() itself puts into a row."""
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=8, hidden_size=4, intermediate_size=4, num_hidden_layers=1,
                         num_attention_heads=1)  # fmt: skip
    network = LlamaForCausalLM(config)
    request = GenerationConfig(do_sample=True, repetition_penalty=1.2, temperature=0.7, top_k=5,
                             top_p=0.9, min_p=0.1, typical_p=0.8)  # fmt: skip
    network._prepare_special_tokens(request)
    row = network._get_logits_processor(request, input_ids_seq_length=1)
    assert [type(item).__name__ for item in row] == [LIBRARY[name] for name in ORDER]


def test_chain_stages_show_cut_of_each_filter():
    scores = np.log(np.array([0.5, 0.25, 0.15, 0.07, 0.03]))
    chain = Chain(top_k=4, top_p=0.7)
    (first, item), (second, two) = chain.stages(scores, [])
    assert (first, second) == ("top_k", "top_p")
    cut = [draw.probabilities(scores)[np.isneginf(after)].sum() for after in (item, two)]
    assert cut == pytest.approx([0.03, 0.25])
    assert (filters.count_kept(item), filters.count_kept(two)) == (4, 2)
    np.testing.assert_array_equal(chain(scores, []), two)
    assert Chain().stages(scores, []) == ()
    np.testing.assert_array_equal(Chain()(scores, []), scores)
    # the order matters: hot first makes the nucleus larger
    hot = Chain(temperature=3.0, top_p=0.7)
    other = Chain(temperature=3.0, top_p=0.7, order=("top_p", "temperature"))
    assert filters.count_kept(hot(scores, [])) > filters.count_kept(other(scores, []))


def test_chain_breaks_ties_consistently():
    scores = np.array([1.0, 2, 2, 2, 0])
    assert (
        filters.count_kept(Chain(top_k=2)(scores, [])) == 3
    )  # all that equal the last that is kept
    retained = np.isfinite(Chain(top_p=0.5)(scores, []))
    assert retained.tolist() == [False, True, True, False, False]  # the smaller numbers first
    assert filters.count_kept(Chain(top_p=0.0)(scores, [])) == 1


def test_chain_rejects_bad_settings_and_hashes_by_value():
    for wrong in ({"temperature": 0.0}, {"penalty": -1.0}, {"top_k": -1}, {"top_p": 1.1},
                  {"order": ("top_p", "top_p")}, {"order": ("beam",)}):  # fmt: skip
        with pytest.raises(ValueError, match=r"positive|shares|order"):
            Chain(**wrong)
    assert content_hash.hash_value(Chain(top_p=0.9)) == content_hash.hash_value(Chain(top_p=0.9))
    assert content_hash.hash_value(Chain(top_p=0.9)) != content_hash.hash_value(Chain(top_p=0.8))


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2,
         (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
         (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    ],
)  # fmt: skip
def test_philox_matches_published_vectors(counter, key, answer):
    """kat_vectors of Random123, philox4x32 with 10 rounds."""
    result = philox(np.array([counter], np.uint32), key)[0]
    assert tuple(int(item) for item in result) == answer


def test_uniforms_are_uniform_and_prefix_stable():
    results = uniforms(7, 20_000)
    assert all(0 <= u < 1 for u in results)
    assert uniforms(7, 5) == results[:5]
    assert kstest(results, "uniform").pvalue > 1e-3
    assert len({uniforms(seed, 1) for seed in range(50)}) == 50
    assert uniforms(7, 5, stream=1) != results[:5]
    assert all(float(u * 2**32).is_integer() for u in results[:100])


def test_draws_match_filtered_distribution():
    scores = np.random.RandomState(2).normal(0, 1.5, 12)
    changed = Chain(temperature=1.3, top_p=0.95)(scores, [])
    expected = 100_000 * draw.probabilities(changed)
    samples = np.bincount(draw.draws(changed, uniforms(3, 100_000)), minlength=12)
    assert (samples[expected == 0] == 0).all()
    some = expected > 0
    assert chisquare(samples[some], expected[some]).pvalue > 1e-3
