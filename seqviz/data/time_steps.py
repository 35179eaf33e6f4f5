"""Time in a file of a series: which column holds it, and whether it takes equal steps forward.

A model of a series takes each row for the next step. What the dates of a file say against that is
reported here; nothing is repaired. Expected, and not reported: the weekends and holidays of a file
of business days, the nights of a file of opening hours, the lengths of months, and the hour that
summer time skips or repeats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
from jaxtyping import Float, Int

COLUMNS = 4  # so many of the first columns may hold the time
_DAY, _HOUR = 86_400.0, 3_600.0
_CALENDAR = ((7.0, 7.0), (28.0, 30.436875), (89.0, 91.310625), (365.0, 365.2425))
_HOLIDAYS = 8  # weekdays that a file of business days may lack, or this many percent
_LONGEST_HOLIDAY = 7  # weekdays: the Spring Festival, the first week of October
# Names of a column that counts time without dates, in the languages of our readers.
_NAMES = frozenset(
    {"t", "time", "date", "datetime", "timestamp", "step", "index", "year", "yr", "jahr", "zeit"}
    | {"datum", "année", "annee", "año", "时间", "日期", "年", "年份", "年度"}
)
# How the months are called in English, German, French, Spanish, Italian and Portuguese.
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
    """When each row is.

    columns: the names of those that say it: one, or year and month, or date and clock. texts: a
    cell each. at: in units (day, month, quarter, year, second, or a number of the file), nan where
    the cell is of another kind than the rest.
    """

    columns: tuple[str, ...]
    texts: tuple[str, ...]
    at: Float[np.ndarray, "row"]
    unit: str

    def rows(self, first: int, end: int) -> Times:
        """The same of some of the rows."""
        return replace(self, texts=self.texts[first:end], at=self.at[first:end])

    @property
    def trouble(self) -> tuple[int, int, int, int]:
        """How little it looks like time: the reading of a date that has the least is meant."""
        at = self.at[np.isfinite(self.at)]
        step = np.diff(at)
        both = min(int((step > 0).sum()), int((step < 0).sum()))
        unlike = int(np.isnan(self.at).sum())
        return unlike, at.size - np.unique(at).size, both, sum(1 for _ in findings(self))


@dataclass(frozen=True)
class Finding:
    """Something in the times that a model does not expect.

    code: unlike, newest_first, not_in_order, doubled, gaps or unequal. at: the row that shows it.
    reference: the row it is compared with. count: how often.
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
    """The times of the rows, from one of the first columns or two or three beside each other.

    cells: by column and row, stripped. value: the number in a cell, else nan. besides: the column
    whose values are meant. At least nine of ten rows say when they are; a column of plain numbers
    is taken for time if its name says so or it rises by the same step in most rows.
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
    """What a model of equal steps forward does not expect, at most one of each kind."""
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
    """Whether the steps are equal, but for some that are missing.

    undated: rows within each step that do not say when they are.
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
    """How many days each step leaves out, of the days of the week that the file has."""
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
    """The steps, of which summer time makes one an hour longer and one an hour shorter a year."""
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
    """Positions and unit where the cells are dates of one format; plain years are no date yet."""
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
    """Positions by one format. Days with a clock that moves are in seconds."""
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
    if unit == "second":  # a clock without a date: after midnight is the next day
        return clock + _DAY * np.concatenate([[0], np.cumsum(np.diff(clock) < -_DAY / 2)]), unit
    if unit == "day" and np.nanmax(local, initial=0.0) > 0:
        return at * _DAY + clock, "second"
    return at, unit


def _position(unit: str, parts: dict[str, str | None]) -> int:
    """A date in units. Raises ValueError or KeyError for one that is in no calendar."""
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
    """Seconds since midnight."""
    hour = int(parts.get("H") or 0)
    if half := parts.get("ap"):
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    if hour > 24:
        raise ValueError
    seconds = float((parts.get("S") or "0").replace(",", "."))
    return _HOUR * hour + 60 * int(parts.get("M") or 0) + seconds


def _offset(zone: str | None) -> float:
    """Seconds that a clock is ahead of UTC."""
    if not zone or not zone[-1].isdigit():
        return 0.0
    seconds = _HOUR * int(zone[1:3]) + 60 * int(zone[-2:])
    return -seconds if zone[0] == "-" else seconds


def _counted(
    name: str, texts: Sequence[str], value: Callable[[str], float]
) -> tuple[np.ndarray, str] | None:
    """Positions where a column counts: years, rows, seconds."""
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
    """Readings of a column of repeated dates along with the one or two beside it."""
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
