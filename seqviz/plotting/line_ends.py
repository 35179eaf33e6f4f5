"""Placement of labels at line ends without overlaps: `spread`."""

from __future__ import annotations

from collections.abc import Sequence


def spread(targets: Sequence[float], minimum: float, highest: float = float("inf")) -> list[float]:
    """Return label positions close to their targets, at least `minimum` apart.

    Args:
        targets: desired positions.
        minimum: smallest distance of two labels.
        highest: upper limit of the positions; Plotly omits a label beyond its axis.
    """
    order = sorted(range(len(targets)), key=lambda position: targets[position])
    groups: list[tuple[list[int], float]] = []  # members from bottom to top, center
    for location in order:
        members, middle = [location], targets[location]
        while groups:
            below, center = groups[-1]
            gap = minimum * (len(below) + len(members)) / 2
            if middle - center >= gap:
                break
            groups.pop()
            members = below + members
            middle = sum(targets[m] for m in members) / len(members)
        groups.append((members, middle))
    result = [0.0] * len(targets)
    for members, middle in groups:
        for rank, location in enumerate(members):
            result[location] = middle + minimum * (rank - (len(members) - 1) / 2)
    for location in sorted(range(len(result)), key=lambda position: -result[position]):
        result[location] = min(result[location], highest)
        highest = result[location] - minimum
    return result
