"""Labels at the ends of lines instead of a legend, kept apart, and axes with room for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Shaped

from seqviz.figures.grammar.style import Style


def around(*arrays: Shaped[np.ndarray, "..."], margin: float = 0.06) -> list[float]:
    """A range that fits these values, with some room at both ends."""
    seen = np.concatenate([np.ravel(a[np.isfinite(a)]) for a in arrays])
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    room = margin * (high - low) or 0.1 * (abs(high) or 1.0)
    return [low - room, high + room]


def label(style: Style, words: str, color: str, **place: Any) -> dict[str, Any]:
    """Words without an arrow, for the end of a line."""
    return {
        "text": words,
        "showarrow": False,
        "font": {"size": 13 * style.scale, "color": color},
        **place,
    }


def spread(wanted: Sequence[float], least: float, highest: float = float("inf")) -> list[float]:
    """Places as near to the wanted ones as labels can be that must stand `least` apart.

    highest: none stands above it; Plotly leaves out a label that is beyond its axis.
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    groups: list[tuple[list[int], float]] = []  # members from below, and their middle
    for place in order:
        members, middle = [place], wanted[place]
        while groups:
            below, center = groups[-1]
            gap = least * (len(below) + len(members)) / 2
            if middle - center >= gap:
                break
            groups.pop()
            members = below + members
            middle = sum(wanted[m] for m in members) / len(members)
        groups.append((members, middle))
    found = [0.0] * len(wanted)
    for members, middle in groups:
        for rank, place in enumerate(members):
            found[place] = middle + least * (rank - (len(members) - 1) / 2)
    for place in sorted(range(len(found)), key=lambda place: -found[place]):
        found[place] = min(found[place], highest)
        highest = found[place] - least
    return found
