"""Cells of a table that is written for a spreadsheet: guarded in no time, however they are."""

from __future__ import annotations

import time

import pytest

from seqviz.ui.page.spreadsheet import no_formula

GAPS = ("\n", "\t", "\n ", ";", "; ", "\r\n", " ")


@pytest.mark.parametrize("gap", GAPS)
def test_no_formula_scans_long_gap_in_linear_time(gap):
    """From each of 10,000 line ends to the last took 2 s, in which nothing else runs."""
    began = time.perf_counter()
    assert no_formula(gap * 10_000 + "a") == gap * 10_000 + "a"
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize("gap", [*GAPS[:-1], " \t ", ";\u3000", "; \n;"])
def test_no_formula_guards_text_after_gap(gap):
    assert no_formula(f"a{gap}=1") == f"a{gap}'=1"
    assert no_formula("a =1") == "a =1"  # a space separates nowhere
