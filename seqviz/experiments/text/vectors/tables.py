"""Tables of word vectors by their names, and a student's words in them."""

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
MAX_LIST_WORDS = 60  # words of a student's list
_WORD = re.compile(
    rf"[\u4e00-\u9fff]{STAND_IN}*|[^\W_\u4e00-\u9fff]+(?:['’-][^\W_\u4e00-\u9fff]+)*"
)
_SPACED = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_WHOLE = re.compile(r"[a-z]{2,}")  # pieces of MiniLM's vocabulary that are answers


def words_of(text: texts.TokenizerText, maximum: int = MAX_LIST_WORDS) -> tuple[str, ...]:
    """The different words of a text in lower case, in its order; of a longer text the first.

    Raises UserError("no_word") where there is none.
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
    """The first words of a text with all repetitions; a Chinese character is a word.

    Raises UserError("few_words") where there are less than two.
    """
    result = tuple(islice(_words(_WORD, text), maximum))
    if len(result) < 2:
        raise UserError("few_words", "Write at least 2 words that are known here.", least=2)
    return result


def _words(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """What a pattern finds in a text, in lower case; marks belong to the letter before them."""
    text = unicodedata.normalize("NFC", text)
    for match in pattern.finditer("".join(plain_marks(text))):
        yield text[slice(*match.span())].lower()


@cache
def table(name: str) -> WordTable:
    """One of `TABLES`; of MiniLM's the whole vocabulary, of which whole words may be answers.

    Raises ValueError for another name, and what `load` raises.
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
    """A word's vector and of how many pieces it is the mean; None where the table has none.

    MiniLM's table has pieces of words as well: of a word that is none of its words the mean of the
    pieces is taken.
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
    """As `vector`; raises UserError("unknown_word") where there is none."""
    result = vector(name, word)
    if result is None:
        raise UserError("unknown_word", f"The table has no vector for “{word}”.", word=word)
    return result[0]
