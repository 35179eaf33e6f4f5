"""What a decoder is given to read: solved examples and a question, the template of a chat."""

from __future__ import annotations

from seqviz.compute.gpt.losses import Scored
from seqviz.experiments.gpt.shots import beginning, question
from seqviz.experiments.gpt.surprise import surprise
from seqviz.models import texts
from seqviz.models.pretrained import decoder
from seqviz.models.texts import ModelText

SEPARATOR = "\n"  # delta between a text and its summary: one token


def build_prompt(review: str, amount: int = 0, condition: str = "right", draw: int = 0) -> str:
    """A review with the question behind `amount` solved examples, see `shots.beginning`."""
    before = beginning(draw, amount, condition)
    return f"{before}\n\n{question(review)}" if before else question(review)


def in_template(model: str, text: ModelText) -> str:
    """A text as the message of a user, with the special tokens that the model was tuned on.

    Raises the refusals of `decoder`.
    """
    pretrained = decoder(model)
    messages = [{"role": "user", "content": text}]
    with pretrained.lock:
        created = pretrained.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
    return str(created)


def special(model: str, ids: tuple[int, ...]) -> tuple[bool, ...]:
    """Which tokens stand for no text but for the form of it. Raises the refusals of `decoder`."""
    existing = set(decoder(model).tokenizer.all_special_ids)
    return tuple(item in existing for item in ids)


def scored(model: str, text: ModelText, suffix: str = "") -> Scored:
    """The bits of every token of a text; of one behind another, the other and a separator as well.

    suffix: what is read first and carries no loss; then `SEPARATOR` stands between both. Raises
    what `surprise` raises.
    """
    if not suffix.strip():
        return Scored(surprise(model, text), 1)
    texts.tokens(decoder(model), text)  # an empty one is none behind another either
    context = suffix + SEPARATOR
    first = len(texts.tokens(decoder(model), context).ids)
    return Scored(surprise(model, context + text), first)
