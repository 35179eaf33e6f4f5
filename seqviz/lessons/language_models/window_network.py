"""Bench on a network that reads a window of three words."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.language_models.window import WINDOW
from seqviz.experiments.language_models import window
from seqviz.figures.language_models.window import agreement_curves, cosines_of_positions
from seqviz.lessons.framework.controls import choice, on, select_slider, view
from seqviz.lessons.framework.show import Show
from seqviz.models import checkpoints

READERS = ("ngram", "window", "gru", "smollm2")
PAIRS = {"last_two": (3, 2), "ends": (3, 1), "first_two": (2, 1)}


@dataclass(frozen=True)
class WindowParams:
    """Controls of the bench on a window of words."""

    view: str = view(("distance", "blocks"), "distance")
    reader: str = choice(READERS, "window", menu=True, when=on(view="distance"))
    inserted: int = select_slider((0, 3, 6, 9, 12), 0, when=on(view="distance"))
    positions: str = choice(tuple(PAIRS), "last_two", when=on(view="blocks"))
    n_words: int = select_slider((100, 300, 1_000), 300, when=on(view="blocks"))


def windows(p: WindowParams, show: Show) -> None:
    if p.view == "blocks":
        return _blocks(p, show)
    result = show.job(window.agreement_by_distance, name="agreement", decoders=("smollm2",))
    show.figure(agreement_curves, result, p.inserted)
    facts = show.derive(result.at, p.reader, p.inserted, name="facts")
    show.metric("effect", facts["effect"])
    show.note(f"window.{facts.variant}", **facts, name=show.text(f"figure.verb_{p.reader}"))
    return None


def _blocks(p: WindowParams, show: Show) -> None:
    first, second = PAIRS[p.positions]
    result = show.run(window.block_similarity, first, second, p.n_words, name="similarity")
    show.figure(cosines_of_positions, result)
    show.readouts(result, same="mean")
    network = show.derive(checkpoints.load_window, name="network")
    show.note(
        "window.blocks", first=first, second=second, words=p.n_words,
        parameters=network.parameters, width=WINDOW * network.embedding.shape[1],
        same=float(result.same.mean()), other=float(result.other.mean()),
    )  # fmt: skip
