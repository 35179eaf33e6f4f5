"""docs/faults.md: every fault that was promised is in it, and every test that it names exists."""

from __future__ import annotations

import ast
import re

import pytest

from seqviz.core.i18n import ASSETS, catalogue

ROOT = ASSETS.parent
TABLE = ROOT / "docs" / "faults.md"
PROMISED = (
    "no hub and no registry", "damaged weights", "damaged data and caches", "disk full",
    "a model that fails to load", "out of memory on the GPU", "a job that raises",
    "a job that hangs", "a job that is cancelled", "the browser gone in the middle",
    "the server restarted during a job", "two students pressing the same button", "clock changes",
)  # fmt: skip


def rows() -> list[list[str]]:
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def named(row: list[str]) -> list[tuple[str, str]]:
    return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[3])


def names_in(path: str) -> set[str]:
    body = ast.parse((ROOT / path).read_text("utf-8")).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("fault", PROMISED)
def test_faults_table_has_row_for_every_fault(fault):
    assert any(row[0].startswith(fault) for row in rows())


def test_faults_table_rows_are_complete_and_name_existing_tests():
    for row in rows():
        assert len(row) == 4, row[0]
        assert all(row), row[0]
        assert named(row), row[0]
        assert len(named(row)) == row[3].count("::"), row[0]
        for path, name in named(row):
            assert name in names_in(path), f"{path}::{name}"


def test_faults_table_lists_every_test_file_of_folder():
    listed = {path for row in rows() for path, _ in named(row)}
    here = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "faults").glob("test_*.py")
    }
    assert here - listed == {"tests/faults/test_faults_table.py"}


def test_documents_name_only_existing_tests():
    """docs/threats.md names one beside each promise."""
    files = [*(ROOT / "tests").rglob("test_*.py")]
    existing = {path.name for path in files}
    for path in files:
        existing |= set(re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.M))
    documents = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    named = {
        (path.name, name)
        for path in documents
        for name in re.findall(r"`(test_\w+(?:\.py)?)`", path.read_text("utf-8"))
    }
    assert len(named) > 100
    assert {item for item in named if item[1] not in existing} == set()


def test_faults_table_quotes_match_catalogue():
    """As far as the first gap in the quotation."""
    messages = [value for value in catalogue("en").values() if isinstance(value, str)]
    # Number and unit hold together on a page (`core.units`), which a document has no need of.
    plain = [re.sub(r"{[^}]*}", "…", sentence).replace("\u00a0", " ") for sentence in messages]
    for row in rows():
        for quoted in re.findall(r'"([^"]+)"', row[1]):
            words = quoted.replace("120", "…").removesuffix(" …").rstrip(".")
            assert any(words in sentence for sentence in plain), quoted
