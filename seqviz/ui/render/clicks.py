"""Where a click on a figure goes, and what a drawing in the browser reports: into the session.

Both arrive before the next run, which draws them. What the browser sends may be anything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, MutableMapping
from functools import partial
from typing import Any

import streamlit as st

from seqviz.compute.attention import masks
from seqviz.lessons.framework.controls import Control, SelectSlider, Slider, controls
from seqviz.lessons.framework.output import ClickBindings, Pair

FAR = sys.float_info.max


def on_pick(
    prefix: str,
    declaration: type[Any] | None,
    clicks: ClickBindings,
    state: MutableMapping[Any, Any] = st.session_state,
) -> Callable[[Any, Any], None] | None:
    """What a click does to the values in `state`. None where a click does nothing."""
    if clicks.toggles:
        return partial(_toggle, state, prefix, *clicks.toggles)
    if clicks.picks is None:
        return None
    return partial(_move, state, prefix, declaration, clicks.picks, clicks.opens)


def apply_browser_values(
    prefix: str, declaration: type[Any] | None, values: Mapping[str, Any]
) -> None:
    """What the browser reports, into the session, as far as it is possible at all."""
    declared = dict(controls(declaration)) if declaration else {}
    for name, value in values.items():
        if name not in declared:
            continue
        try:
            clean = declared[name].parse(str(value))
        except (ValueError, KeyError):
            continue
        st.session_state[f"{prefix}.{name}"] = clean


def snap(number: float, control: Control | None) -> float:
    """The value of a control that is nearest to a number."""
    match control:
        case Slider(low=low, high=high, step=step):
            steps = round((min(high, max(low, number)) - low) / step)
            return min(high, round(low + steps * step, 10))
        case SelectSlider(stops=stops):
            return float(min(stops, key=lambda stop: abs(stop - number)))
        case _:
            return round(number)


def _toggle(
    state: MutableMapping[Any, Any], prefix: str, name: str, order: str, x: Any, y: Any
) -> None:
    """Put a pair into a control, or take it out."""
    key = f"{prefix}.{name}"
    if key not in state or not (_finite(x) and _finite(y)):
        return
    pair = (round(x), round(y)) if order == "xy" else (round(y), round(x))
    try:
        (cell,) = masks.pairs(masks.written((pair,)))  # no browser of ours says another
        pairs = set(masks.pairs(state[key]))
    except ValueError:
        return  # what stands there is said to be wrong under the figure
    state[key] = masks.written(tuple(sorted(pairs ^ {cell})))


def _move(
    state: MutableMapping[Any, Any],
    prefix: str,
    declaration: type[Any] | None,
    names: Pair,
    opens: Pair | None,
    *position: Any,
) -> None:
    """Move two controls to a place on the chart."""
    if opens:
        state[f"{prefix}.{opens[0]}"] = opens[1]
    declared = dict(controls(declaration)) if declaration else {}
    for name, number in zip(names, position, strict=True):
        key = f"{prefix}.{name}"
        # A control that does not apply is not there.
        if key not in state or not _finite(number):
            continue
        kind = type(state[key])
        state[key] = kind(snap(number, declared.get(name)))


def _finite(number: Any) -> bool:
    return type(number) in (int, float) and -FAR <= number <= FAR  # True is no place
