"""Positions that enter the score and not the vector: rotary, ALiBi, T5."""

from __future__ import annotations

import math
from dataclasses import dataclass

from seqviz.compute.positions import relative, rotary
from seqviz.core.i18n import number
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.schemes import rotary_scores, shift_bars, term_maps
from seqviz.lessons.framework.controls import on, seed, slider, toggle, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.lessons.positions.position_codes import BASES


@dataclass(frozen=True)
class SchemesParams:
    """Positions that enter the score and not the vector."""

    view: str = view(("rotary", "terms", "alibi", "t5", "shift"), "rotary")
    key: int = slider(0, 1000, 10, when=on(view="rotary"))
    tokens: int = slider(4, 64, 24, when=on(view=("rotary", "terms", "alibi", "t5")))
    offset: int = slider(
        0, 63, 3, when=on(view="rotary"), within=lambda v: v["tokens"] - 1, unit="positions"
    )
    base: float = stops(BASES, 100_000.0, when=on(view="rotary"))
    d_k: int = stops((2, 4, 8, 16, 32, 64, 128), 64, when=on(view="rotary"), unit="dimensions")
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
    """Arrows that turn with their positions, and the score that this gives."""
    offset = show.run(rotary.random_scores, p.d_k, p.tokens, p.base, "halves", p.seed)
    at = show.run(rotary.turned, p.d_k, p.key + p.offset, p.key, p.base, p.seed, name="at")
    show.figure(rotary_scores, offset, at)
    show.readouts(offset, "spread", "error", "pairs")
    show.note(
        "turned", query=p.key + p.offset, place=p.key, offset=p.offset,
        score=at.score,
    )  # fmt: skip
    (near, far), (alike, alike_far) = offset.sizes(False), offset.sizes(True)
    values = {"near": near, "far": far, "alike": alike, "alike_far": alike_far}
    falls = "falls" if alike_far < 0.9 * alike else "stays"
    show.note(f"alike_{falls}", **{name: number(size) for name, size in values.items()})


def schemes(p: SchemesParams, show: Show) -> None:
    if p.view == "rotary":
        rotary_view(p, show)
    elif p.view == "terms":
        terms = show.run(relative.position_terms, p.tokens, 64, p.seed, name="terms")
        show.figure(term_maps, terms)
        for scheme in ("sinusoidal", "learned", "rotary"):
            show.readout(f"spread_{scheme}", terms.spread_of, scheme)
        relatives = max(terms.spread_of(scheme) for scheme in ("rotary", "alibi", "t5"))
        show.note(
            "terms",
            **{scheme: number(terms.spread_of(scheme)) for scheme in ("sinusoidal", "learned")},
            relative=relatives,
        )
    elif p.view == "alibi":
        slopes = show.run(relative.alibi_slopes, p.heads, name="slopes")
        bias = show.run(relative.alibi_bias, p.heads, p.tokens, p.causal, name="bias")
        head = min(p.head, p.heads - 1)
        show.figure(alibi, slopes, bias, head)
        show.readout("steepest", relative.largest_slope, slopes)
        show.readout("flattest", relative.smallest_slope, slopes)
        taken = (p.tokens - 1) * float(slopes[head])
        show.note(
            "alibi", head=head, distance=p.tokens - 1, taken=taken,
            times=math.exp(-taken),
        )  # fmt: skip
    elif p.view == "t5":
        both = not p.causal
        indices = show.run(relative.t5_map, p.tokens, both, p.buckets, p.farthest, name="places")
        show.figure(t5_buckets, indices)
        used, of = show.readout("used", relative.buckets_used, indices, p.buckets)
        alone = p.buckets // (4 if both else 2)
        last = relative.t5_last(both, p.buckets, p.farthest)
        show.note("t5", alone=alone, farthest=last, used=used, buckets=of)
    else:
        shifted(p, show)


def shifted(p: SchemesParams, show: Show) -> None:
    """What a shift of all positions does to the scores of every scheme."""
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
        return show.note("unshifted")
    show.note(
        "shift",
        shift=p.shift,
        sinusoidal=by["sinusoidal"].largest,
        size=by["sinusoidal"].size,
        attention=by["sinusoidal"].attention,
        relative=max(by[name].largest for name in ("rotary", "alibi", "t5")),
        rows=show.words(
            "note.shift_rows" if learned.beyond else "note.shift_all_rows",
            beyond=learned.beyond, words=len(learned.before), learned=learned.largest,
        ),
    )  # fmt: skip
