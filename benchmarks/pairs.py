"""Paired comparison of this tree with another commit: interactions, payload, computations.

`python -m benchmarks.pairs ../another/checkout [press drag payload bptt lab] [--pairs 5]`

press: both apps run at the same time; one Chromium presses the first slider of each lesson (or the
one that a class uses) in one and immediately in the other, `8 * pairs` times, or as often as it has
values. drag: the same sliders are dragged for three seconds, `pairs` times in each app, in turns;
compared are the different figures per second. The first drag of a slider computes what the later
ones find cached. The others: each tree runs its own benchmark, in turns, and the numbers of its
last line are compared. Printed is the median of new / old over the pairs with its 95% bootstrap
interval; larger is better for a speedup and for figures per second, smaller for everything else.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from playwright.sync_api import TimeoutError

from benchmarks.classroom import INSTEAD
from benchmarks.interaction import WARM_UP, Subject, noted, open_lesson
from benchmarks.report import Report, options
from seqviz.content import catalog
from testing.chromium import chromium
from testing.server import ROOT, serve

PRESSES = 8  # each press is a pair, since pairs of medians would hide the variance of a press
COMMANDS = {
    "payload": ("attention_payload", "--text", "--texts", "12"),  # with BertViz it takes minutes
    "bptt": ("bptt",),
    "lab": ("accuracy_lab", "--sample", "32"),
}


def interactions(
    part: str, tree: Path, pairs: int, broken: dict[str, str]
) -> Iterator[tuple[str, list[float], list[float]]]:
    """Return for each lesson the measurements of its slider, here and in the other tree.

    Args:
        part: "press" for ms to the changed figure, "drag" for figures per second.
        tree: the other checkout.
        pairs: number of pairs.
        broken: receives the pages that fail.
    """
    total = PRESSES * pairs + WARM_UP
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(serve(folder)) for folder in (ROOT, tree)]
        browser = stack.enter_context(chromium())
        for lesson in catalog.LESSONS:
            position = INSTEAD.get(lesson.slug)
            try:
                both = [
                    open_lesson(browser, server.url, lesson, total, position, fewer=True)
                    for server in servers
                ]
            except TimeoutError:
                print(f"{part} {lesson.slug}: the other tree has no such slider")
                continue
            turns = pairs if part == "drag" else min(subject.presses for subject in both)
            drags: list[list[float]] = [[], []]
            with noted(broken, lesson.slug, both[0].key):
                for turn in range(turns):
                    for app in (0, 1) if turn % 2 else (1, 0):
                        if part == "drag":
                            drags[app].append(both[app].drag().per_s)
                        else:
                            both[app].press()
            if lesson.slug in broken:
                continue
            new, old = drags if part == "drag" else [_measured(subject) for subject in both]
            yield lesson.slug, new, old
            for subject in both:
                subject.page.context.close()


def commands(name: str, tree: Path, pairs: int) -> Iterator[tuple[str, list[float], list[float]]]:
    """Return the values of each number of a benchmark's last line, here and in the other tree."""
    result: dict[Path, list[dict[str, float]]] = {ROOT: [], tree: []}
    for turn in range(pairs):
        for folder in (ROOT, tree) if turn % 2 else (tree, ROOT):
            command = [sys.executable, "-m", f"benchmarks.{COMMANDS[name][0]}", *COMMANDS[name][1:]]
            message = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=True
            ).stdout
            line = json.loads(message.strip().splitlines()[-1])
            result[folder].append({k: v for k, v in line.items() if type(v) in (int, float)})
    for number in result[ROOT][0]:
        if all(line.get(number) for line in result[tree]):  # avoids a division by zero
            new, old = ([line[number] for line in result[folder]] for folder in (ROOT, tree))
            yield number, new, old


def ratio(new: Sequence[float], old: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of new / old, and its 95% percentile bootstrap interval over the pairs."""
    ratios = np.array(new) / np.array(old)
    samples = np.random.default_rng(0).choice(ratios, (4000, len(ratios)))
    low, high = np.percentile(np.median(samples, axis=1), (2.5, 97.5))
    return float(np.median(ratios)), float(low), float(high)


def _measured(subject: Subject) -> list[float]:
    return [changed for changed, _ in subject.milliseconds[WARM_UP:]]


def main() -> None:
    given = options(
        __doc__,
        tree={"metavar": "TREE", "type": Path, "help": "a checkout of the other commit"},
        parts={"metavar": "PART", "nargs": "*", "default": ["press", "drag", *COMMANDS]},
        pairs=(5, "number of pairs"),
    )
    tree = given.tree.resolve()
    ratios, broken = dict[str, list[float]](), dict[str, str]()
    report = Report("pairs", pairs=given.pairs, ratios=ratios)
    for part in given.parts:
        results = (
            commands(part, tree, given.pairs)
            if part in COMMANDS
            else interactions(part, tree, given.pairs, broken)
        )
        for name, new, old in results:
            middle, low, high = (round(end, 3) for end in ratio(new, old))
            ratios[f"{part} {name}"] = [middle, low, high]
            report.row(f"{part} {name}", old=float(np.median(old)), new=float(np.median(new)),
                       ratio=middle, low=low, high=high)  # fmt: skip
    report.finish(is_broken=bool(broken))


if __name__ == "__main__":
    main()
