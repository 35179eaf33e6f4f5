"""Words of each bench, for search: the texts that its code names (`keys`).

The code is read, not imported, as a lesson's dependencies would delay the search.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from seqviz.content import catalog
from seqviz.core.i18n import catalogue
from seqviz.core.paths import PACKAGE

PREFIXES = ("metric", "note", "control", "option", "step")
_PREFIX = 3  # characters before the "_" of an f-string that names texts by their beginning


@dataclass(frozen=True)
class Definition:
    """Names that a function, class or constant uses.

    Attributes:
        strings: its strings, fields and keywords.
        readouts: the names of its read-outs.
        names: the names that it uses.
    """

    strings: frozenset[str]
    readouts: frozenset[str]
    names: frozenset[str]


@cache
def all_keys() -> dict[str, dict[str, list[str]]]:
    """Return `keys` of each lesson, read by a process of its own.

    That takes seconds, and CPython 3.11 counts the recursion of all threads that parse together:
    where Streamlit parses a page at the same time, both may get a SystemError.

    Raises:
        subprocess.CalledProcessError: the process failed.
    """
    command = [sys.executable, "-m", "seqviz.content.bench_words"]
    done = subprocess.run(command, cwd=PACKAGE.parent, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def keys(slug: str) -> dict[str, tuple[str, ...]]:
    """Return, by bench of a lesson, the keys of the texts that its code names.

    A read-out that no bench names where it is shown belongs to the benches that name it at all.

    Args:
        slug: of the lesson.
    """
    definitions = _definitions(slug)
    named = {bench: _named(bench, starts, definitions) for bench, starts in _benches(slug)}
    result: dict[str, list[str]] = {bench: [] for bench in named}
    for key in catalogue("en"):
        kind, _, rest = key.removeprefix(f"{slug}.").partition(".")
        if not key.startswith("figure.") and (kind not in PREFIXES or not key.startswith(slug)):
            continue
        part = key if key.startswith("figure.") else rest.partition(".")[0]
        forms = _forms(part)
        loose = [bench for bench, (strings, _) in named.items() if not forms.isdisjoint(strings)]
        exact = [bench for bench, (_, names) in named.items() if not forms.isdisjoint(names)]
        for bench in (exact or loose) if kind == "metric" else loose:
            result[bench].append(key)
    return {bench: tuple(bench_keys) for bench, bench_keys in result.items()}


def _named(
    bench: str, starts: set[str], definitions: dict[str, list[Definition]]
) -> tuple[set[str], set[str]]:
    """Return the strings, and the names of read-outs, in a bench's code."""
    strings, readouts = {bench}, set[str]()
    queue, known_names = list(starts), set(starts)
    while queue:
        for definition in definitions.get(queue.pop(), []):
            strings |= definition.strings
            readouts |= definition.readouts
            new = (definition.names & definitions.keys()) - known_names
            known_names |= new
            queue += sorted(new)
    return strings, readouts


def _forms(part: str) -> set[str]:
    """Return the strings that name a text: its name, and beginnings of f-strings for it."""
    ends = (end for end, letter in enumerate(part) if letter == "_" and end >= _PREFIX)
    return {part, *(f"{part[:end]}_" for end in ends)}


def _readouts(nodes: Iterable[ast.AST], strings: frozenset[str]) -> set[str]:
    """Return the names of read-outs in a definition: all its strings where a variable has them."""
    result: set[str] = set()
    for call in nodes:
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if call.func.attr == "readout" and call.args:
            first = call.args[0]
            result |= strings if isinstance(first, ast.Name) else set(_strings(ast.walk(first)))
        elif call.func.attr == "readouts":
            result |= {text for item in call.args[1:] for text in _strings(ast.walk(item))}
            result |= {item.arg for item in call.keywords if item.arg}
    return result


def _benches(slug: str) -> Iterator[tuple[str, set[str]]]:
    """Yield each bench with the names in its declaration: its parameters and its function."""
    for node in ast.walk(_tree(PACKAGE / "lessons" / slug / "lesson.py")):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            inner = node.func
            if isinstance(inner.func, ast.Attribute) and inner.func.attr == "bench":
                yield ast.literal_eval(inner.args[0]), {*_names(ast.walk(node)), *_attributes(node)}


def _definitions(slug: str) -> dict[str, list[Definition]]:
    """Return functions, classes and constants of a lesson and of its figures, by name."""
    result: dict[str, list[Definition]] = {}
    for part in ("lessons", "figures"):
        for path in sorted((PACKAGE / part / slug).rglob("*.py")):
            if path.name == "lesson.py":
                continue
            for node in _tree(path).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    targets = [node.name]
                elif isinstance(node, ast.Assign):
                    targets = [name for target in node.targets for name in _names(ast.walk(target))]
                else:
                    continue
                nodes = list(ast.walk(node))
                strings = frozenset(_strings(nodes))
                readouts = frozenset(_readouts(nodes, strings))
                definition = Definition(strings, readouts, frozenset(_names(nodes)))
                for name in targets:
                    result.setdefault(name, []).append(definition)
    return result


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return (item.id for item in nodes if isinstance(item, ast.Name))


def _attributes(node: ast.AST) -> Iterator[str]:
    return (item.attr for item in ast.walk(node) if isinstance(item, ast.Attribute))


def _strings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield strings, fields of a class and names of keywords; of a dotted string all its parts."""
    for item in nodes:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            if re.fullmatch(r"[\w.]+", item.value):
                yield item.value
                yield item.value.partition(".")[0]
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id
        elif isinstance(item, ast.keyword) and item.arg:
            yield item.arg


if __name__ == "__main__":
    print(json.dumps({record.slug: keys(record.slug) for record in catalog.LESSONS}))
