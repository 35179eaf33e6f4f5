"""Axis specifications: Plotly keys beyond the template, completed by `Sheet.panel`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from seqviz.plotting import scales
from seqviz.plotting.style import Style
from seqviz.plotting.tokens import labels, numbered

LOWEST, HIGHEST = -50.0, 45.0  # decades just beyond float32; values outside are stated in text
NAMED_ROWS = 24  # tokens that fit along a vertical axis
_TICKS = 8


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """Return an axis with a title.

    Args:
        title: name and unit.
        **more: further Plotly axis keys.
    """
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
    """Return an axis with one token at each of the positions 1, 2, ....

    With too many tokens the positions are numbered. Hover texts show the token in both cases.

    Args:
        style: style of the figure.
        pieces: the tokens.
        title: title of the axis; by default "words", or "steps" where it is numbered.
        upright: vertical axis with the first token on top.
        limit: number of tokens that fit.
        **more: further Plotly axis keys.
    """
    result, named = labels(pieces, limit or (NAMED_ROWS if upright else None))
    fallback = style.text("figure.words" if named else "figure.steps")
    result |= {"showgrid": False, "range": [0.5, max(len(pieces), 1) + 0.5]}
    if upright:
        result |= {"range": [len(pieces) + 0.5, 0.5], "tickangle": 0}
    return {**result, "title": {"text": title or fallback}, **more}


def names(words: Sequence[str], title: str = "", **more: Any) -> dict[str, Any]:
    """Return an axis with one name at each of the positions 1, 2, ....

    Args:
        words: the names, escaped.
        title: title of the axis.
        **more: further Plotly axis keys, which override these.
    """
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
    """Return a vertical axis with one name at each of the positions 1, 2, ... from the top.

    Args:
        words: the names, escaped.
        title: title of the axis.
        **more: further Plotly axis keys, which override these.
    """
    return names(words, title, **{"range": [len(words) + 0.6, 0.4], **more})


def ranks(words: Sequence[str], title: str, many: str, limit: int = NAMED_ROWS) -> dict[str, Any]:
    """Return a vertical axis of names from the top, numbered where there are too many.

    Args:
        words: the names, escaped.
        title: title of the axis with names.
        many: title of the numbered axis.
        limit: number of names that fit.
    """
    rows: dict[str, Any] = {"range": [len(words) + 0.5, 0.5], "showgrid": False}
    if len(words) <= limit:
        named = {"tickvals": list(range(1, len(words) + 1)), "ticktext": list(words)}
        return axis(title, **rows, **named)
    return axis(many, **rows, **numbered(len(words), words))


def counted(
    count: int, title: str, *, upright: bool = False, step: int = 1, **more: Any
) -> dict[str, Any]:
    """Return an axis of cells 0 ... count - 1.

    Args:
        count: number of cells.
        title: title of the axis.
        upright: vertical axis, from top to bottom.
        step: width of a cell.
        **more: further Plotly axis keys, which override these.
    """
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
    """Return a log axis that fits the values, with ticks at powers of ten.

    It is clipped just beyond the range of float32. Where all values are outside that range, the
    axis is linear over their exponents, as float64 may not represent them. `Panel.powers` converts
    values for either axis.

    Args:
        log10: decimal logarithms of the values.
        title: title of the axis.
        ticks: maximum number of ticks.
        reference: decimal logarithms of reference lines, which may be out of range.
        **more: further Plotly axis keys, which override these.
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
    # Written here, as Plotly sets powers a quarter larger than other numbers; and beyond the range,
    # as pins widen it.
    wide = high - low + every
    positions = range(every * int(np.ceil((low - wide) / every)), int(high + wide) + 1, every)
    words = [{0: "1", 1: "10"}.get(k) or f"10<sup>{k}</sup>".replace("-", "−") for k in positions]
    written = {
        "tickvals": [10**k if 0 <= k <= 15 else 10.0**k for k in positions],
        "ticktext": words,
    }
    return axis(title, **{"type": "log", "range": [low, high], **written, **more})


def percent(title: str, low: float = 0, high: float = 100, **more: Any) -> dict[str, Any]:
    """Return a percent axis; from 0 to 100 it has ticks at the quarters.

    Args:
        title: title of the axis.
        low: start in percent.
        high: end in percent.
        **more: further Plotly axis keys, which override these.
    """
    if (low, high) == (0, 100):
        more = {"range": [-2, 106], "tickvals": [0, 25, 50, 75, 100], **more}
    return axis(title, **{"range": [low, high], **more})


def around(*arrays: Shaped[np.ndarray, "..."], margin: float = 0.06) -> list[float]:
    """Return an axis range that fits all finite values, with a margin.

    Args:
        *arrays: the values.
        margin: margin at each end, as a share of the range.
    """
    finite = np.concatenate([np.ravel(a[np.isfinite(a)]) for a in arrays])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    room = margin * (high - low) or 0.1 * (abs(high) or 1.0)
    return [low - room, high + room]
