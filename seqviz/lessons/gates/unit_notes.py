"""Sentences about one unit: where its value lies, and a step of it in numbers."""

from __future__ import annotations

from seqviz.compute.gates import observation
from seqviz.core.i18n import number
from seqviz.lessons.framework.show import Show


def between(low: float, high: float, show: Show) -> str:
    """Where a quantity lies over the steps; one number where both ends read the same."""
    ends = {"low": number(low), "high": number(high)}
    return show.words("note.stays" if ends["low"] == ends["high"] else "note.lies", **ends)


def term(value: float) -> str:
    """A number behind a sign of arithmetic: a negative one stands in brackets."""
    return number(value) if value >= 0 else f"({number(value)})"


def say_arithmetic(
    now: observation.LSTMStep | observation.GRUStep, unit: int, step: int, show: Show
) -> None:
    """The step of one unit as a sum with its numbers."""
    if isinstance(now, observation.LSTMStep):
        retained, written, result = now.f * now.c_before, now.i * now.g, now.c
        values = {"keep": now.f, "before": now.c_before, "write": now.i, "new": now.g}
        key = "step_lstm"
    else:
        retention = now.retention
        retained, written, result = retention * now.h_before, (1 - retention) * now.n, now.h
        values = {"keep": retention, "before": now.h_before, "write": 1 - retention, "new": now.n}
        key = "step_gru" if now.update == "keep" else "step_gru_write"
    labels = {name: term(value) for name, value in values.items()}
    show.note(key, unit=unit, step=step, kept=retained, written=term(written), result=result,
              **labels)  # fmt: skip
