"""Several numbers over seeds, in rows."""

from __future__ import annotations

import numpy as np

from seqviz.figures.seed_experiment.distribution import kinds_over_seeds
from testing.figure_examples.seed_experiment import cells


def test_kinds_over_seeds_place_marks_at_value_and_row():
    """Thirty that are all at 100% stand at 100, and none in another row."""
    result = cells()
    marks = [trace for trace in kinds_over_seeds(result, "%").data if trace.customdata is not None]
    assert len(marks) == 2  # of the class, and further ones
    for trace in marks:
        seeds, values = np.array(trace.customdata, float).T
        assert np.allclose(np.array(trace.x, float), values)
        for row, item in enumerate(reversed(result.values())):
            here = np.floor(np.array(trace.y, float)) == row
            assert np.allclose(values[here], item.values[np.isin(item.seeds, seeds)])
