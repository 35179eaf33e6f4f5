"""Words of a text without spaces: the likeliest way through all words of a dictionary.

As jieba 0.42.1 cuts with `HMM=False`: each word has the logarithm of its share of all counts, a
way through the text the sum of these, and the best way is found from the end (Viterbi).
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
    """counts: how often each word was seen."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.log = {word: math.log(count) for word, count in counts.items()}
        self._total = math.log(sum(counts.values()))
        self._longest: dict[str, int] = {}  # word that begins with this character
        for word in counts:
            self._longest[word[0]] = max(len(word), self._longest.get(word[0], 1))

    def words(self, text: str) -> Iterator[str]:
        """The words of a text; put together they are the text."""
        for block in _WORDS.split(text):
            if _WORDS.match(block):
                yield from self._way(block)
            else:
                for part in _SPACES.split(block):
                    yield from ([part] if _SPACES.match(part) else part)

    def _way(self, block: str) -> Iterator[str]:
        """The likeliest words of a block; letters and digits that are no word stay together."""
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
            # A character that is no word counts as seen once.
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
        """A text in words; their ids are left open, as the dictionary has counts and no ids."""
        words = list(self.words(text))
        return one_after_another(words, [-1] * len(words), [len(encoded(word)) for word in words],
                                 text)  # fmt: skip
