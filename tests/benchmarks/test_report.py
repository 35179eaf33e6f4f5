"""What all commands print: rows, goals, and one JSON object as the last line."""

from __future__ import annotations

import json
import math

import pytest

from benchmarks.report import Report, medians, milliseconds, options, to_text, values_of


def test_report_groups_rows_with_same_columns(capsys):
    report = Report("name")
    report.row("one", ms=1.23456, count=7272)
    report.row("two", ms=12345.6, count=True)
    report.row("three", ratio=math.nan)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["ms", "count"], ["one", "1.235", "7,272"], ["two", "12,346", "True"],
        ["ratio"], ["three", "nan"],
    ]  # fmt: skip


def test_report_checks_goals_in_nested_values(capsys):
    lessons = {"a": {"ms": 1.0, "n": 9}, "b": {"ms": 3.0, "n": 5}, "c": {"rate": None}}
    report = Report("name", lessons=lessons, top=2.0, others={"ms": 99.0})
    report.finish({"ms": 3, "top": 1, "rate": 5, "absent": 1}, {"n": 5})
    *goals, last = capsys.readouterr().out.splitlines()
    assert json.loads(last)["missed"] == ["ms", "top", "rate", "absent"]
    assert goals[0] == "goal: ms <= 3: 1 to 99, missed"
    assert goals[-1] == "goal: n >= 5: 5 to 9, met"
    Report("name", lessons=lessons, others={"ms": 99.0}).finish({"ms": 3}, within="lessons")
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["missed"] == []
    assert [*values_of("ms", lessons)] == [1.0, 3.0]


def test_report_exits_nonzero_only_when_broken(capsys):
    """A failed measurement fails the command; a missed goal does not."""
    Report("name", ms=9.0).finish({"ms": 1})
    with pytest.raises(SystemExit) as ended:
        Report("name").finish(is_broken=True)
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"name": "name"}


def test_options_take_type_of_default():
    declared = {
        "tree": {"metavar": "TREE"}, "students": (10, "number"), "think": (6.0, ""),
        "same_address": (False, ""), "only": {"nargs": "+", "default": []},
    }  # fmt: skip
    given = options("About.", ["x", "--students", "3", "--same-address"], **declared)
    assert vars(given) == {
        "tree": "x", "students": 3, "think": 6.0, "same_address": True, "only": [],
    }  # fmt: skip


def test_milliseconds_of_no_times_misses_every_goal():
    assert not milliseconds([], 95) <= 100
    assert milliseconds([0.05], 95) == 50.0
    assert to_text(milliseconds([], 95)) == "nan"


def test_medians_alternates_calls():
    turns: list[str] = []
    seconds = medians(3, lambda: turns.append("a"), lambda: turns.append("b"))
    assert turns == ["a", "b"] * 3
    assert len(seconds) == 2
