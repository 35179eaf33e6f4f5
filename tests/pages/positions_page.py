"""What a visitor of the lesson on positions sees, and what the library says it should be."""

from __future__ import annotations

import json
from typing import Any

from looking import bench, figures

from seqviz.figures.grammar.style import LIVE, Style
from seqviz.lessons.bench import controls

SLUG = "positions"
FIRST, SECOND = "Mary gave John a flower", "John gave Mary a flower"
MODEL_BENCHES = ("learned", "encoder")
OTHERS = ("waves", "distance", "schemes", "effect", "task")  # these wait for no model
READOUTS = {
    "distance": ("residual", "rank", "gap", "fastest", "slowest", "norm", "shortest", "longest"),
    "learned": ("size", "share", "cka", "unlike"),
    "schemes": ("spread", "error", "pairs", "steepest", "flattest", "used", "absolute", "turned",
                "beyond"),
    "effect": ("moved_none", "moved_sinusoidal", "moved_learned", "moved_rotary"),
    "encoder": ("alike_own", "alike_zero", "kept_zero", "previous_zero"),
    "task": ("task_none", "task_sinusoidal", "task_rotary", "task_longer"),
}  # fmt: skip


def opened(visit, lang: str = "en", **settings: object):
    """The page with some settings in its link, "effect__view" for one."""
    return visit(SLUG, lang, **{f"po__{key}": controls.encoded(v) for key, v in settings.items()})


def shown(page, name: str) -> dict[str, Any]:
    """The read-outs of a bench by key: the value, or the value and what stands beside it."""
    named = {page.text(f"{SLUG}.metric.{key}.label"): key for key in READOUTS[name]}
    assert len(named) == len(READOUTS[name])
    return {
        named[m.label]: (m.value, m.delta) if m.delta else m.value
        for m in bench(page.app, name).metric
    }


def said(page, name: str) -> list[str]:
    box = bench(page.app, name)
    return [element.value for kind in ("markdown", "caption") for element in box.get(kind)]


def notes(page, name: str) -> set[str]:
    """The keys of the notes without values that stand under a figure."""
    keys = ("not_unique", "equivariant", "causal", "strangers")
    return {key for key in keys if page.text(f"{SLUG}.note.{key}") in said(page, name)}


def warned(page, name: str) -> list[str]:
    return [box.value for box in bench(page.app, name).warning]


def figure(page, name: str) -> dict[str, Any]:
    """The one figure of a bench."""
    (found,) = figures(bench(page.app, name))
    return found


def drawn(page, draw, *args, **more) -> dict[str, Any]:
    """What a figure function gives for these arguments, in the page's language and colors."""
    return json.loads(draw(*args, style=Style(LIVE, page.text.lang), **more).to_json())
