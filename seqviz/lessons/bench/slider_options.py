"""What a slider in the browser is told (`assets/static/slider.js`), on a page and in a notebook."""

from __future__ import annotations

from typing import Any

from seqviz.lessons.bench.controls import Slider, Steps, encoded
from seqviz.text import Text, number


def slider_options(
    control: Slider | Steps, value: Any, label: str, help_text: str | None, text: Text, top: Any
) -> dict[str, Any]:
    """As JSON. top: the upper end of a slider beside the values of the controls before it."""
    words = {"exact": text("frame.exact")}
    if isinstance(control, Slider) and control.buttons:
        words |= {"back": text("frame.earlier"), "forward": text("frame.later")}
    common = {
        "label": label,
        "help": help_text,
        "start": encoded(control.default),
        "value": encoded(value),
        "unit": text(f"unit.{control.unit}") if control.unit else "",
        "words": words,
    }
    if isinstance(control, Steps):
        stops = [{"text": _stop(stop), "value": encoded(stop)} for stop in control.stops]
        return {**common, "stops": stops}
    whole = isinstance(control.default, int)
    return {**common, "low": control.low, "high": top, "step": control.step, "whole": whole}


def _stop(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else number(value, 2)
