"""Decimal marks of a file: one for all numbers, and none that may be a mark of thousands."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from seqviz.data import DataError, column, parse, remarks, upload

FILES = Path(__file__).parents[1] / "fixtures" / "uploads"
LEVELS = np.round(20 + np.random.RandomState(5).normal(size=60).cumsum(), 2)
VISITORS = np.random.RandomState(6).randint(400, 1600, 60)  # below and above a thousand
MANY = VISITORS + 1000


def file(*columns, names=("day", "x"), separator=","):
    rows = zip(*columns, strict=True) if len(columns) > 1 else ((cell,) for cell in columns[0])
    lines = [separator.join(map(str, row)) for row in rows]
    return "\n".join([separator.join(names), *lines] if names else lines).encode()


def days(count=60):
    return [str(date(2023, 1, 1) + timedelta(k)) for k in range(count)]


def written(values, mark):
    return [str(value).replace(".", mark) for value in values]


def grouped(values, mark):
    return [f"{value:,}".replace(",", mark) for value in values]


def read(content: bytes, name: str | None = None) -> tuple[np.ndarray, list[str]]:
    """The likely column, and the codes of what is remarked on its marks and columns."""
    table = parse(content)
    name = name or table.numeric_columns[upload.likely(table)]
    return column(table, name), [remark.code for remark in remarks(table, name)]


def problem(content: bytes, name: str | None = None) -> DataError:
    with pytest.raises(DataError) as caught:
        read(content, name)
    return caught.value


# --- thousands ----------------------------------------------------------------------------------

FIRST = int(np.flatnonzero(VISITORS >= 1000)[0])
AMBIGUOUS = {
    "semicolons, points": file(days(), grouped(VISITORS, "."), separator=";"),
    "semicolons, commas": file(days(), grouped(VISITORS, ","), separator=";"),
    "tabs, points": file(days(), grouped(VISITORS, "."), separator="\t"),
    "tabs, commas": file(days(), grouped(VISITORS, ","), separator="\t"),
    "commas, points": file(days(), grouped(VISITORS, ".")),
    "commas, quoted commas": file(days(), [f'"{v}"' for v in grouped(VISITORS, ",")]),
    "one column": file(grouped(VISITORS, "."), names=("x",)),
    "day and month first": file([d[8:] + "." + d[5:7] for d in days()], grouped(VISITORS, "."),
                                separator=";"),
    "decimals with a point elsewhere": file(grouped(VISITORS, "."), written(LEVELS, "."),
                                            names=("x", "y"), separator=";"),
}  # fmt: skip


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_column_rejects_ambiguous_thousands_mark(case):
    data_error = problem(AMBIGUOUS[case], "x")
    assert (data_error.code, data_error.details["row"]) == ("thousands", FIRST + 2)
    assert data_error.details["whole"] == str(VISITORS[FIRST])
    assert data_error.details["longer"] == data_error.details["text"] + "0"
    assert data_error.details["text"] in str(data_error)


@pytest.mark.parametrize(("separator", "mark"), [(";", "."), (";", ","), ("\t", ","), ("|", ",")])
def test_column_rejects_thousands_mark_in_large_values(separator, mark):
    data_error = problem(file(days(), grouped(MANY, mark), separator=separator))
    assert (data_error.code, data_error.details["row"]) == ("thousands", 2)


@pytest.mark.parametrize("name", ["de_thousands_only.csv", "de_thousands_point.csv"])
def test_column_rejects_reported_thousands_files(name):
    data_error = problem((FILES / name).read_bytes())
    code = "thousands" if name == "de_thousands_only.csv" else "both_marks"
    assert (data_error.code, data_error.details["row"], data_error.details["text"]) == (
        code,
        3,
        "1.132",
    )


def test_column_rejects_mark_that_conflicts_with_other_column():
    content = (FILES / "de_thousands_point.csv").read_bytes()
    data_error = problem(content, "Faelle")
    assert (data_error.details["other"], data_error.details["other_column"]) == (
        "18,74",
        "Inzidenz",
    )
    values, codes = read(content, "Inzidenz")
    assert values[:2].tolist() == [18.74, 21.64]
    assert codes == []


def test_column_rejects_two_decimal_marks_in_one_file():
    content = file(written(LEVELS, ","), written(LEVELS, "."), names=("a", "b"), separator=";")
    assert {problem(content, name).code for name in "ab"} == {"both_marks"}


def test_column_rejects_single_cell_with_other_mark():
    cells = written(LEVELS, ",")
    cells[30] = "1.234"
    data_error = problem(file(days(), cells, separator=";"))
    assert (data_error.code, data_error.details["row"]) == ("not_a_number", 32)


# --- what is read, and said if it has to be -----------------------------------------------------

THREE = np.round(np.random.RandomState(7).uniform(0, 3, 60), 3)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ".,")
@pytest.mark.parametrize("values", [LEVELS, THREE, np.round(THREE * 1e4, 3), THREE * 1e-5])
def test_column_reads_marks_that_cannot_be_thousands(separator, mark, values):
    quote = '"' if mark == separator else ""
    cells = [f"{quote}{text}{quote}" for text in written(values, mark)]
    result, codes = read(file(days(), cells, separator=separator))
    np.testing.assert_array_equal(result, values)
    assert codes == []


@pytest.mark.parametrize("separator", [",", "\t", "|"])
def test_column_remarks_on_three_decimals_throughout(separator):
    content = file(days(), [f"{20 + v:.3f}" for v in THREE], separator=separator)
    values, codes = read(content)
    np.testing.assert_allclose(values, 20 + THREE)
    assert codes == ["three_decimals"]
    other = file([f"{20 + v:.3f}" for v in THREE], written(LEVELS, "."), names=("x", "y"),
                 separator=separator)  # fmt: skip
    assert read(other, "x")[1] == []  # the file settles it


def test_column_reads_three_decimals_between_semicolons():
    """A decimal comma is certain once; a point is said, as clocks are written with it, too."""
    commas = [f"{20 + v:.3f}".replace(".", ",") for v in THREE]
    content = file(commas, written(LEVELS, ","), names=("x", "y"), separator=";")
    np.testing.assert_allclose(read(content, "x")[0], 20 + THREE)
    assert read(content, "x")[1] == []
    points = [f"{20 + v:.3f}" for v in THREE]
    content = file(points, written(LEVELS, "."), names=("x", "y"), separator=";")
    assert read(content, "x")[1] == ["three_decimals"]
    clock = [f"{10 + k // 30}.{10 + k % 30}" for k in range(60)]
    content = file(clock, grouped(MANY, "."), names=("Uhr", "x"), separator=";")
    assert "three_decimals" in read(content, "x")[1]


def test_column_reads_integers_without_remark():
    for separator in ",;\t|":
        values, codes = read(file(days(), VISITORS, separator=separator))
        np.testing.assert_array_equal(values, VISITORS)
        assert codes == []


# --- a comma between two whole numbers ----------------------------------------------------------

RANDOM = np.random.RandomState(8)
DECIMALS = {
    "two digits": written([f"{v:.2f}" for v in LEVELS], ","),
    "one digit": written([f"{v:.1f}" for v in LEVELS], ","),
    "as long as needed": written(LEVELS, ","),
    "below zero": written([f"{v:.2f}" for v in LEVELS - 20], ","),
    "after a date": [f"{d},{v}" for d, v in zip(days(), written(LEVELS, ","), strict=True)],
    "after a number": [f"{k},{v}" for k, v in enumerate(written(LEVELS, ","))],
    "two columns": [f"{v},{v}" for v in written(LEVELS, ",")],
}


@pytest.mark.parametrize("case", DECIMALS)
def test_parse_rejects_decimal_comma_as_separator(case):
    data_error = problem("\n".join(DECIMALS[case]).encode())
    assert (data_error.code, data_error.details["row"]) == ("decimal_comma", 1)
    assert data_error.details["text"] in DECIMALS[case][0]


def test_parse_rejects_reported_decimal_comma_column():
    content = (FILES / "one_column_decimal_comma.csv").read_bytes()
    assert problem(content).details == {"row": 1, "text": "20,00"}
    assert problem(b"temp\n" + content).details == {"row": 2, "text": "20,00"}
    assert read(content.replace(b",", b"."))[1] == []


def test_parse_reads_two_integer_columns_without_remark():
    left, right = RANDOM.randint(5, 200, (2, 60))
    for content in (
        file(left, right, names=None),
        file(range(60), right % 10, names=None),
        file(left % 10, right % 10, names=("a", "b")),
        file(left % 10, [f" {v}" for v in right % 10], names=None),
        file(left, right - 100, names=None),
        file([f'"{v}"' for v in left % 10], right % 10, names=None),
        b"sep=,\n" + file(left % 10, right % 10, names=None),
        file(*(RANDOM.randint(0, 10, 60) for _ in range(12)), names=None),
    ):
        assert len(parse(content).names) >= 2
        assert read(content)[1] == []


def test_remarks_report_two_columns_that_may_be_one():
    content = file(10 + VISITORS % 30, 10 + MANY[::-1] % 30, names=None)
    table = parse(content)
    assert table.names == ("A", "B")
    (remark,) = remarks(table, "A")
    assert (remark.code, remark.details["row"]) == ("two_columns", 1)
    assert remark.details["text"] == content.decode().split("\n")[0]


# --- known formats ------------------------------------------------------------------------------

GOOD = file(days(), LEVELS, names=("day", "temp"))
SAME = {
    "sep=;": b"sep=;\r\n" + GOOD.replace(b",", b";").replace(b".", b","),
    "sep=, in quotes": b'"sep=,"\n' + GOOD,
    "a tab": b"sep=\t\n" + GOOD.replace(b",", b"\t"),
    "upper case in UTF-16": ("SEP=;\r\n" + GOOD.decode().replace(",", ";")).encode("utf-16"),
    "the end mark of DOS": GOOD + b"\r\n\x1a",
    "three of them": GOOD + b"\x1a\x1a\x1a",
    "half a character": GOOD.decode().encode("utf-16") + b"\x1a",
    "|": GOOD.replace(b",", b"|"),
    "a Chinese comma": GOOD.decode().replace(",", "，").encode(),
    "a Chinese semicolon": GOOD.decode().replace(",", "；").encode(),
    "full-width digits": GOOD.decode().translate(
        {ord("."): "．", **{ord("0") + k: ord("０") + k for k in range(10)}}
    ).encode(),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME)
def test_parse_reads_equivalent_file_variants(case):
    table = parse(SAME[case])
    assert table.names == ("day", "temp")
    np.testing.assert_array_equal(column(table, "temp"), LEVELS)


@pytest.mark.parametrize("minus", "−－–-")
def test_column_reads_every_minus_sign(minus):
    cells = [f"{minus}{value}" for value in LEVELS]
    np.testing.assert_array_equal(read(file(days(), cells))[0], -LEVELS)


READABLE = ["ctrl_z_end.csv", "excel_sep_line.csv", "excel_sep_three.csv", "tab_decimal_comma.tsv"]


@pytest.mark.parametrize("name", READABLE)
def test_column_reads_reported_files(name):
    values, codes = read((FILES / name).read_bytes())
    assert (len(values), values[:3].tolist()) == (60, [20.0, 21.69, 20.72])
    assert codes == []


def test_column_reads_reported_unicode_minus():
    assert read((FILES / "unicode_minus.csv").read_bytes())[0].min() == -3.0


UNREAD = {
    "a title": (b"My data\n" + GOOD, "title", 2, "My data"),
    "titles and a gap": (b"My data\nSource: x\n\n" + GOOD, "title", 4, "My data"),
    "a remark": (b"# station 12\n" + GOOD, "title", 2, "# station 12"),
    "a sep line that names nothing": (b"sep=\n" + GOOD, "title", 2, "sep="),
    "a padded title": (b"My data,\n" + GOOD, "extra_line", 2, "temp"),
    "units": (GOOD.replace(b"temp\n", "temp\n,°C\n".encode()), "extra_line", 2, "°C"),
    "spaces": (GOOD.replace(b",", b" "), "spaces", 2, f"2023-01-01 {LEVELS[0]}"),
    "fixed width": (GOOD.replace(b",", b"     "), "spaces", 2, f"2023-01-01     {LEVELS[0]}"),
    "percent": (GOOD.replace(b"\n", b"%\n") + b"%", "no_numeric_column", 2, "%"),
    "units after a number": (
        file(range(60), [f"{v} m" for v in LEVELS]), "no_numeric_column", 2, " m",
    ),
    "a currency": (file(days(), [f"${v}" for v in LEVELS]), "no_numeric_column", 2, "$"),
    "millions": (
        file([f"d{k}" for k in range(60)], grouped(MANY * 1000, "."), separator=";"),
        "no_numeric_column", 2, ".000",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREAD)
def test_data_error_quotes_unreadable_cell(case):
    content, code, row, text = UNREAD[case]
    data_error = problem(content)
    assert (data_error.code, data_error.details["row"]) == (code, row)
    assert text in data_error.details["text"]
    assert data_error.details["text"] in str(data_error)


def test_column_rejects_reported_space_separated_file():
    data_error = problem((FILES / "spaces.txt").read_bytes())
    assert (data_error.code, data_error.details["text"]) == ("spaces", "2023-01-02 20.00")


def test_column_drops_and_counts_blank_rows_at_ends():
    content = b"day,temp\n2022-12-31,\n" + GOOD.split(b"\n", 1)[1] + b"\n2023-04-01,\n,NA"
    table = parse(content)
    np.testing.assert_array_equal(column(table, "temp"), LEVELS)
    (remark,) = (r for r in remarks(table, "temp") if r.code == "left_out")
    assert remark.details["count"] == 3
