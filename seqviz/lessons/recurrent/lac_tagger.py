"""A tagger that people use: LAC on a sentence, whole and with one side of each character gone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqviz.compute.recurrent.tagging.lac import DECODERS, SIDES, WAYS, TagChanges, TagSequence
from seqviz.core.i18n import format_value, percent
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
    """A sentence with its tags, the sides that each tag rests on, and both counted."""

    view: str = view(("sides", "tags", "counted"), "sides")
    line: str = text_input(
        ORIGIN, MAX_SENTENCE_CHARS, above=True, typed=True, when=on(view=("tags", "sides"))
    )
    side: str = choice(SIDES, "right", when=on(view="sides"))
    way: str = choice(WAYS, "deleted", when=on(view=("sides", "counted")))
    layer: int = step_slider(1, LAYERS, LAYERS, when=on(view="sides"))
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
        show.note("tagger.unknown", unknown=full.unknown, characters=len(full.text))
    if latin := sum(item.isascii() and item.isalpha() for item in full.text):
        show.note("tagger.latin", latin=latin, characters=len(full.text))


def _sides(p: TaggerParams, tag_sequence: TagSequence, many: TagChanges, show: Show) -> None:
    cut = show.run(without, p.line, p.side, p.way, name="cut")
    show.figure(sides_of_characters, tag_sequence, cut, p.side, p.layer, provenance=COMPUTED)
    changed = int(tag_sequence.changed(cut).sum())
    show.metrics(
        tags_changed=f"{changed} / {len(tag_sequence.text)}",
        tags_changed_many=(
            percent(many.share(p.way, p.side).mean),
            _ends(many.share(p.way, p.side)),
        ),
    )
    show.note(
        f"tagger.{'changed' if changed else 'same'}_{p.way}",
        whole=tag_sequence.written,
        cut=cut.written,
        side=show.option("side", p.side),
        changed=changed,
        characters=len(tag_sequence.text),
    )
    forward, backward = tag_sequence.moved(cut, p.layer)
    show.note("tagger.moved", layer=p.layer, forward=forward, backward=backward)


def _tags(p: TaggerParams, tag_sequence: TagSequence, many: TagChanges, show: Show) -> None:
    every = [
        tag_sequence,
        *(show.run(tagged, p.line, decoder, name=decoder) for decoder in DECODERS[1:]),
    ]
    show.figure(tags_of_characters, every, p.shown, provenance=COMPUTED)
    weighed, alone = every[1:]
    show.metrics(
        tags_alone=f"{int(tag_sequence.changed(alone).sum())} / {len(tag_sequence.text)}",
        tags_broken=str(alone.breaks),
        sentences_broken=f"{many.unlawful('emission')} / {many.sentences}",
    )
    shares = tag_sequence.shares[int(p.shown == "marginal")]
    on_path = shares[np.arange(len(tag_sequence.text)), tag_sequence.path]
    minimum = int(on_path.argmin())
    show.note(
        "tagger.tags",
        whole=tag_sequence.written,
        alone=alone.written,
        changed=int(tag_sequence.changed(alone).sum()),
        characters=len(tag_sequence.text),
        broken=alone.breaks,
    )
    same = "_own" if shares[minimum].argmax() == tag_sequence.path[minimum] else ""
    show.note(
        f"tagger.least_{p.shown}{same}",
        character=tag_sequence.text[minimum],
        at=minimum + 1,
        tag=tag_sequence.tags[tag_sequence.path[minimum]],
        share=float(on_path[minimum]),
        best=tag_sequence.tags[int(shares[minimum].argmax())],
        most=float(shares[minimum].max()),
        weighed=int(tag_sequence.changed(weighed).sum()),
    )


def _say_counted(p: TaggerParams, many: TagChanges, show: Show) -> None:
    right, left = (many.share(p.way, side) for side in SIDES)
    for side, result in zip(SIDES, (right, left), strict=True):
        show.metrics(**{f"without_{side}": (percent(result.mean), _ends(result))})
    gap = many.more(p.way)
    show.note(
        f"tagger.counted_{p.way}", right=right.mean, left=left.mean,
        sentences=many.sentences, characters=many.characters, tag=many.common,
        constant=many.by_constant,
    )  # fmt: skip
    show.note(f"tagger.gap_{gap.verdict}", gap=abs(gap.mean), ends=_ends(gap))
    show.note(
        "tagger.decoders", sentences=many.sentences, emission=many.unlawful("emission"),
        marginal=many.unlawful("marginal"), viterbi=many.unlawful("viterbi"),
        alone=many.of("emission").mean, weighed=many.of("marginal").mean,
    )  # fmt: skip


def _ends(share: Estimate) -> str:
    return format_value(share.ci, Unit("share", 1))
