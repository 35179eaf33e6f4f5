"""Word segmentation by a dictionary: the most probable path through all its words.

As in jieba 0.42.1 with `HMM=False`: the score of a word is the logarithm of its share of all
counts, the score of a path their sum, and the best path is found from the end (Viterbi).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from seqviz.compute.text.tokenization.cut import Tokenization, encoded, one_after_another

_WORDS = re.compile(r"([\u4E00-\u9FD5a-zA-Z0-9+#&\._%\-]+)")
_SPACES = re.compile(r"(\r\n|\s)")
_LETTER = re.compile(r"[a-zA-Z0-9]")


class Dictionary:
    """Segmenter with a dictionary.

    Args:
        counts: frequency of each word.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.log = {word: math.log(count) for word, count in counts.items()}
        self._total = math.log(sum(counts.values()))
        self._longest: dict[str, int] = {}  # length of the longest word by first character
        for word in counts:
            self._longest[word[0]] = max(len(word), self._longest.get(word[0], 1))

    def words(self, text: str) -> Iterator[str]:
        """Yield the words of a text; concatenated they are the text."""
        for block in _WORDS.split(text):
            if _WORDS.match(block):
                yield from self._way(block)
            else:
                for part in _SPACES.split(block):
                    yield from ([part] if _SPACES.match(part) else part)

    def _way(self, block: str) -> Iterator[str]:
        """Yield the likeliest words of a block; letters and digits outside words stay together."""
        count, log = len(block), self.log
        best = [0.0] * (count + 1)
        ends = [0] * count
        for index in range(count - 1, -1, -1):
            furthest = min(count, index + self._longest.get(block[index], 1))
            results = [
                (log[block[index:end]] - self._total + best[end], end)
                for end in range(index + 1, furthest + 1)
                if block[index:end] in log
            ]
            # A character outside the dictionary has the count 1.
            best[index], ends[index] = max(results) if results else (best[index + 1] - self._total,
                                                                 index + 1)  # fmt: skip
        index, letters = 0, ""
        while index < count:
            word = block[index : ends[index]]
            index = ends[index]
            if len(word) == 1 and _LETTER.match(word):
                letters += word
                continue
            if letters:
                yield letters
                letters = ""
            yield word
        if letters:
            yield letters

    def cut(self, text: str) -> Tokenization:
        """Tokenize a text into words; ids are -1, because the dictionary has none."""
        words = list(self.words(text))
        return one_after_another(words, [-1] * len(words), [len(encoded(word)) for word in words],
                                 text)  # fmt: skip
