"""Cut texts and merges of small vocabularies, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.tokenization.bpe import Bpe
from seqviz.compute.text.tokenization.cut import Strips, characters, single_bytes, strips
from seqviz.compute.text.tokenization.merges import (
    Compression,
    LearnedMerges,
    WordSymbols,
    learn,
    tokens_after,
)
from seqviz.compute.text.tokenization.wordpiece import WordPiece
from seqviz.figures.text.tokenization.ladder import tried_prefixes
from seqviz.figures.text.tokenization.merges import bytes_per_token, pair_counts
from seqviz.figures.text.tokenization.special import special_ids
from seqviz.figures.text.tokenization.strips import cut_strips
from testing.figure_examples import Example

WORDS = {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}
VOCABULARY = {"[UNK]": 0, "a": 1, "##b": 2, "##bc": 3, "low": 4, "<": 5, ">": 6}


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    learned, piece = learn(WORDS, 9), WordPiece(VOCABULARY)
    strips = strips_of("low <b>é</b> %{x} 人工👨‍👩‍👧 abc", learned)
    long = strips_of("The lowest price is not the newest film. " * 4, learned)
    before = strips_of("the lowest", learned, ("bytes", "own"))
    after, all_done = learned.after(3), learned.after(9)
    curve, own = (
        compression_of(learned, WORDS, "trained"),
        compression_of(learned, {b"x": 1}, "own"),
    )
    payload = {"wordpiece": {"unknown": ("[UNK]", 100)}, "gpt2": {"end": ("<|endoftext|>", 50256)}}
    abc, longest = piece.prefix_lookups("abcb"), piece.prefix_lookups("a" * 30)
    return (
        Example("strips", cut_strips, (strips, "gpt2"), strips.of("gpt2").tokens),
        Example("strips, second part", cut_strips, (long, "bytes", 2), long.of("bytes").tokens),
        Example("special tokens", special_ids, (payload, ("unknown", "end")), 50256),
        Example("pair counts", pair_counts, (after, learned, before), int(after.counts[0])),
        Example("pair counts, none left", pair_counts, (all_done, learned, before), 9),
        Example("bytes per token", bytes_per_token, (curve, own, 9), float(curve.per_token[0, -1])),
        Example("prefixes", tried_prefixes, (abc, abc.lookups), abc.lookups),
        Example("prefixes, none yet", tried_prefixes, (abc, 0), 0),
        Example("prefixes, many", tried_prefixes, (longest, 25), 25),
    )


def strips_of(
    text: str,
    learned: LearnedMerges,
    names: tuple[str, ...] = ("characters", "bytes", "wordpiece", "gpt2"),
) -> Strips:
    """A text as small cutters cut it."""
    own = Bpe(learned.pairs).cut
    cutters = {
        "characters": characters, "bytes": single_bytes, "own": own, "gpt2": own,
        "wordpiece": WordPiece(VOCABULARY).cut,
    }  # fmt: skip
    return strips(text, [(name, cutters[name]) for name in names])


def compression_of(learned: LearnedMerges, words: dict[bytes, int], name: str) -> Compression:
    """Bytes for one token of these words."""
    positions = np.arange(0, len(learned.pairs) + 1, 3)
    start = WordSymbols(words)
    return Compression((name,), positions, np.array([start.tokens]),
                       np.array([tokens_after(start, learned, positions.tolist())]))  # fmt: skip
