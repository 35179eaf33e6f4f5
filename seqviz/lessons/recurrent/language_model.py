"""Benches on a recurrent reader: letters, its own output, readouts of a review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from seqviz.compute.gates.encoding import END
from seqviz.compute.recurrent.states.readouts import COMBINED, ByReadout
from seqviz.compute.recurrent.states.tying import TrainedTied, tables
from seqviz.compute.recurrent.states.writing import MAX_LETTERS
from seqviz.experiments.recurrent.states import readouts, writing
from seqviz.experiments.recurrent.states.tied_words import compare_tied
from seqviz.figures.recurrent.states.readouts import accuracy_by_readout, pads_behind, state_path
from seqviz.figures.recurrent.states.writing import (
    bits_by_step,
    letters_read,
    own_letters,
    steps_so_far,
    tied_tables,
    visible,
)
from seqviz.figures.recurrent.tagging.letters import trained_so_far
from seqviz.lessons.framework.controls import choice, on, seed, step_slider, text_input, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.models.checkpoints import card, load

FLIGHTS = "The flights the airline was cancelling were full of people."
REVIEW = "This is not a good film about a man and his dog in a small town."
CLASSIFIER = "sentiment_gru"
SHIPPED_WIDTH = 32  # width of the input table of the bundled character models
_SAID_STEP = 5  # step whose losses the note quotes
_REVIEW = 500  # characters


# --- writing --------------------------------------------------------------------------------------


@cache
def _letters(reader: str, text: str) -> float:
    return float(writing.count_letters(f"characters_{reader}", text))


@dataclass(frozen=True)
class WritingParams:
    """Controls of the bench on a character model and its tables."""

    view: str = view(("next", "own", "free", "tied"), "next")
    text_read: str = text_input(FLIGHTS, MAX_LETTERS, when=on(view=("next", "own")), above=True)
    reader: str = choice(("gru", "lstm"), "gru", shipped=True,
                         when=on(view=("next", "own", "free")))  # fmt: skip
    upto: int = step_slider(1, MAX_LETTERS, 25, when=on(view=("next", "own")),
                          within=lambda v: _letters(v["reader"], v["text_read"]))  # fmt: skip
    heat: float = stops(writing.TEMPERATURES, 0.0, when=on(view=("own", "free")))
    draws: int = seed(1, when=lambda v: v["view"] == "own" and v["heat"] > 0)
    tied_symbols: int = stops((82, 1_000, 8_535, 30_522, 50_257), 30_522, when=on(view="tied"))
    wrapped: str = choice(("rnn", "lstm", "gru"), "gru", when=on(view="tied"))
    tied_units: int = stops((32, 64, 128, 256, 512, 1_024), 128, when=on(view="tied"))


def write(p: WritingParams, show: Show) -> None:
    {"next": _read, "own": _own, "free": _free, "tied": _tied}[p.view](p, show)


def _read(p: WritingParams, show: Show) -> None:
    result = show.run(writing.read, f"characters_{p.reader}", p.text_read)
    position = min(p.upto, result.n_letters)
    show.figure(letters_read, result, position)
    show.readouts(result, loss_read="mean_bits", loss_fives="mean_fives", loss_pairs="mean_pairs",
                  perplexity_read="perplexity")  # fmt: skip
    first = visible(result.symbols[result.first(position, 1)[0]])
    show.facts(result.guess, position, note="writing.letter", cell=p.reader.upper(), first=first,
               letter=visible(result.pieces[position - 1]))  # fmt: skip
    show.note("writing.better" if result.beats_counting else "writing.worse", read=result)
    _say_held_out(p, show)
    if result.begins.any() and result.follows_letter.any():
        show.note("writing.words", first=float(result.bits[result.begins].mean()),
                  rest=float(result.bits[result.follows_letter].mean()))  # fmt: skip
    if result.unknown:
        show.notice("writing.unknown", read=result)


def _say_held_out(p: WritingParams, show: Show) -> None:
    record = card(f"characters_{p.reader}")
    ours, counts = record.alone or record.value, record.five_gram_alone or record.five_gram or 0
    show.note(f"writing.held_{'better' if ours < counts else 'worse'}", cell=p.reader.upper(),
              mean=ours, fives=counts)  # fmt: skip


def _own(p: WritingParams, show: Show) -> None:
    name = f"characters_{p.reader}"
    result = show.run(writing.write, name, p.text_read, p.upto, p.heat, p.draws)
    show.figure(own_letters, result)
    show.readouts(result, agreed="parted", loss_forced="mean_forced", loss_free="mean_free")
    show.note(
        "writing.own" if result.true else "writing.end", cell=p.reader.upper(), result=result,
        before="".join(result.before), left=len(result.true),
        own="".join(result.generated).replace(END, visible(END)),
    )  # fmt: skip
    show.note("writing.greedy" if p.heat == 0 else "writing.drawn", p=p)


def _free(p: WritingParams, show: Show) -> None:
    judge = "lstm" if p.reader == "gru" else "gru"
    result = show.job(writing.run_on, network=f"characters_{p.reader}",
                     judge=f"characters_{judge}", so_far=(steps_so_far,))  # fmt: skip
    show.figure(bits_by_step, result, p.heat)
    costs = show.derive(result.at_step, _SAID_STEP, p.heat, name="costs")
    show.note("writing.steps", result=result, **costs)
    show.note(f"writing.other_{costs.variant}", **costs)
    show.facts(result.growth, p.heat, note="writing.judged", judge=judge.upper(),
               cell=p.reader.upper(), heat=p.heat)  # fmt: skip


def _tied(p: WritingParams, show: Show) -> None:
    result = show.run(tables, p.tied_symbols, p.tied_units, SHIPPED_WIDTH)
    show.figure(tied_tables, result)
    show.readouts(result, "all_narrow", "all_untied", "all_tied", "saved")
    show.note("writing.tied", tables=result)
    show.note(f"writing.narrow_{result.narrow_verdict}", tables=result)
    _perplexity(p, show)
    ids = show.run(writing.read, "characters_gru", FLIGHTS, name="flights").ids
    real = load("characters_gru")
    # Imported here, because no page waits for torch.
    from seqviz.compute.recurrent.states.model import LAYERS, wrapped

    model = show.run(wrapped, p.wrapped, ids, len(real.symbols), p.tied_units, name="model")
    show.note(
        "writing.wrapped", layer=LAYERS[p.wrapped].__name__, symbols=len(real.symbols), model=model,
        hidden=p.tied_units, steps=len(ids) - 1, places=model.shape[0], classes=model.shape[1],
    )  # fmt: skip
    show.note("writing.counted", network=real, symbols=len(real.symbols))


def _perplexity(p: WritingParams, show: Show) -> None:
    """State the perplexity of trained networks with one table and with two, at the same width."""
    trained: TrainedTied = show.job(compare_tied, name="trained", so_far=(trained_so_far,))
    if p.tied_units not in trained.widths:
        widths = show.words("note.tagging.and").join(str(width) for width in trained.widths)
        return show.notice("writing.untrained", widths=widths)
    facts = show.derive(trained.compared, p.tied_units, name="perplexities")
    show.metric("perplexity_tied", facts["single"])
    show.metric("perplexity_untied", facts["double"])
    show.note(f"writing.trained_{facts.variant}", **facts)
    return show.note("writing.trained_sizes", **facts)


# --- readout --------------------------------------------------------------------------------------


def _words(values: Mapping[str, Any]) -> float:
    """Return the number of words of the review."""
    return float(readouts.words_read(CLASSIFIER, values["review"]))


@dataclass(frozen=True)
class ReadoutParams:
    """Controls of the bench on readouts: last state, all states, states after padding."""

    view: str = view(("path", "readouts", "padding"), "path")
    review: str = text_input(REVIEW, _REVIEW, when=on(view=("path", "padding")), above=True)
    without: int = step_slider(0, 120, 3, when=on(view="path"), within=_words)
    combine: str = choice(COMBINED, "both_concat", menu=True, when=on(view="readouts"))
    least: int = stops((1, 10, 20, 30), 1, when=on(view="readouts"))
    pad_as: str = choice(("unknown", "zeros"), "unknown", when=on(view="padding"))
    pads: int = stops(readouts.PADS, 10, when=on(view="padding"))


def readout(p: ReadoutParams, show: Show) -> None:
    {"path": _path, "readouts": _readouts, "padding": _padding}[p.view](p, show)


def _path(p: ReadoutParams, show: Show) -> None:
    full = show.run(readouts.path, CLASSIFIER, p.review, name="whole")
    words = len(full.pieces)
    without = min(p.without, words) if words > 1 else 0
    rest = show.run(readouts.path, CLASSIFIER, p.review, without, name="rest") if without else None
    show.figure(state_path, full, rest, without)
    show.readouts(full, positive_whole="verdict")
    if rest:
        show.readouts(rest, positive_rest="verdict")
        show.facts(full.deletion, rest, without, note="readout.without")
    else:
        show.note("readout.whole", words=words, whole=full.verdict)
    show.facts(full.largest_step, note="readout.turn")
    if full.unknown:
        show.notice("readout.unknown", unknown=full.unknown, words=words,
                  known=len(load(CLASSIFIER).symbols) - 1)  # fmt: skip


def _compared(show: Show) -> ByReadout:
    return show.job(readouts.compare_readouts, name="many", network=CLASSIFIER,
                    so_far=(steps_so_far,))  # fmt: skip


def _readouts(p: ReadoutParams, show: Show) -> None:
    by_readout = _compared(show)
    names = ("words", "last", "mean", "max", p.combine)
    show.figure(accuracy_by_readout, by_readout, names, p.least)
    show.readout("right_last", by_readout.accuracy, "last", p.least)
    show.readout("right_both", by_readout.accuracy, p.combine, p.least)
    show.facts(by_readout.compared, p.combine, p.least, note="readout")
    _say_gains(p, by_readout, show)
    if p.combine in ("both_sum", "both_mean"):
        same = by_readout.paired_with("both_sum", "both_mean", p.least)
        show.note("readout.same", same=same.both + same.neither, reviews=same.n)


def _say_gains(p: ReadoutParams, by_readout: ByReadout, show: Show) -> None:
    """State which readouts do better than the last state, worse, and neither."""
    gains: dict[str, list[str]] = {"more": [], "less": [], "null": []}
    for name in ("mean", "max", p.combine, "words"):
        gain, words = by_readout.gain(name, "last", p.least), show.words(f"note.readout.{name}")
        gains[gain.verdict].append(show.words("note.readout.gain", name=words, gain=100 * gain))
    for key, some in gains.items():
        if some:
            show.note(f"readout.gain_{key}", gains=show.words("note.readout.and").join(some))


def _padding(p: ReadoutParams, show: Show) -> None:
    many = _compared(show)
    own = show.run(readouts.padded, CLASSIFIER, p.review, name="own")
    show.figure(pads_behind, own, many, p.pad_as, p.pads)
    show.readout("positive_padded", own.after, p.pad_as, p.pads)
    show.readouts(own, positive_packed="packed")
    show.readout("right_padded", many.with_pads, p.pad_as, p.pads)
    show.readout("right_packed", many.with_pads, p.pad_as, 0)
    show.facts(many.padding, p.pad_as, p.pads, note="readout", packed=own.packed,
               kind=show.option("pad_as", p.pad_as), after=own.after(p.pad_as, p.pads))  # fmt: skip
