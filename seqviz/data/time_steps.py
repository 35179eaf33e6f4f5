"""Time columns of uploaded series: detection (`find`), check for equal steps (`findings`).

Models take each row as the next time step. Dates that contradict this are reported here; nothing is
repaired. Not reported, as expected: weekends and holidays in a file of business days, nights in a
file of opening hours, the lengths of months, and the hour that daylight saving time skips or
repeats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
from jaxtyping import Float, Int

COLUMNS = 4  # number of leading columns that are searched for times
_DAY, _HOUR = 86_400.0, 3_600.0
_CALENDAR = ((7.0, 7.0), (28.0, 30.436875), (89.0, 91.310625), (365.0, 365.2425))
_HOLIDAYS = 8  # weekdays that a file of business days may lack, or percent of them
_LONGEST_HOLIDAY = 7  # weekdays: the Spring Festival, the first week of October
# Names of columns that count time without dates.
_NAMES = frozenset(
    {"t", "time", "date", "datetime", "timestamp", "step", "index", "year", "yr", "jahr", "zeit"}
    | {"datum", "année", "annee", "año", "时间", "日期", "年", "年份", "年度"}
)
# Month names in English, German, French, Spanish, Italian and Portuguese, abbreviated.
_STARTS = (
    "jan ene gen", "feb fev fév", "mar mär mrz", "apr avr abr", "may mai mag", "jun juin giu",
    "jul juil lug", "aug aoû aou ago", "sep set", "oct okt out ott", "nov", "dec dez déc dic",
)  # fmt: skip
_MONTHS = {start: month for month, starts in enumerate(_STARTS, 1) for start in starts.split()}
_QUARTERS = {"一": 1, "二": 2, "三": 3, "四": 4}

_Y, _YY = r"(?P<y>\d{4})", r"'?(?P<y>\d{4}|\d\d)"
_M, _D = r"(?P<m>\d\d?)", r"(?P<d>\d\d?)"
_N, _S, _Q = r"(?P<n>[^\W\d_]{3,12})\.?", r"(?P<s>[-/. ]|\. )", r"(?P<q>[1-4])"
_WEEKDAY = r"(?:[^\W\d_]{2,10}\.?,? )?"
_CLOCK = (
    r"(?:(?:T|,? )(?P<H>\d\d?)(?:[:h时](?P<M>\d\d)(?:[:分](?P<S>\d\d(?:[.,]\d+)?)?)?)?"
    r" ?(?P<ap>[AaPp]\.?[Mm]\.?)? ?(?P<z>Z|UTC|GMT|[+-]\d\d:?\d\d)?)?"
)
_FORMATS = tuple(
    (unit, re.compile(pattern))
    for unit, patterns in {
        "day": (
            rf"{_Y}{_S}{_M}(?P=s){_D}{_CLOCK}",
            rf"{_Y}年{_M}月{_D}日?{_CLOCK}",
            rf"{_Y}(?P<m>\d\d)(?P<d>\d\d){_CLOCK}",
            rf"{_WEEKDAY}{_D}{_S}{_M}(?P=s){_YY}{_CLOCK}",
            rf"{_WEEKDAY}{_M}{_S}{_D}(?P=s){_YY}{_CLOCK}",
            rf"(?P<y>\d\d){_S}{_M}(?P=s){_D}{_CLOCK}",
            rf"{_WEEKDAY}{_D}(?:\. |[-/. ]){_N}[-/, ]{{1,2}}{_YY}{_CLOCK}",
            rf"{_WEEKDAY}{_N}[- ]{_D}(?:st|nd|rd|th)?,?[- ]{_YY}{_CLOCK}",
            rf"{_Y}[- ]{_N}[- ]{_D}{_CLOCK}",
            rf"{_Y}-?W(?P<w>\d\d?)",
        ),
        "month": (
            rf"{_Y}[-/. ]{_M}",
            rf"{_Y}(?P<m>\d\d)",
            rf"{_Y}-?M{_M}",
            rf"{_Y}年{_M}月份?",
            rf"{_M}[-/. ]{_Y}",
            rf"{_N}[-/. ]?{_YY}",
            rf"{_Y}[-/. ]?{_N}",
        ),
        "quarter": (
            rf"{_Y}[-/ ]?[QqT]{_Q}",
            rf"[QqT]{_Q}[-/ ]?{_YY}",
            rf"{_Q}[QqT][-/ ]?{_YY}",
            rf"{_Q}\. ?Quartal {_Y}",
            rf"{_Y}年?第?(?P<q>[1-4一二三四])季度?",
        ),
        "year": (rf"{_Y}年?度?", rf"{_Y}[-/](?:\d\d|\d{{4}})"),
        "second": (r"(?P<H>\d\d?):(?P<M>\d\d)(?::(?P<S>\d\d(?:[.,]\d+)?))? ?(?P<ap>[AaPp][Mm])?",),
    }.items()
    for pattern in patterns
)


@dataclass(frozen=True)
class Times:
    """Times of the rows.

    Attributes:
        columns: names of the time columns: one, or year and month, or date and clock.
        texts: the cell of each row, joined where there are several columns.
        at: time in units; nan where the cell has another format than the others.
        unit: "day", "month", "quarter", "year", "second" or "number" (as in the file).
    """

    columns: tuple[str, ...]
    texts: tuple[str, ...]
    at: Float[np.ndarray, "row"]
    unit: str

    def rows(self, first: int, end: int) -> Times:
        """Return the times of some of the rows.

        Args:
            first: index of the first row.
            end: index after the last row.
        """
        return replace(self, texts=self.texts[first:end], at=self.at[first:end])

    @property
    def trouble(self) -> tuple[int, int, int, int]:
        """Penalties by which date formats are compared; the reading with the least is chosen.

        They are cells of another format, repeated times, steps against the direction of most, and
        findings.
        """
        at = self.at[np.isfinite(self.at)]
        step = np.diff(at)
        both = min(int((step > 0).sum()), int((step < 0).sum()))
        unlike = int(np.isnan(self.at).sum())
        return unlike, at.size - np.unique(at).size, both, sum(1 for _ in findings(self))


@dataclass(frozen=True)
class Finding:
    """Irregularity of the times.

    Attributes:
        code: "unlike", "newest_first", "not_in_order", "doubled", "gaps" or "unequal".
        at: row that shows it.
        reference: row with which it is compared.
        count: number of occurrences.
        more: start and end row of the longest step, for "unequal".
    """

    code: str
    at: int
    reference: int = 0
    count: int = 1
    more: tuple[int, int] = (0, 0)


def find(
    names: Sequence[str],
    cells: Sequence[Sequence[str]],
    value: Callable[[str], float],
    besides: str = "",
) -> Times | None:
    """Return the times of the rows, from one of the first columns or two or three adjacent ones.

    At least nine of ten rows must have a time. A column of plain numbers counts as time if its name
    says so or if it rises by the same step in most rows.

    Args:
        names: names of the columns.
        cells: stripped text by column and row.
        value: number in a cell, else nan.
        besides: column of values, which is not a candidate.

    Returns:
        The times, or None where no column has any.
    """
    width = min(COLUMNS, len(names))
    for index in range(width):
        if names[index] == besides or len(cells[index]) < 3:
            continue
        positions = _calendar(cells[index]) or _counted(names[index], cells[index], value)
        if positions is None:
            continue
        times = Times((names[index],), tuple(cells[index]), *positions)
        if times.trouble[1]:
            times = min(
                (times, *_together(names, cells, index, width)), key=lambda t: t.trouble[:3]
            )
        return times
    return None


def findings(times: Times) -> Iterator[Finding]:
    """Yield the deviations of the times from equal forward steps, at most one of each kind."""
    finite = np.flatnonzero(np.isfinite(times.at))
    unlike = np.flatnonzero(np.isnan(times.at))
    if len(unlike):
        yield Finding("unlike", int(unlike[0]), count=len(unlike))
    at, unit = times.at[finite], times.unit
    if unit == "second" and len(at) > 1 and np.median(np.abs(np.diff(at))) >= 0.9 * _DAY:
        at, unit = np.floor(at[0] / _DAY) + np.round((at - at[0]) / _DAY), "day"
    step = _without_clock_changes(unit, at)
    if not len(step):
        return
    if (step <= 0).all() and (step < 0).any():
        yield Finding("newest_first", int(finite[-1]), int(finite[0]))
        finite, at = finite[::-1], at[::-1]
        step = -step[::-1]
    back = np.flatnonzero(step < 0 if (step > 0).sum() >= (step < 0).sum() else step > 0)
    if len(back):
        yield Finding("not_in_order", int(finite[back[0] + 1]), int(finite[back[0]]), len(back))
        return
    same = np.flatnonzero(step == 0)
    if len(same):
        repeated = len(np.unique(at[same]))
        yield Finding("doubled", int(finite[same[0] + 1]), int(finite[same[0]]), repeated)
        retained = np.concatenate([[True], step != 0])
        finite, at, step = finite[retained], at[retained], step[step != 0]
    if len(step) > 1 and step.min() < step.max():
        undated = np.abs(np.diff(np.cumsum(np.isnan(times.at))[finite]))
        yield from _spacing(unit, at, step, finite, undated)


def _spacing(
    unit: str, at: np.ndarray, step: np.ndarray, rows: np.ndarray, undated: np.ndarray
) -> Iterator[Finding]:
    """Yield a finding where steps are missing or unequal.

    Args:
        unit: unit of the times.
        at: times of the dated rows, rising.
        step: differences of `at`.
        rows: rows of `at`.
        undated: number of rows without a time within each step.
    """
    if unit == "day" and np.mean(step == 1) >= 0.5:
        lacking = _missing_days(at.astype(int))
    elif unit in ("month", "quarter", "year") and np.mean(step == 1) >= 0.5:
        lacking = step - 1
    else:
        typical = np.median(step)
        if unit == "day":
            near = [mean for days, mean in _CALENDAR if days <= typical <= 1.02 * mean]
            typical = near[0] if near else typical
        times = step / typical
        if unit == "second":
            night = np.floor(at[1:] / _DAY) > np.floor(at[:-1] / _DAY)
            if np.any(night) and np.median(times[night]) > 1.5:
                times = np.where(night, 1.0, times)
        full = np.maximum(1, np.round(times))
        fits = np.abs(times - full) <= 0.2 * np.sqrt(full)
        if fits.mean() < 0.9 or np.mean(full == 1) < 0.5:
            short, long = int(np.argmin(step)), int(np.argmax(step))
            yield Finding(
                "unequal", int(rows[short + 1]), int(rows[short]),
                more=(int(rows[long]), int(rows[long + 1])),
            )  # fmt: skip
            return
        lacking = full - 1
    lacking = np.maximum(0, lacking - undated)
    gaps = np.flatnonzero(lacking)
    if len(gaps):
        first = int(gaps[0])
        yield Finding("gaps", int(rows[first]), int(rows[first + 1]), int(lacking.sum()))


def _missing_days(days: Int[np.ndarray, "row"]) -> Int[np.ndarray, "step"]:
    """Return the days that each step leaves out, among the weekdays that the file contains."""
    per_weekday = np.bincount((days - 1) % 7, minlength=7)
    worked = 2 * per_weekday >= per_weekday.max()
    every = np.arange(days[0], days[-1] + 1)
    expected = np.concatenate([[0], np.cumsum(worked[(every - 1) % 7])])
    lacking = np.maximum(0, expected[days[1:] - days[0]] - expected[days[:-1] - days[0] + 1])
    holidays = max(_HOLIDAYS, _HOLIDAYS * expected[-1] // 100)
    if not worked.all() and lacking.max() <= _LONGEST_HOLIDAY and lacking.sum() <= holidays:
        return np.zeros_like(lacking)
    return lacking


def _without_clock_changes(unit: str, at: np.ndarray) -> np.ndarray:
    """Return the steps without the one-hour shifts of daylight saving time, twice a year."""
    step = np.diff(at)
    if unit != "second" or not step.size:
        return step
    usual = np.median(step)
    shifted = np.abs(np.abs(step - usual) - _HOUR) < 1
    for position in np.flatnonzero(shifted & (usual <= _HOUR)):
        day = date.fromordinal(max(1, int(at[position] // _DAY)))
        near_night = day.weekday() == 6 or (
            day.weekday() == 5 and at[position] % _DAY >= 23 * _HOUR
        )
        if near_night and day.month in (3, 4, 9, 10, 11) and at[position + 1] % _DAY <= 4 * _HOUR:
            step[position] = usual
    return step


def _calendar(texts: Sequence[str]) -> tuple[np.ndarray, str] | None:
    """Return times and unit where the cells are dates of one format; bare years do not count."""
    probes = {texts[0], texts[len(texts) // 2], texts[-1]}
    best: Times | None = None
    for unit, pattern in _FORMATS:
        if unit == "year" and all(text.isdigit() for text in probes):
            continue
        if not any(pattern.fullmatch(text) for text in probes):
            continue
        read = Times((), (), *_read(unit, pattern, texts))
        if 10 * read.trouble[0] <= len(texts) and (best is None or read.trouble < best.trouble):
            best = read
    return None if best is None else (best.at, best.unit)


def _read(unit: str, pattern: re.Pattern[str], texts: Sequence[str]) -> tuple[np.ndarray, str]:
    """Return times by one format and their unit; days with a varying clock are in seconds."""
    at, clock, local = np.full((3, len(texts)), np.nan)
    for row, text in enumerate(texts):
        if match := pattern.fullmatch(text):
            parts = match.groupdict()
            try:
                at[row] = 0.0 if unit == "second" else _position(unit, parts)
                local[row] = _clock(parts)
                clock[row] = local[row] - _offset(parts.get("z"))
            except (ValueError, KeyError):
                at[row] = np.nan
    if unit == "second":  # a clock without a date: past midnight, the next day begins
        return clock + _DAY * np.concatenate([[0], np.cumsum(np.diff(clock) < -_DAY / 2)]), unit
    if unit == "day" and np.nanmax(local, initial=0.0) > 0:
        return at * _DAY + clock, "second"
    return at, unit


def _position(unit: str, parts: dict[str, str | None]) -> int:
    """Return a date in units; ValueError or KeyError where it is in no calendar."""
    digits = parts["y"] or ""
    year = int(digits) + ((2000 if int(digits) < 69 else 1900) if len(digits) == 2 else 0)
    if unit == "year":
        return year
    if unit == "quarter":
        quarter = parts["q"] or ""
        return 4 * year + (_QUARTERS.get(quarter) or int(quarter))
    if parts.get("w"):
        return date.fromisocalendar(year, int(parts["w"] or 0), 1).toordinal()
    name = (parts.get("n") or "").casefold()
    month = (_MONTHS.get(name[:4]) or _MONTHS[name[:3]]) if name else int(parts["m"] or 0)
    if unit == "month":
        return date(year, month, 1).month + 12 * year
    return date(year, month, int(parts["d"] or 0)).toordinal()


def _clock(parts: dict[str, str | None]) -> float:
    """Return seconds since midnight."""
    hour = int(parts.get("H") or 0)
    if half := parts.get("ap"):
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    if hour > 24:
        raise ValueError
    seconds = float((parts.get("S") or "0").replace(",", "."))
    return _HOUR * hour + 60 * int(parts.get("M") or 0) + seconds


def _offset(zone: str | None) -> float:
    """Return the offset from UTC in seconds."""
    if not zone or not zone[-1].isdigit():
        return 0.0
    seconds = _HOUR * int(zone[1:3]) + 60 * int(zone[-2:])
    return -seconds if zone[0] == "-" else seconds


def _counted(
    name: str, texts: Sequence[str], value: Callable[[str], float]
) -> tuple[np.ndarray, str] | None:
    """Return times and unit where a column counts years, rows or seconds, else None."""
    at = np.array([value(text) for text in texts])
    finite = at[np.isfinite(at)]
    if 10 * len(finite) < 9 * len(at) or len(finite) < 3:
        return None
    step = np.diff(finite)
    size = float(np.median(np.abs(step)))
    if size == 0:
        size = 1.0
    _, often = np.unique(np.round(step / size, 6), return_counts=True)
    forward = max(np.mean(step > 0), np.mean(step < 0))
    once = len(np.unique(finite)) == len(finite)
    years = bool(np.all((finite % 1 == 0) & (finite >= 1000) & (finite < 3000)))
    named = bool(_NAMES & {name.casefold(), name.casefold().split(" ")[0]})
    counts = once and often.max() >= 0.8 * len(step) and forward >= 0.95
    if counts or (named and years) or (forward >= 0.9 and (named or years)):
        return at, "year" if years else "number"
    return None


def _together(
    names: Sequence[str], cells: Sequence[Sequence[str]], position: int, width: int
) -> Iterator[Times]:
    """Yield readings of a column of repeated dates combined with one or two adjacent columns."""
    for others in (
        (position + 1,),
        (position - 1,),
        (position + 1, position + 2),
        (position - 1, position - 2),
    ):
        if not all(0 <= other < width for other in others):
            continue
        columns = [cells[position], *(cells[other] for other in others)]
        used = (names[position], *(names[other] for other in others))
        quarters = len(others) == 1 and all(text in ("1", "2", "3", "4") for text in columns[1])
        for mark in ("Q",) if quarters else (" ", "-"):
            texts = tuple(mark.join(row) for row in zip(*columns, strict=True))
            if positions := _calendar(texts):
                yield Times(used, texts, *positions)
