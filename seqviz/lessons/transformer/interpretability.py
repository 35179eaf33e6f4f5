"""Benches on interpretability: logit attribution, lenses, ablation, induction heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqviz.compute.transformer.interpretability.fitted_lens import LENSES
from seqviz.compute.transformer.interpretability.removal import CHANGES, of_change
from seqviz.core.i18n import format_value
from seqviz.experiments.attention import count
from seqviz.experiments.transformer.interpretability import account as accounts
from seqviz.experiments.transformer.interpretability import induction as copies
from seqviz.experiments.transformer.interpretability import lens as lenses
from seqviz.experiments.transformer.interpretability import removal as removals
from seqviz.experiments.transformer.interpretability.fitted_lens import fit_lens
from seqviz.experiments.transformer.interpretability.removal import FIRST
from seqviz.figures.attention.trials import trials_so_far
from seqviz.figures.transformer.interpretability.account import (
    capital_shares,
    logit_account,
    part_name,
)
from seqviz.figures.transformer.interpretability.induction import induction_lines
from seqviz.figures.transformer.interpretability.lens import lens_distance, lens_table, row_name
from seqviz.figures.transformer.interpretability.removal import (
    removal_bars,
    removal_of_many,
    removal_so_far,
)
from seqviz.lessons.framework.controls import choice, on, seed, step_slider, text_input, view
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.output import COMPUTED
from seqviz.lessons.framework.show import Show
from seqviz.models import ready
from seqviz.models.registry import DEFAULTS, MODELS

DECODER, ENCODER = DEFAULTS["decoder"], DEFAULTS["encoder"]
LAYERS = {record.name: record.layers for record in MODELS}
MAX_PASTED_CHARS = 1_000  # limit of a text that is read after every interaction
WORD = 40
UNDECIDED = 0.1  # target: maximum probability of the likeliest token
TEXT = "The capital of France is"
FILLED = "The film was [MASK]."


def read(show: Show, text: str, model: str = DECODER) -> None:
    """Require the model, and a text short enough for a pass after every interaction."""
    show.model(model, text)
    ready.check_interactive_length(model, text)


@dataclass(frozen=True)
class AccountParams:
    """Controls of the bench on logit attribution in a decoder."""

    view: str = view(("own", "capitals"), "own")
    text: str = text_input(TEXT, MAX_PASTED_CHARS, above=True)
    target: str = text_input("", WORD, when=on(view="own"))
    against: str = text_input("", WORD, when=on(view="own"))
    part: int = step_slider(1, 2 * LAYERS[DECODER] + 1, 48, when=on(view="own"))


def account(p: AccountParams, show: Show) -> None:
    if p.view == "own" or p.text != TEXT:  # the capitals of the default text are shipped
        read(show, p.text)
    if p.view == "capitals":
        capitals = show.job(accounts.account_capitals, name="capitals", model=DECODER,
                            text=p.text, so_far=(trials_so_far,))  # fmt: skip
        show.figure(capital_shares, capitals)
        part = part_name(capitals.largest, show.text)
        show.readouts(capitals, attentions="attention_mean", largest_count="largest_count")
        show.facts(capitals.summary, note="capitals", part=part)
        return
    arguments = (DECODER, p.text, p.target, p.against)
    result = show.run(accounts.account, *arguments)
    units = show.run(accounts.split, *arguments, p.part - 1, name="units")
    show.figure(logit_account, result, units, picks=("part", ""))
    logit = "difference" if result.against else "logit"
    tokens = {"token": result.target}
    if result.against:
        tokens["against"] = result.against
    beside = {
        logit: show.words(f"metric.{logit}.beside", **tokens),
        "chance": show.words("metric.chance.beside", rank=result.rank),
        "largest": part_name(result.largest, show.text),
    }
    attributes: dict[str, Any] = {logit: "logit", "total": "total", "chance": "probability"}
    show.readouts(result, **attributes, largest="largest_value", caption=beside)
    show.facts(result.summary, note="account", half=part_name(result.half, show.text))
    if units.kind != "embedding":
        show.facts(units.summary, note="split", part=part_name(units.part, show.text))
    if not p.target and not p.against:
        undecided = result.probability < UNDECIDED
        show.target("undecided", undecided, chance=result.probability, token=result.target)


def n_positions(values: Mapping[str, Any]) -> int:
    """Return the number of tokens examined, once the model is available."""
    return min(lenses.MAX_POSITIONS, count(values["model"], text_read(values)))


def default_position(values: Mapping[str, Any]) -> int:
    """Return the position shown before one is chosen."""
    return lenses.default_position(values["model"], text_read(values))


def text_read(values: Mapping[str, Any]) -> str:
    """Return the text that the chosen model reads."""
    decoder = values["model"] == DECODER
    return str(read_params("account", AccountParams).text if decoder else values["filled"])


@dataclass(frozen=True)
class LookParams:
    """Controls of the bench on predictions after each layer."""

    view: str = view(("own", "reviews"), "own")
    model: str = choice((DECODER, ENCODER), DECODER, menu=True, when=on(view="own"), more=True)
    filled: str = text_input(
        FILLED, MAX_PASTED_CHARS, above=True, when=on(view="own", model=(ENCODER,))
    )
    reading: str = choice(LENSES, "plain", when=on(view="own", model=(DECODER,)))
    place: int = step_slider(
        1, lenses.MAX_POSITIONS, 0, within=n_positions, opens=default_position, when=on(view="own")
    )


def lens(p: LookParams, show: Show) -> None:
    if p.view == "reviews":
        many = show.job(fit_lens, name="many", model=DECODER, so_far=(trials_so_far,))
        show.figure(lens_distance, many)
        show.readouts(many, "plain_most", "fitted_there", "alone")
        layer = row_name(many.furthest, show.text)
        show.facts(many.summary, note="lens.many", layer=layer)
        return
    text = text_read(vars(p))
    read(show, text, p.model)
    plain = show.run(lenses.lens, p.model, text, name="plain")
    result, picks, at = plain, ("place", ""), p.place or default_position(vars(p))
    if p.reading == "fitted":
        maps = show.job(fit_lens, name="maps", model=DECODER, so_far=(trials_so_far,))
        result = show.run(lenses.lens, p.model, text, maps)
        show.figure(lens_table, result, at, plain, provenance=COMPUTED, picks=picks)
    else:
        show.figure(lens_table, result, at, picks=picks)
    column = len(result.pieces) - min(at, len(result.pieces))
    settled = result.settled_layer(column)
    answer = show.words("metric.ends.beside", token=result.likeliest[-1][column])
    show.readout("ends", result.chance_of, column, caption=answer)
    if settled:
        before = row_name(settled - 1, show.text)
        show.readout("comes", result.before_settled, column, caption=before)
    show.readouts(result, median_settled="median_settled_layer")
    show.facts(
        result.summary, column, note="lens", settled=row_name(settled, show.text),
        median=format_value(result.median_settled_layer),
    )  # fmt: skip
    if result is not plain:
        show.note("lens.fitted", bits=plain.largest_bits(column))
    show.unknown_tokens(result.tokens.unknown, result.tokens.n_text_tokens)


@dataclass(frozen=True)
class RemoveParams:
    """Controls of the bench on layer ablation."""

    view: str = view(("own", "many"), "own")
    model: str = choice((DECODER, ENCODER), DECODER, menu=True, shipped=True)
    filled: str = text_input(
        FILLED, MAX_PASTED_CHARS, above=True, when=on(view="own", model=ENCODER)
    )
    change: str = choice(CHANGES, FIRST, menu=True)


def remove(p: RemoveParams, show: Show) -> None:
    if p.view == "many":
        show.model(p.model)
        many = show.job(removals.remove_from_many, name="many", model=p.model,
                        so_far=(trials_so_far,))  # fmt: skip
        show.figure(removal_of_many, many, p.change)
        return say_many(many, p, show)
    text = text_read(vars(p))
    read(show, text, p.model)
    if p.model == ENCODER:  # fast, with six layers
        result = show.run(removals.remove, p.model, text)
    else:
        result = show.job(removals.remove, model=p.model, text=text,
                         so_far=(removal_so_far, p.change))  # fmt: skip
    show.figure(removal_bars, result, p.change)
    ablation = show.derive(of_change, result, p.change, name="one")
    beside = show.text("figure.removal_of", layer=ablation.largest)
    show.readouts(
        ablation, "same", worst="largest_shift", middle="median", caption={"worst": beside}
    )
    show.facts(ablation.summary, note="removed", change=show.option("change", p.change))


def say_many(result: Any, p: RemoveParams, show: Show) -> None:
    """State the layer with the largest mean effect over texts, and the median layer."""
    change, layer = p.change, result.largest(p.change)
    beside = show.text("figure.removal_of", layer=layer)
    show.readout("mean", result.mean_of, change, layer, caption=beside)
    show.readout("stays", result.kept_share, change, layer)
    show.readout("middle", result.median, change)
    name = show.option("change", change)
    show.facts(result.summary, change, note=f"removed_many.{p.model}", change=name)


@dataclass(frozen=True)
class CopiesParams:
    """Controls of the bench on induction heads."""

    view: str = view(("sequences", "one"), "sequences")
    off: int = step_slider(0, copies.MAX_HEADS_OFF, 8)
    draw: int = seed(0, when=on(view="one"))


def induction(p: CopiesParams, show: Show) -> None:
    item = p.view == "one"
    if item:  # the result for many sequences is shipped and needs no model
        show.model(DECODER)
    result = show.job(
        copies.copy_twice, model=DECODER, seed=p.draw if item else 0,
        count=1 if item else copies.SEQUENCES, so_far=(trials_so_far,),
    )  # fmt: skip
    show.figure(induction_lines, result, p.off, picks=("off", ""))
    rank = max(p.off - 1, 0)
    show.readout("gain_all", result.gain, "best", 0)
    show.readout("gain_best", result.gain, "best", p.off)
    show.readout("gain_random", result.gain, "random", p.off)
    name = show.text("figure.head_label", layer=result.heads[rank][0], head=result.heads[rank][1])
    show.readout("stripe", result.stripe_of, rank, caption=name)
    show.facts(result.summary, p.off, note="induction")
