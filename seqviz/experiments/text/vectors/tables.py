"""Tables of word vectors by name, and a user's words in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import islice

import numpy as np
from jaxtyping import Float

from seqviz.compute.letters import STAND_IN, plain_marks
from seqviz.compute.text.vectors.table import WordTable
from seqviz.core.errors import UserError
from seqviz.data import word_lists
from seqviz.models import texts
from seqviz.models.pretrained import load

TABLES = ("bundled", "glove", "minilm")
MAX_LIST_WORDS = 60  # words of a user's list
_WORD = re.compile(
    rf"[\u4e00-\u9fff]{STAND_IN}*|[^\W_\u4e00-\u9fff]+(?:['’-][^\W_\u4e00-\u9fff]+)*"
)
_SPACED = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_WHOLE = re.compile(r"[a-z]{2,}")  # pieces of MiniLM's vocabulary that are answers


def words_of(text: texts.TokenizerText, maximum: int = MAX_LIST_WORDS) -> tuple[str, ...]:
    """Return the different words of a text in lower case, in its order.

    Args:
        text: the text.
        maximum: number of words to which it is truncated.

    Raises:
        UserError: "no_word" if there is none.
    """
    result: dict[str, None] = {}
    for word in _words(_SPACED, text):
        result[word] = None
        if len(result) == maximum:
            break
    if not result:
        raise UserError("no_word", "There is no word to look up yet: write one or two.")
    return tuple(result)


def in_a_row(text: texts.TokenizerText, maximum: int = MAX_LIST_WORDS) -> tuple[str, ...]:
    """Return the words of a text with repetitions; a Chinese character is a word.

    Args:
        text: the text.
        maximum: number of words to which it is truncated.

    Raises:
        UserError: "few_words" if there are fewer than two.
    """
    result = tuple(islice(_words(_WORD, text), maximum))
    if len(result) < 2:
        raise UserError("few_words", "Write at least 2 words that are known here.", least=2)
    return result


def _words(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the matches of a pattern in lower case; marks belong to the letter before them."""
    text = unicodedata.normalize("NFC", text)
    for match in pattern.finditer("".join(plain_marks(text))):
        yield text[slice(*match.span())].lower()


@cache
def table(name: str) -> WordTable:
    """Return one of `TABLES`; MiniLM's has the full vocabulary, with whole words as answers.

    Raises:
        ValueError: unknown name.
        UserError: errors of `load`.
    """
    if name == "bundled":
        retained = word_lists.bundled()
        every = np.ones(len(retained.words), bool)
        return WordTable(retained.words, retained.vectors.astype(np.float32), retained.mean, every)
    if name == "glove":
        rows = load(name).network
        vectors = rows.vectors.astype(np.float32)
        every = np.ones(len(rows.words), bool)
        return WordTable(rows.words, vectors, vectors.mean(0, dtype=float), every)
    if name == "minilm":
        model = load(name)
        vectors = model.network.get_input_embeddings().weight.detach().cpu().numpy()
        with model.lock:
            words = tuple(model.tokenizer.convert_ids_to_tokens(list(range(len(vectors)))))
        may = np.array([bool(_WHOLE.fullmatch(word)) for word in words])
        return WordTable(words, vectors, vectors[may].mean(0, dtype=float), may)
    raise ValueError(f"The table is one of {', '.join(TABLES)}, not {name!r}.")


def vector(name: str, word: str) -> tuple[Float[np.ndarray, "dimension"], int] | None:
    """Return a word's vector, and the number of pieces of which it is the mean.

    MiniLM's table also has pieces of words: a word outside its vocabulary gets the mean of its
    pieces.

    Args:
        name: name of the table, of `TABLES`.
        word: the word.

    Returns:
        Vector and number; None if the table has no vector.
    """
    existing = table(name)
    if word in existing.index:
        return existing.vectors[existing.index[word]].astype(float), 1
    if name != "minilm":
        return None
    model = load(name)
    with model.lock:
        ids = model.tokenizer(word, add_special_tokens=False, verbose=False)["input_ids"]
        unknown = model.tokenizer.unk_token_id
    if not ids or unknown in ids:
        return None
    return existing.vectors[ids].astype(float).mean(0), len(ids)


def needed(name: str, word: str) -> Float[np.ndarray, "dimension"]:
    """Return the vector of a word.

    Args:
        name: name of the table, of `TABLES`.
        word: the word.

    Raises:
        UserError: "unknown_word" if there is none.
    """
    result = vector(name, word)
    if result is None:
        raise UserError("unknown_word", f"The table has no vector for “{word}”.", word=word)
    return result[0]
