"""Merges that are counted anew only where they change are those of a recount at every merge."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from seqviz.compute.text.tokenization.bpe import Bpe, byte_letters, pattern, written
from seqviz.compute.text.tokenization.merges import (
    WordSymbols,
    applied,
    learn,
    tokens_after,
    word_counts,
)


def recounted(counts: dict[bytes, int], maximum: int) -> list[tuple[int, int]]:
    """minBPE's training: all pairs are counted at every merge, `max` takes the first of equals."""
    words = [(list(word), count) for word, count in counts.items()]
    pairs = []
    while len(pairs) < maximum:
        result: dict[tuple[int, int], int] = {}
        for word, count in words:
            for pair in itertools.pairwise(word):
                result[pair] = result.get(pair, 0) + count
        if not result or max(result.values()) < 2:
            break
        pair = max(result, key=lambda item: result[item])
        words = [(merged(word, pair, 256 + len(pairs)), count) for word, count in words]
        pairs.append(pair)
    return pairs


def merged(word: list[int], pair: tuple[int, int], symbol: int) -> list[int]:
    created, position = [], 0
    while position < len(word):
        if tuple(word[position : position + 2]) == pair:
            created.append(symbol)
            position += 2
        else:
            created.append(word[position])
            position += 1
    return created


def by_rank(word: bytes, pairs: list[tuple[int, int]]) -> list[int]:
    """minBPE's encoding: all places of the pair that was learned first are merged, and again."""
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    symbols = list(word)
    while len(symbols) > 1:
        result = set(itertools.pairwise(symbols)) & ranks.keys()
        if not result:
            break
        pair = min(result, key=lambda item: ranks[item])
        symbols = merged(symbols, pair, 256 + ranks[pair])
    return symbols


def corpora() -> list[dict[bytes, int]]:
    draws = random.Random(0)
    words = ["".join(draws.choices("ab", k=draws.randint(1, 12))) for _ in range(40)]
    texts = [
        "aaaa aaa aa aaaaaaa",
        "the cat sat on the mat that the rat ate " * 2,
        "é人人人工 " * 3,
    ]
    return [
        {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3},
        word_counts(words),
        *(word_counts(pattern().findall(text)) for text in texts),
        {},
    ]


@pytest.mark.parametrize("counts", corpora(), ids=range(6))
def test_learn_matches_full_recount(counts):
    result = learn(counts, 60)
    assert [tuple(pair) for pair in result.pairs.tolist()] == recounted(counts, 60)
    assert (np.diff(result.counts) <= 0).all() or not len(result.counts)


def test_learn_matches_example_of_sennrich_et_al():
    result = learn({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 4)
    assert [result.spelled[256 + k] for k in range(4)] == [b"es", b"est", b"lo", b"low"]
    assert result.counts.tolist() == [9, 9, 7, 7]


def test_bpe_matches_example_of_minbpe():
    result = learn({b"aaabdaaabac": 1}, 3)
    assert Bpe(result.pairs).cut("aaabdaaabac").ids.tolist() == [258, 100, 258, 97, 99]


def test_bpe_encodes_by_rank_not_left_to_right():
    pairs = [(98, 99), (97, 98)]  # "bc" before "ab"
    bpe = Bpe(np.array(pairs))
    assert bpe.word(b"abc") == (97, 256)
    assert bpe.word(b"abab") == (257, 257)


def test_bpe_matches_minbpe_encoding():
    draws = random.Random(1)
    counts = corpora()[1]
    learned = learn(counts, 40)
    encoder, pairs = Bpe(learned.pairs), [tuple(pair) for pair in learned.pairs.tolist()]
    for _ in range(300):
        word = "".join(draws.choices("abc", k=draws.randint(1, 30))).encode()
        assert list(encoder.word(word)) == by_rank(word, pairs)


def test_applied_matches_encoded_words():
    counts = corpora()[3]
    learned = learn(counts, 30)
    for merges in (0, 1, 7, len(learned.pairs)):
        encoder = Bpe(learned.pairs[:merges])
        tokens = sum(len(encoder.word(word)) * count for word, count in counts.items())
        assert applied(WordSymbols(counts), learned.pairs[:merges]).tokens == tokens
    half = applied(WordSymbols(counts), learned.pairs[:7])
    assert applied(half, learned.pairs[:20]).tokens == learned.after(20).tokens
    assert tokens_after(WordSymbols(counts), learned, (0, 7, 20))[1] == half.tokens


@pytest.mark.parametrize("counts", corpora(), ids=range(6))
def test_learn_after_matches_direct_pair_counts(counts):
    learned = learn(counts, 20)
    size = sum(len(word) * count for word, count in counts.items())
    assert bool(size) == bool(learned.tokens[0])
    for merges in range(len(learned.pairs) + 1 if size else 0):
        encoder, pairs = Bpe(learned.pairs[:merges]), Counter()
        for word, count in counts.items():
            symbols = encoder.word(word)
            for pair in itertools.pairwise(symbols):
                pairs[pair] += count
        result = learned.after(merges)
        assert result.tokens == sum(len(encoder.word(w)) * count for w, count in counts.items())
        assert result.per_token == pytest.approx(size / result.tokens)
        assert result.saved == pytest.approx(1 - result.tokens / size)
        assert result.counts.tolist() == sorted(pairs.values(), reverse=True)[: len(result.counts)]
        assert len(result.counts) == min(10, len(pairs))
        for pair, count in zip(result.pairs.tolist(), result.counts.tolist(), strict=True):
            assert pairs[tuple(pair)] == count
        assert result.equal == sum(count == max(pairs.values()) for count in pairs.values())
        if merges < len(learned.pairs):
            assert result.pairs[0].tolist() == learned.pairs[merges].tolist()
            assert result.counts[0] == learned.counts[merges]


def test_learn_keeps_merges_within_words():
    result = learn(word_counts([" ab", " ab", " cd", " cd"]), 10)
    assert set(result.spelled[256:]) == {b" a", b" ab", b" c", b" cd"}


def test_bpe_round_trips_very_long_word():
    """No square of the length: 20,000 letters without a space."""
    bpe = Bpe(learn({b"abab" * 9: 2}, 8).pairs)
    assert bpe.cut("ab" * 10_000).back == "ab" * 10_000


def test_pattern_matches_gpt2():
    assert pattern().findall("I'll  go, won't you? x2 人工  \n") == [
        "I", "'ll", " ", " go", ",", " won", "'t", " you", "?", " x", "2", " 人工", "  \n",
    ]  # fmt: skip
    assert byte_letters()["Ġ"] == 32
    assert byte_letters()["Ċ"] == 10


@pytest.mark.parametrize(
    ("piece", "shown"), [(b" a", "␣a"), (b"\n", "⏎"), (b"\xe4\xba", "E4 BA"), (b" \xe4", "␣E4")]
)
def test_written_renders_readable_pieces(piece, shown):
    assert written(piece) == shown
