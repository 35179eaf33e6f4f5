"""Words of each bench, for search: the texts that its code names (`keys`).

The code is read, not imported, as a lesson's dependencies would delay the search.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from seqviz.core.i18n import catalogue
from seqviz.core.paths import PACKAGE

PREFIXES = ("metric", "note", "control", "option", "step")
_PREFIX = 3  # characters before the "_" of an f-string that names texts by their beginning


@cache
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
        loose = [bench for bench, (strings, _) in named.items() if _is_named(part, strings)]
        exact = [bench for bench, (_, readouts) in named.items() if _is_named(part, readouts)]
        for bench in (exact or loose) if kind == "metric" else loose:
            result[bench].append(key)
    return {bench: tuple(bench_keys) for bench, bench_keys in result.items()}


def _named(
    bench: str, starts: set[str], definitions: dict[str, list[ast.AST]]
) -> tuple[set[str], set[str]]:
    """Return the strings, and the names of read-outs, in a bench's code."""
    strings, readouts = {bench}, set[str]()
    queue, known_names = list(starts), set(starts)
    while queue:
        for definition in definitions.get(queue.pop(), []):
            mine = set(_strings(definition))
            strings |= mine
            readouts |= _readouts(definition, mine)
            new = {name for name in _names(definition) if name in definitions} - known_names
            known_names |= new
            queue += sorted(new)
    return strings, readouts


def _is_named(part: str, strings: set[str]) -> bool:
    """Return True where a string is this name, or the beginning of an f-string for it."""
    return part in strings or any(
        f"{part[:end]}_" in strings
        for end, letter in enumerate(part)
        if letter == "_" and end >= _PREFIX
    )


def _readouts(definition: ast.AST, strings: set[str]) -> set[str]:
    """Return the names of read-outs in a definition: all its strings where a variable has them."""
    result: set[str] = set()
    for call in ast.walk(definition):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if call.func.attr == "readout" and call.args:
            first = call.args[0]
            result |= strings if isinstance(first, ast.Name) else set(_strings(first))
        elif call.func.attr == "readouts":
            result |= {text for item in call.args[1:] for text in _strings(item)}
            result |= {item.arg for item in call.keywords if item.arg}
    return result


def _benches(slug: str) -> Iterator[tuple[str, set[str]]]:
    """Yield each bench with the names in its declaration: its parameters and its function."""
    for node in ast.walk(_tree(PACKAGE / "lessons" / slug / "lesson.py")):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            inner = node.func
            if isinstance(inner.func, ast.Attribute) and inner.func.attr == "bench":
                yield ast.literal_eval(inner.args[0]), {*_names(node), *_attributes(node)}


def _definitions(slug: str) -> dict[str, list[ast.AST]]:
    """Return functions, classes and constants of a lesson and of its figures, by name."""
    result: dict[str, list[ast.AST]] = {}
    for part in ("lessons", "figures"):
        for path in sorted((PACKAGE / part / slug).rglob("*.py")):
            if path.name == "lesson.py":
                continue
            for node in _tree(path).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    result.setdefault(node.name, []).append(node)
                elif isinstance(node, ast.Assign):
                    for target in node.targets:
                        for name in _names(target):
                            result.setdefault(name, []).append(node)
    return result


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _names(node: ast.AST) -> Iterator[str]:
    return (item.id for item in ast.walk(node) if isinstance(item, ast.Name))


def _attributes(node: ast.AST) -> Iterator[str]:
    return (item.attr for item in ast.walk(node) if isinstance(item, ast.Attribute))


def _strings(node: ast.AST) -> Iterator[str]:
    """Yield strings, fields of a class and names of keywords; of a dotted string all its parts."""
    for item in ast.walk(node):
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            if re.fullmatch(r"[\w.]+", item.value):
                yield item.value
                yield item.value.partition(".")[0]
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id
        elif isinstance(item, ast.keyword) and item.arg:
            yield item.arg
