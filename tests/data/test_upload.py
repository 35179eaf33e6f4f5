"""Files students bring: what is read, and what is reported where."""

import time

import numpy as np
import pytest

from seqviz.data import PROBLEM_CODES, DataProblem, column, parse, upload
from seqviz.data.upload import MAX_BYTES, MAX_COLUMNS, MAX_ROWS

NUMBERS = np.round(np.random.RandomState(0).normal(size=40), 3)


def lines(header: str = "x", cells: list[str] | None = None, end: str = "\n") -> bytes:
    cells = [str(value) for value in NUMBERS] if cells is None else cells
    return end.join([header, *cells]).encode()


def with_cell(text: str, at: int = 9) -> bytes:
    """A column x of 40 numbers in which the cell of spreadsheet row at + 2 is replaced."""
    cells = [str(value) for value in NUMBERS]
    cells[at] = text
    return lines(cells=cells)


def problem_of(content: bytes, name: str = "x") -> DataProblem:
    with pytest.raises(DataProblem) as caught:
        column(parse(content), name)
    assert caught.value.code in PROBLEM_CODES
    return caught.value


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("tail", ["", "{end}", "{end}{end}  {end},{end}"])
def test_encodings_line_ends_and_blank_tails(end, encoding, tail):
    text = lines("日期,价格 €", [f"d{i},{value}" for i, value in enumerate(NUMBERS)], end).decode()
    table = parse((text + tail.format(end=end)).encode(encoding))
    assert table.names == ("日期", "价格 €")
    assert table.numeric_columns == ("价格 €",)
    np.testing.assert_array_equal(column(table, "价格 €"), NUMBERS)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters(delimiter):
    rows = [delimiter.join((f"1990-{i}", str(v), str(2 * v))) for i, v in enumerate(NUMBERS)]
    table = parse(lines(delimiter.join(("when", "a", "b")), rows))
    assert table.numeric_columns == ("a", "b")
    np.testing.assert_array_equal(column(table, "a"), NUMBERS)
    np.testing.assert_array_equal(column(table, "b"), 2 * NUMBERS)


def test_decimal_comma_between_semicolons():
    rows = [f"{str(v).replace('.', ',')};{v}" for v in NUMBERS]
    table = parse(lines("comma;point", rows))
    np.testing.assert_array_equal(column(table, "comma"), NUMBERS)
    np.testing.assert_array_equal(column(table, "point"), NUMBERS)


@pytest.mark.parametrize("text", ["1.234,5", "1.234", "1,234,567"])
def test_a_thousands_separator_is_a_problem_not_a_guess(text):
    rows = [f"{str(v).replace('.', ',')};0" for v in NUMBERS]
    problem = problem_of(lines("x;y", [*rows, f"{text};0"]))
    assert problem.code == "not_a_number"
    assert problem.details == {"row": 42, "column": "x", "text": text}
    quoted = problem_of(with_cell('"1,234"'))
    assert (quoted.code, quoted.details["row"]) == ("not_a_number", 11)


def test_without_a_header_columns_have_the_letters_of_a_spreadsheet():
    table = parse("\n".join(f"{v},{v}" for v in NUMBERS).encode())
    assert table.names == ("A", "B")
    assert table.first_row == 1
    wide = parse(b"\n".join([b",".join([b"1"] * 60)] * 40))
    assert (wide.names[25], wide.names[26], wide.names[59]) == ("Z", "AA", "BH")


def test_names_are_unique_and_clean():
    table = parse(lines("x,x,,\x07y\u202e", [f"{v},{v},{v},{v}" for v in NUMBERS]))
    assert table.names == ("x", "x (B)", "C", "y")


def test_leading_blank_lines_count_in_row_numbers():
    assert parse(b"\n\n" + lines()).first_row == 4
    assert problem_of(b"\n\n" + with_cell("abc")).details["row"] == 13


def test_a_line_break_in_quotes_stays_in_its_row():
    rows = [f'"a\nb",{v}' for v in NUMBERS]
    rows[20] = '"a\nb",oops'
    assert problem_of(lines("note,x", rows)).details["row"] == 22


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "missing"),
        ("  ", "missing"),
        ("NaN", "missing"),
        ("n/a", "missing"),
        ("-inf", "infinite"),
        ("Infinity", "infinite"),
        ("1e999", "infinite"),
        ("1e101", "infinite"),
        ("1_000", "not_a_number"),
        ("12%", "not_a_number"),
        ("0x10", "not_a_number"),
        ("٣", "not_a_number"),
        ("1 000", "not_a_number"),
    ],
)
def test_a_bad_cell_is_reported_with_its_row(text, code):
    problem = problem_of(with_cell(text))
    assert problem.code == code
    assert problem.details["row"] == 11
    assert problem.details["column"] == "x"
    assert "Row 11" in str(problem)


