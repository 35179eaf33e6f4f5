"""What is hidden from the network: words one after the other, or tokens as BERT's training does.

Everything here works on token ids; which pieces a tokenizer makes is the caller's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.bert_accuracy.results import TREATMENTS, FillSettings

Seed = int | tuple[int, ...]

# The closed word classes of English (Quirk et al. 1985, section 2.34), plus what a tokenizer leaves
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
    """A sentence as BERT's training changes it; treatment: index into `TREATMENTS`, one a
    position."""

    ids: Int[np.ndarray, "token"]
    positions: Int[np.ndarray, "position"]
    treatment: Int[np.ndarray, "position"]


def words_of(pieces: Sequence[str], special: Bool[np.ndarray, "token"]) -> Int[np.ndarray, "token"]:
    """The number of the word that each piece belongs to, from 0; -1 for special tokens.

    A piece that starts with ## continues the word before it. Punctuation is a word of its own, so
    "don't" is three: don ' t. special: [CLS], [SEP], [PAD].
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
    """The words in letters: pieces of one word joined, without ##."""
    words = [""] * _words(word_of)
    for piece, word in zip(pieces, word_of, strict=True):
        if word >= 0:
            words[word] += piece.removeprefix("##") if words[word] else piece
    return tuple(words)


def turns(
    scores: Float[np.ndarray, "token"], word_of: Int[np.ndarray, "token"]
) -> Int[np.ndarray, "word"]:
    """When each word goes (0 is first) if the highest score goes first.

    A word's score is the sum of its pieces' scores; of equal words the left one goes first. Scores
    of special tokens do not count.
    """
    real = word_of >= 0
    totals = np.bincount(
        word_of[real], weights=scores[real].astype(float), minlength=_words(word_of)
    )
    return _turn(np.argsort(-totals, kind="stable"))


def random_turns(words: int, seed: Seed) -> Int[np.ndarray, "word"]:
    """When each word goes, every order being as likely. seed: (seed, sentence) keeps them apart."""
    return np.random.RandomState(seed).permutation(words)


def is_function(word: str) -> bool:
    """Is it of a closed class (`FUNCTION_WORDS`), or punctuation?"""
    return word.lower() in FUNCTION_WORDS or not any(sign.isalnum() for sign in word)


def content_first(words: Sequence[str], seed: Seed) -> Int[np.ndarray, "word"]:
    """When each word goes: first content words, then function words, at random within each."""
    function = np.array([is_function(word) for word in words], dtype=bool)
    return _turn(np.lexsort((random_turns(len(words), seed), function)))


def function_first(words: Sequence[str], seed: Seed) -> Int[np.ndarray, "word"]:
    """When each word goes: first function words, then content words, at random within each."""
    content = np.array([not is_function(word) for word in words], dtype=bool)
    return _turn(np.lexsort((random_turns(len(words), seed), content)))


def count(share: float, words: int) -> int:
    """How many of `words` a share of them is; a half rounds up.

    The small term makes 0.29 of 50 the 14.5 it is on paper (14.499999999999998 in float64).
    """
    return floor(share * words + 0.5 + 1e-9)


def masked(
    ids: Int[np.ndarray, "token"],
    word_of: Int[np.ndarray, "token"],
    turn: Int[np.ndarray, "word"],
    k: int,
    mask_id: int,
) -> Int[np.ndarray, "token"]:
    """The ids with all pieces of the first `k` words replaced by `mask_id`; special ones stay."""
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
    """BERT's corruption of one sentence (Devlin et al. 2019, section 3.1 and appendix A.1).

    Of the tokens that are not special, `settings.share` is selected, rounded to a whole number and
    at least one (none if the share is 0 or there are no tokens). Each selected token becomes
    `mask_id` with probability `settings.mask`, a random token with probability `settings.random`,
    and stays otherwise. The random token is one of `first`, ..., `vocabulary` - 1, the true one
    included: in BERT's vocabulary special and unused ids lie below 999.
    The places come in ascending order. With one seed a larger share keeps the places of a smaller
    one, and other shares of mask and random change only the tokens that they must.
    Raises ValueError when the shares are not in [0, 1] or mask and random exceed 1 together.
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
    """The ids without all pieces of the first `k` words: nothing in their place."""
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
    """From who goes at each turn to when each goes."""
    turn = np.empty(len(order), dtype=int)
    turn[order] = np.arange(len(order))
    return turn
