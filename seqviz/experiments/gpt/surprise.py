"""Surprisal of a given text under a decoder in bits per token, also of a repeated sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gpt.surprise import Repeated, Scored, Surprise
from seqviz.core.errors import UserError
from seqviz.experiments.gpt.shots import in_template
from seqviz.models import texts
from seqviz.models.pretrained import decoder
from seqviz.models.texts import ModelText

COPIES = 12
SEPARATOR = "\n"  # one token between a text and its summary, delta in GPT's paper
DELTAS = ("line", "tldr", "chat")  # what stands between an article and its summary
_TOGETHER = 64  # positions whose scores are computed at once: 12.6 MB


def surprise(model: str, text: ModelText) -> Surprise:
    """Return bits, entropy and rank of each token of a text but the first.

    Args:
        model: name of the decoder.
        text: the text.

    Raises:
        UserError: "one_token" for a text of one token; errors of `decoder` and `texts.tokens`.
    """
    pretrained = decoder(model)
    tokens = texts.tokens(pretrained, text)
    if len(tokens.ids) < 2:
        raise UserError("one_token", "There is one token only: write a word more.")
    bits, entropy, rank, best = pretrained.run(expected, tokens.ids)[0]
    answer = tuple(texts.piece(pretrained, int(item)) for item in best)
    return Surprise(tokens, bits, entropy, rank, answer)


def scored(model: str, text: ModelText, preceding: str = "") -> Scored:
    """Return the bits of every token of a text, and those of a text before it.

    Args:
        model: name of the decoder.
        text: the text.
        preceding: text before it, followed by `SEPARATOR`, both without a loss; empty for none.

    Raises:
        UserError: errors of `surprise`.
    """
    if not preceding.strip():
        return Scored(surprise(model, text), 1)
    texts.tokens(decoder(model), text)  # an empty text is also refused after another one
    context = preceding + SEPARATOR
    first = len(texts.tokens(decoder(model), context).ids)
    return Scored(surprise(model, context + text), first)


def before_summary(model: str, article: str, delta: str = "line") -> str:
    """Return what a decoder reads before a summary, without the `SEPARATOR` that ends it.

    Args:
        model: name of the decoder.
        article: the article; empty for what the separator alone is.
        delta: of `DELTAS`: nothing more, the hint of GPT-2, or a request in the model's template.

    Raises:
        UserError: errors of `decoder`.
    """
    if delta == "line":
        return article
    if delta == "tldr":
        return f"{article}\nTL;DR:"
    request = f"Summarize this text in one sentence: {article}".rstrip()
    return in_template(model, request).removesuffix(SEPARATOR)


def repeated(
    model: str, sentence: ModelText, copies: int = COPIES, penalty: float = 1.0
) -> Repeated:
    """Return the bits of every token of a sentence repeated `copies` times.

    Every copy has the tokens of the sentence after a space. The repetition penalty is that of
    transformers (Keskar et al. 2019), over all previous tokens.

    Args:
        model: name of the decoder.
        sentence: the sentence.
        copies: number of copies, reduced to those within `MAX_TEXT_TOKENS`.
        penalty: repetition penalty; 1 for none.

    Raises:
        UserError: errors of `surprise`.
        ValueError: a penalty that is not positive.
    """
    if penalty <= 0:
        raise ValueError("A penalty is positive; 1 is none.")
    pretrained = decoder(model)
    item = texts.tokens(pretrained, f" {sentence.strip()}")
    if len(item.ids) < 2:
        raise UserError("one_token", "There is one token only: write a word more.")
    copies = max(1, min(copies, texts.MAX_TEXT_TOKENS // len(item.ids)))
    ids = np.tile(item.ids, copies)
    read = pretrained.run(expected, ids, (1.0,) if penalty == 1 else (1.0, penalty))
    result = [np.concatenate([[np.nan], bits]).reshape(copies, -1) for bits, *_ in read]
    return Repeated(item.pieces, result[0], result[-1], penalty)


def expected(
    network: Any, device: str, ids: Int[np.ndarray, "token"], penalties: tuple[float, ...] = (1.0,)
) -> list[list[Float[np.ndarray, "place"]]]:
    """Return bits, entropy, rank and likeliest id for each token but the first, per penalty.

    Args:
        network: the network.
        device: torch device.
        ids: token ids.
        penalties: repetition penalties; 1 for none.
    """
    import torch

    tokens = torch.tensor(ids, device=device)
    hidden = network.base_model(input_ids=tokens[None, :-1], use_cache=False).last_hidden_state[0]
    results: list[list[list[np.ndarray]]] = [[] for _ in penalties]
    for start in range(0, len(hidden), _TOGETHER):
        plain = network.get_output_embeddings()(hidden[start : start + _TOGETHER]).float()
        right = tokens[start + 1 : start + 1 + len(plain), None]
        for penalty, parts in zip(penalties, results, strict=True):
            logs = torch.log_softmax(_penalized(plain, tokens, start, penalty), -1)
            own = logs.gather(1, right)
            entropy = -(logs.exp() * logs).sum(-1) / math.log(2)
            rows = -own[:, 0] / math.log(2), entropy, 1 + (logs > own).sum(-1), logs.argmax(-1)
            parts.append([part.cpu().numpy() for part in rows])
    return [[np.concatenate(part) for part in zip(*parts, strict=True)] for parts in results]


def _penalized(scores: Any, tokens: Any, start: int, penalty: float) -> Any:
    """Return penalized scores [position, vocabulary], each by all tokens up to its position."""
    import torch

    if penalty == 1:
        return scores
    scores = scores.clone()
    for row in range(len(scores)):
        observed = tokens[: start + row + 1]
        old = scores[row, observed]
        scores[row, observed] = torch.where(old < 0, old * penalty, old / penalty)
    return scores
