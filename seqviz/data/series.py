"""Real time series from statsmodels, all in the public domain: `bundled`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Series:
    """Real series with equal time steps.

    Attributes:
        values: shape (time,), read-only.
        labels: axis label of each value: "1700", or "1958-03" for a month and for the first month
            of a quarter.
        source: citation.
    """

    values: Float[np.ndarray, "time"]
    labels: tuple[str, ...]
    source: str


def bundled(key: str) -> Series:
    """Load a series; the first call imports statsmodels and pandas.

    Args:
        key: one of `BUNDLED`.

    Raises:
        ValueError: the key is unknown.
    """
    if key not in _SOURCES:
        raise ValueError(f"Unknown series: {key}. Known: {', '.join(BUNDLED)}.")
    from statsmodels import datasets

    dataset, read, source = _SOURCES[key]
    values, labels = read(getattr(datasets, dataset).load_pandas().data)
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return Series(array, labels, source)


_Read = Callable[["pd.DataFrame"], tuple["pd.Series | np.ndarray", tuple[str, ...]]]


def _by_year(values: str, year: str) -> _Read:
    """Return a reader of a column of values and a column of years."""
    return lambda data: (data[values], _years(data[year]))


def _co2(data: pd.DataFrame) -> tuple[pd.Series, tuple[str, ...]]:
    """Return monthly means of the weekly values, of which 59 of 2284 are missing.

    A missing week is left out of its month's mean; the five months without any week are
    interpolated linearly. Values are rounded to 0.0001 ppm, so that the checksum does not depend on
    the order of summation.
    """
    monthly = data["co2"].resample("MS").mean().interpolate(method="linear").round(4)
    return monthly, tuple(f"{month:%Y-%m}" for month in monthly.index)


def _elnino(data: pd.DataFrame) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the table of years and months, row by row, as one monthly series."""
    table = data.set_index("YEAR")
    months = range(1, 13)
    labels = tuple(f"{year}-{month:02d}" for year in _years(table.index) for month in months)
    return table.to_numpy().reshape(-1), labels


def _by_quarter(values: str, first: int = 0) -> _Read:
    """Return a reader of a column of the macroeconomic data, starting at row `first`."""

    def read(data: pd.DataFrame) -> tuple[pd.Series, tuple[str, ...]]:
        rows = data.iloc[first:]
        dates = zip(rows["year"], rows["quarter"], strict=True)
        # The first month: Plotly parses it as a date, and "1959Q2" as a category.
        labels = tuple(f"{int(year)}-{3 * int(quarter) - 2:02d}" for year, quarter in dates)
        return rows[values], labels

    return read


def _years(column: pd.Series | pd.Index) -> tuple[str, ...]:
    return tuple(str(int(year)) for year in column)


# By key: statsmodels data set, reader of values and labels, citation.
_SOURCES: dict[str, tuple[str, _Read, str]] = {
    "sunspots": (
        "sunspots",
        _by_year("SUNACTIVITY", "YEAR"),
        "Yearly sunspot numbers 1700-2008, NOAA National Geophysical Data Center.",
    ),
    "nile": (
        "nile",
        _by_year("volume", "year"),
        "Yearly flow of the Nile at Aswan 1871-1970. Cobb, G. W. 1978. The problem of the "
        "Nile: conditional solution to a changepoint problem. Biometrika 65(2), 243-251.",
    ),
    "co2": (
        "co2",
        _co2,
        "Atmospheric CO2 at Mauna Loa 1958-2001. Keeling, C. D. and Whorf, T. P. 2004. "
        "Atmospheric CO2 concentrations derived from flask air samples at sites in the SIO "
        "network. Carbon Dioxide Information Analysis Center, Oak Ridge National Laboratory.",
    ),
    "elnino": (
        "elnino",
        _elnino,
        "Monthly sea surface temperature 1950-2010, region Nino 1+2, ERSST.V3B, NOAA National "
        "Weather Service, Climate Prediction Center.",
    ),
    "macro_inflation": (
        "macrodata",
        _by_quarter("infl", first=1),  # the 0.00 of the first quarter is a placeholder
        "Quarterly inflation, United States, 1959Q2-2009Q3: 400 times the change of the log "
        "consumer price index. FRED, Federal Reserve Bank of St. Louis.",
    ),
    "macro_unemployment": (
        "macrodata",
        _by_quarter("unemp"),
        "Quarterly unemployment rate, United States, 1959Q1-2009Q3, seasonally adjusted. "
        "U.S. Bureau of Labor Statistics.",
    ),
}

BUNDLED: tuple[str, ...] = tuple(_SOURCES)
"""Keys of the series that `bundled` loads."""
