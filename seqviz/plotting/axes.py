"""Axes, as the keys of Plotly's in which they differ from the house's; a panel adds the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from seqviz.plotting import scales
from seqviz.plotting.style import Style
from seqviz.plotting.tokens import labels, numbered

LOWEST, HIGHEST = -50.0, 45.0  # decades just beyond float32: what is further out is said in words
NAMED_ROWS = 24  # tokens that find room beside a figure
_TICKS = 8


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis with its name and unit."""
    return {"title": {"text": title}, **more}


def tokens(
    style: Style,
    pieces: Sequence[str],
    title: str = "",
    *,
    upright: bool = False,
    limit: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Places 1, 2, ... under the tokens read there, numbered where there are too many for it.

    On hover the label of a place is its token in both cases. title: by default that they are words,
    or steps. upright: the first token on top. limit: how many find room.
    """
    result, named = labels(pieces, limit or (NAMED_ROWS if upright else None))
    fallback = style.text("figure.words" if named else "figure.steps")
    result |= {"showgrid": False, "range": [0.5, max(len(pieces), 1) + 0.5]}
    if upright:
        result |= {"range": [len(pieces) + 0.5, 0.5], "tickangle": 0}
    return {**result, "title": {"text": title or fallback}, **more}


def names(words: Sequence[str], title: str = "", **more: Any) -> dict[str, Any]:
    """Places 1, 2, ... with these names (escaped by the caller)."""
    return axis(
        title,
        **{
            "range": [0.4, len(words) + 0.6],
            "tickvals": list(range(1, len(words) + 1)),
            "ticktext": list(words),
            "tickangle": 0,
            "showgrid": False,
            **more,
        },
    )


def ranked(words: Sequence[str], title: str = "", **more: Any) -> dict[str, Any]:
    """Places 1, 2, ... from the top with these names (escaped by the caller)."""
    return names(words, title, **{"range": [len(words) + 0.6, 0.4], **more})


def ranks(words: Sequence[str], title: str, many: str, limit: int = NAMED_ROWS) -> dict[str, Any]:
    """Places 1, 2, ... from the top with these names; `many` is the title of a numbered axis."""
    rows: dict[str, Any] = {"range": [len(words) + 0.5, 0.5], "showgrid": False}
    if len(words) <= limit:
        named = {"tickvals": list(range(1, len(words) + 1)), "ticktext": list(words)}
        return axis(title, **rows, **named)
    return axis(many, **rows, **numbered(len(words), words))


def counted(
    count: int, title: str, *, upright: bool = False, step: int = 1, **more: Any
) -> dict[str, Any]:
    """Cells 0 ... count - 1, `step` wide, from top to bottom where `upright`."""
    rounds = (digit * 10**power for power in range(7) for digit in (1, 2, 5))
    ticks = next(every for every in rounds if count / every <= _TICKS)
    ends = [-step / 2, float(-(-count // step) * step) - step / 2]
    positions = list(range(0, count, ticks))
    return axis(
        title,
        **{
            "range": ends[::-1] if upright else ends,
            "tickvals": positions,
            "ticktext": [f"{position:,}" for position in positions],
            "showgrid": False,
            **more,
        },
    )


def decades(
    log10: Float[np.ndarray, "..."],
    title: str,
    ticks: int = _TICKS,
    reference: Sequence[float] = (),
    **more: Any,
) -> dict[str, Any]:
    """A log axis around these values, decades only, cut where float32 has long ended.

    Where all of them are further out, an axis of their exponents: float64 may have no number for
    them. `Panel.powers` gives what to draw on either. reference: of lines that may be out of view.
    """
    own, others = np.ravel(log10), np.asarray(reference, float)
    own, others = own[np.isfinite(own)], others[np.isfinite(others)]
    visible = np.concatenate([own, others])
    beyond = own.size and not ((own >= LOWEST) & (own <= HIGHEST)).any()
    if not beyond:
        visible = np.clip(visible, LOWEST, HIGHEST) if visible.size else np.zeros(1)
    low, high = float(visible.min()), float(visible.max())
    room = max(0.3, 0.05 * (high - low))
    low, high = low - room, high + room
    if beyond:
        ends = int(np.floor(low)), int(np.ceil(high))
        positions, words = scales.decades(*ends, ticks)
        return axis(
            title, **{"range": list(ends), "tickvals": positions, "ticktext": words, **more}
        )
    every = max(1, int(np.ceil((high - low) / ticks)))
    return axis(title, **{"type": "log", "range": [low, high], "dtick": every, **more})


def percent(title: str, low: float = 0, high: float = 100, **more: Any) -> dict[str, Any]:
    """Percent from `low` to `high`; from 0 to 100 with ticks at the quarters."""
    if (low, high) == (0, 100):
        more = {"range": [-2, 106], "tickvals": [0, 25, 50, 75, 100], **more}
    return axis(title, **{"range": [low, high], **more})


def around(*arrays: Shaped[np.ndarray, "..."], margin: float = 0.06) -> list[float]:
    """A range that fits these values, with some room at both ends."""
    finite = np.concatenate([np.ravel(a[np.isfinite(a)]) for a in arrays])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    room = margin * (high - low) or 0.1 * (abs(high) or 1.0)
    return [low - room, high + room]
