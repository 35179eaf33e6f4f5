"""Parts of a pretrained decoder on a text: tensor, norm and share of the stream in each layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.transformer.components import (
    SHOWN_TOKENS,
    TransformerParts,
    heads_part,
    scores_part,
    tensor_part,
)
from seqviz.experiments.transformer import functional
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.pretrained import decoder
from seqviz.models.texts import ModelText

LIKELIEST = 12  # next tokens whose scores are shown


def decoder_parts(model: str, text: ModelText, report: Report = no_progress) -> TransformerParts:
    """Return all parts of a decoder that has read a text, in every layer.

    Args:
        model: name of the decoder.
        text: the text.
        report: progress callback, which one forward pass does not need.

    Raises:
        UserError: "decoder_only" for an encoder; errors of `decoder` and `texts.tokens`.
    """
    pretrained = decoder(model)
    tokens = texts.tokens(pretrained, text)

    def work(network: Any, device: str) -> TransformerParts:
        parts = functional.NetworkParts(network, tokens.ids, tokens.segments, device)
        outputs: dict[str, list[np.ndarray]] = {}

        def watch(part: str, _: int, x: Any) -> None:
            outputs.setdefault(part, []).append(x[0].float().cpu().numpy())

        last = functional.forward(parts, (functional.Variant(),), watch)
        first = parts.first[0].float().cpu().numpy()
        normalized = parts.last(last)
        scores = network.lm_head(normalized[0, -SHOWN_TOKENS:]).float().cpu().numpy()
        likeliest = np.argsort(-scores[-1], kind="stable")[:LIKELIEST]
        stream, attention, mlp = (outputs[name] for name in ("stream", "attention", "mlp"))
        before = [first, *stream[:-1]]
        middle = [x + added for x, added in zip(before, attention, strict=True)]
        own = "decoder"
        created = (
            tensor_part("embed", own, [first]),
            tensor_part("norm_1", own, outputs["normalized"][::2]),
            heads_part(own, outputs["weights"]),
            tensor_part("attention", own, attention, attention, middle),
            tensor_part("sum_1", own, middle, before, middle),
            tensor_part("norm_2", own, outputs["normalized"][1::2]),
            tensor_part("hidden", own, outputs["neurons"]),
            tensor_part("mlp", own, mlp, mlp, stream),
            tensor_part("sum_2", own, stream, before, stream),
            tensor_part("final_norm", own, [normalized[0].float().cpu().numpy()]),
            scores_part((len(first), network.config.vocab_size), scores[:, likeliest]),
        )
        words = tuple(texts.piece(pretrained, int(token)) for token in likeliest)
        return TransformerParts(
            "decoder", (tokens.pieces[-SHOWN_TOKENS:],), created, len(stream),
            network.config.num_attention_heads, words,
        )  # fmt: skip

    result: TransformerParts = pretrained.run(work)
    return result
