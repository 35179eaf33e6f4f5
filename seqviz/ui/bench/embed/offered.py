"""The controls of a bench as data, for a page that draws them itself (`assets/static/embed.js`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqviz.lessons.bench.controls import (
    Choice,
    Control,
    Seed,
    Sentence,
    Slider,
    Steps,
    Toggle,
    encoded,
)
from seqviz.lessons.bench.slider_options import slider_options
from seqviz.lessons.bench.words import Words
from seqviz.text import Text
from seqviz.ui.bench.embed.wanted import Wanted
from seqviz.ui.bench.widgets import is_fixed
from seqviz.ui.shared import markdown


def offered(wanted: Wanted, text: Text) -> list[dict[str, Any]]:
    """Those that apply at these settings, in their order.

    Each has key (its parameter in a link), kind, label, help and value (as in a link); more and
    above as it is declared; and what its kind needs: slider (see `assets/static/slider.js`),
    options, limit.
    """
    prefix, words = wanted.bench.prefix, Words(wanted.bench.lesson.slug, text)
    with wanted.reading():
        return [
            _one(f"{prefix}.{name}", name, control, values, words)
            for name, control, values in wanted.applying()
            if not control.client and not is_fixed(control, values)
        ]


def _one(
    key: str, name: str, control: Control, values: Mapping[str, Any], words: Words
) -> dict[str, Any]:
    label, about = words.control(name)
    value = values[name]
    common = {
        "key": key,
        "label": label,
        "help": about,
        "value": encoded(value),
        "more": control.more,
        "above": getattr(control, "above", False),
    }
    match control:
        case Slider() | Steps():
            top = control.top(values) if isinstance(control, Slider) else None
            options = slider_options(control, value, label, about, words.text, top)
            return {**common, "kind": "slider", "slider": options}
        case Choice():
            named = [
                {"value": option, "html": markdown.inline(words.option(name, option))}
                for option in control.options
            ]
            kind = "several" if control.many else "menu" if control.menu else "one"
            return {**common, "kind": kind, "options": named, "none": control.none}
        case Sentence():
            most = words.text("frame.text_limit", limit=f"{control.limit:,}")
            about = f"{about} {most}" if about else most
            return {**common, "kind": "text", "help": about, "limit": control.limit}
        case Toggle():
            return {**common, "kind": "switch"}
        case Seed():
            return {**common, "kind": "seed"}
    raise TypeError(f"no control for {type(control).__name__}")
