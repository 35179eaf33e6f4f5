"""What a figure costs: all examples, as a plain specification and through Plotly's own objects.

For each example that draws with Plotly: the figure function and its JSON (`Figure.to_json`), and
the same figure through `go.Figure(...).to_json()`, unchecked and checked by the schema, in turns.
Prints a table by subject and, last, one line of JSON.

    python -m benchmarks.figures
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable

import plotly.graph_objects as go

from benchmarks.timing import timed
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIVE, Style
from testing.figure_examples import Example, examples

STYLE = Style(LIVE)


def measured(example: Example, rounds: int) -> tuple[float, float, float, int]:
    """Medians in ms: plain, through Plotly's objects unchecked, and checked; and bytes of JSON."""

    def through(check: bool) -> str:
        created = example.figure(STYLE)
        full = {"data": created.traces, "layout": created.page}
        return str(go.Figure(full, _validate=check).to_json())

    methods: tuple[Callable[[], str], ...] = (
        lambda: str(example.figure(STYLE).to_json()),
        lambda: through(False),
        lambda: through(True),
    )
    for method in methods:
        method()
    times: list[list[float]] = [[], [], []]
    for _ in range(rounds):
        for method, taken in zip(methods, times, strict=True):
            taken.append(1000 * timed(method))
    plain, unchecked, checked = (statistics.median(taken) for taken in times)
    return plain, unchecked, checked, len(methods[0]())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    result: dict[str, list[tuple[float, float, float, int]]] = {}
    for example in examples():
        if isinstance(example.figure(STYLE), Figure):
            subject = example.draw.__module__.split(".")[2]
            result.setdefault(subject, []).append(measured(example, rounds))
    print(
        f"{'subject':16} {'figures':>7} {'plain ms':>9} {'go.Figure':>9} {'checked':>9} {'kB':>7}"
    )
    for subject, rows in result.items():
        plain, unchecked, checked, size = (
            statistics.median(column) for column in zip(*rows, strict=True)
        )
        print(
            f"{subject:16} {len(rows):7} {plain:9.2f} {unchecked:9.2f} {checked:9.2f} "
            f"{size / 1000:7.1f}"
        )
    rows = [row for some in result.values() for row in some]
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    print(
        json.dumps(
            {
                "name": "figures",
                "figures": len(rows),
                "median_ms": round(medians[0], 3),
                "unchecked_ms": round(medians[1], 3),
                "checked_ms": round(medians[2], 3),
                "ratio": round(statistics.median(row[1] / row[0] for row in rows), 1),
                "ratio_checked": round(statistics.median(row[2] / row[0] for row in rows), 1),
                "slowest_ms": round(max(row[0] for row in rows), 2),
            }
        )
    )


if __name__ == "__main__":
    main()
