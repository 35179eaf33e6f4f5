"""Windows, vocabularies and permutations against closed forms and second implementations."""

from __future__ import annotations

import random as python
import re
from collections import Counter

import numpy as np
import pytest
import torch

from seqviz.compute.text.windows.carried import CONDITIONS, bits_of_windows, compare
from seqviz.compute.text.windows.cutting import WAYS, cut, random_windows, sequential_windows
from seqviz.compute.text.windows.permuted import moved_rows, permutation
from seqviz.compute.text.windows.vocabulary import (
    beside_indexing,
    cleaned,
    counted,
    counts,
    frequencies,
    one_hot,
    tokens,
    vocabulary,
)
from seqviz.core.errors import UserError
from seqviz.models.checkpoints import load
from tests.compute.torch_reference import layer


def d2l_random(corpus, batch_size, num_steps, offset, order):
    """seq_data_iter_random as it is printed, with its two draws given."""
    corpus = corpus[offset:]
    num_subseqs = (len(corpus) - 1) // num_steps
    initial_indices = [list(range(0, num_subseqs * num_steps, num_steps))[k] for k in order]
    for i in range(0, batch_size * (num_subseqs // batch_size), batch_size):
        per_batch = initial_indices[i : i + batch_size]
        yield ([corpus[j : j + num_steps] for j in per_batch],
               [corpus[j + 1 : j + 1 + num_steps] for j in per_batch])  # fmt: skip


def d2l_sequential(corpus, batch_size, num_steps, offset):
    """seq_data_iter_sequential as it is printed, with its draw given."""
    num_tokens = ((len(corpus) - offset - 1) // batch_size) * batch_size
    xs = torch.tensor(corpus[offset : offset + num_tokens]).reshape(batch_size, -1)
    ys = torch.tensor(corpus[offset + 1 : offset + 1 + num_tokens]).reshape(batch_size, -1)
    for i in range(0, num_steps * (xs.shape[1] // num_steps), num_steps):
        yield xs[:, i : i + num_steps].tolist(), ys[:, i : i + num_steps].tolist()


@pytest.mark.parametrize("seed", range(12))
def test_windows_match_d2l_code(seed):
    length, batch, steps = 35 + seed, 1 + seed % 4, 2 + seed % 5
    corpus = list(range(length))
    windows = random_windows(length, batch, steps, seed)
    state = np.random.RandomState(seed)
    offset = state.randint(0, steps)
    order = state.permutation((length - offset - 1) // steps)
    expected = list(d2l_random(corpus, batch, steps, offset, order))
    assert [(x.tolist(), y.tolist()) for x, y in zip(windows.x, windows.y, strict=True)] == expected
    windows = sequential_windows(length, batch, steps, seed)
    expected = list(d2l_sequential(corpus, batch, steps, windows.offset))
    assert [(x.tolist(), y.tolist()) for x, y in zip(windows.x, windows.y, strict=True)] == expected
    assert windows.continues.all()


def test_windows_draw_offsets_from_d2l_range():
    for make, last in ((random_windows, 4), (sequential_windows, 5)):
        offsets = {make(35, 2, 5, seed).offset for seed in range(200)}
        assert offsets == set(range(last + 1))


def test_random_windows_rarely_continue():
    """One of n - 1 others, n windows: of 10,000 about one in 199."""
    results = [random_windows(1001, 2, 5, seed).continued for seed in range(100)]
    assert np.mean([a / b for a, b in results]) == pytest.approx(1 / 199, rel=0.25)


@pytest.mark.parametrize("way", WAYS)
def test_cut_rejects_short_text_at_any_offset(way):
    with pytest.raises(UserError) as raised:
        cut(way, 8, 2, 5, 0)
    assert raised.value.code == "short_for_windows"
    for length in range(int(raised.value.details["needed"]), 40):
        for seed in range(20):
            assert cut(way, length, 2, 5, seed).y.max() < length


def test_cleaned_and_tokens_match_d2l_code():
    for line in (
        "The Time Machine, by H. G. Wells [1898]",
        " A-b\tc! 人工智能 é",
        "",
        "\x00\ud800",
    ):
        assert cleaned(line) == re.sub("[^A-Za-z]+", " ", line).strip().lower()
    assert tokens("the time machine", "word") == ["the", "time", "machine"]
    assert tokens("a b", "character") == ["a", " ", "b"]
    assert cleaned("人工智能") == ""


def test_counts_returns_letters_signs_and_words():
    """The text prints these counts as 22."""
    result = counts("This course is interesting")
    assert (result.letters, result.signs, result.words) == (23, 26, 4)


class D2lVocab:
    """Vocab as it is printed."""

    def __init__(self, flat, min_freq=0, reserved_tokens=()):
        freqs = sorted(Counter(flat).items(), key=lambda x: x[1], reverse=True)
        self.idx_to_token = ["<unk>", *reserved_tokens]
        self.token_to_idx = {token: idx for idx, token in enumerate(self.idx_to_token)}
        for token, freq in freqs:
            if freq < min_freq:
                break
            if token not in self.token_to_idx:
                self.idx_to_token.append(token)
                self.token_to_idx[token] = len(self.idx_to_token) - 1

    def __getitem__(self, read):
        return [self.token_to_idx.get(token, 0) for token in read]


@pytest.mark.parametrize(
    ("min_freq", "reserved"), [(0, ()), (1, ("<pad>", "b")), (3, ()), (99, ())]
)
def test_vocabulary_matches_d2l_code(min_freq, reserved):
    draw = python.Random(min_freq)
    lines = ["".join(draw.choice("aaaabbbcc d") for _ in range(30)) for _ in range(5)]
    ours = vocabulary(counted(lines, "character", clean=False), min_freq, reserved)
    theirs = D2lVocab([item for line in lines for item in line], min_freq, reserved)
    assert list(ours.names) == theirs.idx_to_token
    read = list("abcdz")
    assert ours.ids(read).tolist() == theirs[read]


def test_frequencies_unknown_share_matches_zero_ids():
    text, held = ["a a a b b c", "d"], ["a b c d e f", "a a"]
    result = frequencies(counted(text, "word"), counted(held, "word"))
    for min_freq in (1, 2, 3, 4):
        existing = vocabulary(counted(text, "word"), min_freq)
        assert len(existing) == result.size(min_freq) == len(result.vocabulary(min_freq))
        assert existing.names == result.vocabulary(min_freq).names
        for lines, share in ((text, result.unknown), (held, result.unknown_held)):
            ids = existing.ids(" ".join(lines).split())
            assert share(min_freq) == pytest.approx((ids == 0).mean())
    with pytest.raises(ValueError, match="without tokens"):
        frequencies(Counter(), Counter("a"))


def test_one_hot_matches_torch_and_equals_row_lookup():
    ids = np.array([3, 0, 3, 7])
    expected = torch.nn.functional.one_hot(torch.from_numpy(ids), 9).float().numpy()
    np.testing.assert_array_equal(one_hot(ids, 9), expected)
    lookup_comparison = beside_indexing(np.random.RandomState(1).randint(0, 400, 300), 400, 64, 0)
    np.testing.assert_array_equal(lookup_comparison.product, lookup_comparison.indexed)
    assert lookup_comparison.difference == 0
    assert beside_indexing(ids, 9, 2, 0).cosine(1, 2) == 0
    assert beside_indexing(ids, 9, 2, 0).cosine(1, 3) == 1


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_permutation_moves_requested_share(share):
    new = permutation(1000, share, 3)
    assert sorted(new) == list(range(1000))
    assert (new != np.arange(1000)).sum() == round(1000 * share)
    table = np.random.RandomState(0).normal(size=(1000, 4))
    np.testing.assert_array_equal(table[moved_rows(new)][new], table)


@pytest.fixture(scope="module")
def gru():
    return load("characters_gru")


def test_bits_of_windows_with_carried_state_match_full_text(gru):
    """Against torch's GRU, the text in one piece for each row."""
    ids = np.random.RandomState(0).randint(1, len(gru.symbols), 201)
    values = bits_of_windows(gru, ids, 100 * np.arange(2) + 20 * np.arange(5)[:, None], 20, True)
    theirs = layer(gru.weights)
    for row in range(2):
        part = ids[100 * row : 100 * row + 101]
        with torch.no_grad():
            states = theirs(torch.from_numpy(gru.embedding[part[:-1]]))[0]
            scores = states @ torch.from_numpy(gru.head.T) + torch.from_numpy(gru.head_bias)
            loss = torch.nn.functional.cross_entropy(
                scores, torch.from_numpy(part[1:]), reduction="none"
            )
        np.testing.assert_allclose(values[:, row].ravel(), loss.numpy() / np.log(2), atol=1e-4)


def test_compare_conditions_cover_same_characters(gru):
    text = "the film is slow and the music is wonderful. " * 8
    anchor = {symbol: k for k, symbol in enumerate(gru.symbols)}
    ids = np.array([anchor[item] for item in text])
    result = compare(gru, ids, (5, 20), 4, 0)
    assert result.characters == 320
    sequential, random, reset = (result.bits[:, CONDITIONS.index(c)] for c in CONDITIONS)
    # in order, windows of any length are one and the same reading
    np.testing.assert_allclose(sequential[0], sequential[1], atol=1e-5)
    assert (random.mean(-1) > sequential.mean(-1)).all()
    assert (reset.mean(-1) > sequential.mean(-1)).all()
    for length in (5, 20):
        for condition in CONDITIONS:
            bits = result.mean(length, condition)
            assert result.by_place(length, condition).mean() == pytest.approx(bits.mean, rel=1e-5)
            assert bits.low < bits.mean < bits.high
            assert (bits.n, bits.source) == (4, "stretches")
    # by hand: each window alone, from a state of zero
    starts = (80 * np.arange(4) + 5 * np.arange(16)[:, None]).reshape(-1, 1)
    alone = bits_of_windows(gru, ids, starts, 5, False)
    assert alone.mean() == pytest.approx(result.mean(5, "reset").mean, rel=1e-5)
    with pytest.raises(ValueError, match="divide"):
        compare(gru, ids, (6, 20), 4, 0)
    with pytest.raises(ValueError, match="need"):
        compare(gru, ids[:30], (5, 20), 4, 0)
