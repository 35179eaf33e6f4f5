"""A recurrent network reads: letter by letter, its own letters, and a review to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from seqviz.compute.gates.encoding import END
from seqviz.compute.recurrent.states.readouts import COMBINED, ByReadout
from seqviz.compute.recurrent.states.tying import tables
from seqviz.compute.recurrent.states.writing import MAX_LETTERS
from seqviz.core.i18n import escape_markdown, number, percent
from seqviz.core.units import unbroken
from seqviz.experiments.recurrent.states import readouts, writing
from seqviz.figures.recurrent.states.readouts import accuracy_by_readout, pads_behind, state_path
from seqviz.figures.recurrent.states.writing import (
    bits_by_step,
    letters_read,
    own_letters,
    steps_so_far,
    tied_tables,
    visible,
)
from seqviz.lessons.framework.controls import choice, on, seed, step_slider, text_input, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.models.checkpoints import card, load

FLIGHTS = "The flights the airline was cancelling were full of people."
REVIEW = "This is not a good film about a man and his dog in a small town."
CLASSIFIER = "sentiment_gru"
SHIPPED_WIDTH = 32  # of the input table of the bundled character models
_SAID_STEP = 5  # whose losses the sentence quotes
_REVIEW = 500  # characters


# --- writing --------------------------------------------------------------------------------------


@cache
def _letters(reader: str, text: str) -> float:
    return float(writing.count_letters(f"characters_{reader}", text))


@dataclass(frozen=True)
class WritingParams:
    """A character model reads a text, its own letters, and counts its tables."""

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
    tied_units: int = stops((32, 64, 128, 256, 512, 1_024), 256, when=on(view="tied"))


def write(p: WritingParams, show: Show) -> None:
    {"next": _read, "own": _own, "free": _free, "tied": _tied}[p.view](p, show)


def _read(p: WritingParams, show: Show) -> None:
    found = show.run(writing.read, f"characters_{p.reader}", p.text_read)
    place = min(p.upto, len(found.ids))
    show.figure(letters_read, found, place)
    show.readouts(found, loss_read="mean_bits", loss_fives="mean_fives", loss_pairs="mean_pairs",
                  perplexity_read="perplexity")  # fmt: skip
    row, comes = found.log2[place - 1], found.ids[place - 1]
    first = found.first(place, 1)[0]
    show.note(
        "writing.letter", place=place, letter=escape_markdown(visible(found.pieces[place - 1])),
        cell=p.reader.upper(), first=escape_markdown(visible(found.symbols[first])),
        chance=percent(float(2 ** row[first])), its=percent(float(2 ** row[comes])),
        rank=found.rank(place), bits=number(float(found.bits[place - 1])),
    )  # fmt: skip
    show.note(
        "writing.better" if found.beats_counting else "writing.worse", letters=len(found.ids),
        mean=number(found.mean_bits), fives=number(found.mean_fives),
        pairs=number(found.mean_pairs), alone=number(found.mean_alone),
        total=number(found.total), perplexity=number(found.perplexity),
    )  # fmt: skip
    known = card(f"characters_{p.reader}")
    ours, counts = known.alone or known.value, known.five_gram_alone or known.five_gram or 0
    show.note(f"writing.held_{'better' if ours < counts else 'worse'}", cell=p.reader.upper(),
              mean=number(ours), fives=number(counts))  # fmt: skip
    if found.begins.any() and found.follows_letter.any():
        show.note("writing.words", first=number(float(found.bits[found.begins].mean())),
                  rest=number(float(found.bits[found.follows_letter].mean())))  # fmt: skip
    if found.unknown:
        show.note("writing.unknown", unknown=found.unknown, letters=len(found.ids))


def _own(p: WritingParams, show: Show) -> None:
    name = f"characters_{p.reader}"
    found = show.run(writing.write, name, p.text_read, p.upto, p.heat, p.draws)
    show.figure(own_letters, found)
    show.readouts(found, agreed="parted", loss_forced="mean_forced", loss_free="mean_free")
    show.note(
        "writing.own" if found.true else "writing.end", cell=p.reader.upper(),
        before=escape_markdown("".join(found.before)), parted=found.parted, left=len(found.true),
        own=escape_markdown("".join(found.own).replace(END, visible(END))),
        forced=number(found.mean_forced), free=number(found.mean_free),
    )  # fmt: skip
    show.note("writing.greedy" if p.heat == 0 else "writing.drawn", heat=f"{p.heat:g}",
              seed=p.draws)  # fmt: skip


def _free(p: WritingParams, show: Show) -> None:
    judge = "lstm" if p.reader == "gru" else "gru"
    found = show.job(writing.run_on, network=f"characters_{p.reader}",
                     judge=f"characters_{judge}", so_far=(steps_so_far,))  # fmt: skip
    show.figure(bits_by_step, found, p.heat)
    case, at = found.case(p.heat), _SAID_STEP - 1
    mean, half = found.bits
    show.note(
        "writing.steps", sentences=found.sentences, before=found.before, step=_SAID_STEP,
        alone=number(found.alone),
        right=percent(float(found.right[case - 1, at])),
        **{name: unbroken(f"{mean[row, at]:.2f} ± {half[row, at]:.2f}")
           for name, row in (("forced", 0), ("other", 1), ("free", case + 1))},
    )  # fmt: skip
    gap = float(mean[case + 1, at] - mean[1, at])
    key = "same" if abs(gap) <= half[1, at] + half[case + 1, at] else "more" if gap > 0 else "less"
    show.note(f"writing.other_{key}", gap=f"{abs(gap):.2f}", alone=number(found.alone))
    change, around = (float(one) for one in found.trend[:, case])
    key = "level" if abs(change) <= around else "rises" if change > 0 else "falls"
    show.note(
        f"writing.judged_{key}", judge=judge.upper(), cell=p.reader.upper(), heat=f"{p.heat:g}",
        own=number(float(found.judged[0, case].mean())),
        truth=number(float(found.judged[0, 0].mean())), change=f"{abs(change):.2f}",
        low=_signed(change - around), high=_signed(change + around),
    )  # fmt: skip


def _signed(value: float, digits: int = 2) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _tied(p: WritingParams, show: Show) -> None:
    found = show.run(tables, p.tied_symbols, p.tied_units, SHIPPED_WIDTH)
    show.figure(tied_tables, found)
    show.readouts(found, "all_narrow", "all_untied", "all_tied", "saved")
    show.note(
        "writing.tied", symbols=f"{p.tied_symbols:,}", hidden=p.tied_units,
        untied=f"{found.all_untied:,.0f}", tied=f"{found.all_tied:,.0f}",
        saved=percent(found.saved), table=f"{p.tied_symbols * p.tied_units:,}",
    )  # fmt: skip
    more = found.all_narrow - found.all_tied
    key = "more" if more > 0 else "less" if more < 0 else "same"
    show.note(f"writing.narrow_{key}", width=SHIPPED_WIDTH, narrow=f"{found.all_narrow:,.0f}")
    ids = show.run(writing.read, "characters_gru", FLIGHTS, name="flights").ids
    real = load("characters_gru")
    from seqviz.compute.recurrent.states.model import (  # with torch, for which no page waits
        LAYERS,
        wrapped,
    )

    model = show.run(wrapped, p.wrapped, ids, len(real.symbols), p.tied_units, name="model")
    show.note(
        "writing.wrapped", layer=LAYERS[p.wrapped].__name__, symbols=len(real.symbols),
        hidden=p.tied_units, parameters=f"{model.parameters:,.0f}", steps=len(ids) - 1,
        places=model.shape[0], classes=model.shape[1], bits=number(model.bits),
        chance=number(model.chance),
    )  # fmt: skip
    show.note("writing.counted", parameters=f"{real.parameters:,}", symbols=len(real.symbols),
              hidden=real.weights.hidden)  # fmt: skip


# --- readout --------------------------------------------------------------------------------------


def _words(values: Mapping[str, Any]) -> float:
    """How many words the review has."""
    return float(readouts.words_read(CLASSIFIER, values["review"]))


@dataclass(frozen=True)
class ReadoutParams:
    """What the states of a classifier say: the last one, all of them, and those behind pads."""

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
    whole = show.run(readouts.path, CLASSIFIER, p.review, name="whole")
    words = len(whole.pieces)
    without = min(p.without, words) if words > 1 else 0
    rest = show.run(readouts.path, CLASSIFIER, p.review, without, name="rest") if without else None
    show.figure(state_path, whole, rest, without)
    show.readouts(whole, positive_whole="verdict")
    if rest:
        show.readouts(rest, positive_rest="verdict")
        show.note(
            "readout.without", word=escape_markdown(whole.pieces[without - 1]), place=without,
            words=words,
            whole=percent(whole.verdict), rest=percent(rest.verdict), behind=words - without,
            change=number(100 * abs(rest.verdict - whole.verdict)),
        )  # fmt: skip
    else:
        show.note("readout.whole", words=words, whole=percent(whole.verdict))
    show.note(
        "readout.turn", word=escape_markdown(whole.pieces[whole.turns - 1]), place=whole.turns,
        before=percent(float(whole.probability[whole.turns - 1])),
        after=percent(float(whole.probability[whole.turns])),
    )  # fmt: skip
    if whole.unknown:
        show.note("readout.unknown", unknown=whole.unknown, words=words,
                  known=f"{len(load(CLASSIFIER).symbols) - 1:,}")  # fmt: skip


def _compared(show: Show) -> ByReadout:
    return show.job(readouts.compare_readouts, name="many", network=CLASSIFIER,
                    so_far=(steps_so_far,))  # fmt: skip


def _readouts(p: ReadoutParams, show: Show) -> None:
    found = _compared(show)
    names = ("words", "last", "mean", "max", p.combine)
    show.figure(accuracy_by_readout, found, names, p.least)
    show.readout("right_last", found.accuracy, "last", p.least)
    show.readout("right_both", found.accuracy, p.combine, p.least)
    shares = {name: percent(found.accuracy(name, p.least).share) for name in names[:-1]}
    show.note(
        "readout.many" if p.least > 1 else "readout.all", least=p.least,
        reviews=f"{found.reviews(p.least):,}",
        often=percent(found.majority(p.least)), **shares,
        both=percent(found.accuracy(p.combine, p.least).share),
    )  # fmt: skip
    gains: dict[str, list[str]] = {"better": [], "worse": [], "null": []}
    for name in ("mean", "max", p.combine, "words"):
        gain = found.gain(name, "last", p.least)
        more, low, high = (_signed(100 * one, 1) for one in gain)
        key = "null" if gain[1] <= 0 <= gain[2] else "better" if gain[0] > 0 else "worse"
        gains[key].append(show.words(
            "note.readout.gain", name=show.words(f"note.readout.{name}"), gain=more, low=low,
            high=high,
        ))  # fmt: skip
    for key, some in gains.items():
        if some:
            show.note(f"readout.gain_{key}", gains=show.words("note.readout.and").join(some))
    if p.combine in ("both_sum", "both_mean"):
        same = found.paired_with("both_sum", "both_mean", p.least)
        show.note("readout.same", same=f"{same.both + same.neither:,}", reviews=f"{same.n:,}")


def _padding(p: ReadoutParams, show: Show) -> None:
    many = _compared(show)
    own = show.run(readouts.padded, CLASSIFIER, p.review, name="own")
    show.figure(pads_behind, own, many, p.pad_as, p.pads)
    show.readout("positive_padded", own.after, p.pad_as, p.pads)
    show.readouts(own, positive_packed="packed")
    show.readout("right_padded", many.with_pads, p.pad_as, p.pads)
    show.readout("right_packed", many.with_pads, p.pad_as, 0)
    right, before = many.with_pads(p.pad_as, p.pads), many.with_pads(p.pad_as, 0)
    show.note(
        "readout.padded" if p.pads else "readout.no_pads", pads=p.pads,
        kind=show.option("pad_as", p.pad_as), packed=percent(own.packed),
        after=percent(own.after(p.pad_as, p.pads)), right=percent(right.share),
        before=percent(before.share), reviews=f"{right.n:,}", low=percent(right.low),
        high=percent(right.high), often=percent(many.majority()),
    )  # fmt: skip
