"""What the rows of a file say of time: said where steps are not equal and forward, else nothing."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from seqviz.data import DataError, column, parse, remarks, upload

FILES = Path(__file__).parents[1] / "fixtures" / "uploads"
N = 60
GERMAN = ("Jan", "Feb", "Mrz", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez")
LEVELS = np.round(20 + np.random.RandomState(5).normal(size=N).cumsum(), 2)
DAYS = [date(2023, 1, 2) + timedelta(k) for k in range(400)]
WORKDAYS = [day for day in DAYS if day.weekday() < 5]
HOLIDAYS = {date(2023, 4, 7), date(2023, 4, 10), date(2023, 5, 1), date(2023, 5, 18)}
FESTIVAL = DAYS[19:26]
MONTHS = [date(2018 + k // 12, k % 12 + 1, 1) for k in range(90)]
SPRING, AUTUMN = datetime(2023, 3, 25, 6), datetime(2023, 10, 28, 6)
QUARTERS = [(2005 + k // 4, k % 4 + 1) for k in range(90)]


def file(times, names="when,x", values=LEVELS) -> bytes:
    rows = [f"{time},{value:.2f}" for time, value in zip(times, values, strict=False)]
    return "\n".join([names, *rows]).encode()


def remarks_of(content: bytes, name: str = "x"):
    table = parse(content)
    column(table, name)
    return remarks(table, name)


def only(content: bytes, name: str = "x"):
    (remark,) = remarks_of(content, name)
    return remark


IN_ORDER = {
    "ISO": map(str, DAYS),
    "day/month/year": (f"{d:%d/%m/%Y}" for d in DAYS),
    "month/day/year": (f"{d:%m/%d/%Y}" for d in DAYS),
    "two digits": (f"{d:%d.%m.%y}" for d in DAYS),
    "without zeros": (f"{d.day}.{d.month}.{d.year}" for d in DAYS),
    "compact": (f"{d:%Y%m%d}" for d in DAYS),
    "name of the month": (f"{d:%d-%b-%y}" for d in DAYS),
    "in words": (f'"{d:%B} {d.day}, {d.year}"' for d in DAYS),
    "with weekdays": (f'"{d:%a, %d %b %Y}"' for d in DAYS),
    "Chinese": (f"{d.year}年{d.month}月{d.day}日" for d in DAYS),
    "midnights": (f"{d} 00:00:00" for d in DAYS),
    "a leap day": (str(date(2024, 2, 1) + timedelta(k)) for k in range(N)),
    "business days": map(str, WORKDAYS),
    "business days with their hour": (f"{d} 16:00:00" for d in WORKDAYS),
    "an exchange": (str(d) for d in WORKDAYS[40:] if d not in HOLIDAYS),
    "the Spring Festival": (str(d) for d in WORKDAYS if d not in FESTIVAL),
    "Saturdays too": (str(d) for d in DAYS if d.weekday() < 6),
    "weeks": map(str, DAYS[::7]),
    "ISO weeks": (f"2022-W{k + 1:02d}" if k < 52 else f"2023-W{k - 51:02d}" for k in range(N)),
    "months": (f"{m:%Y-%m}" for m in MONTHS),
    "first days": map(str, MONTHS),
    "last days": (str(m - timedelta(1)) for m in MONTHS),
    "first days, day first": (f"{m:%d/%m/%Y}" for m in MONTHS),
    "first days, month first": (f"{m.month}/{m.day}/{m.year}" for m in MONTHS),
    "names of months": (f"{m:%b %Y}" for m in MONTHS),
    "German months": (f"{GERMAN[m.month - 1]} {m:%y}" for m in MONTHS),
    "Chinese months": (f"{m.year}年{m.month}月" for m in MONTHS),
    "quarters": (f"{y}Q{q}" for y, q in QUARTERS),
    "quarters first": (f"Q{q} {y}" for y, q in QUARTERS),
    "Chinese quarters": (f"{y}年第{'一二三四'[q - 1]}季度" for y, q in QUARTERS),
    "dates of quarters": (f"{y}-{3 * q - 2:02d}-01" for y, q in QUARTERS),
    "years": range(1960, 2020),
    "Chinese years": (f"{y}年" for y in range(1960, 2020)),
    "fiscal years": (f"{y}/{(y + 1) % 100:02d}" for y in range(1960, 2020)),
    "every fifth year": range(1700, 2000, 5),
    "hours in spring": (str(SPRING + timedelta(hours=k + (k >= 20))) for k in range(N)),
    "hours in autumn": (str(AUTUMN + timedelta(hours=k - (k > 20))) for k in range(N)),
    "quarters of an hour": (f"{AUTUMN + timedelta(minutes=15 * (k - 4 * (k > 83))):%d.%m.%Y %H:%M}"
                            for k in range(50, 110)),
    "opening hours": (f"{d}T{h:02d}:00" for d in WORKDAYS for h in range(9, 17)),
    "with an offset": (f"{d}T00:00:00+0{1 + (d > date(2023, 3, 26))}:00" for d in DAYS[50:]),
    "a clock over midnight": (f"{(22 + k // 6) % 24:02d}:{k % 6}0" for k in range(N)),
    "rows": range(N),
    "seconds": (f"{k / 10:.1f}" for k in range(N)),
    "seconds that tremble": (f"{k / 10 + 0.002 * (k % 3):.4f}" for k in range(N)),
    "two places": ["north", "south"] * 30,
    "numbers of stations": (f"A{7 * k % N}" for k in range(N)),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_ORDER)
def test_remarks_are_empty_for_equal_forward_steps(case):
    assert remarks_of(file(IN_ORDER[case])) == ()


@pytest.mark.parametrize(
    ("names", "times"),
    [
        ("year,month,x", [f"{m.year},{m.month}" for m in MONTHS]),
        ("month,year,x", [f"{m.month},{m.year}" for m in MONTHS]),
        ("year,month,x", [f"{m.year},{m:%b}" for m in MONTHS]),
        ("year,quarter,x", [f"{y},{q}" for y, q in QUARTERS]),
        ("year,month,day,x", [f"{d.year},{d.month},{d.day}" for d in DAYS]),
        ("date,time,x", [f"{d},{h:02d}:00" for d in DAYS for h in range(24)]),
        ("date,hour,x", [f"{d},{h}" for d in DAYS for h in range(24)]),
        ("hour,date,x", [f"{h},{d}" for d in DAYS for h in range(24)]),
        (",date,x", [f"{k},{d}" for k, d in enumerate(DAYS)]),
    ],
)
def test_remarks_combine_split_time_columns(names, times):
    assert remarks_of(file(times, names)) == ()
    table = parse(file(times, names))
    assert table.numeric_columns[upload.likely(table)] == "x"


def test_remarks_do_not_take_series_for_time():
    """A year-like or stepwise first column of values is not said to be out of order."""
    random = np.random.RandomState(4)
    for first in (random.randint(1000, 3000, N), np.arange(N) * 7 % 50, random.rand(N), [5] * N):
        assert remarks_of(file(first, "sales,x")) == ()
    assert remarks_of(b"x\n" + b"\n".join(b"%d" % v for v in random.randint(1900, 2020, N))) == ()


# --- against the order --------------------------------------------------------------------------

BACKWARD = {
    "days": [str(d) for d in DAYS[:N]],
    "day first": [f"{d:%d/%m/%Y}" for d in DAYS[:N]],
    "business days": [str(d) for d in WORKDAYS[:N]],
    "months": [f"{m.year}年{m.month}月" for m in MONTHS[:N]],
    "quarters": [f"{y}-Q{q}" for y, q in QUARTERS[:N]],
    "years": [str(y) for y in range(1960, 2020)],
    "hours": [f"{datetime(2023, 1, 2) + timedelta(hours=k)}" for k in range(N)],
}


@pytest.mark.parametrize("case", BACKWARD)
def test_remarks_report_newest_first(case):
    names = "year,x" if case == "years" else "when,x"
    remark = only(file(BACKWARD[case][::-1], names))
    assert remark.code == "newest_first"
    assert (remark.details["other"], remark.details["text"]) == (
        BACKWARD[case][-1], BACKWARD[case][0]
    )  # fmt: skip


@pytest.mark.parametrize("case", BACKWARD)
def test_remarks_report_shuffled_rows(case):
    order = np.random.RandomState(3).permutation(N)
    names = "year,x" if case == "years" else "when,x"
    times = [BACKWARD[case][k] for k in order]
    remark = only(file(times, names))
    assert remark.code == "not_in_order"
    row = remark.details["row"]
    assert (remark.details["text"], remark.details["other"]) == (times[row - 2], times[row - 3])


# --- gaps, doubles, other rows ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "count", "row"),
    [
        ([str(d) for d in DAYS if not 20 <= (d - DAYS[0]).days < 30], 10, 21),
        ([str(d) for d in WORKDAYS if d.month != 2], 20, 23),
        ([str(d) for k, d in enumerate(WORKDAYS) if k % 6], 11, 6),
        ([str(d) for d in DAYS[::7] if d.month != 4], 4, 14),
        ([f"{m:%Y-%m}" for k, m in enumerate(MONTHS) if not 20 <= k < 35], 15, 21),
        ([str(m) for k, m in enumerate(MONTHS) if k not in (7, 40)], 2, 8),
        ([f"{y}Q{q}" for k, (y, q) in enumerate(QUARTERS) if k != 9], 1, 10),
        ([f"{y}年" for y in range(1950, 2020) if y != 1970], 1, 21),
        ([str(datetime(2023, 1, 2) + timedelta(hours=k + 5 * (k > 30))) for k in range(N)], 5, 32),
    ],
)
def test_remarks_count_missing_dates(times, count, row):
    remark = only(file(times))
    assert (remark.code, remark.details["count"], remark.details["row"]) == ("gaps", count, row)
    assert remark.details["text"] == times[row - 2]
    assert remark.details["other"] == times[row - 1]


def test_remarks_report_missing_year():
    remark = only(file([y for y in range(1950, 2020) if y != 1970], "Year,x"))
    assert (remark.code, remark.details["count"]) == ("gaps", 1)


@pytest.mark.parametrize("name", ["missing_dates.csv", "years_gap.csv", "newest_first.csv"])
def test_remarks_report_order_or_gaps_of_reported_files(name):
    table = parse((FILES / name).read_bytes())
    picked = table.numeric_columns[upload.likely(table)]
    assert picked in ("Close", "Value")
    remark = only((FILES / name).read_bytes(), picked)
    assert remark.code == ("newest_first" if name == "newest_first.csv" else "gaps")
    assert name == "newest_first.csv" or remark.details["count"] == 10


def test_remarks_report_newest_first_with_gap():
    times = [str(d) for d in DAYS[:70] if not 20 <= (d - DAYS[0]).days < 30][::-1]
    backward, gap = remarks_of(file(times))
    assert (backward.code, gap.code, gap.details["count"]) == ("newest_first", "gaps", 10)
    assert times[gap.details["row"] - 2] == gap.details["text"] == str(DAYS[19])


def test_remarks_count_duplicate_dates():
    times = sorted([*map(str, DAYS[:48]), *map(str, DAYS[5:17])])
    remark = only(file(times))
    assert (remark.code, remark.details["count"]) == ("doubled", 12)
    assert (remark.details["other_row"], remark.details["row"]) == (7, 8)
    assert only(file([str(DAYS[k // 2]) for k in range(N)])).details["count"] == 30
    assert only(file([f"{MONTHS[k // 3]:%Y-%m}" for k in range(N)])).details["count"] == 20


def test_remarks_report_unequal_steps():
    days = sorted(np.random.RandomState(2).choice(3000, N, replace=False))
    assert only(file([str(date(2000, 1, 1) + timedelta(int(k))) for k in days])).code == "unequal"
    clock = np.random.RandomState(2).rand(N).cumsum()
    assert only(file([f"{t:.3f}" for t in clock], "time,x")).code == "unequal"


@pytest.mark.parametrize("times", [[str(d) for d in DAYS[:N]], range(1, N + 1), range(1960, 2020)])
@pytest.mark.parametrize("word", ["Total", "合计", ""])
def test_remarks_report_unlike_last_row(times, word):
    remark = only(file(times, "n,x") + f"\n{word},1234.5".encode())
    assert (remark.code, remark.details["row"]) == ("unlike", N + 2)
    assert remark.details["text"] == word


def test_remarks_report_undated_row_as_unlike_not_gap():
    times = [str(d) if k != 30 else "" for k, d in enumerate(DAYS[:N])]
    assert only(file(times)).code == "unlike"


@pytest.mark.parametrize(
    ("code", "places"), [("-999", (5, 9, 30)), ("-99.9", (7,)), ("9999.0", (1,)), ("1e20", (3, 8))]
)
def test_remarks_report_missing_value_code(code, places):
    cells = [code if k in places else f"{v:.2f}" for k, v in enumerate(LEVELS)]
    remark = only("\n".join(["x", *cells]).encode())
    assert (remark.code, remark.details["text"]) == ("missing_code", code)
    assert (remark.details["count"], remark.details["row"]) == (len(places), places[0] + 2)


def test_remarks_ignore_plausible_repeated_values():
    for values in (range(40, 100), [k % 100 for k in range(N)], [int(k > 30) for k in range(N)],
                   [0] * 50 + [7] * 10, np.random.RandomState(1).standard_cauchy(N)):  # fmt: skip
        assert remarks_of(("x\n" + "\n".join(map(str, values))).encode()) == ()


# --- several series in one column ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "row"), [("place,year,x", "{place},{year}"), ("year,place,x", "{year},{place}")]
)
def test_remarks_reject_stacked_series(names, row):
    times = [row.format(place="AB"[k // 40], year=1980 + k % 40) for k in range(80)]
    with pytest.raises(DataError) as caught:
        remarks_of(file(times, names, [*LEVELS, *LEVELS]))
    assert caught.value.code == "several_series"
    details = caught.value.details
    assert (details["column"], details["row"], details["text"], details["other"]) == (
        "place", 42, "A", "B"
    )  # fmt: skip


def test_remarks_accept_label_of_one_series():
    seasons = [("winter", "spring")[k // 30] + f",{d}" for k, d in enumerate(DAYS[:N])]
    assert remarks_of(file(seasons, "season,day,x")) == ()
