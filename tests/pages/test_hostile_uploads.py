"""Files made to do harm, or saved the wrong way: refused in a sentence, and nothing is unpacked."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import time
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.data import DataError, column, parse
from seqviz.data.upload import MAX_BYTES
from seqviz.plotting.figure import Figure
from seqviz.ui.page import export
from seqviz.ui.runtime import run_context
from tests.pages.page_assertions import alerts, bench
from tests.tiers import first_only

NUMBERS = np.round(np.random.RandomState(3).normal(size=40), 3)
CSV = ("x\n" + "\n".join(str(v) for v in NUMBERS)).encode()
BOMB = b"0" * 50_000_000  # packs into a few kilobytes


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def refused(content: bytes) -> DataError:
    with pytest.raises(DataError) as caught:
        column(parse(content), "x")
    return caught.value


PACKED = {
    "zip": (lambda: zipped("a.csv", BOMB), "ZIP or Excel"),
    "xlsx": (lambda: zipped("xl/workbook.xml", b"<workbook/>"), "ZIP or Excel"),
    "gzip": (lambda: gzip.compress(BOMB), "GZIP"),
    "bzip2": (lambda: bz2.compress(BOMB), "BZIP2"),
    "xz": (lambda: lzma.compress(BOMB), "XZ"),
    "xls": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "Excel (xls)"),
    "pdf": (lambda: b"%PDF-1.7\n1,2\n3,4\n", "PDF"),
    "a good file, packed": (lambda: gzip.compress(CSV), "GZIP"),
}


@pytest.mark.parametrize("made", PACKED)
def test_parse_rejects_packed_file_without_unpacking(made):
    make, kind = PACKED[made]
    content = make()
    assert len(content) < MAX_BYTES
    tracemalloc.start()
    try:
        problem = refused(content)
        _, maximum = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (problem.code, problem.details) == ("not_csv", {"kind": kind})
    assert kind in str(problem)
    assert maximum < 1_000_000, "something was unpacked"


@pytest.mark.parametrize(
    "lang", first_only(LANGUAGES)
)  # the words: tests/ui/page/test_user_errors.py
def test_page_reports_packed_file_and_accepts_next_one(visit, lang):
    page = visit("ar_fitting", lang, ar__real__source="csv", ar__real__view="correlations")
    others = page.charts()
    uploader = page.app.get("file_uploader")[0]
    uploader.set_value(("prices.csv", PACKED["zip"][0](), "text/csv"))
    page.app.run()
    page.healthy()
    words = page.text("problem.not_csv", kind="ZIP or Excel")
    assert alerts(bench(page.app, "real"))["warning"] == [words]
    assert page.charts() == others
    uploader = page.app.get("file_uploader")[0]
    uploader.set_value(("prices.csv", CSV, "text/csv"))
    page.app.run()
    page.healthy()
    assert page.charts() == others + 1


@pytest.mark.parametrize(
    "formula", ['=cmd|" /C calc"!A0', "=1+1", "+SUM(A1:A9)", "-2+3", "@SUM(A1)", "=HYPERLINK(1)"]
)
def test_parse_treats_formula_as_text(formula):
    cells = [str(v) for v in NUMBERS]
    quoted = '"' + formula.replace('"', '""') + '"'
    problem = refused("\n".join(["x", *cells, quoted]).encode())
    assert problem.code == "not_a_number"
    assert problem.details["row"] == 42
    minus = parse("\n".join(["x", *cells, "-1.5", "+2"]).encode())
    assert column(minus, "x")[-2:].tolist() == [-1.5, 2.0]


# Where a spreadsheet separates cells by something else, these are two or more of them.
LATER = {"b;=cmd|'/c_x'!A0": "b;'=cmd|'/c_x'!A0", "a\t@x": "a\t'@x", "a\r\n =1": "a\r\n '=1",
         ";-1;+2": ";'-1;'+2", "\t=1+1": "'\t'=1+1", "a;b": "a;b"}  # fmt: skip
RUNS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", " =1+1", "＝1+1", '=HYPERLINK("x")']
PLAIN = ["-0.5", "+3", "-1e-5", "1", "a=b", "-", "=", "+", "word", "", "-12.5%"]


def test_csv_export_escapes_formulas():
    """Tokens, legends and titles of axes can be a student's; numbers keep their sign."""
    names = [*RUNS, *PLAIN, *LATER]
    lengths = -np.arange(len(names), dtype=float)
    titles = {"xaxis": {"title": {"text": "=token"}}, "yaxis": {"title": {"text": "@value"}}}
    chart = Figure([{"type": "bar", "x": names, "y": lengths, "name": "=cmd()"}], titles)
    text = io.StringIO(export.csv(chart).decode("utf-8-sig"), newline="")
    rows = list(csv.reader(text))
    read = pd.DataFrame(rows[1:], columns=rows[0])
    assert set(read.columns) == {"series", "'=token", "'@value"}
    assert set(read["series"]) == {"'=cmd()"}
    assert read["'=token"].tolist() == [
        *(f"'{cell}" for cell in RUNS), *PLAIN, *LATER.values()
    ]  # fmt: skip
    assert [float(v) for v in read["'@value"]] == [-float(k) for k in range(len(names))]


