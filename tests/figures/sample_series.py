"""Series that tests of figures draw."""

from __future__ import annotations

from functools import cache

from seqviz.compute import ar_fitting as ar
from seqviz.data import series

PATH = ar.simulate((0.6, -0.3), 1.5, n=200, seed=4)
WALK = ar.simulate((1.0,), n=120, seed=3)


@cache
def nile() -> series.Series:
    return series.bundled("nile")
