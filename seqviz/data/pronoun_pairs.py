"""Winograd pairs: sentences that differ in one word, which decides the referent of “it”.

The first pair is Uszkoreit's (2017), the second Levesque et al.'s; the others were written for this
lesson. In each pair each of the two nouns is correct once, so a model that ignores the deciding
word is correct in half of the sentences.

References:
    Levesque, Davis and Morgenstern, 2012, The Winograd schema challenge.
    Uszkoreit, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

PRONOUN = "it"


@dataclass(frozen=True)
class PronounPair:
    """Pair of sentences with two candidate nouns for “it”.

    Attributes:
        first: first noun.
        second: second noun.
        frame: the sentence with a field for the deciding word.
        of_first: word with which “it” refers to the first noun.
        of_second: word with which “it” refers to the second noun.
    """

    first: str
    second: str
    frame: str
    of_first: str
    of_second: str

    @property
    def sentences(self) -> tuple[str, str]:
        """Sentences in which “it” refers to the first and to the second noun."""
        return self.frame.format(self.of_first), self.frame.format(self.of_second)


PAIRS = tuple(
    PronounPair(first, second, f"The {first} {rest}", *words)
    for first, second, rest, *words in (
        ("animal", "street", "did not cross the street because it was too {}.", "tired", "wide"),
        ("trophy", "suitcase", "did not fit in the suitcase because it was too {}.",
         "big", "small"),
        ("cat", "mouse", "caught the mouse because it was so {}.", "fast", "slow"),
        ("truck", "bridge", "could not cross the bridge because it was too {}.", "heavy", "weak"),
        ("dog", "bone", "did not eat the bone because it was too {}.", "sick", "hard"),
        ("ball", "window", "broke the window because it was so {}.", "heavy", "thin"),
        ("horse", "fence", "could not jump the fence because it was too {}.", "tired", "high"),
        ("piano", "door", "did not go through the door because it was too {}.", "wide", "narrow"),
        ("car", "garage", "did not fit in the garage because it was too {}.", "large", "small"),
        ("bird", "worm", "ate the worm because it was so {}.", "hungry", "tasty"),
        ("fox", "rabbit", "ate the rabbit because it was so {}.", "hungry", "delicious"),
        ("ship", "bridge", "did not pass under the bridge because it was too {}.", "tall", "low"),
        ("sofa", "room", "did not fit in the room because it was too {}.", "big", "tiny"),
        ("baby", "soup", "did not eat the soup because it was too {}.", "sleepy", "hot"),
        ("robot", "ladder", "could not climb the ladder because it was too {}.", "clumsy", "steep"),
        ("lion", "elephant", "did not attack the elephant because it was too {}.",
         "weak", "strong"),
        ("rope", "box", "did not hold the box because it was too {}.", "thin", "heavy"),
        ("plane", "island", "did not reach the island because it was too {}.", "slow", "far"),
        ("knife", "bread", "did not cut the bread because it was too {}.", "blunt", "hard"),
        ("horse", "water", "did not drink the water because it was too {}.", "nervous", "dirty"),
        ("cow", "grass", "did not eat the grass because it was too {}.", "sick", "dry"),
        ("monkey", "banana", "did not eat the banana because it was too {}.", "lazy", "green"),
        ("camera", "pocket", "did not fit in the pocket because it was too {}.", "bulky", "tight"),
        ("snake", "frog", "could not swallow the frog because it was too {}.", "young", "big"),
    )
)  # fmt: skip
