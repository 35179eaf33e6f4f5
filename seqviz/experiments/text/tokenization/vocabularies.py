"""Data of the tokenizers: GPT-2's merges, a Chinese dictionary, and tokenizers of models.

A model's tokenizer is read from `tokenizer.json`, without loading its network.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from array import array
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from seqviz.compute.text.tokenization.bpe import Bpe, alphabet, byte_letters
from seqviz.compute.text.tokenization.dictionary import Dictionary
from seqviz.compute.text.tokenization.wordpiece import WordPiece
from seqviz.core.errors import damaged
from seqviz.core.paths import ASSETS
from seqviz.models import store
from seqviz.models.registry import DEFAULTS

FOLDER = ASSETS / "data"
_SHA256 = {
    "gpt2_merges": "5ec10828bccba092cd1b4e52dcd27ca5227ffc2c513c75dbe246d4909d6aa756",
    "words_zh": "9e4605cb2a93916975285efaef7e71e19773114cb8631415105a20afd31de37e",
}
TOKENIZER = "tokenizer.json"
# Roles of special tokens, and their names in transformers.
ROLES = {
    "unknown": "unk", "padding": "pad", "beginning": "bos", "end": "eos", "class": "cls",
    "separator": "sep", "hidden": "mask",
}  # fmt: skip
GPT2_SPECIAL = {"end": ("<|endoftext|>", 50256)}  # the only one, after all merges


def _read(name: str) -> bytes:
    """Return a bundled file; raise UserError("damaged") if its checksum differs."""
    path = FOLDER / f"{name}.xz"
    try:
        content = lzma.decompress(path.read_bytes())
    except (OSError, EOFError, lzma.LZMAError):
        content = b""
    if hashlib.sha256(content).hexdigest() != _SHA256[name]:
        raise damaged(path)
    return content


@cache
def gpt2() -> Bpe:
    """Return GPT-2's tokenizer: 50,257 ids; the last one, <|endoftext|>, is matched as a whole."""
    pairs = np.frombuffer(_read("gpt2_merges"), "<u2").reshape(2, -1).T.astype(np.int64)
    return Bpe(pairs, alphabet(), special=dict(GPT2_SPECIAL.values()))


@cache
def dictionary() -> Dictionary:
    """Return jieba's 35,000 most frequent words; counts are rounded to half powers of two."""
    lines = [line.split(" ") for line in _read("words_zh").decode("utf-16-le").split("\n")]
    return Dictionary({word: int(count) for count, *words in lines for word in words})


def has_tokenizer(model: str) -> bool:
    """Return True where a model's tokenizer is on this machine."""
    return store.stored(model) is not None


def _file(model: str, name: str) -> dict[str, Any]:
    """Return a JSON file of a model; raise UserError "not_fetched" or "damaged"."""
    result = store.stored(model) or store.verify(model)
    path = result.folder / name
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise damaged(path) from None
    return content


@cache
def wordpiece(model: str = DEFAULTS["encoder"]) -> WordPiece:
    """Return an encoder's tokenizer.

    Raises:
        UserError: "not_fetched"; "damaged" for an unexpected file.
    """
    read = _file(model, TOKENIZER)
    try:
        lower = read["normalizer"]["lowercase"]
        return WordPiece(read["model"]["vocab"], lower, tuple(_added(read)))
    except (KeyError, TypeError):
        raise damaged(Path(TOKENIZER)) from None


@cache
def decoder_bpe(model: str = DEFAULTS["decoder"]) -> Bpe:
    """Return a decoder's tokenizer, which works on bytes as GPT-2's.

    Raises:
        UserError: "not_fetched"; "damaged" for an unexpected file.
    """
    read = _file(model, TOKENIZER)
    try:
        vocabulary, merges = read["model"]["vocab"], read["model"]["merges"]
        digits = "Digits" in json.dumps(read["pre_tokenizer"])
        return _from_names(vocabulary, merges, digits, _added(read))
    except (KeyError, TypeError, ValueError):
        raise damaged(Path(TOKENIZER)) from None


def _added(read: dict[str, Any]) -> dict[str, int]:
    """Return the tokens, with their ids, that a tokenizer matches before it splits a text."""
    return {item["content"]: item["id"] for item in read["added_tokens"]}


def _from_names(
    vocabulary: dict[str, int], merges: list[Any], digits: bool, special: dict[str, int]
) -> Bpe:
    """Return a tokenizer from merges written as two strings in GPT-2's letters, such as "Ġ t"."""
    symbols = {letter: symbol for symbol, letter in enumerate(byte_letters())}
    pairs = np.zeros((len(merges), 2), np.int64)
    results = array("i")  # a list would be five times as large
    for rank, merge in enumerate(merges):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        pairs[rank] = symbols[left], symbols[right]
        results.append(symbols.setdefault(left + right, len(symbols)))
    ids = array("i", [vocabulary.get(name, -1) for name in symbols])
    return Bpe(pairs, alphabet(), results, ids, digits, special)


@cache  # reading the two files takes 25 ms, and the bench asks at each key of a typed text
def special(model: str) -> Mapping[str, tuple[str, int]]:
    """Return the special tokens of a model with their ids, by role (`ROLES`)."""
    payload = _file(model, "tokenizer_config.json")
    ids = _added(_file(model, TOKENIZER))
    result: dict[str, tuple[str, int]] = {}
    for role, key in ROLES.items():
        name = payload.get(f"{key}_token")
        name = name["content"] if isinstance(name, dict) else name
        if name in ids:
            result[role] = (str(name), ids[name])
    return result
