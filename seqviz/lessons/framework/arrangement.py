"""`arrange`: one sentence stands under a figure, and the others are folded.

In sight are the figure, the first sentence, targets, captions, notices and what belongs to a
passage or table. The rest of the first note and all further notes are folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from seqviz.lessons.framework.output import Hidden, Item, Note

# The end of a sentence. A mark after a backslash, or before a closing quote, is a reader's own.
_END = re.compile(r"(?<!\\)(?:[.!?][)*]*\s+(?![a-z])|[。！？][）*]*\s*)")
_BOLD_LEAD = re.compile(r"\*\*[^*]+\*\*\s*")
_PAIRS = (("“", "”"), ("(", ")"), ("（", "）"), ("[", "]"))


def first_sentence(markdown: str) -> tuple[str, str]:
    """Split a note after its first sentence; bold words before that are no sentence.

    Args:
        markdown: the note.

    Returns:
        The first sentence and the rest, which is empty where the note has one sentence.
    """
    for end in _END.finditer(markdown):
        head = markdown[: end.end()]
        is_open = any(head.count(left) != head.count(right) for left, right in _PAIRS)
        if is_open or head.count("**") % 2 or _BOLD_LEAD.fullmatch(head):
            continue
        return head.rstrip(), markdown[end.end() :]
    return markdown, ""


@dataclass
class Arrangement:
    """Division of the items of one output, in their order, into those in sight and those folded.

    Attributes:
        has_sentence: True where the sentence in sight has come.
    """

    has_sentence: bool = False

    def split(self, item: Item) -> tuple[Item | None, Item | None]:
        """Return what of an item is in sight, and what is folded."""
        if item == Hidden():  # gray bars in place of sentences
            is_first, self.has_sentence = not self.has_sentence, True
            return (item, None) if is_first else (None, None)
        if not isinstance(item, Note) or item.kind != "note" or "$$" in item.sentence:
            return item, None
        if self.has_sentence:
            return None, item
        self.has_sentence = True
        first, rest = first_sentence(item.sentence)
        return replace(item, sentence=first), replace(item, sentence=rest) if rest else None


def arrange(items: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """Split the items of an output into those in sight and those that are folded.

    Args:
        items: in the order in which the bench has shown them.

    Returns:
        Both in that order, without the metrics' fold, which depends on the page.
    """
    arrangement = Arrangement()
    pairs = [arrangement.split(item) for item in items]
    return (
        [item for item, _ in pairs if item is not None],
        [item for _, item in pairs if item is not None],
    )
