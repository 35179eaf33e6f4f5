"""Run the trainings of all lessons at default settings and bundle their results.

A training bench then opens with a result instead of an empty figure. The calls are discovered:
every bench is run at its defaults, in each of its views, and its requested trainings are computed.

`python -m tools.measure_trainings` takes some minutes on two cores; `--only race learn` selects
benches.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import Any

from seqviz.content import catalog
from seqviz.data import precomputed
from seqviz.jobs import on_device
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.host import LocalHost
from seqviz.lessons.framework.lesson import Bench
from seqviz.models import device

SCRIPT = "tools/measure_trainings.py"
Call = tuple[Callable[..., Any], Mapping[str, Any]]


@dataclass
class Asked(LocalHost):
    """Host without results that records requested calls.

    Attributes:
        calls: the calls.
    """

    calls: list[Call] = field(default_factory=list)

    def training_result(self, function: Any, keywords: Mapping[str, Any], so_far: Any) -> None:
        """Record the call; the bench shows no result."""
        self.calls.append((function, keywords))


def calls(bench: Bench) -> list[Call]:
    """Return the trainings that a bench requests at its defaults, in each view with each preset.

    The preset "own" is left out, as students train it. Other controls marked `shipped` are varied,
    too.
    """
    host = Asked({other: bench.lesson.values(other) for other in bench.after})
    declared = dict(controls.controls(bench.declaration))
    names = [
        name for name, control in declared.items()
        if name in ("view", "preset") or getattr(control, "shipped", False)
    ]  # fmt: skip
    options = [[o for o in declared[name].bounds() if o != "own"] for name in names]
    alone = [{n: o} for n, some in zip(names, options, strict=True) for o in some]
    both = [dict(zip(names, chosen, strict=True)) for chosen in product(*options)]
    tried: list[dict[str, Any]] = []
    for values in ({}, *alone, *both):
        other = {name: value for name, value in values.items() if value != declared[name].default}
        if other not in tried:
            tried.append(other)
            bench.run(other, host=host)
    result: dict[str, Call] = {}
    for function, keywords in host.calls:
        result.setdefault(precomputed.call_name(function, keywords), (function, keywords))
    return list(result.values())


def benches() -> Iterator[Bench]:
    """Yield the benches of all lessons."""
    for record in catalog.LESSONS:
        yield from import_module(f"seqviz.lessons.{record.slug}").lesson.benches.values()


def ship(
    name: str,
    function: Callable[..., Any],
    keywords: Mapping[str, Any],
    report: Callable[..., None],
    position: device.Device,
    about: Mapping[str, Any],
) -> None:
    """Run one call on this machine and bundle its result.

    Args:
        name: name of the call for the output.
        function: function of the call.
        keywords: its arguments.
        report: progress callback.
        position: device of the computation.
        about: script, and other fields of the index entry.
    """
    started = time.perf_counter()
    result = function(**on_device(function, keywords, position.kind), report=report)
    seconds = time.perf_counter() - started
    about = {
        "date": datetime.date.today().isoformat(),
        "device": position.name,
        "seconds": round(seconds, 1),
        **about,
        "python": platform.python_version(),
    }
    path = precomputed.write(function, keywords, result, about)
    print(f"{name}, {seconds:.0f} s, {path.name}, {path.stat().st_size:,} bytes", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", help="names of benches")
    parser.add_argument("--again", action="store_true", help="recompute existing results")
    chosen = parser.parse_args()
    device.prepare_torch()
    position = device.choose()
    for bench in benches():
        if chosen.only and bench.name not in chosen.only:
            continue
        for function, keywords in calls(bench):
            if not chosen.again and precomputed.find(function, keywords) is not None:
                continue
            name = f"{bench.lesson.slug}.{bench.name}: {function.__name__}"
            ship(name, function, keywords, lambda *_: None, position, {"script": SCRIPT})


if __name__ == "__main__":
    main()
