"""Bench on LAC, a production tagger: a sentence, whole and without one side."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.recurrent.tagging.lac import DECODERS, SIDES, WAYS, TagChanges, TagSequence
from seqviz.core.i18n import format_value
from seqviz.core.units import Unit
from seqviz.experiments.recurrent.tagging.lac import (
    MAX_SENTENCE_CHARS,
    lac_changes,
    tagged,
    without,
)
from seqviz.figures.recurrent.lac.tagger import (
    changes_counted,
    counted_so_far,
    sides_of_characters,
    tags_of_characters,
)
from seqviz.lessons.framework.controls import choice, on, step_slider, text_input, view
from seqviz.lessons.framework.output import COMPUTED
from seqviz.lessons.framework.show import Show
from seqviz.stats.estimate import Estimate

MODEL = "lac"
ORIGIN = "研究生命的起源"  # 研究|生命, "to study life", or 研究生|命, "a student's life"
LAYERS = 2


@dataclass(frozen=True)
class TaggerParams:
    """Controls of the bench on LAC."""

    view: str = view(("sides", "tags", "counted"), "sides")
    line: str = text_input(
        ORIGIN, MAX_SENTENCE_CHARS, above=True, typed=True, when=on(view=("tags", "sides"))
    )
    side: str = choice(SIDES, "right", when=on(view="sides"))
    way: str = choice(WAYS, "deleted", when=on(view=("sides", "counted")), more=True)
    layer: int = step_slider(1, LAYERS, LAYERS, when=on(view="sides"), more=True)
    shown: str = choice(("emission", "marginal"), "emission", when=on(view="tags"))


def tagger(p: TaggerParams, show: Show) -> None:
    many = show.job(lac_changes, name="many", so_far=(counted_so_far,))
    if p.view == "counted":
        show.figure(changes_counted, many, p.way)
        return _say_counted(p, many, show)
    show.model(MODEL)
    full = show.run(tagged, p.line, name="whole")
    if p.view == "sides":
        _sides(p, full, many, show)
    else:
        _tags(p, full, many, show)
    if full.unknown:
        show.notice("tagger.unknown", unknown=full.unknown, characters=len(full.text))
    if latin := sum(item.isascii() and item.isalpha() for item in full.text):
        show.notice("tagger.latin", latin=latin, characters=len(full.text))


def _sides(p: TaggerParams, tag_sequence: TagSequence, many: TagChanges, show: Show) -> None:
    cut = show.run(without, p.line, p.side, p.way, name="cut")
    show.figure(sides_of_characters, tag_sequence, cut, p.side, p.layer, provenance=COMPUTED)
    changed, share = tag_sequence.compared(cut)["changed"], many.share(p.way, p.side)
    show.metrics(tags_changed=f"{changed} / {len(tag_sequence.text)}")
    show.readout("tags_changed_many", many.share, p.way, p.side, caption=_ends(share))
    show.facts(tag_sequence.compared, cut, note=f"tagger.{p.way}",
               side=show.option("side", p.side),
               tags=_renamed(tag_sequence, cut, show))  # fmt: skip
    show.facts(tag_sequence.shift, cut, p.layer, note="tagger.moved")


def _tags(p: TaggerParams, tag_sequence: TagSequence, many: TagChanges, show: Show) -> None:
    weighed, alone = (show.run(tagged, p.line, name, name=name) for name in DECODERS[1:])
    show.figure(tags_of_characters, [tag_sequence, weighed, alone], p.shown, provenance=COMPUTED)
    show.metrics(
        tags_alone="{changed} / {characters}".format(**tag_sequence.compared(alone)),
        tags_broken=str(alone.breaks),
        sentences_broken=f"{many.unlawful('emission')} / {many.sentences}",
    )
    show.note("tagger.tags", **tag_sequence.compared(alone))
    show.facts(tag_sequence.least_sure, p.shown == "marginal", note=f"tagger.least_{p.shown}",
               weighed=tag_sequence.compared(weighed)["changed"])  # fmt: skip


def _say_counted(p: TaggerParams, many: TagChanges, show: Show) -> None:
    for side in SIDES:
        share = many.share(p.way, side)
        show.readout(f"without_{side}", many.share, p.way, side, caption=_ends(share))
    facts = show.derive(many.sides, p.way, name="sides")
    for key in (f"counted_{p.way}", f"gap_{facts.variant}", "decoders"):
        show.note(f"tagger.{key}", **facts)


def _renamed(tag_sequence: TagSequence, cut: TagSequence, show: Show) -> str:
    """Return the changed tags, character by character: each is from a text of its own."""
    renamed = show.derive(tag_sequence.renamed, cut, name="renamed")
    changes = [f"{sign} {old} → {new}" for sign, old, new in renamed]
    return show.words("note.tagging.and").join(changes)


def _ends(share: Estimate) -> str:
    return format_value(share.ci, Unit("share", 1))
