"""ARCHITECTURE.md is a map: every file and function that it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from seqviz.core.paths import ASSETS, ROOT

MAP = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
STEPS = sorted(set(re.findall(r"`([\w/]+\.(?:py|js)): ([\w.]+)`", MAP)))


def definitions(path: Path) -> set[str]:
    """Functions, classes and methods of a module, with the names of their classes."""
    result = set()

    def walk(body: list[ast.stmt], owner: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                result.add(f"{owner}{node.name}")
                if isinstance(node, ast.ClassDef):
                    walk(node.body, f"{owner}{node.name}.")

    walk(ast.parse(path.read_text("utf-8")).body, "")
    return result


def test_architecture_interaction_has_many_steps():
    assert len(STEPS) > 40
    assert len({file for file, _ in STEPS}) > 20


@pytest.mark.parametrize(("file", "name"), STEPS)
def test_architecture_names_existing_functions(file, name):
    if file.endswith(".js"):
        source = (ASSETS / "static" / file).read_text("utf-8")
        assert re.search(
            rf"^\s*(?:export )?(?:async )?(?:function )?{name}\(.*\) {{$", source, re.M
        )
    else:
        assert name in definitions(ROOT / "seqviz" / file)


@pytest.mark.parametrize("word", sorted(set(re.findall(r"`([A-Z]\w+[a-z]\w*)`", MAP))))
def test_architecture_names_existing_classes(word):
    sources = [path.read_text("utf-8") for path in (ROOT / "seqviz").rglob("*.py")]
    assert any(re.search(rf"^class {word}\b", source, re.M) for source in sources)


def test_architecture_tree_matches_folders():
    tree = MAP.partition("## The tree")[2].partition("## Four rules")[0]
    for folder in re.findall(r"^    (\w+)/", tree, re.M):
        assert (ROOT / "seqviz" / "ui" / folder).is_dir(), folder
    named = set(re.findall(r"^  (\w+)/", tree, re.M))
    there = {path.name for path in (ROOT / "seqviz").iterdir() if (path / "__init__.py").exists()}
    assert named == there
