"""Files students bring: what is read, and what is reported where."""

import gc
import time

import numpy as np
import pytest

from seqviz.core import gc_tuning
from seqviz.data import PROBLEM_CODES, DataError, column, parse, upload
from seqviz.data.upload import MAX_BYTES, MAX_COLUMNS, MAX_ROWS

NUMBERS = np.round(np.random.RandomState(0).normal(size=40), 3)
COMMAS = [str(value).replace(".", ",") for value in NUMBERS]


def lines(header: str = "x", cells: list[str] | None = None, end: str = "\n") -> bytes:
    cells = [str(value) for value in NUMBERS] if cells is None else cells
    return end.join([header, *cells]).encode()


def with_cell(text: str) -> bytes:
    """A column x of 40 numbers in which the cell of spreadsheet row 11 is replaced."""
    cells = [str(value) for value in NUMBERS]
    cells[9] = text
    return lines(cells=cells)


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("tail", ["", "{end}", "{end}{end}  {end},{end}"])
def test_parse_accepts_encodings_line_endings_and_blank_tails(end, encoding, tail):
    text = lines("日期,价格 €", [f"d{i},{value}" for i, value in enumerate(NUMBERS)], end).decode()
    table = parse((text + tail.format(end=end)).encode(encoding))
    assert table.names == ("日期", "价格 €")
    assert table.numeric_columns == ("价格 €",)
    np.testing.assert_array_equal(column(table, "价格 €"), NUMBERS)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_parse_detects_delimiter(delimiter):
    rows = [delimiter.join((f"1990-{i}", str(v), str(2 * v))) for i, v in enumerate(NUMBERS)]
    table = parse(lines(delimiter.join(("when", "a", "b")), rows))
    assert table.numeric_columns == ("a", "b")
    np.testing.assert_array_equal(column(table, "a"), NUMBERS)
    np.testing.assert_array_equal(column(table, "b"), 2 * NUMBERS)


def test_parse_reads_decimal_comma_between_semicolons():
    table = parse(lines("a;b", [f"{comma};{comma}" for comma in COMMAS]))
    np.testing.assert_array_equal(column(table, "a"), NUMBERS)
    np.testing.assert_array_equal(column(table, "b"), NUMBERS)


def test_parse_names_headerless_columns_like_spreadsheet():
    table = parse("\n".join(f"{v},{v}" for v in NUMBERS).encode())
    assert table.names == ("A", "B")
    assert table.first_row == 1
    wide = parse(b"\n".join([b",".join([b"1"] * 60)] * 40))
    assert (wide.names[25], wide.names[26], wide.names[59]) == ("Z", "AA", "BH")


def test_parse_cleans_and_deduplicates_names():
    table = parse(lines("x,x,,\x07y\u202e", [f"{v},{v},{v},{v}" for v in NUMBERS]))
    assert table.names == ("x", "x (B)", "C", "y")


@pytest.mark.parametrize("text", ["1", "+1.", ".5", "-0.5E-3", " 7 "])
def test_column_reads_number_formats(text):
    assert column(parse(with_cell(text)), "x")[9] == float(text)


def test_column_accepts_max_rows():
    assert column(parse(b"x\n" + b"1\n2\n" * (MAX_ROWS // 2)), "x").size == MAX_ROWS


# --- what is reported, and where ----------------------------------------------------------------

BAD_CELLS = {
    "missing": ("", "  ", "NaN", "n/a"),
    "infinite": ("-inf", "Infinity", "1e999", "1e101"),
    "not_a_number": ("1_000", "12%", "0x10", "٣", "1 000", '"1,234"'),
}
QUOTED = [f'"a\nb",{v}' for v in NUMBERS]


def thousands(text: str) -> tuple[bytes, str, dict]:
    content = lines("x;y", [*(f"{comma};0" for comma in COMMAS), f"{text};0"])
    return content, "not_a_number", {"row": 42, "column": "x", "text": text}


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
        (lines("y"), "no_such_column", {"column": "x"}),
        (lines("x,y", [f"word,{v}" for v in NUMBERS]), "not_a_number", {"row": 2, "text": "word"}),
        # a wrong encoding is told with its row, whatever ends the lines
        ("\r\n".join(["日期,x", *map(str, NUMBERS)]).encode("gb18030"), "encoding", {"row": 1}),
        (b"when,x\n1,2\ncaf\xe9,3\n", "encoding", {"row": 3}),
        (b"x\r1\r2\r\xff\r", "encoding", {"row": 4}),
        ("x\n1\n".encode("utf-16-le"), "encoding", {"row": 1}),  # no byte order mark
        ("x\n1\n".encode("utf-16") + b"\x00", "encoding", {"row": 3}),  # half a character
        # a bad cell too: blank lines at the start count, a line break within quotes does not
        *((with_cell(text), code, {"row": 11}) for code in BAD_CELLS for text in BAD_CELLS[code]),
        (b"\n\n" + with_cell("abc"), "not_a_number", {"row": 13, "column": "x", "text": "abc"}),
        (lines("note,x", [*QUOTED[:20], '"a\nb",oops']), "not_a_number", {"row": 22}),
        # a thousands separator is a problem and not a guess
        *map(thousands, ("1.234,5", "1.234", "1,234,567")),
        # shown short and without control characters; text is filled in, never a template
        (with_cell("a\x1b[31m\u202e{0}" + "b" * 50), "not_a_number",
         {"row": 11, "text": "a[31m{0}bbbbbbbbbbbb"}),
    ],
)  # fmt: skip
def test_data_error_reports_location(content, code, details):
    with pytest.raises(DataError) as caught:
        column(parse(content), "x")
    problem = caught.value
    assert problem.code == code in PROBLEM_CODES
    assert {key: problem.details[key] for key in details} == details
    for key in details.keys() & {"row", "text"}:
        assert str(details[key]) in str(problem)


@pytest.fixture
def frozen():
    """Collection of garbage as in the server, which does not look through what is there already."""
    thresholds = gc.get_threshold()
    gc_tuning.collect_and_freeze()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@pytest.mark.timing
@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("cell", [b"1", b"-123.4567", b"1" * 100_000])
def test_parse_handles_largest_file_within_three_seconds(cell):
    width = max(1, min(MAX_COLUMNS, MAX_BYTES // (MAX_ROWS * (len(cell) + 1))))
    row = b",".join([cell] * width) + b"\n"
    content = row * min(MAX_ROWS, MAX_BYTES // len(row))
    assert len(content) > 0.9 * MAX_BYTES
    start = time.thread_time()  # of the processor: other tests may run beside this one
    with pytest.raises(DataError):  # constant, or larger than 1e100
        column(parse(content), "A")
    assert time.thread_time() - start < 3.0


def test_likely_skips_counter_column():
    rows = "\n".join(f"{1900 + k},{value:.3f},{k % 7}" for k, value in enumerate(np.sin(range(40))))
    table = upload.parse(f"year,temp,day\n{rows}".encode())
    assert table.numeric_columns[upload.likely(table)] == "temp"
    only = upload.parse(b"year\n" + b"\n".join(b"%d" % k for k in range(40)))
    assert upload.likely(only) == 0
