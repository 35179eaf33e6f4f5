"""Bundled series: length, ends and checksum, so that a new statsmodels cannot change a lesson."""

import hashlib

import numpy as np
import pytest

from seqviz.data import BUNDLED, bundled

EXPECTED = {
    "sunspots": (309, 5.0, 2.9, "1700", "2008", "66c86ecdcd5950f61f6243f924fdfa10"),
    "nile": (100, 1120.0, 740.0, "1871", "1970", "eb0f1d6ec926d4062aedc93cdd321895"),
    "co2": (526, 316.1, 371.02, "1958-03", "2001-12", "d9dd99c162169860393938a500efca05"),
    "elnino": (732, 23.11, 22.07, "1950-01", "2010-12", "04cd82503f2284f490eb92e9bf30bfd4"),
    "macro_inflation": (202, 2.34, 3.56, "1959-04", "2009-07", "a4e8eabf089a96fd3ad952253517b68a"),
    "macro_unemployment": (203, 5.8, 9.6, "1959-01", "2009-07", "cc5c3042e1bb19bafd510cd8197460ca"),
}


@pytest.mark.parametrize("key", BUNDLED)
def test_bundled_series_matches_checksum(key):
    length, first, last, start, end, checksum = EXPECTED[key]
    series = bundled(key)
    assert series.values.shape == (length,)
    assert series.values.dtype == np.float64
    assert not series.values.flags.writeable
    assert (series.values[0], series.values[-1]) == (first, last)
    assert (series.labels[0], series.labels[-1]) == (start, end)
    assert len(set(series.labels)) == len(series.labels) == length
    result = hashlib.sha256(series.values.astype("<f8").tobytes()).hexdigest()
    assert result.startswith(checksum)


def test_bundled_co2_averages_weeks_and_interpolates_gaps():
    from statsmodels.datasets import co2

    weekly = co2.load_pandas().data["co2"]
    series = bundled("co2")
    at = series.labels.index
    # Rounded to four decimals.
    april = weekly["1958-04"].mean()
    assert series.values[at("1958-04")] == pytest.approx(april, abs=5.1e-5)
    # February to April 1964 have no value: three equal steps between their neighbors.
    steps = np.diff(series.values[at("1964-01") : at("1964-05") + 1])
    assert weekly["1964-02":"1964-04"].isna().all()
    np.testing.assert_allclose(steps, steps.mean(), atol=2e-4)


def test_bundled_elnino_is_read_row_by_row():
    """The warmest month on average is March, the coldest in autumn: the table is not mixed up."""
    by_month = bundled("elnino").values.reshape(61, 12).mean(axis=0)
    assert np.argmax(by_month) == 2
    assert np.argmin(by_month) in (8, 9)


def test_bundled_rejects_unknown_key():
    with pytest.raises(ValueError, match="Known: sunspots"):
        bundled("gdp")