@pytest.mark.parametrize(
    ("content", "code", "row"),
    [
        ("温度\n".encode("gbk") + CSV, "encoding", 1),
        ("Größe\n".encode("latin-1") + CSV, "encoding", 1),
        (CSV.decode().encode("utf-16-le"), "encoding", 1),
        (CSV.decode().encode("utf-16-be"), "encoding", 1),
        (CSV.decode().encode("utf-32"), "encoding", 1),  # its mark begins as that of UTF-16
        (CSV + b"\n1\x002", "encoding", 42),
        (CSV + b"\n\xed\xa0\x80", "encoding", 42),  # half a surrogate pair
    ],
)
def test_parse_rejects_other_encoding_with_row(content, code, row):
    problem = refused(content)
    assert (problem.code, problem.details["row"]) == (code, row)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_parse_reads_supported_encodings(encoding):
    np.testing.assert_array_equal(column(parse(CSV.decode().encode(encoding)), "x"), NUMBERS)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"1\n" * 1_000_000, "too_long"),
        (b"\n" * 5_000_000 + b"1\n2\n", "read"),
        (b"1" * MAX_BYTES, "malformed"),
        (b"," * MAX_BYTES, "empty"),
        (b"1," * (MAX_BYTES // 2), "too_many_columns"),
        (b'"' * MAX_BYTES, "malformed"),
        (b'"' + b"a\n" * (MAX_BYTES // 2 - 1), "malformed"),
        (b"x\n" + b"=" * (MAX_BYTES - 2), "malformed"),
        (b"1\n" * (MAX_BYTES // 2 + 1), "too_large"),
    ],
    ids=["a million lines", "blank lines", "one number", "commas", "columns", "quotes",
         "an open quote", "one long cell", "one byte too many"],
)  # fmt: skip
@pytest.mark.timing
def test_parse_handles_adversarial_files_within_three_seconds(content, code):
    started = time.thread_time()
    if code == "read":
        table = parse(content)
        with pytest.raises(DataError):
            column(table, table.names[0])
    else:
        assert refused(content).code == code
    assert time.thread_time() - started < 3.0


def test_parse_size_limit_is_configurable(monkeypatch):
    monkeypatch.setenv("SEQVIZ_UPLOAD_MB", "0.01")
    problem = refused(CSV + b"\n1" * 6000)
    assert (problem.code, problem.details["limit"]) == ("too_large", 10_485)
    assert column(parse(CSV), "x").size == 40


def test_page_upload_counts_toward_session_seconds(visit, monkeypatch):
    """A large file is read at each press: within the student's own seconds."""
    page = visit("ar_fitting", ar__real__source="csv")
    monkeypatch.setenv("SEQVIZ_SESSION_SECONDS", "1000")
    wide = "\n".join(",".join(str(v) for v in NUMBERS[:30]) for _ in range(2000)).encode()
    page.app.get("file_uploader")[0].set_value(("wide.csv", wide, "text/csv"))
    page.app.run()
    assert page.app.session_state[run_context.KEY].account.seconds.used > 0.005
