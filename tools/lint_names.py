"""Lint of public names and docstring openings, with a baseline that may only shrink.

    python -m tools.lint_names            # compare with the baseline
    python -m tools.lint_names --write    # shrink the baseline; it never grows

Functions, classes, methods, fields and parameters of `seqviz` may not be named by a participle,
pronoun, adverb or preposition (`BANNED`), local variables not by those in `VARIABLES`, files not by
`STEMS`. An exception ends in `Error`, an ASGI class in `Middleware`, a class name has one meaning,
and a constant contains a noun (`VAGUE`). A docstring may not begin with one of `OPENINGS`.
`tools/lint_names.txt` is the baseline. Controls (`...Params`) are URL parameters and exempt.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINE = Path(__file__).with_suffix(".txt")
BANNED = frozenset((
    "found", "said", "says", "told", "tell", "tells", "hear", "heard", "kept", "keep", "asked",
    "known", "shown", "drawn", "made", "plain", "whole", "beside", "behind", "most", "least",
    "few", "one", "ones", "other", "own", "way", "ways", "place", "places", "left", "anew",
    "elsewhere", "chance", "looks", "wanted", "wish", "taken", "came", "come", "gone", "settled",
    "settle", "rest", "rested", "hand", "hands", "road", "door", "shelf", "shelves", "afar",
    "together", "tap", "knife", "ladder", "letters", "dear", "here", "there", "who", "whom",
))  # fmt: skip
FINE_FIELDS = frozenset(("other", "left", "rest", "letters"))  # operands, symbols; parameters, too
VARIABLES = frozenset((
    "found", "told", "said", "says", "asked", "known", "kept", "shown", "drawn", "made", "seen",
    "whole", "most", "least", "one", "place", "places", "way", "ways", "looks", "wanted", "wish",
    "tap", "chance", "chances", "knife", "ladder", "anew",
))  # fmt: skip
STEMS = frozenset((
    "afar", "road", "whole_file", "packed", "refusal", "tap", "together", "branches", "parts",
    "findings", "looks", "said", "near", "hand", "settle", "sight", "door", "first", "still",
    "offered", "controls_told", "in_room", "tidying", "seats", "pace", "peer", "moving_hand",
    "place", "wanted", "shown",
))  # fmt: skip
VAGUE = frozenset(("MOST", "LONGEST", "KINDS", "PARTS"))
OPENINGS = ("What ", "Who ", "Whoever ", "Whether ", "Whose ", "Whom ")
SHARED_NAMES = 3  # class names that may have two meanings


def definitions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield every function, class and method with its qualified name."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{owner}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, f"{owner}{node.name}.")


def class_problems(node: ast.ClassDef) -> Iterator[str]:
    """Yield the problems of a class's name and fields."""
    bases = {ast.unparse(base).split("[")[0] for base in node.bases}
    raised = any(base.endswith(("Exception", "Error")) for base in bases)
    if raised and not node.name.endswith("Error"):
        yield "an exception ends in Error"
    controls = node.name.endswith("Params")  # their fields are URL parameters
    for item in node.body:
        field = item.target if isinstance(item, ast.AnnAssign) else None
        if not controls and isinstance(field, ast.Name) and field.id in BANNED - FINE_FIELDS:
            yield f"field {field.id} is no noun"
    methods = {item.name: item for item in node.body if isinstance(item, ast.AsyncFunctionDef)}
    call = methods.get("__call__")
    arguments = [arg.arg for arg in call.args.args[1:]] if call is not None else []
    if arguments == ["scope", "receive", "send"] and not node.name.endswith("Middleware"):
        yield "an ASGI class ends in Middleware"


def variable_problems(function: ast.AST) -> Iterator[str]:
    """Yield the parameters and local variables of a function with banned names."""
    for node in ast.walk(function):
        if isinstance(node, ast.arg) and node.arg in BANNED - FINE_FIELDS:
            yield f"parameter {node.arg} is no noun"
        elif isinstance(node, ast.Name) and node.id in VARIABLES:
            yield f"variable {node.id} is no noun"


def problems(path: Path, tree: ast.Module) -> Iterator[str]:
    """Yield the problems of one module, each as a line of the baseline."""
    name = path.relative_to(ROOT).as_posix()
    if path.stem in STEMS:
        yield f"{name}: the file's name is no noun"
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        for target in targets:
            if isinstance(target, ast.Name) and target.id in VAGUE:
                yield f"{name}: {target.id} has no noun"
    for qualified, definition in definitions(tree.body):
        last = qualified.rpartition(".")[2]
        if last.lower() in BANNED:
            yield f"{name}: {qualified} is no noun and no verb"
        details = (
            class_problems(definition)
            if isinstance(definition, ast.ClassDef)
            else variable_problems(definition)
        )
        yield from (f"{name}: {qualified}: {problem}" for problem in details)
        if (ast.get_docstring(definition) or "").startswith(OPENINGS):  # type: ignore[arg-type]
            yield f"{name}: the docstring of {qualified} begins with a subordinate clause"
    if (ast.get_docstring(tree) or "").startswith(OPENINGS):
        yield f"{name}: the docstring of the module begins with a subordinate clause"


def list_problems(root: Path) -> list[str]:
    """Return the problems of all modules of the product, sorted."""
    lines: list[str] = []
    classes = defaultdict(set)
    for path in sorted((root / "seqviz").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        lines += problems(path, tree)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].add(path)
    doubled = sorted(name for name, paths in classes.items() if len(paths) > 1)
    if len(doubled) > SHARED_NAMES:
        lines += [f"class {name} has two meanings" for name in doubled]
    return sorted(lines)


def main() -> None:
    """Print problems that are not in the baseline and resolved ones that are; fail on either."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="shrink the baseline")
    arguments = parser.parse_args()
    before = BASELINE.read_text("utf-8").splitlines() if BASELINE.exists() else []
    now = list_problems(ROOT)
    new, mended = sorted({*now} - {*before}), sorted({*before} - {*now})
    if arguments.write and not (new and before):
        BASELINE.write_text("".join(f"{line}\n" for line in now), "utf-8")
        print(f"{len(now)} lines")
        return
    for line in new:
        print(f"new: {line}")
    for line in mended:
        print(f"resolved, remove it from the baseline (--write): {line}")
    sys.exit(1 if new or mended else 0)


if __name__ == "__main__":
    main()
