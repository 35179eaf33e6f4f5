"""Bench on the map of a Transformer: tensor, shape and share of the stream of each part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqviz.compute.transformer import components as architecture
from seqviz.experiments.transformer.components import decoder_parts
from seqviz.figures.transformer import stream_map as figures
from seqviz.lessons.framework.controls import on, slider, step_slider, text_input, view
from seqviz.lessons.framework.show import Show
from seqviz.lessons.transformer.interpretability import (
    DECODER,
    LAYERS,
    MAX_PASTED_CHARS,
    TEXT,
    read,
)

FORMS = ("decoder", "pair")
MAX_WORDS_CHARS = 200
# The bench that shows a part closely, in the order of the parts.
BENCHES = {
    "decoder": ("account", "norms", "induction", "account", "remove", "norms", "account", "account",
                "remove", "norms", "lens"),
    "pair": ("steps", "steps", "norms", "steps", "norms",
             "pair", "masks", "norms", "pair", "norms", "steps", "norms", "pair"),
}  # fmt: skip


def last_layer(v: Mapping[str, Any]) -> int:
    """Return the number of the last layer of the model that is shown, from 0."""
    return (LAYERS[DECODER] if v["view"] == "decoder" else architecture.LAYERS) - 1


@dataclass(frozen=True)
class StreamParams:
    """Controls of the bench on the map of a Transformer."""

    view: str = view(FORMS, "decoder")
    component: int = step_slider(
        1, max(architecture.N_PARTS.values()), 1, within=lambda v: architecture.N_PARTS[v["view"]]
    )
    block: int = slider(0, LAYERS[DECODER] - 1, 0, within=last_layer)
    text: str = text_input(TEXT, MAX_PASTED_CHARS, more=True, when=on(view="decoder"))
    source: str = text_input(
        architecture.SOURCE, MAX_WORDS_CHARS, more=True, when=on(view="pair")
    )  # fmt: skip
    from_end: int = slider(1, architecture.SHOWN_TOKENS, 1, more=True)


def stream(p: StreamParams, show: Show) -> None:
    if p.view == "pair":
        result = show.run(architecture.encoder_decoder, p.source, name="components")
    elif p.text == TEXT:  # shipped, so that the lesson opens without a model
        result = show.job(decoder_parts, name="components", model=DECODER, text=p.text)
    else:
        read(show, p.text)
        result = show.run(decoder_parts, DECODER, p.text, name="components")
    show.figure(
        figures.stream_map, result, p.block, p.component, p.from_end, picks=("component", "")
    )  # fmt: skip
    show.readout("part_norm", result.norm, p.component, p.block, p.from_end)
    show.readout("part_share", result.share, p.component, p.block, p.from_end)
    bench = BENCHES[p.view][p.component - 1]
    show.facts(result.summary, p.component, p.block, p.from_end, note="stream")
    show.notice("stream.closer", bench=bench, title=show.words(f"bench.{bench}"))
