"""Mutation testing: insert one fault at a time and count those that the tests detect.

    python -m tools.mutation_test [--count 100] [--seed 1] [--room compute] [--list] [--all]
    python -m tools.mutation_test --tree ../another/checkout      the same on another commit

Rooms are compute, figures, lessons (with their translations) and ui. Kinds of faults are sign,
index, axis, bound (off by one), language (swapped) and unit (missing). Faults alternate between
rooms and, within a room, between kinds; the seed selects the location. Each fault is inserted into
a copy of the tree, where the test files that reach it run (nearest first, by imports) until one
fails, for at most a minute of CPU time. A test that also fails without the fault does not count.
The output ends with the detected share, its 95% interval (Wilson), the survivors, and a JSON line.

To compare two commits, run this file on both trees: some survivors are equivalent mutants, and both
trees have their share of these.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from seqviz.stats import proportions

ROOMS = {
    "compute": ("seqviz/compute",),
    "figures": ("seqviz/figures",),
    "lessons": ("seqviz/lessons", "pages", "assets/lessons"),
    "ui": ("seqviz/ui",),
}
KINDS = ("sign", "index", "axis", "bound", "language", "unit")
LEFT_OUT = (".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", "build")
UNITS = re.compile(r"(?<=[}\d\s]) ?(?:%|°|px|ms|MB|bits?)(?=[\"'])")
IN_WORDS = re.compile(r" \((?:%|°|px|ms|s|bits?|[^()\"]*%)\)|(?<=})%")
ANNOTATED = {"Share", "WholeShare", "Log10", "Rough", "Exact", "VeryExact"}
SIGNS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
BOUNDS = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
FAST = "not browser and not nightly"
PATIENCE = 6  # elapsed time limit as a multiple of CPU time, for tests that sleep
STAGES = (4, 8, 16, 1000)  # test files per pytest run; the nearest ones usually suffice


@dataclass(frozen=True)
class Fault:
    """Replacement of a byte range in a file.

    Attributes:
        room: part of the code.
        kind: kind of the fault.
        path: file, relative to the tree.
        start: first byte of the replaced range.
        end: end of the range.
        new: replacement.
        line: 1-based line.
        shown: description of the change.
    """

    room: str
    kind: str
    path: str
    start: int
    end: int
    new: str
    line: int
    shown: str

    def __str__(self) -> str:
        return f"{self.room:8}{self.kind:9}{self.path}:{self.line}  {self.shown}"


# --- where faults can be ------------------------------------------------------------------------


class Places:
    """Finder of all possible faults in a Python file."""

    def __init__(self, room: str, path: str, source: bytes) -> None:
        self.room, self.path, self.source = room, path, source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.found: list[Fault] = []

    def all(self) -> list[Fault]:
        tree = ast.parse(self.source)
        silent = {id(node) for top in ast.walk(tree) for node in self._silent(top)}
        for parent in ast.walk(tree):
            for name, value in ast.iter_fields(parent):
                children = value if isinstance(value, list) else [value]
                for node in children:
                    if isinstance(node, ast.AST) and (id(node) not in silent or name == "returns"):
                        self._look(node, parent, name)
        return self.found

    @staticmethod
    def _silent(node: ast.AST) -> Iterator[ast.AST]:
        """Yield nodes without effect: docstrings and annotations (return units count apart)."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        for name in ("annotation", "returns"):
            if (message := getattr(node, name, None)) is not None:
                yield from ast.walk(message)

    def _span(self, node: ast.expr) -> tuple[int, int]:
        start = self.lines[node.lineno - 1] + node.col_offset
        return start, self.lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _add(self, kind: str, span: tuple[int, int], new: str) -> None:
        start, end = span
        line = bisect_right(self.lines, start)
        old = self.source[start:end].decode()
        payload = self.source[self.lines[line - 1] : self.lines[line]].decode().strip()
        visible_text = f"{old!r} -> {new!r} in {payload[:90]}"
        self.found.append(Fault(self.room, kind, self.path, start, end, new, line, visible_text))

    def _between(self, kind: str, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        start, end = self._span(left)[1], self._span(right)[0]
        at = self.source[start:end].decode().find(old)
        if at >= 0:
            self._add(kind, (start + at, start + at + len(old)), new)

    def _look(self, node: ast.AST, parent: ast.AST, name: str) -> None:
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                if not any(isinstance(s, ast.JoinedStr | ast.List | ast.Tuple) or (
                    isinstance(s, ast.Constant) and isinstance(s.value, str))
                    for s in (left, right)):  # fmt: skip
                    self._between("sign", left, right, *SIGNS[type(node.op)])
            case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(
                parent, ast.Subscript | ast.Slice
            ):
                self._add("sign", self._span(node), self._text(operand))
            case ast.Subscript(slice=ast.Tuple(elts=parts)):
                for part in parts:
                    self._index(part)
            case ast.Subscript(slice=part):
                self._index(part)
            case ast.keyword(arg="axis" | "dim", value=value) if self._whole(value) is not None:
                self._add("axis", self._span(value), "1" if self._whole(value) == 0 else "0")
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in BOUNDS:
                self._between("bound", left, right, *BOUNDS[type(op)])
            case ast.Call(func=ast.Name(id="range"), args=[*_, _] as args) if len(args) < 3:
                self._add("bound", self._span(args[-1]), f"({self._text(args[-1])}) - 1")
            case ast.Constant(value="en" | "zh" as lang) if not isinstance(parent, ast.JoinedStr):
                self._add("language", self._span(node), repr("zh" if lang == "en" else "en"))
            case ast.Name(id=unit) if name == "returns" and unit in ANNOTATED:
                self._add("unit", self._span(node), "float")
            case ast.JoinedStr() | ast.Constant(value=str()):
                if not isinstance(parent, ast.JoinedStr):
                    old = self._text(node)
                    new = UNITS.sub("", old, count=1)
                    if new != old:
                        self._add("unit", self._span(node), new)

    def _whole(self, node: ast.expr) -> int | None:
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return None
        return value if type(value) is int else None

    def _index(self, part: ast.expr) -> None:
        ends = (part.lower, part.upper) if isinstance(part, ast.Slice) else (part,)
        for end in ends:
            if end is not None and (value := self._whole(end)) is not None:
                new = value - 1 if value < 0 else value + 1
                self._add("index", self._span(end), str(new))


def in_words(root: Path, path: Path) -> Iterator[Fault]:
    """Yield faults in a lesson's translations: other language, missing unit."""
    name = path.relative_to(root).as_posix()
    source = path.read_bytes()
    other = path.with_name("en.toml" if path.stem == "zh" else "zh.toml")
    foreign = dict(_sentences(other.read_text("utf-8"))) if other.exists() else {}
    at = 0
    location = ""
    for number, line in enumerate(source.splitlines(keepends=True), 1):
        text = line.decode()
        if text.startswith("["):
            location = text.strip()
        key = text.partition(" = ")[0]
        theirs = foreign.get((location, key))
        span = (at, at + len(line))
        if theirs is not None and theirs != text.strip():
            yield Fault("lessons", "language", name, *span, theirs + "\n", number, theirs[:90])
        if " = " in text and (new := IN_WORDS.sub("", text, count=1)) != text:
            yield Fault("lessons", "unit", name, *span, new, number, new.strip()[:90])
        at += len(line)


def _sentences(text: str) -> Iterator[tuple[tuple[str, str], str]]:
    location = ""
    for line in text.splitlines():
        if line.startswith("["):
            location = line.strip()
        elif re.match(r'\w+ = ".*"$', line):
            yield (location, line.partition(" = ")[0]), line


def candidates(root: Path, rooms: Sequence[str]) -> list[Fault]:
    """Return all possible faults of a tree, in order."""
    faults: list[Fault] = []
    for room in rooms:
        for folder in ROOMS[room]:
            for path in sorted((root / folder).rglob("*.py")):
                name = path.relative_to(root).as_posix()
                faults += Places(room, name, path.read_bytes()).all()
            for path in sorted((root / folder).rglob("*.toml")):
                faults += in_words(root, path)
    return faults


def works(root: Path, fault: Fault) -> bool:
    """Return True where a file with a fault parses and differs in meaning."""
    source = (root / fault.path).read_bytes()
    changed = (source[: fault.start] + fault.new.encode() + source[fault.end :]).decode()
    try:
        if fault.path.endswith(".toml"):
            return tomllib.loads(changed) != tomllib.loads(source.decode())
        return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return False


def drawn(root: Path, rooms: Sequence[str], count: int, seed: int) -> list[Fault]:
    """Return random faults that alternate between rooms and kinds.

    Args:
        root: top of the tree.
        rooms: names of the rooms.
        count: number of faults.
        seed: seed of the selection.
    """
    every = candidates(root, rooms)
    dice = random.Random(seed)
    piles: dict[str, dict[str, list[Fault]]] = {}
    for fault in every:
        piles.setdefault(fault.room, {}).setdefault(fault.kind, []).append(fault)
    for room in piles:
        for pile in piles[room].values():
            dice.shuffle(pile)
    chosen: list[Fault] = []
    turn = dict.fromkeys(piles, 0)
    while len(chosen) < count and any(any(kinds.values()) for kinds in piles.values()):
        for room, kinds in piles.items():
            left = [kind for kind in KINDS if kinds.get(kind)]
            if left and len(chosen) < count:
                kind = left[turn[room] % len(left)]
                fault = kinds[kind].pop()
                if works(root, fault):
                    turn[room] += 1
                    chosen.append(fault)
    return chosen


# --- which tests reach a module -----------------------------------------------------------------


class Arrows:
    """Import graph of a tree by file paths, with imports inside functions.

    Tests of pages name a lesson by its slug and open it in the app, which counts as an import.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = [
            path.relative_to(root).as_posix()
            for folder in ("seqviz", "pages", "tests", "testing")
            for path in sorted((root / folder).rglob("*.py"))
        ]
        self.modules = {self._module(name): name for name in self.files}
        self.slugs: dict[str, list[str]] = {}  # files of each lesson
        for name in self.files:
            lesson = re.fullmatch(
                r"(?:seqviz/lessons/(?!framework)(\w+)/\w+|pages/(\w+))\.py", name
            )
            if lesson:
                self.slugs.setdefault(lesson[1] or lesson[2], []).append(name)
        self.to = {name: self._imports(name) for name in self.files}

    @staticmethod
    def _module(name: str) -> str:
        return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def _imports(self, name: str) -> set[str]:
        source = (self.root / name).read_text("utf-8")
        requests: set[str] = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                requests |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                requests |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        result = {self.modules[module] for module in requests if module in self.modules}
        if name.startswith("tests/"):
            result |= {
                folder.joinpath("conftest.py").as_posix()
                for folder in Path(name).parents[:-2]  # not tests/conftest.py: all tests use it
                if (self.root / folder / "conftest.py").exists()
            }
            every = "catalog.LESSONS" in source
            result |= {
                position for slug, positions in self.slugs.items() for position in positions
                if every or re.search(rf"[\"'/]{slug}[\"'.]", source)
            }  # fmt: skip
        return result - {name}

    @cached_property
    def back(self) -> dict[str, set[str]]:
        """Importers of each file."""
        result: dict[str, set[str]] = {}
        for name, others in self.to.items():
            for other in others:
                result.setdefault(other, set()).add(name)
        return result

    def tests(self, name: str) -> list[str]:
        """Return the test files that reach a file, nearest first; also for translations."""
        first = [name]
        if name.startswith("assets/lessons/"):
            slug = name.split("/")[2]
            words = [file for file in self.files if re.search(r"tests/.*(i18n|words)\.py$", file)]
            first = [*words, *self.slugs.get(slug, ())]
        far = dict.fromkeys(first, 0)
        queue = deque(first)
        while queue:
            at = queue.popleft()
            for other in sorted(self.back.get(at, ())):
                if other not in far:
                    far[other] = far[at] + 1
                    queue.append(other)
        reached = [item for item in far if re.search(r"^tests/(.*/)?test_\w+\.py$", item)]
        alike = set(re.findall(r"[a-z]+", name))  # ties are broken by similarity of names
        return sorted(reached, key=lambda item: (
            far[item], -len(alike & set(re.findall(r"[a-z]+", item))), item
        ))  # fmt: skip


# --- running them -------------------------------------------------------------------------------


def _allow(seconds: float) -> None:
    """Limit the CPU time of this process."""
    full = math.ceil(max(1.0, seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (full, full + 1))


def _used() -> float:
    """Return the CPU seconds of ended child processes."""
    result = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result.ru_utime + result.ru_stime


@dataclass
class Ground:
    """Copy of the tree into which faults are inserted.

    Attributes:
        root: top of the copy.
        marks: pytest marker expression.
        broken: tests that fail without any fault.
        writes: number of writes so far.
    """

    root: Path
    marks: str = FAST
    broken: set[str] = field(default_factory=set)
    writes: int = 0

    def write(self, name: str, content: bytes) -> None:
        """Write a file with a new modification time, by which Python detects stale bytecode."""
        self.writes += 1
        path = self.root / name
        path.write_bytes(content)
        stamp = time.time() - 10**6 + 10 * self.writes
        os.utime(path, (stamp, stamp))

    def pytest(self, files: Sequence[str], seconds: float) -> tuple[str | None, bool]:
        """Run tests; return the first failing one, if any, and True where the CPU time ran out.

        CPU time is limited instead of elapsed time, so that the load of the machine does not affect
        the result.

        Args:
            files: test files or node ids.
            seconds: CPU time.
        """
        command = [
            *(sys.executable, "-m", "pytest", "-o", "addopts=", "--import-mode=importlib"),
            *("-q", "-x", "-rfE", "--tb=no"),
            *("-p", "no:cacheprovider", "-p", "no:xdist", "-m", self.marks),
            *(f"--deselect={item}" for item in sorted(self.broken)),
            *files,
        ]
        process = subprocess.Popen(
            command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True, preexec_fn=partial(_allow, seconds),
            env={**os.environ, "PYTHONPATH": str(self.root), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        try:
            message, _ = process.communicate(timeout=PATIENCE * max(1.0, seconds))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, True
        if process.returncode in (0, 5):
            return None, False
        if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return None, True
        failed = re.search(
            r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", message, re.MULTILINE
        )
        return (failed[1] if failed else message.strip()[-200:]), False

    def catches(self, files: Sequence[str], fault: Fault, seconds: float) -> tuple[str, str]:
        """Return ("caught", test), ("survived", "") or ("time", "").

        Args:
            files: test files, nearest first.
            fault: fault to insert.
            seconds: CPU time.
        """
        full = (self.root / fault.path).read_bytes()
        worse = full[: fault.start] + fault.new.encode() + full[fault.end :]
        left = [file for file in files if file not in self.broken]
        spent = 0.0
        try:
            for maximum in STAGES:
                some, left = left[:maximum], left[maximum:]
                while some:
                    self.write(fault.path, worse)
                    begun = _used()
                    failed, late = self.pytest(some, seconds - spent)
                    spent += _used() - begun
                    if late:
                        return "time", ""
                    if failed is None:
                        break
                    self.write(fault.path, full)
                    again, slow = self.pytest([failed], 2 * seconds) if ".py" in failed else ("", 0)
                    if not again and not slow:
                        return "caught", failed
                    self.broken.add(failed)  # fails also without the fault
                    some = [item for item in some if item not in self.broken]
            return "survived", ""
        finally:
            self.write(fault.path, full)


def copy(tree: Path, position: Path) -> Path:
    """Copy the tree without machine-specific folders."""
    shutil.copytree(tree, position, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    return position


def hunt(tree: Path, faults: Sequence[Fault], seconds: float, marks: str) -> dict[str, object]:
    """Test all faults, print each outcome, and return the summary.

    Args:
        tree: top of the tree.
        faults: faults to insert.
        seconds: CPU time for each.
        marks: pytest marker expression.
    """
    ends: list[tuple[Fault, str]] = []
    with tempfile.TemporaryDirectory(prefix="seqviz-mutants-") as folder:
        ground = Ground(copy(tree, Path(folder) / "tree"), marks)
        arrows = Arrows(ground.root)
        for number, fault in enumerate(faults, 1):
            begun = time.monotonic()
            end, by = ground.catches(arrows.tests(fault.path), fault, seconds)
            ends.append((fault, end))
            took = time.monotonic() - begun
            print(f"{number:3} {end:9}{took:4.0f} s  {fault}", flush=True)
            if by:
                print(f"      by {by}", flush=True)
        if ground.broken:
            print("excluded, as they fail without a fault:", *sorted(ground.broken), sep="\n  ")
    for title, key in (("room", lambda f: f.room), ("kind", lambda f: f.kind)):
        tried = Counter(key(fault) for fault, _ in ends)
        counts = Counter(key(fault) for fault, end in ends if end == "caught")
        print(f"by {title}:", ", ".join(f"{name} {counts[name]}/{tried[name]}" for name in tried))
    caught = proportions.of(sum(end == "caught" for _, end in ends), len(ends))
    print("survivors:", *(f"  {fault}" for fault, end in ends if end != "caught"), sep="\n")
    print(f"caught {caught.correct} of {caught.n}: {caught.share:.0%} "
          f"(95% between {caught.low:.0%} and {caught.high:.0%})")  # fmt: skip
    return {
        "name": "mutants", "count": caught.n, "caught": caught.correct,
        "out_of_time": sum(end == "time" for _, end in ends), "share": round(caught.share, 3),
        "interval": [round(caught.low, 3), round(caught.high, 3)],
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutation_test", description=about, epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU time of tests per fault")
    parser.add_argument("--room", choices=ROOMS, action="append", help="only faults of this room")
    parser.add_argument("--list", action="store_true", help="list the faults without testing")
    parser.add_argument("--all", action="store_true", help="include the nightly tests")
    request = parser.parse_args(arguments)
    tree = request.tree.resolve()
    faults = drawn(tree, request.room or list(ROOMS), request.count, request.seed)
    if request.list:
        print(*faults, sep="\n")
        return
    marks = "not browser" if request.all else FAST
    print(json.dumps({**hunt(tree, faults, request.seconds, marks), "seed": request.seed}))


if __name__ == "__main__":
    main()
