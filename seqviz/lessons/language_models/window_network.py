"""Bench on a network that reads a window of three words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqviz.compute.gates.encoding import END, UNKNOWN
from seqviz.compute.language_models.window import WINDOW
from seqviz.experiments.language_models import window
from seqviz.figures.language_models.window import (
    agreement_curves,
    cosines_of_positions,
    losses_so_far,
    next_word_bars,
)
from seqviz.lessons.framework.controls import (
    choice,
    on,
    select_slider,
    step_slider,
    text_input,
    view,
)
from seqviz.lessons.framework.show import Show
from seqviz.models import checkpoints

READERS = ("ngram", "window", "gru", "smollm2")
TEXT = "This is one of the best films that I have seen in a long time."  # of an empty text field
MAX_CHARS = 200
PAIRS = {"last_two": (3, 2), "ends": (3, 1), "first_two": (2, 1)}


def _words(values: Mapping[str, Any]) -> float:
    """Return the number of words of the text."""
    return float(window.words_read(values["read"].strip() or TEXT) or 1)


@dataclass(frozen=True)
class WindowParams:
    """Controls of the bench on a window of words."""

    view: str = view(("distance", "blocks", "next"), "distance")
    reader: str = choice(READERS, "window", menu=True, when=on(view="distance"))
    inserted: int = select_slider((0, 3, 6, 9, 12), 0, when=on(view="distance"))
    positions: str = choice(tuple(PAIRS), "last_two", when=on(view="blocks"))
    n_words: int = select_slider((100, 300, 1_000), 300, more=True, when=on(view="blocks"))
    seeds: int = select_slider((1, window.SEEDS), window.SEEDS, when=on(view="blocks"))
    read: str = text_input("", MAX_CHARS, typed=True, when=on(view="next"))
    place: int = step_slider(1, MAX_CHARS, 3, within=_words, when=on(view="next"))


def windows(p: WindowParams, show: Show) -> None:
    if p.view == "blocks":
        return _blocks(p, show)
    if p.view == "next":
        return _next(p, show)
    result = show.job(window.agreement_by_distance, name="agreement", decoders=("smollm2",))
    show.figure(agreement_curves, result, p.inserted)
    facts = show.derive(result.at, p.reader, p.inserted, name="facts")
    show.metric("effect", facts["effect"])
    show.note(f"window.{facts.variant}", **facts, name=show.option("reader", p.reader))
    return None


def _blocks(p: WindowParams, show: Show) -> None:
    """Show what two positions learn of the same word, and what one block for all costs."""
    first, second = PAIRS[p.positions]
    trained = show.job(window.compare_blocks, name="trained", seeds=p.seeds,
                       so_far=(losses_so_far,))  # fmt: skip
    result = show.run(window.block_similarity, first, second, p.n_words, name="similarity")
    show.figure(cosines_of_positions, result, trained)
    show.readouts(result, same="mean")
    network = show.derive(checkpoints.load_window, name="network")
    show.note(
        "window.blocks", first=first, second=second, words=p.n_words,
        parameters=network.parameters, width=WINDOW * network.embedding.shape[1],
        same=float(result.same.mean()), other=float(result.other.mean()),
    )  # fmt: skip
    facts = show.facts(trained.compared, note="window.trained", metrics=("difference",),
                       words=window.LIVE.words)  # fmt: skip
    show.note("window.counted", **facts)
    if facts["trainings"] > 1:
        show.note("window.seeds", **facts)


def _next(p: WindowParams, show: Show) -> None:
    """Show which words the network expects after three words of a text."""
    if show.words.text.lang == "zh":
        show.caption(show.words("note.window.english"))
    read = show.run(window.next_words, p.read.strip() or TEXT, p.place, name="read")
    show.figure(next_word_bars, read)
    facts = show.derive(read.summary, name="facts")
    show.metric("p_following", show.words("metric.p_following.value", value=facts["p"]))
    start = max(0, read.position - WINDOW)
    before = " ".join(read.pieces[start : read.position])
    signs = {END: show.text("figure.next_end"), UNKNOWN: show.text("figure.next_unknown")}
    names = {key: signs.get(facts[key], facts[key]) for key in ("first", "following")}
    show.note(f"window.next_{facts.variant}", **{**facts, **names}, before=before)
    inside = np.arange(len(read.pieces))
    in_window = ((inside >= start) & (inside < read.position)).astype(float)
    show.passage([f"{piece} " for piece in read.pieces], in_window, signed=False,
                 unknown=read.unknown.tolist(), title=show.words("note.window.passage"),
                 )  # fmt: skip
    if read.unknown.any():
        outside = [word for word, new in zip(read.pieces, read.unknown, strict=True) if new]
        size = len(show.derive(checkpoints.load_window, name="network").words)
        show.notice("window.unknown", count=len(outside), total=len(read.pieces), size=size,
                  words=show.words("list.and").join(dict.fromkeys(outside)))  # fmt: skip
