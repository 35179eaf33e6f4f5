"""Benches on interventions in a pretrained model: attention masks, heads switched off."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.attention import masks
from seqviz.experiments import attention
from seqviz.experiments.attention import head_effects
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.heads import head_importance, importance_so_far
from seqviz.figures.attention.trials import trials_so_far
from seqviz.lessons.attention.heads import MAX_PASTED_CHARS, PretrainedParams, chosen
from seqviz.lessons.attention.notes import read_change, say_change
from seqviz.lessons.framework.controls import choice, on, slider, text_input, toggle, view
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.model_controls import DECODERS, ENCODERS
from seqviz.lessons.framework.show import Show
from seqviz.models import ready
from seqviz.models.forward_cache import Masking

CLOSED, KEPT = 1 / 3, 0.87  # target: minimum share masked, minimum cosine of the sentence vector
LONG = 512  # number of tokens for the savings of a sparse pattern
CELLS = 10 * masks.MOST_CELLS  # characters: "512.512 " is the longest pair


@dataclass(frozen=True)
class AttentionMaskParams:
    """Controls of the bench on attention masks."""

    kind: str = choice(masks.MASK_KINDS, "causal", menu=True)
    reach: int = slider(1, 16, masks.REACH, when=on(kind=masks.SPARSE), unit="tokens")
    pads: int = slider(0, 8, 0)
    told: bool = toggle(True, when=lambda v: v["pads"] > 0)
    cells: str = text_input("", CELLS)


def mask(p: AttentionMaskParams, show: Show) -> None:
    above = read_params("real", PretrainedParams)
    text, _ = chosen(vars(above))
    # Positions count from 1 on the axes and from 0 in a mask.
    cells = tuple((a - 1, b - 1) for a, b in masks.pairs(p.cells) if a and b)
    show.model(above.model, text)
    own = "causal" if above.model in DECODERS else "none"
    sparse = p.kind in masks.SPARSE
    if p.kind not in ("own", own) or p.pads or cells:
        ready.check_interactive_length(above.model, text)
    masking = Masking(p.kind, p.pads, p.told, cells, p.reach if sparse else masks.REACH)
    item = show.run(attention.head, above.model, text, "", above.layer, above.head, masking,
                    name="one")  # fmt: skip
    change = show.run(attention.masked, above.model, text, masking, name="change")
    show.figure(attention_mask, item, toggles=("cells", "yx"))
    show.readouts(item, allowed="share_allowed")
    if p.pads:
        show.readouts(item, on_pads="on_padding")
    read_change(change, show)
    show.note("mask", open=int(item.allowed.sum()), all=item.allowed.size,
              share=item.share_allowed, said=say_change(change, show))  # fmt: skip
    if sparse:
        long = show.derive(masks.cells_computed, p.kind, LONG, change.text.decoder, p.reach,
                           name="long")  # fmt: skip
        show.note("sparse", tokens=LONG, cells=long, all=LONG**2, share=long / LONG**2)
    if item.blind:
        show.note("blind")
    if above.model not in DECODERS:
        closed, cosine = 1 - item.share_allowed, change.sentence
        reached = closed >= CLOSED and cosine >= KEPT
        show.target("sparse", reached, closed=closed, kept=cosine)


@dataclass(frozen=True)
class AblateParams:
    """Controls of the bench on ablated heads."""

    view: str = view(("switches", "both", "each"), "switches")
    off: str = text_input("5.7", CELLS, when=on(view=("switches", "both")))
    compare: str = text_input(
        "The creature was exhausted, so it stayed where it was.", MAX_PASTED_CHARS
    )


def ablate(p: AblateParams, show: Show) -> None:
    above = read_params("real", PretrainedParams)
    text, _ = chosen(vars(above))
    off = masks.pairs(p.off)
    show.model(above.model, text)
    ready.check_interactive_length(above.model, text)
    if p.view == "each":
        return rank_heads(above, text, show)
    means = None
    if p.view == "both":
        means = show.job(head_effects.mean_outputs, name="means", model=above.model,
                         so_far=(trials_so_far,))  # fmt: skip
    compare = p.compare if above.model in ENCODERS else ""
    change = show.run(attention.ablate, above.model, text, compare, off, name="change")
    order = "xy" if change.text.layers > change.text.heads else "yx"
    retained = None
    if means is not None:
        retained = show.run(attention.ablate, above.model, text, compare, off, means, name="kept")
    both = (retained,) if retained else ()
    show.figure(head_switches, change, off, *both, toggles=("off", order))
    show.readouts(change, off_count="heads_off")
    read_change(change, show)
    if compare.strip():
        before = show.words("metric.pair.before", value=change.pair_before)
        show.readouts(change, pair="pair_after", caption={"pair": before})
    show.note("off", off=change.off, all=change.heads_off[1], said=say_change(change, show))
    if means is not None and retained is not None:
        show.note("mean", sentences=means.sentences, said=say_change(retained, show))


def rank_heads(above: PretrainedParams, text: str, show: Show) -> None:
    """Show the loss from switching off each head alone."""
    chosen = above.layer, above.head
    result = show.job(
        head_effects.each_head, name="effects", model=above.model, text=text,
        then=(head_importance, *chosen), so_far=(importance_so_far, *chosen),
    )  # fmt: skip
    layer, head = result.most_missed
    label = show.text("figure.head_label", layer=layer, head=head)
    show.readouts(result, worth="largest", half="hardly_missed", caption={"worth": label})
    show.note("each", label=label, effects=result)
