"""Seven tokenizers for one text; those of models only if the model is on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from seqviz.compute.text.tokenization.cut import (
    Strips,
    Tokenization,
    around_special,
    characters,
    single_bytes,
    strips,
)
from seqviz.compute.text.tokenization.merges import LearnedMerges
from seqviz.compute.text.tokenization.wordpiece import Letter, PrefixLookups
from seqviz.core.errors import UserError
from seqviz.experiments.text.tokenization import vocabularies
from seqviz.experiments.text.tokenization.learned import encoder_of
from seqviz.models import texts
from seqviz.models.registry import DEFAULTS

ENCODER, DECODER = DEFAULTS["encoder"], DEFAULTS["decoder"]
NAMES = ("characters", "bytes", "words", "wordpiece", "gpt2", "smollm2", "own")
SPECIAL = ("wordpiece", "gpt2", "smollm2", "own")  # tokenizers that may have special tokens


def missing() -> tuple[str, ...]:
    """Return the tokenizers whose model is not on this machine."""
    models = (("wordpiece", ENCODER), ("smollm2", DECODER))
    return tuple(name for name, model in models if not vocabularies.has_tokenizer(model))


def cutter(name: str) -> Callable[[str], Tokenization]:
    """Return one of `NAMES` except "own".

    Raises:
        UserError: errors of `vocabularies`.
    """
    match name:
        case "characters":
            return characters
        case "bytes":
            return single_bytes
        case "words":
            return vocabularies.dictionary().cut
        case "wordpiece":
            return vocabularies.wordpiece().cut
        case "gpt2":
            return vocabularies.gpt2().cut
    return vocabularies.decoder_bpe().cut


def available_cutters() -> tuple[str, ...]:
    """Return the tokenizers available on this machine."""
    gone = missing()
    return tuple(name for name in NAMES if name not in gone)


def cut_by_all(
    text: texts.TokenizerText, names: tuple[str, ...], learned: LearnedMerges, merges: int
) -> Strips:
    """Tokenize a text with several tokenizers.

    Args:
        text: the text.
        names: the tokenizers, of `NAMES`.
        learned: merges of "own".
        merges: number of merges that "own" applies.
    """
    own = encoder_of(learned, merges).cut
    return strips(text, [(name, own if name == "own" else partial(_cut, name)) for name in names])


@lru_cache(256)
def _cut(name: str, text: str) -> Tokenization:
    """Tokenize a text with one of `NAMES` except "own", cached."""
    return cutter(name)(text)


def special_tokens() -> dict[str, Mapping[str, tuple[str, int]]]:
    """Return each tokenizer's special tokens with their ids, by role."""
    models = {"wordpiece": ENCODER, "smollm2": DECODER}
    gone = missing()
    return {
        name: vocabularies.GPT2_SPECIAL if name == "gpt2"
        else vocabularies.special(models[name]) if name in models
        else {}
        for name in SPECIAL if name not in gone
    }  # fmt: skip


def special_typed(cuts: Strips, chosen: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the special tokens in a text: those of the chosen tokenizer, and those of others.

    Args:
        cuts: the text, tokenized.
        chosen: name of the tokenizer.
    """
    own, every = (
        dict.fromkeys(cut.names[position] for cut in those for position in cut.special)
        for those in ([cuts.of(chosen)], cuts.cuts)
    )
    return tuple(own), tuple(item for item in every if item not in own)


def token_of(name: str, role: str) -> str:
    """Return the special token that a tokenizer has for a role; "" for none.

    Args:
        name: name of the tokenizer.
        role: one of `vocabularies.ROLES`.
    """
    return special_tokens().get(name, {}).get(role, ("", 0))[0]


def inserted(text: texts.TokenizerText, name: str, role: str) -> str:
    """Return a text with a special token before it, where the tokenizer has one for the role.

    Args:
        text: the text.
        name: name of the tokenizer.
        role: one of `vocabularies.ROLES`.
    """
    return token_of(name, role) + text


def framed(
    name: str, cut: Tokenization, bare: bool = False
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return names and ids of tokens as the model reads them, BERT's between [CLS] and [SEP].

    Args:
        name: name of the tokenizer.
        cut: the tokens.
        bare: True to leave out the tokens that the model adds.
    """
    ids = tuple(cut.ids.tolist())
    if bare or name != "wordpiece":
        return cut.names, ids
    roles = vocabularies.special(ENCODER)
    (first, begin), (last, end) = (roles[role] for role in ("class", "separator"))
    return (first, *cut.names, last), (begin, *ids, end)


def prefix_lookups(text: texts.TokenizerText) -> PrefixLookups:
    """Return the lookups with which WordPiece tokenizes the first word of a text.

    Raises:
        UserError: "no_text" without a word; "special_word" for a special token; errors of
            `vocabularies.wordpiece`.
    """
    cutter = vocabularies.wordpiece()
    words: list[list[Letter]] = []
    for part, full in around_special(text, cutter.special):
        if full:
            raise UserError(
                "special_word",
                f"{part} is a special token: it is read whole, and nothing is looked up.",
                token=part, id=cutter.vocabulary[part],
            )  # fmt: skip
        if words := cutter.read(part):
            break
    if not words:
        raise UserError("no_text", "There is nothing to read. Type a text.")
    return cutter.prefix_lookups("".join(letter for letter, _, _ in words[0]))
