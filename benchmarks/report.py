"""Shared tools of all benchmarks: options, clocks, percentiles, and `Report`.

A report prints rows as they arrive, then which goals are met, and as its last line a JSON object.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

LABEL_WIDTH, CELL_WIDTH = 28, 9  # minimum widths in characters


class Report:
    """Rows of a table, and the values of the last line.

    Attributes:
        values: the JSON object; its first key is the name of the command.
    """

    def __init__(self, name: str, **values: Any) -> None:
        self.values: dict[str, Any] = {"name": name, **values}
        self._columns: list[str] = []

    def row(self, label: str, **cells: object) -> None:
        """Print a row, below a heading if its columns differ from the previous row's."""
        widths = [max(CELL_WIDTH, len(name) + 2) for name in cells]
        if [*cells] != self._columns:
            self._columns = [*cells]
            self._print("", cells, widths)
        self._print(label, map(to_text, cells.values()), widths)

    @staticmethod
    def _print(label: str, cells: Iterable[str], widths: Sequence[int]) -> None:
        aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        print(f"{label:{LABEL_WIDTH}}{''.join(aligned)}", flush=True)

    def finish(
        self,
        at_most: Mapping[str, float] | None = None,
        at_least: Mapping[str, float] | None = None,
        within: str = "",
        is_broken: bool = False,
    ) -> None:
        """Print the goals, and the JSON object with those that are `missed`.

        Args:
            at_most: upper limit by key. For a key that is not at the top of the JSON object, all
                values within it must meet the limit.
            at_least: lower limit by key, likewise.
            within: key of the part of the JSON object that has goals.
            is_broken: True to exit with 1, because a measurement failed.
        """
        limits = [(key, "<=", limit) for key, limit in (at_most or {}).items()]
        limits += [(key, ">=", limit) for key, limit in (at_least or {}).items()]
        for key, sign, limit in limits:
            numbers = [*values_of(key, self.values[within] if within else self.values)]
            is_met = all(n <= limit if sign == "<=" else n >= limit for n in numbers) and numbers
            ends = [min(numbers), max(numbers)] if len(numbers) > 1 else numbers
            print(f"goal: {key} {sign} {limit:g}: {' to '.join(map(to_text, ends)) or 'nothing'}, "
                  f"{'met' if is_met else 'missed'}")  # fmt: skip
            self.values.setdefault("missed", [])
            self.values["missed"] += [] if is_met else [key]
        print(json.dumps(self.values))
        if is_broken:
            sys.exit(1)


def values_of(key: str, tree: Any) -> Iterator[float]:
    """Yield the numbers under a key: the one at the top, else all nested ones; nan for null.

    >>> [*values_of("ms", {"a": {"ms": 1.5}, "b": [{"ms": None}]})]
    [1.5, nan]
    """
    if isinstance(tree, Mapping):
        if key in tree:
            yield math.nan if tree[key] is None else tree[key]
            return
        tree = [*tree.values()]
    if isinstance(tree, list | tuple):
        for part in tree:
            yield from values_of(key, part)


def to_text(value: object) -> str:
    """Return a cell of a table: a float with four digits, an integer with commas.

    >>> to_text(12345.6), to_text(0.123456), to_text(7272)
    ('12,346', '0.1235', '7,272')
    """
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)


def options(
    about: str | None, arguments: Sequence[str] | None = None, **declared: Any
) -> argparse.Namespace:
    """Parse the command line.

    Args:
        about: docstring whose first line describes the command.
        arguments: command-line arguments; by default those of the process.
        **declared: for each option, default and help text, or keywords of `add_argument`; one with
            a `metavar` is positional. A default of `False` makes a flag.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    for name, setting in declared.items():
        keywords = setting
        if isinstance(setting, tuple):
            default, text = setting
            kind = {"action": "store_true"} if default is False else {"type": type(default)}
            keywords = {"default": default, "help": text, **kind}
        flag = name if "metavar" in keywords else f"--{name.replace('_', '-')}"
        parser.add_argument(flag, **keywords)
    return parser.parse_args(arguments)


def timed(call: Callable[[], object]) -> float:
    """Return the wall-clock seconds of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def medians(runs: int, *calls: Callable[[], object]) -> list[float]:
    """Return the median seconds of each call.

    The calls alternate, so that a change of clock speed or load affects all of them.

    Args:
        runs: number of rounds.
        *calls: the calls.
    """
    rounds = [[timed(call) for call in calls] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def milliseconds(seconds: Sequence[float], percent: float) -> float:
    """Return a percentile of times in ms; nan, which meets no goal, for an empty sequence.

    Args:
        seconds: the times.
        percent: the percentile, 0 to 100.
    """
    return round(1e3 * float(np.percentile(seconds, percent)), 1) if seconds else math.nan
