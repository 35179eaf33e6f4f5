"""Ids and windows: what a number of a token means to a network, and how a text becomes batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqviz.compute.text.windows.carried import Carried
from seqviz.compute.text.windows.cutting import WAYS, Windows, cut
from seqviz.compute.text.windows.permuted import ByShare, Permuted
from seqviz.compute.text.windows.vocabulary import (
    LEVELS,
    LookupComparison,
    TokenFrequencies,
    beside_indexing,
    cleaned,
    counted,
    counts,
    tokens,
    vocabulary,
)
from seqviz.core.errors import UserError
from seqviz.core.i18n import escape_markdown, format_value
from seqviz.core.units import Unit
from seqviz.experiments.text.windows.carried import LENGTHS, read_windows
from seqviz.experiments.text.windows.counted import of_bundled
from seqviz.experiments.text.windows.ids import listed, permute, permute_many
from seqviz.figures.text.windows.carried import bits_by_window, carried_so_far
from seqviz.figures.text.windows.counted import RARE, frequencies_by_rank, one_hot_rows
from seqviz.figures.text.windows.cutting import windows_of_text
from seqviz.figures.text.windows.ids import permuted_sentence, permuted_so_far, vocabulary_window
from seqviz.lessons.framework.controls import (
    choice,
    on,
    seed,
    slider,
    step_slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.models import ready, texts
from seqviz.models.registry import DEFAULTS

ENCODER = DEFAULTS["encoder"]
READER = "characters_gru"
OPINION = "A slow and pointless film, but the music is wonderful."
PAGE = "A taut, intelligent psychological drama."
TRAVELLER = "The Time Traveller was expounding a recondite matter to us."  # H. G. Wells (1895)
COURSE = "This course is interesting"  # S0's sentence
LAST_ID = 30_521
_SEED = 0  # of the table that one-hot vectors read: its numbers are not the point


@dataclass(frozen=True)
class IdsParams:
    """Other ids for the tokens of a vocabulary; and the vocabulary itself."""

    view: str = view(("permute", "window"), "permute")
    opinion: str = text_input(OPINION, 1_000, when=on(view="permute"), above=True)
    permuted: int = stops((1, 5, 10, 25, 50, 100), 100, when=on(view="permute"))
    shuffle: int = seed(1, when=on(view="permute"))
    first: int = slider(0, LAST_ID, 2013, when=on(view="window"))
    find: str = text_input("", 100, when=on(view="window"))


def ids(p: IdsParams, show: Show) -> None:
    if p.view == "window":
        return _window(p, show)
    show.model(ENCODER, p.opinion)
    ready.check_interactive_length(ENCODER, p.opinion)
    many = show.job(permute_many, name="many", model=ENCODER, so_far=(permuted_so_far,))
    result = show.run(permute, ENCODER, p.opinion, p.permuted / 100, p.shuffle)
    show.figure(permuted_sentence, result, many, p.permuted / 100)
    show.readouts(result, "both_difference", "ids_cosine", "ids_positive", caption={
        "ids_positive": show.words("metric.ids_positive.beside", trained=result.trained),
    })  # fmt: skip
    show.readout("ids_right", many.accuracy, p.permuted / 100, "ids")
    show.unknown_tokens(*texts.unknown_tokens(ENCODER, p.opinion))
    _say_permuted(p, result, many, show)


def _say_permuted(p: IdsParams, result: Permuted, many: ByShare, show: Show) -> None:
    share = p.permuted / 100
    show.note(
        "ids.same" if result.both_difference == 0 else "ids.differ", share=p.permuted,
        moved=result.moved(), tokens=len(result.ids), both=result.both_difference,
        ids=float(result.cosine[1]), rows=float(result.cosine[2]),
        positive=result.ids_positive, trained=result.trained,
    )  # fmt: skip
    cosine = many.mean(share, "ids")
    right, before = many.accuracy(share, "ids"), many.as_trained()
    show.note(
        "ids.many", sentences=many.sentences, permutations=many.permutations,
        equal=many.equal_at(share), cosine=cosine.mean, low=cosine.low,
        high=cosine.high, other=many.others().mean, right=right.share,
        ends=format_value((right.low, right.high), Unit("share", 1)), before=before.share,
    )  # fmt: skip


def _window(p: IdsParams, show: Show) -> None:
    show.model(ENCODER)
    result = show.run(listed, ENCODER, p.first, p.find)
    show.figure(vocabulary_window, result)
    show.readouts(result, "matches", "neighbors", "pairs")
    if not len(result.ids):
        return show.note("ids.none", find=p.find, size=result.size)
    show.note(
        "ids.found" if p.find.strip() else "ids.window", find=p.find.strip(),
        matches=result.matches, size=result.size, first=int(result.ids[0]),
        last=int(result.ids[-1]), token=result.names[0], start=p.first,
        beside=float(result.next_cosine.mean()), near=float(result.closeness.mean()),
        neighbors=result.neighbors, pairs=result.pairs, rows=len(result.ids),
    )  # fmt: skip


def _written(text: str) -> str:
    """A text that can be sent: half a surrogate pair cannot."""
    return text.strip().encode("utf-8", "replace").decode("utf-8")


def _steps_of(values: Mapping[str, Any]) -> int:
    """How many tokens the phrase of the one-hot vectors has."""
    return max(1, len(tokens(_written(values["phrase"]), values["level"])))


@dataclass(frozen=True)
class WindowsOfTextParams:
    """A text as windows, a state that is carried across them, tokens by frequency, one-hot rows."""

    view: str = view(("cut", "memory", "counts", "onehot"), "cut")
    page: str = text_input(PAGE, 2_000, when=on(view="cut"), above=True)
    line: str = text_input(TRAVELLER, 500, when=on(view="counts"), above=True)
    phrase: str = text_input(COURSE, 120, when=on(view="onehot"), above=True)
    cutting: str = choice(WAYS, "random", when=on(view="cut"))
    batch: int = step_slider(1, 4, 2, when=on(view="cut"))
    steps: int = step_slider(2, 10, 5, when=on(view="cut"))
    offset: int = seed(3, when=on(view="cut"))
    length: int = stops(LENGTHS, 10, when=on(view="memory"))
    counted_by: str = choice(LEVELS, "word", when=on(view="counts"))
    min_freq: int = stops(RARE, 5, when=on(view="counts"))
    clean: bool = toggle(True, when=on(view="counts"))
    level: str = choice(LEVELS[::-1], "character", when=on(view="onehot"))
    step: int = step_slider(1, 120, 1, when=on(view="onehot"), within=_steps_of)
    width: int = step_slider(1, 16, 4, when=on(view="onehot"))


def windows(p: WindowsOfTextParams, show: Show) -> None:
    {"cut": _cut, "memory": _memory, "counts": _counts, "onehot": _onehot}[p.view](p, show)


def _cut(p: WindowsOfTextParams, show: Show) -> None:
    pieces = show.derive(tokens, _written(p.page), "character", name="pieces")
    result = show.derive(cut, p.cutting, len(pieces), p.batch, p.steps, p.offset)
    show.figure(windows_of_text, result, pieces)
    show.readouts(result, "continued", "offset", "unread")
    _say_cut(p, result, show)


def _say_cut(p: WindowsOfTextParams, windows: Windows, show: Show) -> None:
    some, of_all = windows.continued
    show.note(
        "windows.cut" if of_all else "windows.cut_once",
        tokens=windows.length,
        offset=windows.offset,
        windows=windows.starts.size,
        steps=windows.steps,
        batch=p.batch,
        batches=len(windows.starts),
        some=some,
        all=of_all,
        unread=windows.unread,
    )
    other = WAYS[1 - WAYS.index(p.cutting)]
    try:
        beside = show.derive(cut, other, windows.length, p.batch, p.steps, p.offset, name="beside")
    except UserError:  # with another offset there is no batch left
        return
    some, of_all = beside.continued
    show.note("windows.other", way=show.option("cutting", other), some=some, all=of_all)


def _memory(p: WindowsOfTextParams, show: Show) -> None:
    result: Carried = show.job(read_windows, network=READER, so_far=(carried_so_far,))
    show.figure(bits_by_window, result, p.length)
    bits = {c: result.mean(p.length, c) for c in ("sequential", "random", "reset")}
    for condition, mean in bits.items():
        show.readout(f"bits_{condition}", result.mean, p.length, condition,
                     caption=format_value(mean.ci))  # fmt: skip
    more = result.dearer(p.length, "random", "sequential")
    empty = result.dearer(p.length, "reset", "sequential")
    first = [result.by_place(p.length, c)[0] for c in bits]
    show.note(
        "windows.memory", length=p.length, characters=result.characters,
        stretches=result.stretches, right=bits["sequential"].mean,
        wrong=bits["random"].mean, more=more.mean, low=more.low, high=more.high,
        reset=bits["reset"].mean, empty=empty.mean, empty_low=empty.low, empty_high=empty.high,
    )  # fmt: skip
    gap = result.dearer(p.length, "reset", "random")
    size = abs(gap)
    show.note(
        f"windows.wrong_{gap.verdict}", gap=size.mean, low=size.low, high=size.high,
        right=first[0], wrong=first[1], reset=first[2],
    )  # fmt: skip


def _counts(p: WindowsOfTextParams, show: Show) -> None:
    token_frequencies = show.run(of_bundled, p.counted_by, p.clean)
    show.figure(frequencies_by_rank, token_frequencies, p.min_freq)
    show.readout("vocabulary", token_frequencies.size, p.min_freq)
    show.readout("unknown_here", token_frequencies.unknown, p.min_freq)
    show.readout("unknown_held", token_frequencies.unknown_held, p.min_freq)
    show.note(
        "windows.counts",
        size=token_frequencies.size(p.min_freq),
        all=len(token_frequencies.names),
        min_freq=p.min_freq,
        held=token_frequencies.unknown_held(p.min_freq),
        here=token_frequencies.unknown(p.min_freq),
        first=escape_markdown(token_frequencies.names[0]).replace(" ", "␣"),
    )
    _say_line(p, token_frequencies, show)


def _say_line(p: WindowsOfTextParams, token_frequencies: TokenFrequencies, show: Show) -> None:
    """The student's own line: what is left of it, and which of its tokens have an id."""
    line = _written(p.line)
    retained = cleaned(line) if p.clean else line
    pieces = tokens(retained, p.counted_by)
    if not pieces:
        return show.note("windows.nothing_left", signs=len(line))
    strange = token_frequencies.vocabulary(p.min_freq).ids(pieces) == 0
    after = " " if p.counted_by == "word" else ""
    show.passage([piece + after for piece in pieces], strange.astype(float), signed=False,
                 title=show.words("note.windows.passage"))  # fmt: skip
    gone = len(line) - len(retained)
    show.note("windows.line", tokens=len(pieces), unknown=int(strange.sum()), gone=gone)


