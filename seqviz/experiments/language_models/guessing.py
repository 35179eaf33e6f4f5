"""Shannon's guessing game on held-out sentences: its sentences, and guesses of n-gram models."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gates.encoding import END
from seqviz.compute.language_models.guessing import GuessRanks
from seqviz.compute.language_models.ngrams import ORDER
from seqviz.experiments.language_models.corpora import END_ID, bundled, corpus, model

KEYS = "abcdefghijklmnopqrstuvwxyz ,.'" + END  # what may be guessed; capital letters are small ones
SENTENCES = (
    "The film is one of the year's best.", "The script is smart, not cloying.",
    "One of the funnier movies in town.", "Hardly a film that comes along every day.",
    "He was making nothing of it.", "Too simple for its own good.",
)  # fmt: skip
SMOOTHING = "modified_kneser_ney"


def sentence_index(number: int) -> int:
    """Return the place of a sentence among the held-out ones.

    Args:
        number: number of the sentence, from 1.
    """
    return bundled("en")[1].index(SENTENCES[number - 1])


def characters(number: int) -> str:
    """Return the characters to guess: the sentence in small letters, and its end.

    Args:
        number: number of the sentence, from 1.
    """
    return SENTENCES[number - 1].lower() + END


def reader_guesses(record: str, number: int) -> GuessRanks | None:
    """Return the guesses of a finished game; None for any other record.

    Args:
        record: the number of the sentence and a rank for each character, separated by spaces.
        number: number of the sentence that is shown.
    """
    try:
        sentence, *ranks = map(int, record.split())
    except ValueError:
        return None
    allowed = all(1 <= rank <= len(KEYS) for rank in ranks)
    if sentence != number or len(ranks) != len(characters(number)) or not allowed:
        return None
    return GuessRanks(np.array(ranks))


def model_guesses(number: int, n: int = ORDER) -> GuessRanks:
    """Return the guesses of an n-gram model that tries the likeliest character first.

    Args:
        number: number of the sentence, from 1.
        n: n of the model.
    """
    letters, counted = corpus("en", "letters"), model("en", "letters", SMOOTHING, n)
    names = np.array([name.lower() for name in letters.vocabulary.names])
    before, ranks = [END_ID], []
    for written in SENTENCES[number - 1] + END:
        p = counted.distribution(before)
        p_keys = np.array([p[names == key].sum() for key in KEYS])
        ranks.append(1 + int((p_keys > p_keys[KEYS.index(written.lower())]).sum()))
        before.append(int(letters.vocabulary.ids([written])[0]))
    return GuessRanks(np.array(ranks))
