"""Events of a figure in the browser (clicks, reported values), applied to the session state.

They arrive before the next run, which renders them. Browser data is validated here.
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
    """Return the callback that applies a click to `state`; None where clicks do nothing."""
    if clicks.toggles:
        return partial(_toggle, state, prefix, *clicks.toggles)
    if clicks.picks is None:
        return None
    return partial(_move, state, prefix, declaration, clicks.picks, clicks.opens)


def apply_browser_values(
    prefix: str, declaration: type[Any] | None, values: Mapping[str, Any]
) -> None:
    """Set the controls to values that the browser reports; invalid ones are ignored."""
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
    """Return the value of a control that is nearest to a number."""
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
    """Add a pair to a control, or remove it."""
    key = f"{prefix}.{name}"
    if key not in state or not (_finite(x) and _finite(y)):
        return
    pair = (round(x), round(y)) if order == "xy" else (round(y), round(x))
    try:
        (cell,) = masks.pairs(masks.written((pair,)))  # the app's scripts send valid pairs only
        pairs = set(masks.pairs(state[key]))
    except ValueError:
        return  # an invalid text has its message under the figure
    state[key] = masks.written(tuple(sorted(pairs ^ {cell})))


def _move(
    state: MutableMapping[Any, Any],
    prefix: str,
    declaration: type[Any] | None,
    names: Pair,
    opens: Pair | None,
    *position: Any,
) -> None:
    """Set two controls to a position on the chart."""
    if opens:
        state[f"{prefix}.{opens[0]}"] = opens[1]
    declared = dict(controls(declaration)) if declaration else {}
    for name, number in zip(names, position, strict=True):
        key = f"{prefix}.{name}"
        # A control that does not apply has no key.
        if key not in state or not _finite(number):
            continue
        kind = type(state[key])
        state[key] = kind(snap(number, declared.get(name)))


def _finite(number: Any) -> bool:
    return type(number) in (int, float) and -FAR <= number <= FAR  # a bool is no position
