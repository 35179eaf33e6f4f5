"""Tokenization of a student's text, and the display form of tokens.

A parameter that takes such a text declares it (`ReadBy`), together with the function that counts
the tokens to charge for. Entry point: `tokens`.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.core.errors import UserError
from seqviz.core.units import Fraction
from seqviz.models.pretrained import Pretrained, load, loaded

MAX_TEXT_TOKENS = 512  # tokens of one text; the number of tokens left out is reported
_CHARACTERS = 20_000  # characters of a text that are used; over 512 tokens in any language
_VISIBLE = str.maketrans({" ": "␣", "\n": "⏎", "\t": "⇥"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def tokens(model: Pretrained, text: ModelText, other: ModelText = "", pads: int = 0) -> Tokens:
    """Return the tokens of a text, or of a pair for an encoder.

    Args:
        model: the model.
        text: the text.
        other: second text of a pair; ignored for a decoder.
        pads: number of padding tokens to append.

    Raises:
        UserError: "empty_text" if a decoder has no token to read.
    """
    encoder = model.card.kind == "encoder"
    longest = min(
        MAX_TEXT_TOKENS, getattr(model.network.config, "max_position_embeddings", MAX_TEXT_TOKENS)
    )
    other = other if encoder else ""
    unseen = max(len(text), len(other)) > _CHARACTERS
    text, other = _clean(text), _clean(other)
    request = {"return_special_tokens_mask": True, "return_token_type_ids": True}
    with model.lock:
        read = cut = model.tokenizer(text, other or None, verbose=False, **request)
        if len(read["input_ids"]) > longest:
            cut = model.tokenizer(
                text, other or None, truncation="longest_first", max_length=longest, **request
            )
        ids = list(cut["input_ids"])
        if not ids:
            raise UserError("empty_text", "There is nothing to read yet: write a word or two.")
        pad = model.tokenizer.pad_token_id
        pad = model.tokenizer.eos_token_id if pad is None else pad
        pads = min(pads, longest - len(ids))
        kinds = list(cut.get("token_type_ids") or [0] * len(ids))
        pieces = _pieces(model.tokenizer, [*ids, *[pad] * pads])
    special = np.array([*cut["special_tokens_mask"], *[1] * pads], bool)
    stranger = None if _by_bytes(model.tokenizer) else model.tokenizer.unk_token_id
    return Tokens(
        pieces=pieces,
        ids=np.array([*ids, *[pad] * pads]),
        segments=np.array([*kinds, *[0] * pads]),
        special=special,
        real=np.arange(len(ids) + pads) < len(ids),
        left_out=max(len(read["input_ids"]) - len(ids), int(unseen)),
        unknown=sum(token == stranger for token in ids if stranger is not None),
    )


def unknown_tokens(model: str, text: ModelText, other: ModelText = "") -> Fraction:
    """Return the number of a text's tokens outside the vocabulary, and the number of all.

    Tokens that the tokenizer adds are not counted. Errors of `load` and `tokens` are passed on.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
    """
    read = tokens(load(model), text, other)
    return read.unknown, read.n_text_tokens


def piece(model: Pretrained, token: int) -> str:
    """Return the display form of one token of the vocabulary.

    Args:
        model: the model.
        token: token id.
    """
    with model.lock:
        return _pieces(model.tokenizer, [token])[0]


def spelled(model: Pretrained, ids: Sequence[int]) -> str:
    """Return the text that tokens spell; incomplete UTF-8 sequences are written as ‹E4 BD›.

    Special tokens are written as their names; control characters, except line ends and tabs, as
    bytes.

    Args:
        model: the model.
        ids: token ids.
    """
    with model.lock:
        names = model.tokenizer.convert_ids_to_tokens([int(item) for item in ids])
        special = set(model.tokenizer.all_special_ids)
        if not _by_bytes(model.tokenizer):
            return str(model.tokenizer.convert_tokens_to_string(names))
    raw = b"".join(
        name.encode() if int(token) in special else bytes(_byte_of()[letter] for letter in name)
        for token, name in zip(ids, names, strict=True)
    )
    text = raw.decode("utf-8", "seqviz.bytes")
    return _UNSEEN.sub(lambda result: f"‹{ord(result[0]):02X}›", text)


def tokens_read(model: Pretrained | str, text: str) -> int:
    """Return the number of a text's tokens that a model reads; an estimate if it is not loaded.

    Args:
        model: the model, or its name.
        text: the text.
    """
    if isinstance(model, str):
        if not loaded(model):
            return estimate(text)
        model = load(model)
    try:
        return len(tokens(model, text).ids)
    except UserError:  # an empty text
        return 0


def estimate(text: str) -> int:
    """Return an estimated number of tokens read of a text, without a tokenizer.

    Four ASCII characters count as one token, and so does any other character (Chinese).
    """
    plain = sum(character.isascii() for character in text)
    return min(MAX_TEXT_TOKENS, math.ceil(plain / 4) + len(text) - plain)


def _shown_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    part = error.object[error.start : error.end]
    return f"‹{part.hex(' ').upper()}›", error.end


codecs.register_error("seqviz.bytes", _shown_bytes)


@dataclass(frozen=True)
class ReadBy:
    """Annotation of a parameter that takes a student's text, or several.

    Attributes:
        reader: name of the parameter that says which model reads the text.
        count: returns the number of tokens read, given the reader's argument and a text; by default
            that of a pretrained model.
    """

    reader: str = "model"
    count: Callable[[Any, str], int] = tokens_read


ModelText = Annotated[str, ReadBy()]


def _nothing(_: Any, text: str) -> int:
    return 0


# A text that is only tokenized or counted, within milliseconds; no network reads it.
TokenizerText = Annotated[str, ReadBy("text", _nothing)]


@cache
def read_by(function: Callable[..., Any]) -> dict[str, ReadBy]:
    """Return the `ReadBy` annotation of each parameter of a function that takes a text.

    Names in the function's annotations must exist at run time, not only for type checkers.
    """
    hints = get_type_hints(function, include_extras=True)
    return {name: mark for name, hint in hints.items() if (mark := _mark(hint)) is not None}


def _mark(hint: Any) -> ReadBy | None:
    """Return the annotation of a text, an optional text, or a sequence of texts."""
    parts = (*getattr(hint, "__metadata__", ()), *map(_mark, get_args(hint)))
    return next((part for part in parts if isinstance(part, ReadBy)), None)


def _clean(text: str) -> str:
    # A lone surrogate cannot be encoded as UTF-8, and the tokenizer would raise.
    return text[:_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _pieces(tokenizer: Any, ids: list[int]) -> tuple[str, ...]:
    """Return word pieces as in the vocabulary, byte-level tokens as the text they encode."""
    names = tokenizer.convert_ids_to_tokens(ids)
    if not _by_bytes(tokenizer):
        return tuple(names)
    special = set(tokenizer.all_special_ids)
    return tuple(
        name if token in special else _from_bytes(name)
        for token, name in zip(ids, names, strict=True)
    )


def _by_bytes(tokenizer: Any) -> bool:
    """Return True for a byte-level vocabulary, which covers any text."""
    return "ByteLevel" in str(tokenizer.backend_tokenizer.decoder)


def _from_bytes(name: str) -> str:
    """Return a byte-level token as characters, or as bytes if it is part of a character."""
    raw = bytes(_byte_of()[letter] for letter in name)
    try:
        visible = raw.decode("utf-8").translate(_VISIBLE)
        return _CONTROL.sub(lambda result: f"‹{ord(result[0]):02X}›", visible)
    except UnicodeDecodeError:
        space = "␣" if raw.startswith(b" ") else ""
        return f"{space}‹{raw.removeprefix(b' ').hex(' ').upper()}›"


@cache
def _byte_of() -> dict[str, int]:
    """Return the byte of each letter of a byte-level vocabulary.

    References:
        Radford et al. (2019), Language models are unsupervised multitask learners (GPT-2).
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(256 + index): byte for index, byte in enumerate(others)
    }