def test_a_bad_cell_is_shown_short_and_without_control_characters():
    problem = problem_of(with_cell("a\x1b[31m\u202e{0}" + "b" * 50))
    assert problem.details["text"] == "a[31m{0}bbbbbbbbbbbb"
    assert "'a[31m{0}bbbbbbbbbbbb'" in str(problem)  # text is filled in, never a template


@pytest.mark.parametrize("text", ["1", "+1.", ".5", "-0.5E-3", " 7 "])
def test_number_formats(text):
    assert column(parse(with_cell(text)), "x")[9] == float(text)


def encoding_row(content: bytes) -> int:
    problem = problem_of(content)
    assert problem.code == "encoding"
    return int(str(problem.details["row"]))


def test_wrong_encodings_name_the_row():
    text = "\r\n".join(["日期,x", *(f"d,{v}" for v in NUMBERS)])
    assert encoding_row(text.encode("gb18030")) == 1
    assert encoding_row(b"when,x\n1,2\ncaf\xe9,3\n") == 3
    assert encoding_row(b"x\r1\r2\r\xff\r") == 4
    assert encoding_row("x\n1\n".encode("utf-16-le")) == 1  # no byte order mark
    assert encoding_row("x\n1\n".encode("utf-16") + b"\x00") == 3  # half a character
    assert "UTF-8" in str(problem_of(b"\xe9"))


@pytest.mark.parametrize(
    ("content", "code", "details"),
    [
        (b"", "empty", {}),
        (b"\xef\xbb\xbf", "empty", {}),
        (b"\n \n,,\n", "empty", {}),
        (b"1" * (MAX_BYTES + 1), "too_large", {"size": MAX_BYTES + 1, "limit": MAX_BYTES}),
        (b"name\nanna\nben\n", "no_numeric_column", {}),
        (b"x\n", "no_numeric_column", {}),
        (b"a,b\n1,2\n3\n", "ragged", {"row": 3, "expected": 2, "found": 1}),
        (b'x,y\n1,2\n"3,4\n5,6\n', "malformed", {"row": 3}),
        (b"x\n" + b"1\n" * (MAX_ROWS + 1), "too_long", {"limit": MAX_ROWS}),
        (b"1\n" * (MAX_ROWS + 1), "too_long", {"limit": MAX_ROWS}),
        (b"1" + b"\n" * MAX_ROWS + b"\n2\n", "too_long", {"limit": MAX_ROWS}),
        (b",".join([b"1"] * 201), "too_many_columns", {"row": 1, "found": 201, "limit": 200}),
        (b"x\n" + b"1\n2\n" * 14, "too_short", {"column": "x", "found": 28, "limit": 30}),
        (b"x\n" + b"7.0\n7\n" * 20, "constant", {"column": "x"}),
    ],
)
def test_every_other_problem(content, code, details):
    problem = problem_of(content)
    assert problem.code == code
    assert problem.details == details


def test_a_gap_in_the_middle_is_a_missing_value():
    assert problem_of(with_cell("")).code == "missing"
    assert column(parse(b"x\n" + b"1\n2\n" * (MAX_ROWS // 2)), "x").size == MAX_ROWS


def test_unknown_and_textual_columns():
    table = parse(lines("note,x", [f"word,{v}" for v in NUMBERS]))
    assert problem_of(lines("note,x", [f"word,{v}" for v in NUMBERS]), "z").code == "no_such_column"
    with pytest.raises(DataProblem, match="not a number"):
        column(table, "note")


@pytest.mark.timing
@pytest.mark.parametrize("cell", [b"1", b"-123.4567", b"1" * 100_000])
def test_the_largest_files_are_read_within_three_seconds(cell):
    width = max(1, min(MAX_COLUMNS, MAX_BYTES // (MAX_ROWS * (len(cell) + 1))))
    row = b",".join([cell] * width) + b"\n"
    content = row * min(MAX_ROWS, MAX_BYTES // len(row))
    assert len(content) > 0.9 * MAX_BYTES
    start = time.thread_time()  # of the processor: other tests may run beside this one
    with pytest.raises(DataProblem):  # constant, or larger than 1e100
        column(parse(content), "A")
    assert time.thread_time() - start < 3.0


def test_a_column_that_only_counts_is_not_the_one_meant():
    rows = "\n".join(f"{1900 + k},{value:.3f},{k % 7}" for k, value in enumerate(np.sin(range(40))))
    table = upload.parse(f"year,temp,day\n{rows}".encode())
    assert table.numeric_columns[upload.likely(table)] == "temp"
    only = upload.parse(b"year\n" + b"\n".join(b"%d" % k for k in range(40)))
    assert upload.likely(only) == 0
