"""Notes on one unit: the range of its value, and a step in numbers."""

from __future__ import annotations

from seqviz.compute.gates import observation
from seqviz.core.i18n import number
from seqviz.lessons.framework.show import Show


def between(low: float, high: float, show: Show) -> str:
    """Return the range of a quantity, or one number where both ends round to the same."""
    ends = {"low": number(low), "high": number(high)}
    return show.words("note.stays" if ends["low"] == ends["high"] else "note.lies", **ends)


def term(value: float) -> str:
    """Return a number for a term of a sum, in parentheses if negative."""
    return number(value) if value >= 0 else f"({number(value)})"


def say_arithmetic(
    now: observation.LSTMStep | observation.GRUStep, unit: int, step: int, show: Show
) -> None:
    """State the step of one unit as a sum with its numbers."""
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
