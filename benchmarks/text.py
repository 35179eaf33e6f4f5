"""Learning BPE merges: incremental counts against recounts; speed of tokenization.

`python -m benchmarks.text` learns 1,000 merges from all bundled sentences. minBPE, for comparison,
counts all pairs of all words and replaces the most frequent one. As that takes minutes, it is timed
at a few merges (`--recounts`), each from the words as the same merges have left them, and must find
the same pair; between them its time is interpolated linearly. `vectorized` is the same recount by
numpy on distinct words, with their counts. Then texts of 200 characters are tokenized in seven
ways, each text a new one.
"""

from __future__ import annotations

import random
import statistics

import numpy as np

from benchmarks.report import Report, options, timed
from seqviz.compute.text.tokenization.bpe import Bpe, pattern
from seqviz.compute.text.tokenization.merges import (
    LearnedMerges,
    WordSymbols,
    applied,
    learn,
    word_counts,
)
from seqviz.data.reviews import editorials, movie_reviews
from seqviz.experiments.text.tokenization import cutters

MERGES, CHARACTERS, TEXTS = 1000, 200, 100
AT_MOST, AT_LEAST = {"merges_s": 5.0, "cut_ms": 5.0}, {"merges_speedup": 50.0}
CHINESE = "人工智能与机器学习这门课真有意思注意力就是你所需要的全部语言模型预测下一个词"


def most_frequent(words: list[tuple[int, ...]]) -> tuple[int, int]:
    """Return the most frequent pair by minBPE's count of all pairs, the first of equal ones."""
    counts: dict[tuple[int, int], int] = {}
    for word in words:
        for pair in zip(word, word[1:]):  # noqa: B905, RUF007 - as minBPE writes it
            counts[pair] = counts.get(pair, 0) + 1
    return max(counts, key=lambda pair: counts[pair])


def replaced(word: tuple[int, ...], pair: tuple[int, int], symbol: int) -> list[int]:
    """Return a word after minBPE's merge of a pair."""
    result, position = [], 0
    while position < len(word):
        if word[position] == pair[0] and position < len(word) - 1 and word[position + 1] == pair[1]:
            result.append(symbol)
            position += 2
        else:
            result.append(word[position])
            position += 1
    return result


def recount(words: list[str], learned: LearnedMerges, merges: int) -> float:
    """Return the seconds of minBPE's next merge after `merges`; raise if it is another merge."""
    encoder = Bpe(learned.pairs[:merges])
    pieces = [encoder.word(word.encode()) for word in words]
    pairs: list[tuple[int, int]] = []

    def step() -> None:
        pairs.append(most_frequent(pieces))
        for piece in pieces:
            replaced(piece, pairs[0], 256 + merges)

    seconds = timed(step)
    if merges < len(learned.pairs) and pairs[0] != tuple(learned.pairs[merges].tolist()):
        raise SystemExit(f"Merge {merges} is {pairs[0]} by a recount.")
    return seconds


def vectorized(start: WordSymbols, learned: LearnedMerges) -> float:
    """Return the seconds of a recount by numpy at every merge."""
    positions = np.linspace(0, len(learned.pairs), 6).astype(int)
    states = [applied(start, learned.pairs[:position]) for position in positions.tolist()]
    item = [statistics.median(timed(state.counts) for _ in range(5)) for state in states]
    full = timed(lambda: applied(start, learned.pairs))
    return full + float(np.trapezoid(item, positions))


def cut(make: str, learned: LearnedMerges) -> list[float]:
    """Return the ms of each of some texts, English or Chinese, tokenized in seven ways."""
    draws = random.Random(0)
    english = " ".join(movie_reviews().texts[-2000:])
    names = cutters.available_cutters()
    results = []
    for _ in range(TEXTS + 5):
        begin = draws.randrange(len(english) - CHARACTERS)
        text = english[begin : begin + CHARACTERS]
        if make == "chinese":
            text = "".join(draws.choices(CHINESE, k=CHARACTERS))
        results.append(
            1000 * timed(lambda text=text: cutters.cut_by_all(text, names, learned, 300))  # type: ignore[misc]
        )
    return results[5:]


def main() -> None:
    given = options(__doc__, recounts=(6, "number of merges at which minBPE is timed"))
    sentences = [*movie_reviews().texts, *editorials().texts]
    words = [word for text in sentences for word in pattern().findall(text)]
    counts = word_counts(words)
    runs: list[LearnedMerges] = []
    seconds = min(timed(lambda: runs.append(learn(counts, MERGES))) for _ in range(2))
    learned = runs[-1]
    positions = np.linspace(0, MERGES - 1, given.recounts).astype(int)
    naive = [recount(words, learned, position) for position in positions.tolist()]
    full = float(np.trapezoid(naive, positions)) * MERGES / (MERGES - 1)
    by_numpy = vectorized(WordSymbols(counts), learned)
    cuts = {name: cut(name, learned) for name in ("english", "chinese")}
    report = Report(
        "text",
        bytes=sum(len(text.encode()) for text in sentences),
        merges=len(learned.pairs),
        merges_s=round(seconds, 3),
        recount_s=round(full, 1),
        merges_speedup=round(full / seconds, 1),
        vectorized_recount_s=round(by_numpy, 3),
        vectorized_speedup=round(by_numpy / seconds, 2),
        cutters=len(cutters.available_cutters()),
        cut_english_ms=round(statistics.median(cuts["english"]), 2),
        cut_ms=round(max(statistics.median(cut) for cut in cuts.values()), 2),
        cut_p95_ms=round(max(float(np.percentile(cut, 95)) for cut in cuts.values()), 2),
        goals=AT_MOST | AT_LEAST,
    )
    report.finish(AT_MOST, AT_LEAST)


if __name__ == "__main__":
    main()
