"""Real time series that come with statsmodels, all in the public domain."""

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
    """One real series, equally spaced in time.

    key: its name in `BUNDLED`. values: shape (time,), in `unit`; read-only.
    labels: one axis label per value: "1700", "1958-03" or "1959Q2". start: the first of them.
    source: citation. provenance: license, and what was done to the values.
    """

    key: str
    values: Float[np.ndarray, "time"]
    unit: str
    start: str
    labels: tuple[str, ...]
    source: str
    provenance: str


def bundled(key: str) -> Series:
    """Load a series by its key, one of `BUNDLED`.

    Raises ValueError for an unknown key. Needs statsmodels and pandas, imported on the first call.
    """
    if key not in _LOADERS:
        raise ValueError(f"Unknown series: {key}. Known: {', '.join(BUNDLED)}.")
    return _LOADERS[key](key)


def _sunspots(key: str) -> Series:
    from statsmodels.datasets import sunspots

    data = sunspots.load_pandas().data
    return _series(
        key,
        values=data["SUNACTIVITY"],
        unit="sunspots",
        labels=_years(data["YEAR"]),
        source="Yearly sunspot numbers 1700-2008, NOAA National Geophysical Data Center.",
        done="Unchanged.",
    )


def _nile(key: str) -> Series:
    from statsmodels.datasets import nile

    data = nile.load_pandas().data
    return _series(
        key,
        values=data["volume"],
        unit="10^8 m^3",
        labels=_years(data["year"]),
        source=(
            "Yearly flow of the Nile at Aswan 1871-1970. Cobb, G. W. 1978. The problem of the "
            "Nile: conditional solution to a changepoint problem. Biometrika 65(2), 243-251."
        ),
        done="Unchanged.",
    )


def _co2(key: str) -> Series:
    from statsmodels.datasets import co2

    weekly = co2.load_pandas().data["co2"]
    # A missing week is left out of the mean of its month; five months have no week at all.
    # Rounded, so that the checksum does not depend on the order in which a mean is summed.
    monthly = weekly.resample("MS").mean().interpolate(method="linear").round(4)
    return _series(
        key,
        values=monthly,
        unit="ppm",
        labels=tuple(monthly.index.strftime("%Y-%m")),
        source=(
            "Atmospheric CO2 at Mauna Loa 1958-2001. Keeling, C. D. and Whorf, T. P. 2004. "
            "Atmospheric CO2 concentrations derived from flask air samples at sites in the SIO "
            "network. Carbon Dioxide Information Analysis Center, Oak Ridge National Laboratory."
        ),
        done=(
            "Monthly means of the weekly values (59 of 2284 weeks are missing); the five months "
            "without a value are interpolated linearly; rounded to 0.0001 ppm."
        ),
    )


def _elnino(key: str) -> Series:
    from statsmodels.datasets import elnino

    data = elnino.load_pandas().data.set_index("YEAR")
    years = _years(data.index)
    return _series(
        key,
        values=data.to_numpy().reshape(-1),
        unit="°C",
        labels=tuple(f"{year}-{month:02d}" for year in years for month in range(1, 13)),
        source=(
            "Monthly sea surface temperature 1950-2010, region Nino 1+2, ERSST.V3B, NOAA National "
            "Weather Service, Climate Prediction Center."
        ),
        done="The table of years and months is read row by row as one monthly series.",
    )


def _macro_inflation(key: str) -> Series:
    from statsmodels.datasets import macrodata

    # The first quarter has no predecessor: its 0.00 is a placeholder, not a measurement.
    data = macrodata.load_pandas().data.iloc[1:]
    return _series(
        key,
        values=data["infl"],
        unit="% per year",
        labels=_quarters(data),
        source=(
            "Quarterly inflation, United States, 1959Q2-2009Q3: 400 times the change of the log "
            "consumer price index. FRED, Federal Reserve Bank of St. Louis."
        ),
        done="The first quarter, a placeholder of 0, is left out.",
    )


def _macro_unemployment(key: str) -> Series:
    from statsmodels.datasets import macrodata

    data = macrodata.load_pandas().data
    return _series(
        key,
        values=data["unemp"],
        unit="%",
        labels=_quarters(data),
        source=(
            "Quarterly unemployment rate, United States, 1959Q1-2009Q3, seasonally adjusted. "
            "U.S. Bureau of Labor Statistics."
        ),
        done="Unchanged.",
    )


_LOADERS: dict[str, Callable[[str], Series]] = {
    "sunspots": _sunspots,
    "nile": _nile,
    "co2": _co2,
    "elnino": _elnino,
    "macro_inflation": _macro_inflation,
    "macro_unemployment": _macro_unemployment,
}

BUNDLED: tuple[str, ...] = tuple(_LOADERS)
"""Keys of the series that `bundled` loads."""


def _series(
    key: str,
    values: pd.Series | np.ndarray,
    unit: str,
    labels: tuple[str, ...],
    source: str,
    done: str,
) -> Series:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return Series(
        key=key,
        values=array,
        unit=unit,
        start=labels[0],
        labels=labels,
        source=source,
        provenance=f"Public domain, from statsmodels.datasets. {done}",
    )


def _years(column: pd.Series | pd.Index) -> tuple[str, ...]:
    return tuple(str(int(year)) for year in column)


def _quarters(data: pd.DataFrame) -> tuple[str, ...]:
    return tuple(
        f"{int(year)}Q{int(quarter)}"
        for year, quarter in zip(data["year"], data["quarter"], strict=True)
    )
