"""One pass over a text: the model's own numbers, shared by all who ask, kept within bounds."""

from __future__ import annotations

import dataclasses
import threading
import time
from functools import partial
from operator import attrgetter

import numpy as np
import pytest

from seqviz.compute.attention import masks
from seqviz.core.errors import UserError
from seqviz.jobs import CancelledError
from seqviz.models import forward_cache, texts
from seqviz.models.forward_cache import OWN, Masking, forward, read
from tests.models.hub import together
from tests.models.reference_model import eager, passed

SENTENCE = "AI and ML course is interesting and easy!"
OTHER = "This course is interesting"
MASKINGS = (
    Masking("none"),
    Masking("causal"),
    Masking("reverse"),
    Masking("diagonal"),
    Masking("own", pads=3),
    Masking("own", pads=3, is_declared=False),
    Masking("diagonal", pads=2, is_declared=False),
    Masking("own", cells=((0, 3), (4, 1), (2, 2))),
)
# float32 sums of the same numbers in the same order
SAME = {"rtol": 0, "atol": 1e-6}


@pytest.fixture(params=["minilm", "shallow"])
def model(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def shelf(monkeypatch):
    """Nothing is in memory."""
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    monkeypatch.delenv("SEQVIZ_FORWARD_CACHE_MB", raising=False)


@pytest.fixture
def passes(shelf, monkeypatch):
    """The texts of all forward passes made so far; each takes a moment."""
    built = []

    def counted(pretrained, tokens, *args):
        built.append(tokens.pieces)
        time.sleep(0.05)
        return forward(pretrained, tokens, *args)

    monkeypatch.setattr(forward_cache, "forward", counted)
    return built


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
@pytest.mark.parametrize("text", [SENTENCE, "a", "שלום 😀 </script>", "cat " * 60])
def test_read_matches_model_attention_and_vectors(name, request, shelf, text):
    model = request.getfixturevalue(name)
    result = read(model.card.name, text)
    weights, vectors, output = passed(eager(model), result.tokens)
    np.testing.assert_allclose(result.weights, weights, **SAME)
    np.testing.assert_allclose(result.vectors, vectors, 1e-6, 1e-6)  # states are some tens
    count, card = len(result.tokens.ids), model.card
    assert result.weights.shape == (card.layers, card.heads, count, count)
    assert result.weights.dtype == result.vectors.dtype == np.float32
    # float32 rows: 6e-8 for each of at most 150 terms, of which few are large
    np.testing.assert_allclose(result.weights.sum(-1, dtype=float), 1, 0, 1e-6)
    if card.kind == "encoder":
        assert result.following.size == 0
        assert result.allowed.all()
        return
    logits = output.logits[0, -1].double().numpy()
    expected = np.exp(logits - logits.max())
    np.testing.assert_allclose(result.following, expected / expected.sum(), 1e-5, 1e-12)
    np.testing.assert_array_equal(result.allowed, np.tri(count, dtype=bool))
    assert not result.weights[:, :, ~result.allowed].any()


def test_read_matches_model_for_pair_and_512_tokens(minilm, shelf):
    for text, other in ((SENTENCE, OTHER), ("cat sat " * 300, "dog")):
        result = read("minilm", text, other)
        weights, vectors, _ = passed(eager(minilm), result.tokens)
        np.testing.assert_allclose(result.weights, weights, **SAME)
        np.testing.assert_allclose(result.vectors, vectors, **SAME)
    assert result.weights.shape == (6, 12, 512, 512)


def test_read_sentence_vector_is_mean_of_real_tokens(minilm, shelf):
    result = read("minilm", SENTENCE, masking=Masking(pads=3))
    mean = result.vectors[:11].astype(float).mean(0)
    np.testing.assert_allclose(result.sentence, mean / np.sqrt(mean @ mean), 1e-12)


@pytest.mark.parametrize("masking", MASKINGS, ids=str)
def test_read_masking_matches_model_under_same_mask(model, shelf, masking):
    result = read(model.card.name, SENTENCE, masking=masking)
    decoder = model.card.kind == "decoder"
    real = np.arange(len(result.tokens.ids)) < len(result.tokens.ids) - masking.pads
    expected = masks.allowed(real, masking.kind, decoder, masking.is_declared, masking.cells)
    np.testing.assert_array_equal(result.allowed, expected)
    weights, vectors, output = passed(eager(model), result.tokens, expected)
    # A query that may look nowhere looks everywhere alike in the library, and nowhere here.
    seeing = expected.any(1)
    np.testing.assert_allclose(result.weights[:, :, seeing], weights[:, :, seeing], **SAME)
    np.testing.assert_allclose(result.vectors[seeing], vectors[seeing], 1e-6, 1e-6)
    assert not result.weights[:, :, ~expected].any()
    plain = read(model.card.name, SENTENCE)
    changed = np.abs(result.vectors[: len(plain.vectors)] - plain.vectors).max() > 1e-3
    same = masking == Masking("own", pads=3) or (
        masking.kind == "own" and not masking.cells and decoder
    )
    same |= masking.kind == ("causal" if decoder else "none")
    assert changed != same
    if decoder:
        last = int(real.sum()) - 1
        chosen = output.logits[0, last].double().softmax(-1).numpy()
        np.testing.assert_allclose(result.following, chosen, 1e-4, 1e-10)


def test_read_ignores_padding_only_if_declared(minilm, shelf):
    plain = read("minilm", SENTENCE)
    payload = read("minilm", SENTENCE, masking=Masking(pads=4))
    # the same numbers in sums of another length
    np.testing.assert_allclose(payload.vectors[:11], plain.vectors, 1e-5, 1e-5)
    assert plain.sentence @ payload.sentence == pytest.approx(1, abs=1e-9)
    untold = read("minilm", SENTENCE, masking=Masking(pads=4, is_declared=False))
    assert plain.sentence @ untold.sentence < 0.999


def test_read_stays_finite_for_fully_masked_query(model, shelf):
    blind = Masking("diagonal", cells=tuple((2, key) for key in range(40) if key != 2))
    result = read(model.card.name, SENTENCE, masking=blind)
    assert not result.weights[:, :, 2].any()
    assert np.isfinite(result.vectors).all()


def test_read_limits_padding(minilm, shelf):
    result = read("minilm", "a", masking=Masking(pads=10**9))
    assert len(result.tokens.ids) == 3 + forward_cache.MOST_PADS


def test_read_rejects_empty_text_for_decoder(smollm2, shelf):
    with pytest.raises(UserError) as caught:
        read("smollm2", "")
    assert caught.value.code == "empty_text"
    assert not forward_cache.is_cached("smollm2", "")
    assert read("minilm", "").tokens.pieces == ("[CLS]", "[SEP]")


# --- memory ---------------------------------------------------------------------------------------


def test_read_returns_read_only_arrays(model, shelf):
    for masking in (OWN, Masking("none", pads=2)):
        result = read(model.card.name, SENTENCE, masking=masking)
        t = result.tokens
        arrays = [getattr(result, name) for name in
                  ("weights", "vectors", "following", "allowed")]  # fmt: skip
        for array in [*arrays, t.ids, t.segments, t.special, t.real]:
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_read_shares_one_pass_between_threads(minilm, passes):
    results = []
    together(*[lambda: results.append(read("minilm", SENTENCE))] * 8)
    assert len(results) == 8
    assert len({id(item) for item in results}) == 1
    assert len(passes) == 1
    assert read("minilm", SENTENCE) is results[0]
    assert len(passes) == 1


def test_read_runs_one_pass_per_distinct_request(minilm, smollm2, passes):
    request = [
        ("minilm", SENTENCE, "", OWN),
        ("minilm", SENTENCE, OTHER, OWN),
        ("minilm", OTHER, SENTENCE, OWN),
        ("minilm", SENTENCE, "", Masking("none")),
        ("minilm", SENTENCE, "", Masking("none", is_declared=False)),
        ("smollm2", SENTENCE, "", OWN),
    ]
    assert not any(forward_cache.is_cached(*item) for item in request)
    results = [read(*item) for item in request]
    assert len({id(item) for item in results}) == len(passes) == len(request)
    assert all(forward_cache.is_cached(*item) for item in request)
    assert [read(*item) for item in request] == results
    assert len(passes) == len(request)


def bytes_of(result):
    """All arrays of a pass but the tokens."""
    arrays = (getattr(result, field.name) for field in dataclasses.fields(result))
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


def test_cache_counts_all_arrays(minilm):
    result = read("minilm", "cat")
    assert forward_cache._bytes([result, result]) == 2 * bytes_of(result)


def test_cache_evicts_least_recently_used(minilm, passes, monkeypatch):
    words = ("cat", "dog", "sun")
    item = bytes_of(read("minilm", words[0]))
    monkeypatch.setenv("SEQVIZ_FORWARD_CACHE_MB", str(2.5 * item / 1e6))
    read("minilm", words[1])
    read("minilm", words[0])  # now the dog is the one that was not asked for longest
    read("minilm", words[2])
    assert [forward_cache.is_cached("minilm", word) for word in words] == [True, False, True]
    assert len(passes) == 3
    read("minilm", words[1])
    assert len(passes) == 4
    assert [forward_cache.is_cached("minilm", word) for word in words] == [False, True, True]


def test_cache_keeps_one_reading_at_zero_size(minilm, passes, monkeypatch):
    monkeypatch.setenv("SEQVIZ_FORWARD_CACHE_MB", "0")
    for word in ("cat", "dog"):
        read("minilm", word)
        assert forward_cache.is_cached("minilm", word)
    assert not forward_cache.is_cached("minilm", "cat")


def test_cache_uses_default_size_for_empty_setting(minilm, passes, monkeypatch):
    monkeypatch.setenv("SEQVIZ_FORWARD_CACHE_MB", "")
    for word in ("cat", "dog", "sun"):
        read("minilm", word)
    assert forward_cache.is_cached("minilm", "cat")


# --- a pass that is given up ----------------------------------------------------------------------


def test_read_reports_each_layer_once(model, shelf):
    observed = []
    read(model.card.name, SENTENCE, each=observed.append)
    assert observed == list(range(1, model.card.layers + 1))
    read(model.card.name, SENTENCE, each=observed.append)
    assert len(observed) == model.card.layers  # from memory


def test_read_leaves_no_entry_after_cancel(model, shelf):
    expected = forward(model, texts.tokens(model, SENTENCE))

    def stop(layer):
        if layer == 2:
            raise CancelledError

    with pytest.raises(CancelledError):
        read(model.card.name, SENTENCE, each=stop)
    assert not forward_cache.is_cached(model.card.name, SENTENCE)
    assert forward_cache._shelf._working == {}
    result = read(model.card.name, SENTENCE)
    np.testing.assert_array_equal(result.weights, expected.weights)


def test_read_takes_over_cancelled_pass_in_waiting_thread(minilm, passes):
    barrier, result = threading.Barrier(2), []

    def stop(layer):
        barrier.wait(30)
        time.sleep(0.1)  # the other has come to wait
        raise CancelledError

    def impatient():
        with pytest.raises(CancelledError):
            read("minilm", SENTENCE, each=stop)

    def patient():
        barrier.wait(30)
        result.append(read("minilm", SENTENCE))

    together(impatient, patient)
    assert len(result) == 1
    assert len(passes) == 2


def test_evict_idle_drops_large_reading(passes, monkeypatch, minilm):
    """An evicted reading is computed again on the next request; small ones stay."""
    small, large = read("minilm", OTHER), read("minilm", SENTENCE)
    between = (small.weights.nbytes + large.weights.nbytes) // 2
    monkeypatch.setattr(forward_cache, "LARGE", between)
    assert forward_cache.evict_idle() == 0  # it was asked for just now
    monkeypatch.setattr(forward_cache, "RESTS", 0.0)
    assert forward_cache.evict_idle() > large.weights.nbytes
    assert not forward_cache.is_cached("minilm", SENTENCE)
    assert read("minilm", OTHER) is small
    assert np.array_equal(read("minilm", SENTENCE).weights, large.weights)
    assert len(passes) == 3


# --- weights that stay on another machine ---------------------------------------------------------


def test_read_fetches_only_requested_parts_of_remote_reading(minilm, passes, monkeypatch):
    """Until that machine is away: then the text is read here, once."""
    there = {}

    def elsewhere(model, tokens, masking, each, what):
        key = tuple(tokens.ids), masking
        there[key] = there.get(key) or forward(minilm, tokens, masking)
        return what(there[key])

    monkeypatch.setattr(forward_cache, "remote_forward", elsewhere)
    small, large = read("minilm", OTHER), forward(minilm, texts.tokens(minilm, SENTENCE))
    monkeypatch.setattr(forward_cache, "LARGE", small.weights.nbytes + 1)
    assert not small.far
    assert not large.far
    result = read("minilm", SENTENCE)
    assert result.far
    assert result.weights.shape == (6, 12, 0, 0)
    assert forward_cache.is_cached("minilm", SENTENCE)
    for part in ("norms", "vectors", "following", "allowed", "sentence"):
        assert np.array_equal(getattr(result, part), getattr(large, part))
    every = partial(forward_cache.derived, attrgetter("weights"), "minilm", SENTENCE)
    assert np.array_equal(every(), large.weights)
    assert read("minilm", SENTENCE) is result
    assert np.array_equal(forward_cache.derived(attrgetter("weights"), "minilm", OTHER),
                          small.weights)  # fmt: skip
    assert not passes
    monkeypatch.setattr(forward_cache, "remote_forward", lambda *_: None)
    assert np.array_equal(every(), large.weights)
    assert not read("minilm", SENTENCE).far
    assert np.array_equal(every(), large.weights)
    assert len(passes) == 1
