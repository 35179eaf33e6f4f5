"""Input corruption: masking or deleting words in an order, and BERT's masked tokens.

All functions work on token ids, of any tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.bert_accuracy.results import TREATMENTS, FillSettings

Seed = int | tuple[int, ...]

# The closed word classes of English (Quirk et al. 1985, section 2.34), plus a tokenizer's pieces
# of contractions. Among them are the negations "no", "not" and "n't", but not "never", an adverb.
# Words are told apart by their letters alone: "like" is a preposition here, even as a verb.
_CLOSED = """
    a an the this that these those some any no every each either neither both all half such what
    whatever which whichever another other others enough more most much many few fewer less least
    several
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves one ones oneself
    who whom whose whoever someone somebody something anyone anybody anything everyone everybody
    everything none nobody nothing
    about above across after against along amid among around as at before behind below beneath
    beside besides between beyond by despite down during except for from in inside into like near
    of off on onto out outside over past per since through throughout to toward towards under
    underneath unlike until up upon via with within without
    and or but nor so yet if unless because although though while whereas whether than when
    whenever where wherever why how
    am is are was were be been being do does did doing have has had having can could may might
    must shall should will would ought cannot
    not there
    s t d m n ll re ve o don didn doesn isn aren wasn weren hasn haven hadn couldn shouldn wouldn
    mustn mightn needn ain
