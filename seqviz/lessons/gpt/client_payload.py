"""Payload for the in-browser rendering of the first bench of "GPT and decoding"."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from seqviz.compute.gpt.filtered import filtered
from seqviz.compute.gpt.filters import ORDER, Chain
from seqviz.core.i18n import Placeholder
from seqviz.experiments.gpt.continuation import next_token, pieces
from seqviz.figures.gpt.scores import filter_name, next_token_bars
from seqviz.lessons.framework.arrangement import first_sentence
from seqviz.lessons.framework.controls import controls, encoded
from seqviz.lessons.framework.lesson import ClientRenderer
from seqviz.lessons.framework.output import Note
from seqviz.lessons.framework.show import Show
from seqviz.lessons.gpt.generation import DECODER, read

FEW, EVEN = 5, 2.2  # target: maximum tokens kept, minimum entropy in bits
ROUNDING = 1e-9  # tolerance of probabilities under two orders of the same filters
# All filters are on and one cuts less likely tokens, so the figure has every mark and text.
_ALL = Chain(1.000001, temperature=0.9, top_k=3, top_p=0.999, min_p=1e-6, typical=0.999999)
_SAID = ("token", "u", "low", "high", "filters", "kept", "cut", "entropy", "before", "apart")
_ALT = ("first", "before", "after", "kept", "cut", "u", "low", "high")
_WORDS = ("note.scores", "note.scores_kept", "note.scores_none", "note.order", "note.order_same")


def scores_sent(p: Any, show: Show) -> dict[str, Any]:
    """Return the scores of the vocabulary, and the figure and texts with placeholders.

    A note stands for its HTML. "half" has all scores as float16, "first" those of "ids", the
    likeliest tokens, as float32. Scores rounded up beyond the last of these are clipped to it
    (`compute.gpt.draw.scores`).
    """
    read(show, p.text)
    before = len(show.output.items)
    result = show.run(next_token, DECODER, p.text)
    figure = next_token_bars(filtered(result, _ALL), style=show.style)
    empty = _placeholders(*_SAID)
    return {
        "half": _bytes(result.scores, np.float16),
        "first": _bytes(result.scores[result.ids], np.float32),
        "ids": result.ids.tolist(),
        "pieces": result.pieces,
        "seen": result.text_ids,
        "start": {name: encoded(control.default) for name, control in controls(type(p))},
        "figure": json.loads(figure.to_json()),
        "filters": {name: filter_name(name, show.text) for name in ORDER},
        "joined": show.words("note.between_filters"),
        "behind": show.text("figure.scores_behind", **_placeholders("filter")),
        "u": show.text("figure.scores_u", **_placeholders("u")),
        "alt": show.text("alt.next_token", **_placeholders(*_ALT)),
        "caption": show.words("metric.entropy.beside", **_placeholders("before")),
        "notes_before": before,
        "notes": {
            key.removeprefix("note."): [
                Note(part) if part else None for part in first_sentence(show.words(key, **empty))
            ]
            for key in _WORDS
        },
        "targets": [_target(reached, show) for reached in (False, True)],
        "goal": [FEW, EVEN],
        "rounding": ROUNDING,
    }


def _placeholders(*names: str) -> dict[str, Placeholder]:
    return {name: Placeholder(f"{{{name}}}") for name in names}


def _bytes(values: np.ndarray, kind: type) -> str:
    return base64.b64encode(values.astype(kind).tobytes()).decode()


def _target(reached: bool, show: Show) -> Note:
    show.target("even", reached, **_placeholders("kept", "entropy"))
    target: Note = show.output.items[-1]  # type: ignore[assignment]
    return target


def vocabulary(p: Any, show: Show) -> list[str]:
    """Return the text of every token, for a draw outside the likeliest ones."""
    read(show, p.text)
    count = len(show.run(next_token, DECODER, p.text).scores)
    return list(show.run(pieces, DECODER, tuple(range(count)), name="pieces"))


ANSWERS = ClientRenderer("next_token", {"": scores_sent, "vocabulary": vocabulary}, needs=("text",))
