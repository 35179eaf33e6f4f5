"""Examples of figures of tokens, windows and word vectors."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.tokenization.bpe import Bpe
from seqviz.compute.text.tokenization.cut import Strips, characters, single_bytes, strips
from seqviz.compute.text.tokenization.merges import Compression, LearnedMerges, learn
from seqviz.compute.text.tokenization.wordpiece import WordPiece
from seqviz.compute.text.vectors.learned import Nearest
from seqviz.compute.text.vectors.senses import SensePairs
from seqviz.compute.text.vectors.table import Ranked
from seqviz.compute.text.vectors.windows import training_pairs
from seqviz.compute.text.windows.carried import Carried
from seqviz.compute.text.windows.cutting import random_windows, sequential_windows
from seqviz.compute.text.windows.permuted import ByShare
from seqviz.compute.text.windows.vocabulary import beside_indexing, counted, frequencies, vocabulary
from seqviz.figures.text.tokenization import ladder, merges, special
from seqviz.figures.text.tokenization.strips import cut_strips
from seqviz.figures.text.vectors import map as maps
from seqviz.figures.text.vectors import neighbors, reading
from seqviz.figures.text.windows import carried, cutting, ids
from seqviz.figures.text.windows import counted as counts
from testing.fake import fake
from testing.figure_examples import Example, fake_example

TEXT = "a <b>bold</b> line of text: windows"
PIECES = ("[CLS]", "a", "<b>", "film", "[SEP]")
WORDS = ("boy", "man", "<b>woman</b>", "prince", "queen", "king")
VOCABULARY = {"[UNK]": 0, "a": 1, "##b": 2, "##bc": 3, "low": 4, "<": 5, ">": 6}
CUTTERS = ("characters", "bytes", "wordpiece", "gpt2")


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    return (*_of_tokens(), *_of_vectors(), *_of_windows())


def _of_tokens() -> tuple[Example, ...]:
    learned, piece = (
        learn({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 9),
        WordPiece(VOCABULARY),
    )
    short = strips_of("low <b>é</b> %{x} 人工👨‍👩‍👧 abc", learned)
    long = strips_of("The lowest price is not the newest film. " * 4, learned)
    before = strips_of("the lowest", learned, ("bytes", "own"))
    after, all_done = learned.after(3), learned.after(9)
    merged = {"merges": np.arange(0, 10, 3), "sizes": np.array([40])}
    own = fake(Compression, 1, texts=("own",), **merged)
    payload = {"wordpiece": {"unknown": ("[UNK]", 100)}, "gpt2": {"end": ("<|endoftext|>", 50256)}}
    abc, longest = piece.prefix_lookups("abcb"), piece.prefix_lookups("a" * 30)
    return (
        Example("strips", cut_strips, (short, "gpt2"), short.of("gpt2").tokens),
        Example("strips, second part", cut_strips, (long, "bytes", 2), long.of("bytes").tokens),
        Example("special tokens", special.special_ids, (payload, ("unknown", "end")), 50256),
        Example("pair counts", merges.pair_counts, (after, learned, before), int(after.counts[0])),
        Example("pair counts, none left", merges.pair_counts, (all_done, learned, before), 9),
        fake_example("bytes per token", merges.bytes_per_token,
                     lambda curve: curve.per_token[0, -1], own, 9, texts=("trained",), **merged),
        Example("prefixes", ladder.tried_prefixes, (abc, abc.lookups), abc.lookups),
        Example("prefixes, none yet", ladder.tried_prefixes, (abc, 0), 0),
        Example("prefixes, many", ladder.tried_prefixes, (longest, 25), 25),
    )  # fmt: skip


def strips_of(text: str, learned: LearnedMerges, names: tuple[str, ...] = CUTTERS) -> Strips:
    """Return a text as cut by small tokenizers."""
    own = Bpe(learned.pairs).cut
    cutters = {
        "characters": characters, "bytes": single_bytes, "own": own, "gpt2": own,
        "wordpiece": WordPiece(VOCABULARY).cut,
    }  # fmt: skip
    return strips(text, [(name, cutters[name]) for name in names])


def _of_vectors() -> tuple[Example, ...]:
    ends = (("man", WORDS[2]), ("man", "king"))
    near = fake(Ranked, query=("king",), words=("queen", "prince"), rank=2)
    pairs, skip = fake(SensePairs, level=8, pair=6), training_pairs(WORDS, 2, "skipgram")
    return (
        *(
            fake_example(f"map, {name}", maps.word_map, lambda result: result.coordinates[0, 0],
                         words=WORDS, projection=projection, ends=ends if name == "axes" else ())
            for name, projection in (("axes", "axes"), ("components", "pca"), ("scaled", "mds"))
        ),
        Example("nearest words", maps.nearest_words, (near,), near.top),
        fake_example("analogy", maps.analogy_words, "top", near,
                     query=("king", "man", "woman"), words=("king", "queen", "throne"), rank=3),
        fake_example("analogies", maps.analogies_by_class, "questions",
                     classes=("family", "currency"), kind=np.repeat([0, 1], 6), way=3),
        fake_example("word by layer", reading.word_by_layer, "last", pairs, level=8),
        Example("senses by layer", reading.senses_by_layer, (pairs,), pairs.pairs),
        fake_example("two windows", neighbors.two_windows, 10,
                     fake(Nearest, 1, window=10, words=("one", "man"), rank=2), rank=3),
        fake_example("substitutes", neighbors.substitutes_by_window, "items", method=2),
        Example("words while they are learned", neighbors.words_so_far,
                (np.array([2.5, 2.25]), fake(Nearest, window=10, rank=3)), 2.25),
        Example("pairs, skip-gram", neighbors.drawn_pairs, (skip, 4), len(skip.pairs)),
        Example("pairs, CBOW", neighbors.drawn_pairs, (training_pairs(WORDS, 2, "cbow"), 1), 6),
    )  # fmt: skip


def _of_windows() -> tuple[Example, ...]:
    ordered, random = (cut(len(TEXT), 2, 5, 1) for cut in (sequential_windows, random_windows))
    words = frequencies(counted([TEXT, "a line"], "word"), counted(["a text"], "word"))
    existing, pieces = vocabulary(counted([TEXT], "character", False)), list(TEXT[:12])
    hot = beside_indexing(existing.ids(pieces), len(existing), 4, 0)
    bits = fake(Carried, lengths=np.array([5, 50]), condition=3, step=50)
    bits.by_position[0, :, 5:] = np.nan  # a short window ends there
    share = fake(
        ByShare, shares=np.array([0.1, 0.5, 1]), case=3, sentences=9, trained=9, permutation=10
    )
    return (
        fake_example("vocabulary", ids.vocabulary_window, "neighbors", row=5, name=5,
                     nearest_name=5),
        fake_example("permuted", ids.permuted_sentence, lambda result: result.cosine[1], share,
                     0.5, pieces=PIECES, token=5, case=3, reads=(PIECES,) * 3),
        Example("permuted so far", ids.permuted_so_far, ((0.2, 0.4),), 40),
        Example("windows in order", cutting.windows_of_text, (ordered, TEXT), ordered.starts.size),
        Example("windows at random", cutting.windows_of_text, (random, TEXT), random.offset),
        Example("carried", carried.bits_by_window, (bits, 5), bits.mean(5, "random").mean),
        Example("carried, long windows", carried.bits_by_window, (bits, 50),
                bits.mean(50, "random").mean),
        Example("carried so far", carried.carried_so_far, ((0.2, 0.4),), 40),
        Example("frequencies", counts.frequencies_by_rank, (words, 2), words.size(2)),
        Example("one-hot", counts.one_hot_rows, (hot, pieces, existing.names, 3), len(existing)),
    )  # fmt: skip
