"""The arithmetic of `benchmarks.soak`: how far a line moves, and a wait for each minute."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import soak
from seqviz.content import catalog


def test_drift_fits_line_after_warm_up():
    minutes = np.arange(11.0)
    values = np.where(minutes < 2, 500.0, 100 + minutes)  # until the warm-up is over they count not
    assert soak.drift(minutes, values) == pytest.approx(8 / 106)
    values[5] = math.nan
    assert soak.drift(minutes, values) == pytest.approx(8 / np.nanmean(values[2:]))
    assert math.isnan(soak.drift([1.0], [2.0]))


def test_seats_by_minute_weights_lessons_equally():
    """A minute counts every lesson once; without a press of each lesson it is NaN."""
    slugs = [lesson.slug for lesson in catalog.LESSONS]
    presses = [(0.1 * k, slug, 10.0) for k, slug in enumerate(slugs) if k < 9]
    presses += [(0.5, slugs[0], 10.0)] * 9 + [(0.9, slug, 10.0) for slug in slugs[9:]]
    presses += [(1.5, slugs[0], 99.0)]  # the others have none in this minute
    first, second = soak.Seats(0.0, presses).by_minute()
    assert first == 10.0
    assert math.isnan(second)
