"""tools/mutation_test on a tiny tree: its faults, the tests that reach them, what catches each."""

from __future__ import annotations

import json
import re

import pytest

from tools import mutation_test

COMPUTE = '''"""Sums."""

import numpy as np


def total(values: list) -> float:
    """From 0 to 1%."""
    return float(np.sum(values, axis=0) + values[0])


def unseen(a: int, b: int) -> bool:
    return a - 1 < b
'''
FIGURE = """from seqviz.compute.sums import total


def words(values, lang="en"):
    return f"{total(values)}%" if lang == "en" else "-"
"""
TEST = """from seqviz.compute.sums import total


def test_total():
    assert total([1.0, 2.0]) == 4.0


def test_that_fails_without_any_fault():
    assert False
"""


@pytest.fixture
def tree(tmp_path):
    files = {
        "seqviz/__init__.py": "",
        "seqviz/compute/__init__.py": "",
        "seqviz/compute/sums.py": COMPUTE,
        "seqviz/figures/__init__.py": "",
        "seqviz/figures/said.py": FIGURE,
        "seqviz/lessons/sums/lesson.py": "from seqviz.figures.said import words\n",
        "assets/lessons/sums/en.toml": '[note]\nlong = "a sum (px)"\n',
        "assets/lessons/sums/zh.toml": '[note]\nlong = "和"\n',
        "tests/test_sums.py": TEST,
        "tests/core/test_i18n.py": "def test_nothing():\n    pass\n",
        "tests/pages/test_page.py": 'PAGE = "sums"\n\n\ndef test_page():\n    pass\n',
    }
    for name, content in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    (tmp_path / "tree/pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath=["."]\n')
    return tmp_path / "tree"


def test_candidates_lists_mutations_of_tree(tree):
    result = {(f.kind, f.path.rpartition("/")[2], f.new) for f in mutation_test.candidates(
        tree, list(mutation_test.ROOMS))}  # fmt: skip
    assert result == {
        ("sign", "sums.py", "-"),
        ("sign", "sums.py", "+"),
        ("axis", "sums.py", "1"),
        ("index", "sums.py", "1"),
        ("bound", "sums.py", "<="),
        ("language", "said.py", "'zh'"),
        ("unit", "said.py", 'f"{total(values)}"'),
        ("language", "en.toml", 'long = "和"\n'),
        ("language", "zh.toml", 'long = "a sum (px)"\n'),
        ("unit", "en.toml", 'long = "a sum"\n'),
    }


def test_drawn_is_deterministic_and_alternates_packages(tree):
    draws = [mutation_test.drawn(tree, ["compute", "figures"], 4, seed) for seed in (1, 1, 2, 3, 4)]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) > 1
    assert [fault.room for fault in draws[0]] == ["compute", "figures"] * 2
    assert len(mutation_test.drawn(tree, ["compute"], 100, 1)) == 5


def test_arrows_orders_tests_by_distance_to_file(tree):
    arrows = mutation_test.Arrows(tree)
    page = "tests/pages/test_page.py"
    assert arrows.tests("seqviz/compute/sums.py") == ["tests/test_sums.py", page]
    assert arrows.tests("seqviz/lessons/sums/lesson.py") == [page]
    of_words = arrows.tests("assets/lessons/sums/zh.toml")
    assert of_words == ["tests/core/test_i18n.py", page]


@pytest.mark.nightly
def test_mutation_test_reports_outcomes_and_restores_tree(tree, capsys):
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    mutation_test.main(["--tree", str(tree), "--count", "9", "--room", "compute"])
    message = capsys.readouterr().out
    ends = re.findall(r"^ +\d+ (\w+) .*?compute +(\w+) ", message, re.MULTILINE)
    assert {kind for end, kind in ends if end == "caught"} == {"sign", "index", "axis"}
    assert "by tests/test_sums.py::test_total" in message
    assert "tests/test_sums.py::test_that_fails_without_any_fault" in message
    payload = json.loads(message.splitlines()[-1])
    assert (payload["count"], payload["caught"], payload["out_of_time"]) == (5, 3, 0)
    assert payload["interval"][0] < 0.6 < payload["interval"][1]
    assert {path: path.read_bytes() for path in before} == before