"""
FUNCTION_WORDS = frozenset(_CLOSED.split())


class Corrupted(NamedTuple):
    """A sentence after BERT's corruption.

    Attributes:
        ids: token ids after it.
        positions: the selected positions, ascending.
        treatment: index into `TREATMENTS` of each of them.
    """

    ids: Int[np.ndarray, "token"]
    positions: Int[np.ndarray, "position"]
    treatment: Int[np.ndarray, "position"]


def words_of(pieces: Sequence[str], special: Bool[np.ndarray, "token"]) -> Int[np.ndarray, "token"]:
    """Return the number, from 0, of the word that each piece belongs to; -1 for special tokens.

    A piece that starts with ## continues the word before it. Punctuation is a separate word, so
    "don't" is three: don ' t.

    Args:
        pieces: the tokens.
        special: True for [CLS], [SEP], [PAD].
    """
    word_ids = np.full(len(pieces), -1)
    words = 0
    for index, piece in enumerate(pieces):
        if special[index]:
            continue
        words += not (piece.startswith("##") and index > 0 and word_ids[index - 1] >= 0)
        word_ids[index] = words - 1
    return word_ids


def written(pieces: Sequence[str], word_of: Int[np.ndarray, "token"]) -> tuple[str, ...]:
    """Return the words in letters: pieces of one word joined, without ##.

    Args:
        pieces: the tokens.
        word_of: word of each piece, as from `words_of`.
    """
    words = [""] * _words(word_of)
    for piece, word in zip(pieces, word_of, strict=True):
        if word >= 0:
            words[word] += piece.removeprefix("##") if words[word] else piece
    return tuple(words)


def turns(
    scores: Float[np.ndarray, "token"], word_of: Int[np.ndarray, "token"]
) -> Int[np.ndarray, "word"]:
    """Return the rank of each word in descending order of score, 0 for the first.

    A word's score is the sum of its pieces' scores; of equal words the left one comes first.

    Args:
        scores: score of each piece; those of special tokens do not count.
        word_of: word of each piece, as from `words_of`.
    """
    real = word_of >= 0
    totals = np.bincount(
        word_of[real], weights=scores[real].astype(float), minlength=_words(word_of)
    )
    return _turn(np.argsort(-totals, kind="stable"))


def random_turns(words: int, seed: Seed) -> Int[np.ndarray, "word"]:
    """Return the rank of each word in a uniformly random order.

    Args:
        words: number of words.
        seed: seed of the order; (seed, sentence) for an independent order per sentence.
    """
    return np.random.RandomState(seed).permutation(words)


def is_function(word: str) -> bool:
    """Return True for a word of a closed class (`FUNCTION_WORDS`) or punctuation."""
    return word.lower() in FUNCTION_WORDS or not any(sign.isalnum() for sign in word)


def content_first(words: Sequence[str], seed: Seed) -> Int[np.ndarray, "word"]:
    """Return the rank of each word: content words, then function words, at random within each.

    Args:
        words: the words in letters.
        seed: as in `random_turns`.
    """
    function = np.array([is_function(word) for word in words], dtype=bool)
    return _turn(np.lexsort((random_turns(len(words), seed), function)))


def function_first(words: Sequence[str], seed: Seed) -> Int[np.ndarray, "word"]:
    """Return the rank of each word: function words, then content words, at random within each.

    Args:
        words: the words in letters.
        seed: as in `random_turns`.
    """
    content = np.array([not is_function(word) for word in words], dtype=bool)
    return _turn(np.lexsort((random_turns(len(words), seed), content)))


def count(share: float, words: int) -> int:
    """Return the number of words in a share of them; a half rounds up.

    The small term makes 0.29 of 50 the 14.5 it is on paper (14.499999999999998 in float64).

    Args:
        share: share of the words.
        words: number of all words.
    """
    return floor(share * words + 0.5 + 1e-9)


def masked(
    ids: Int[np.ndarray, "token"],
    word_of: Int[np.ndarray, "token"],
    turn: Int[np.ndarray, "word"],
    k: int,
    mask_id: int,
) -> Int[np.ndarray, "token"]:
    """Return the ids with all pieces of the first `k` words replaced by `mask_id`.

    Args:
        ids: token ids.
        word_of: word of each piece, as from `words_of`.
        turn: rank of each word.
        k: number of words to replace.
        mask_id: id of [MASK].
    """
    gone = np.append(turn < k, False)[word_of]  # word -1 finds the False at the end
    return np.where(gone, mask_id, ids)


def select(
    ids: Int[np.ndarray, "token"],
    special: Bool[np.ndarray, "token"],
    settings: FillSettings,
    vocabulary: int,
    seed: Seed,
    mask_id: int = 103,
    first: int = 999,
) -> Corrupted:
    """Apply BERT's corruption to one sentence.

    Of the tokens that are not special, `settings.share` is selected, rounded to a whole number and
    at least one (none if the share is 0 or there are no tokens). Each selected token becomes
    `mask_id` with probability `settings.mask`, a random token with probability `settings.random`,
    and stays otherwise. With one seed a larger share keeps the places of a smaller one, and other
    shares of mask and random change only the tokens that they must.

    Args:
        ids: token ids.
        special: True for special tokens.
        settings: the shares.
        vocabulary: size of the vocabulary.
        seed: seed of selection and tokens.
        mask_id: id of [MASK].
        first: smallest id of a random token, which is one of `first`, ..., `vocabulary` - 1, the
            true one included: in BERT's vocabulary special and unused ids lie below 999.

    Raises:
        ValueError: the shares are not in [0, 1], or mask and random exceed 1 together.

    References:
        Devlin et al. (2019), section 3.1 and appendix A.1.
    """
    _check(settings)
    random = np.random.RandomState(seed)
    order = random.permutation(len(ids))
    draws = random.rand(len(ids))
    others = random.randint(first, vocabulary, size=len(ids))

    real = order[~special[order]]
    number = max(1, round(settings.share * len(real))) if settings.share else 0
    positions = np.sort(real[:number])
    edges = np.array([settings.mask, settings.mask + settings.random])
    treatment = np.searchsorted(edges, draws[positions], side="right")
    changed = ids.copy()
    changed[positions] = np.choose(
        treatment, [np.full(len(positions), mask_id), others[positions], ids[positions]]
    )
    return Corrupted(changed, positions, treatment)


def deleted(
    ids: Int[np.ndarray, "token"],
    word_of: Int[np.ndarray, "token"],
    turn: Int[np.ndarray, "word"],
    k: int,
) -> Int[np.ndarray, "kept"]:
    """Return the ids without all pieces of the first `k` words, with nothing in their place.

    Args:
        ids: token ids.
        word_of: word of each piece, as from `words_of`.
        turn: rank of each word.
        k: number of words to delete.
    """
    retained: np.ndarray = ids[~np.append(turn < k, False)[word_of]]
    return retained


def _check(settings: FillSettings) -> None:
    if not 0 <= settings.share <= 1:
        raise ValueError(f"The selected share must lie between 0 and 1, not be {settings.share}.")
    retained = 1 - settings.mask - settings.random
    if settings.mask < 0 or settings.random < 0 or retained < -1e-9:
        shares = f"{settings.mask} and {settings.random}"
        raise ValueError(
            f"The shares of {TREATMENTS[:2]} must be 0 or more, together at most 1, not {shares}."
        )


def _words(word_of: np.ndarray) -> int:
    return int(word_of.max(initial=-1)) + 1


def _turn(order: np.ndarray) -> np.ndarray:
    """Return the rank of each item from the items in order."""
    turn = np.empty(len(order), dtype=int)
    turn[order] = np.arange(len(order))
    return turn
