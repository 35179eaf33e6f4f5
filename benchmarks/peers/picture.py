"""What every one of the frameworks draws: the first bench of *AR fitting*, as our page makes it."""

from __future__ import annotations

from typing import Any

import orjson

from seqviz.lessons import ar_fitting
from seqviz.plotting.figure import Figure

LOW, HIGH, START, STEP = -1.2, 1.2, 0.8, 0.01


def figure(phi: float) -> Figure:
    """Simulated, its correlations computed and drawn, anew each time."""
    figure: Figure = ar_fitting.lesson.benches["process"].run({"phi": str(phi)}, code=False).figure
    return figure


def specification(phi: float) -> Any:
    """The same as what its JSON says."""
    return orjson.loads(figure(phi).to_json())