def _onehot(p: WindowsOfTextParams, show: Show) -> None:
    phrase = _written(p.phrase)
    pieces = show.derive(tokens, phrase, p.level, name="pieces")
    if not pieces:
        raise UserError("no_text", "There is nothing to read. Type a text.")
    frequency = show.derive(counted, [phrase], p.level, clean=False, name="frequency")
    existing = show.derive(vocabulary, frequency, name="known")
    read = show.derive(existing.ids, pieces, name="ids")
    lookup_comparison = show.derive(
        beside_indexing, read, len(existing), p.width, _SEED, name="rows"
    )
    step = min(p.step, len(pieces))
    show.figure(one_hot_rows, lookup_comparison, pieces, existing.names, step)
    show.readouts(lookup_comparison, "difference", "multiplications")
    spelled = counts(phrase)
    show.metrics(letters=str(spelled.letters), signs=str(spelled.signs))
    _say_onehot(p, lookup_comparison, pieces, step, show)
    show.note("windows.spelled", letters=spelled.letters, signs=spelled.signs, words=spelled.words)


def _say_onehot(
    p: WindowsOfTextParams,
    lookup_comparison: LookupComparison,
    pieces: list[str],
    step: int,
    show: Show,
) -> None:
    size = lookup_comparison.hot.shape[1]
    after = step % len(pieces) + 1
    item, other = (escape_markdown(pieces[k - 1].replace(" ", "␣")) for k in (step, after))
    show.note(
        "windows.onehot",
        t=step,
        token=item,
        id=int(lookup_comparison.ids[step - 1]),
        tokens=len(pieces),
        size=size,
        other=other,
        after=after,
        cosine=lookup_comparison.cosine(step, after),
        width=p.width,
        products=lookup_comparison.multiplications,
        difference=lookup_comparison.difference,
    )
