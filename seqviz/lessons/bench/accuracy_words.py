"""Read-outs that several lessons share: an accuracy with what it is worth, two systems compared."""

from __future__ import annotations

import numpy as np

from seqviz.compute import proportions
from seqviz.compute.proportions import Paired, Proportion
from seqviz.lessons.bench.show import Show
from seqviz.text import percent

CHANCE = 0.05  # a smaller p is hardly chance


def accuracy(found: Proportion) -> tuple[str, str]:
    """A share in percent, and beside it its 95 % interval and the number of cases."""
    if not found.n:
        return "–", "n = 0"
    ends = f"{100 * found.low:.1f}–{percent(found.high)}"
    return percent(found.share), f"{ends}, n = {found.n:,}"


def p_value(p: float) -> str:
    """A p-value with three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def mcnemar(show: Show, names: tuple[str, str], first: np.ndarray, second: np.ndarray) -> Paired:
    """McNemar's test of two systems on the same cases, said in one sentence under the figure.

    first, second: on which cases each is right. It is no part of the code under the figure, which
    would have to list the cases.
    """
    found = proportions.mcnemar(first, second)
    if found.only_first + found.only_second == 0:
        verdict = show.text("readout.no_difference")
    else:
        verdict = show.text(f"readout.{'real' if found.p < CHANCE else 'chance'}")
    p = p_value(found.p)
    show.say(
        "readout.mcnemar",
        first=names[0],
        second=names[1],
        a=f"{found.only_first:,}",
        b=f"{found.only_second:,}",
        n=f"{found.n:,}",
        p=p if p.startswith("<") else f"= {p}",
        verdict=verdict,
    )
    return found
