"""Labels at the ends of lines instead of a legend, kept apart, and axes with room for them."""

from __future__ import annotations

from collections.abc import Sequence


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
