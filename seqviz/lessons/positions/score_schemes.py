"""Bench on position schemes inside the score: rotary, ALiBi, T5."""

from __future__ import annotations

import math
from dataclasses import dataclass

from seqviz.compute.positions import relative, rotary
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.schemes import rotary_scores, shift_bars, term_maps
from seqviz.lessons.framework.controls import on, seed, slider, toggle, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.lessons.positions.position_codes import BASES

RELATIVE = ("rotary", "alibi", "t5")  # schemes that depend on the offset only


@dataclass(frozen=True)
class SchemesParams:
    """Controls of the bench on position schemes inside the score."""

    view: str = view(("rotary", "terms", "alibi", "t5", "shift"), "rotary")
    key: int = slider(0, 1000, 10, when=on(view="rotary"))
    tokens: int = slider(4, 64, 24, when=on(view=("rotary", "terms", "alibi", "t5")), more=True)
    offset: int = slider(
        0, 63, 3, when=on(view="rotary"), within=lambda v: v["tokens"] - 1, unit="positions"
    )
    base: float = stops(BASES, 100_000.0, when=on(view="rotary"), more=True)
    d_k: int = stops(
        (2, 4, 8, 16, 32, 64, 128), 64, when=on(view="rotary"), unit="dimensions", more=True
    )
    heads: int = slider(1, 32, 8, when=on(view="alibi"))
    head: int = slider(
        0, 31, 0, within=lambda v: v["heads"] - 1,
        when=lambda v: v["view"] == "alibi" and v["heads"] > 1,
    )  # fmt: skip
    buckets: int = stops((8, 16, 32, 64), 32, when=on(view="t5"))
    farthest: int = stops((64, 128, 256), 128, when=on(view="t5"), unit="positions")
    causal: bool = toggle(False, when=on(view=("alibi", "t5")))
    shift: int = slider(0, 1000, 1000, 20, when=on(view="shift"), unit="positions")
    seed: int = seed(1, more=True, when=on(view=("rotary", "terms", "shift")))


def rotary_view(p: SchemesParams, show: Show) -> None:
    """Show the rotated vectors of a query and a key, and their score."""
    offset = show.run(rotary.random_scores, p.d_k, p.tokens, p.base, "halves", p.seed)
    at = show.run(rotary.turned, p.d_k, p.key + p.offset, p.key, p.base, p.seed, name="at")
    show.figure(rotary_scores, offset, at)
    show.readouts(offset, "spread", "error", "pairs")
    show.note("turned", at=at)
    show.facts(offset.falloff, note="alike")


def terms_view(p: SchemesParams, show: Show) -> None:
    """Show the term of each scheme in the scores of one word at two positions."""
    terms = show.run(relative.position_terms, p.tokens, 64, p.seed, name="terms")
    show.figure(term_maps, terms)
    for scheme in ("sinusoidal", "learned", "rotary"):
        show.readout(f"spread_{scheme}", terms.spread_of, scheme)
    show.note(
        "terms", sinusoidal=terms.spread_of("sinusoidal"), learned=terms.spread_of("learned"),
        relative=max(map(terms.spread_of, RELATIVE)),
    )  # fmt: skip
    show.note("terms_random")


def alibi_view(p: SchemesParams, show: Show) -> None:
    """Show the slopes of the heads, and the bias of one."""
    slopes = show.run(relative.alibi_slopes, p.heads, name="slopes")
    bias = show.run(relative.alibi_bias, p.heads, p.tokens, p.causal, name="bias")
    head, far = min(p.head, p.heads - 1), p.tokens - 1
    show.figure(alibi, slopes, bias, head)
    show.readout("steepest", relative.largest_slope, slopes)
    show.readout("flattest", relative.smallest_slope, slopes)
    taken = far * float(slopes[head])
    show.note("alibi", head=head, distance=far, taken=taken, times=math.exp(-taken))


def t5_view(p: SchemesParams, show: Show) -> None:
    """Show the bucket of each pair of positions."""
    both = not p.causal
    indices = show.run(relative.t5_map, p.tokens, both, p.buckets, p.farthest, name="places")
    show.figure(t5_buckets, indices)
    used, of = show.readout("used", relative.buckets_used, indices, p.buckets)
    last = relative.t5_last(both, p.buckets, p.farthest)
    show.note("t5", alone=p.buckets // (4 if both else 2), farthest=last, used=used, buckets=of)


def shift_view(p: SchemesParams, show: Show) -> None:
    """Show the scores of every scheme after a shift of all positions."""
    changes = tuple(
        show.run(relative.shift_change, name, 16, p.shift, 64, p.seed, name=f"by_{name}")
        for name in relative.SCHEMES
    )
    show.figure(shift_bars, changes)
    by = {change.scheme: change for change in changes}
    learned = by["learned"]
    show.readouts(by["sinusoidal"], absolute="largest")
    show.readouts(by["rotary"], turned="rounding")
    show.readouts(learned, beyond="without_row")
    if not p.shift:
        return show.notice("unshifted")
    rows = show.words("note.shift_rows" if learned.beyond else "note.shift_all_rows",
                      learned=learned, words=len(learned.before))  # fmt: skip
    show.note("shift", sines=by["sinusoidal"], rows=rows,
              relative=max(by[name].largest for name in RELATIVE))  # fmt: skip


VIEWS = {
    "rotary": rotary_view, "terms": terms_view, "alibi": alibi_view, "t5": t5_view,
    "shift": shift_view,
}  # fmt: skip


def schemes(p: SchemesParams, show: Show) -> None:
    VIEWS[p.view](p, show)
