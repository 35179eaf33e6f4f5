"""The stream behind every layer, read by the last step of a decoder or by a head that fills in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seqviz.compute.interpretability.lens import Lens
from seqviz.experiments import functional
from seqviz.experiments.accuracy import fill_head
from seqviz.models import texts
from seqviz.models.pretrained import load
from seqviz.models.texts import Read

PLACES = 12  # tokens of a text that are looked at, its last ones


def lens(model: str, text: Read) -> Lens:
    """What the model would say after each layer, at each of the last tokens of a text.

    Of a decoder the last normalization and the output matrix read the stream; of an encoder its
    head that fills in (`fill_head.head`). Raises the refusals of both and of `texts.tokens`.
    """
    shared = load(model)
    decoder = shared.card.kind == "decoder"
    pretrained = shared if decoder else fill_head.head(model)
    tokens = texts.tokens(pretrained, text)

    def work(network: Any, device: str) -> list[list[np.ndarray]]:
        import torch

        parts = functional.Parts(network, tokens.ids, tokens.segments, device)
        streams = [parts.first[0, -PLACES:]]
        functional.forward(
            parts,
            (functional.Variant(),),
            lambda part, _, x: streams.append(x[0, -PLACES:]) if part == "stream" else None,
        )
        read = network.lm_head if decoder else network.fill_in
        end = torch.log_softmax(read(parts.last(streams[-1])), -1)
        answer = end.argmax(-1)[:, None]
        found = []
        for x in streams:  # one after the other: of all at once the scores would be 100 MB
            one = torch.log_softmax(read(parts.last(x)), -1)
            chance, best = one.max(-1)
            bits = (end.exp() * (end - one)).sum(-1) / math.log(2)
            said = (best, chance.exp(), one.gather(1, answer)[:, 0].exp(), bits)
            found.append([part.cpu().numpy() for part in said])
        return found

    best, *numbers = (np.stack(part) for part in zip(*pretrained.run(work), strict=True))
    names = {int(k): texts.piece(pretrained, int(k)) for k in np.unique(best)}
    likeliest = tuple(tuple(names[int(k)] for k in row) for row in best)
    chance, answer, bits = (part.astype(float) for part in numbers)
    return Lens(tokens, tokens.pieces[-PLACES:], likeliest, chance, answer, bits, decoder)
