"""The Transformer block: what each part adds, what is missed without it, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqviz.compute.interpretability.account import place
from seqviz.experiments import functional
from seqviz.experiments.interpretability import account as accounts
from seqviz.figures.interpretability.account import logit_account, part_name
from seqviz.lessons.bench.controls import sentence, stepper
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.bench.show import Show
from seqviz.lessons.transformer_block import (
    Bill,
    Depths,
    Masks,
    Norms,
    Steps,
    bill,
    depths,
    masks,
    norms,
    steps,
)
from seqviz.models import ready
from seqviz.models.registry import DEFAULTS, MODELS
from seqviz.text import literal, number

DECODER, ENCODER = DEFAULTS["decoder"], DEFAULTS["encoder"]
LAYERS = {record.name: record.layers for record in MODELS}
PASTED = 1_000  # characters of a text that is read anew after every press
WORD = 40
TEXT = "The capital of France is"

lesson = Lesson("transformer", code=(functional.forward,))


@dataclass(frozen=True)
class Account:
    """The logit of a token as a sum over the parts of a decoder."""

    text: str = sentence(TEXT, PASTED, above=True)
    target: str = sentence("", WORD)
    against: str = sentence("", WORD)
    part: int = stepper(1, 2 * LAYERS[DECODER] + 1, 48)


def read(show: Show, text: str) -> None:
    """The decoder is here, and the text is short enough for a pass after every press."""
    show.model(DECODER, text)
    ready.check_live(DECODER, text)


@lesson.bench("account", Account)
def account(p: Account, show: Show) -> None:
    read(show, p.text)
    asked = (DECODER, p.text, p.target, p.against)
    found = show.run(accounts.account, *asked, name="found")
    units = show.run(accounts.split, *asked, p.part - 1, name="units")
    show.figure(logit_account, found, units, picks=("part", "target"))
    beside = {
        "logit": literal(found.target),
        "chance": show.words("metric.chance.beside", rank=f"{found.rank:,}"),
        "largest": part_name(found.largest, show.text),
    }
    show.readouts(found, "logit", "total", chance="probability", largest="most", beside=beside)
    say_account(found, units, show)


def say_account(found: Any, split: Any, show: Show) -> None:
    """The sum of the parts, where half of it is reached, and what the split part consists of."""
    facts: Mapping[str, object] = {
        "target": literal(found.target),
        "logit": number(found.logit, 4),
        "embedding": number(float(found.parts[0])),
        "attention": number(float(found.attention.sum())),
        "mlp": number(float(found.mlp.sum())),
        "layers": found.layers,
        "gap": number(found.gap, 2),
        "half": part_name(found.half, show.text),
    }
    against = {"against": literal(found.against)} if found.against else {}
    show.note("account_difference" if against else "account", **facts, **against)
    kind, _ = place(split.part)
    if kind == "embedding":
        return
    best = int(split.foremost)
    value = float(split.values[list(split.numbers).index(best)])
    show.note(
        f"split_{kind}", part=part_name(split.part, show.text), total=number(split.total),
        best=best, value=number(value), kept=len(split.values), rest=number(split.rest),
        others=f"{split.others:,}",
    )  # fmt: skip


lesson.bench("steps", Steps)(steps)
lesson.bench("masks", Masks)(masks)
lesson.bench("norms", Norms)(norms)
lesson.bench("depths", Depths)(depths)
lesson.bench("bill", Bill)(bill)
