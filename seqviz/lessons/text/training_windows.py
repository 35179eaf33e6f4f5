"""Benches on ids and windows: permuted ids; batches, states and one-hot vectors of a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqviz.compute.text.windows.carried import CONDITIONS, Carried
from seqviz.compute.text.windows.cutting import WAYS, cut
from seqviz.compute.text.windows.vocabulary import (
    LEVELS,
    TokenFrequencies,
    beside_indexing,
    cleaned,
    counted,
    counts,
    tokens,
    vocabulary,
)
from seqviz.core.errors import UserError
from seqviz.core.i18n import format_value
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
_SEED = 0  # of the table that one-hot vectors read, whose values are arbitrary


@dataclass(frozen=True)
class IdsParams:
    """Controls of the bench on permuted ids and the vocabulary."""

    view: str = view(("permute", "window"), "permute")
    opinion: str = text_input(OPINION, 1_000, when=on(view="permute"), above=True)
    permuted: int = stops((1, 5, 10, 25, 50, 100), 100, when=on(view="permute"))
    shuffle: int = seed(1, when=on(view="permute"), more=True)
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
    share = p.permuted / 100
    show.facts(result.summary, note="ids", share=p.permuted)
    right = many.accuracy(share, "ids")
    ends = format_value((right.low, right.high), Unit("share", 1))
    show.facts(many.summary, share, note="ids.many", ends=ends)


def _window(p: IdsParams, show: Show) -> None:
    show.model(ENCODER)
    result = show.run(listed, ENCODER, p.first, p.find)
    show.figure(vocabulary_window, result)
    show.readouts(result, "matches", "neighbors", "pairs")
    if not len(result.ids):
        return show.notice("ids.none", find=p.find, size=result.size)
    show.note(
        "ids.found" if p.find.strip() else "ids.window", find=p.find.strip(), result=result,
        first=int(result.ids[0]), last=int(result.ids[-1]), token=result.names[0], start=p.first,
        beside=float(result.next_cosine.mean()), near=float(result.closeness.mean()),
        rows=len(result.ids),
    )  # fmt: skip


def _written(text: str) -> str:
    """Return a text that can be encoded; lone surrogates are replaced."""
    return text.strip().encode("utf-8", "replace").decode("utf-8")


def _steps_of(values: Mapping[str, Any]) -> int:
    """Return the number of tokens of the one-hot phrase."""
    return max(1, len(tokens(_written(values["phrase"]), values["level"])))


@dataclass(frozen=True)
class WindowsOfTextParams:
    """Controls of the bench on windows, carried states, token frequencies and one-hot rows."""

    view: str = view(("cut", "memory", "counts", "onehot"), "cut")
    page: str = text_input(PAGE, 2_000, when=on(view="cut"), above=True)
    line: str = text_input(TRAVELLER, 500, when=on(view="counts"), above=True)
    phrase: str = text_input(COURSE, 120, when=on(view="onehot"), above=True)
    cutting: str = choice(WAYS, "random", when=on(view="cut"))
    batch: int = step_slider(1, 4, 2, when=on(view="cut"), more=True)
    steps: int = step_slider(2, 10, 5, when=on(view="cut"), more=True)
    offset: int = seed(3, when=on(view="cut"), more=True)
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
    show.facts(result.summary, note="windows", batch=p.batch)
    x, y = (pieces[where[0, -1, -1]].replace(" ", "␣") for where in (result.x, result.y))
    show.note("windows.symbols", sample=p.batch, steps=p.steps, x=x, y=y)
    other = WAYS[1 - WAYS.index(p.cutting)]
    try:
        beside = show.derive(cut, other, len(pieces), p.batch, p.steps, p.offset, name="beside")
    except UserError:  # another offset may leave no batch
        return
    some, behind = beside.continued
    show.note("windows.other", way=show.option("cutting", other), some=some, all=behind)


def _memory(p: WindowsOfTextParams, show: Show) -> None:
    result: Carried = show.job(read_windows, network=READER, so_far=(carried_so_far,))
    show.figure(bits_by_window, result, p.length)
    for condition in CONDITIONS:
        caption = format_value(result.mean(p.length, condition).ci)
        show.readout(f"bits_{condition}", result.mean, p.length, condition, caption=caption)
    show.facts(result.compared, p.length, note="windows.memory")
    show.facts(result.state_effect, p.length, note="windows.wrong")


def _counts(p: WindowsOfTextParams, show: Show) -> None:
    token_frequencies = show.run(of_bundled, p.counted_by, p.clean)
    show.figure(frequencies_by_rank, token_frequencies, p.min_freq)
    show.readout("vocabulary", token_frequencies.size, p.min_freq)
    show.readout("unknown_here", token_frequencies.unknown, p.min_freq)
    show.readout("unknown_held", token_frequencies.unknown_held, p.min_freq)
    show.facts(token_frequencies.summary, p.min_freq, note="windows.counts")
    _say_line(p, token_frequencies, show)


def _say_line(p: WindowsOfTextParams, token_frequencies: TokenFrequencies, show: Show) -> None:
    """Show the student's line: what cleaning keeps, and which tokens have an id."""
    line = _written(p.line)
    retained = cleaned(line) if p.clean else line
    pieces = tokens(retained, p.counted_by)
    if not pieces:
        return show.notice("windows.nothing_left", signs=len(line))
    strange = token_frequencies.vocabulary(p.min_freq).ids(pieces) == 0
    after = " " if p.counted_by == "word" else ""
    show.passage([piece + after for piece in pieces], strange.astype(float), signed=False,
                 title=show.words("note.windows.passage"))  # fmt: skip
    gone = len(line) - len(retained)
    show.notice("windows.line", tokens=len(pieces), unknown=int(strange.sum()), gone=gone)


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
    spelled = show.derive(counts, phrase, name="spelled")
    show.metrics(letters=str(spelled.letters), signs=str(spelled.signs))
    after = step % len(pieces) + 1
    token, other = (pieces[k - 1].replace(" ", "␣") for k in (step, after))
    show.note(
        "windows.onehot", t=step, token=token, id=int(lookup_comparison.ids[step - 1]),
        tokens=len(pieces), size=lookup_comparison.hot.shape[1], other=other, after=after,
        cosine=lookup_comparison.cosine(step, after), width=p.width, result=lookup_comparison,
    )  # fmt: skip
    show.note("windows.spelled", spelled=spelled)
