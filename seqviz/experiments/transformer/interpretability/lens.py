"""Logit lens: predictions from the stream after every layer of a decoder or fill-in encoder."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seqviz.compute.transformer.interpretability.fitted_lens import TunedLens
from seqviz.compute.transformer.interpretability.lens import Lens
from seqviz.core.errors import UserError
from seqviz.experiments.bert_accuracy import fill_head
from seqviz.experiments.transformer import functional
from seqviz.models import texts
from seqviz.models.pretrained import load, loaded
from seqviz.models.texts import ModelText

MAX_POSITIONS = 12  # last tokens of a text that are shown
_TOGETHER = 8  # rows whose scores are computed at once; all would take 70 MB


def default_position(model: str, text: ModelText) -> int:
    """Return the initial position in a text, counted backwards from its last token, 1.

    It is that of the first [MASK] for an encoder, and the last token for a decoder.

    Args:
        model: name of the model.
        text: the text.
    """
    if not loaded(model):
        return 1
    shared = load(model)
    if shared.card.kind == "decoder":
        return 1
    try:
        tokens = texts.tokens(shared, text)
        return min(MAX_POSITIONS, len(tokens.ids) - fill_head.hidden_place(shared, tokens))
    except UserError:  # empty, or without [MASK]; the figure shows the error
        return 1


def lens(model: str, text: ModelText, maps: TunedLens | None = None) -> Lens:
    """Return the model's predictions after each layer, at each of the last tokens of a text.

    The stream is read by a decoder's last normalization and output matrix, or by an encoder's
    fill-in head (`fill_head.head`).

    Args:
        model: name of the model.
        text: the text.
        maps: a decoder's maps, applied to the streams before the output matrix.

    Raises:
        UserError: for an encoder, "nothing_hidden" without a [MASK] and "hidden_early" if it is
            before the shown tokens; errors of `load`, `fill_head.head` and `texts.tokens`.
    """
    shared = load(model)
    decoder = shared.card.kind == "decoder"
    pretrained = shared if decoder else fill_head.head(model)
    tokens = texts.tokens(pretrained, text)
    if not decoder and len(tokens.ids) - fill_head.hidden_place(shared, tokens) > MAX_POSITIONS:
        raise UserError(
            "hidden_early",
            f"The [MASK] stands before the last {MAX_POSITIONS} tokens, which are looked at. "
            "Shorten what follows it.",
            places=MAX_POSITIONS,
        )  # fmt: skip

    def work(network: Any, device: str) -> list[list[np.ndarray]]:
        import torch

        parts = functional.NetworkParts(network, tokens.ids, tokens.segments, device)
        streams = [parts.first[0, -MAX_POSITIONS:]]
        functional.forward(
            parts,
            (functional.Variant(),),
            lambda part, _, x: streams.append(x[0, -MAX_POSITIONS:]) if part == "stream" else None,
        )
        read = network.lm_head if decoder else network.fill_in
        last = [parts.last(x) for x in streams]
        if maps is not None:
            u = torch.stack(streams[:-1]).float()
            u = u * torch.rsqrt(u.pow(2).mean(-1, keepdim=True))
            fitted = u.new_tensor(maps.read(u.cpu().numpy())) * parts.body.norm.weight
            last = [*fitted, last[-1]]
        end = torch.log_softmax(read(last[-1]), -1)
        probabilities, answer = end.exp(), end.argmax(-1)[:, None]
        own = (probabilities * end).sum(-1)
        results = []
        for start in range(0, len(last), _TOGETHER):
            scores = read(torch.stack(last[start : start + _TOGETHER]))
            full = torch.logsumexp(scores, -1)
            highest, best = scores.max(-1)
            right = scores.gather(-1, answer.expand(len(scores), -1, -1))[..., 0]
            bits = (own - (probabilities * scores).sum(-1) + full) / math.log(2)
            message = (best, (highest - full).exp(), (right - full).exp(), bits.clamp(min=0))
            results.append([part.cpu().numpy() for part in message])
        return results

    best, *numbers = (np.concatenate(part) for part in zip(*pretrained.run(work), strict=True))
    names = {int(k): texts.piece(pretrained, int(k)) for k in np.unique(best)}
    likeliest = tuple(tuple(names[int(k)] for k in row) for row in best)
    probability, answer, bits = (part.astype(float) for part in numbers)
    return Lens(
        tokens, tokens.pieces[-MAX_POSITIONS:], likeliest, probability, answer, bits, decoder
    )
