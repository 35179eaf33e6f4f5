"""`seqviz draw`: write the figure of a bench to a file, without a page. Entry point: `draw`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from seqviz.content import catalog
from seqviz.core import atomic_write
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Bench
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import DARK, LIGHT, Style, opaque

FILE_TYPES = (".html", ".svg", ".json")


def draw(
    slug: str, name: str, settings: Sequence[str], out: Path, language: str, dark: bool, train: bool
) -> None:
    """Write the figure of a bench to a file and print its metrics.

    Args:
        slug: the lesson.
        name: the bench.
        settings: alternating names and values ("--gain", "0.9", ...), values as in a permalink.
            Settings of a bench that this one depends on are "--<bench>.<name>".
        out: the file; its suffix is one of `FILE_TYPES`.
        language: language code.
        dark: True for the dark theme.
        train: True to train now where no result is shipped.

    Raises:
        ValueError: for an unknown lesson, bench or setting, an unsupported file type, a path that
            cannot be written, or a bench without a figure. The message says what to do.
        SystemExit: for an SVG of a Plotly figure without kaleido or Chromium.
    """
    bench = _bench(slug, name)
    if problem := atomic_write.unwritable(out):
        raise ValueError(problem)
    if out.suffix.lower() not in FILE_TYPES:
        raise ValueError(f"{out.name} should end in one of {', '.join(FILE_TYPES)}.")
    palette = DARK if dark else LIGHT
    visible = bench.run(_values(bench, settings), style=Style(palette, language), train=train)
    figure = visible.figure
    if figure is None:
        raise ValueError(f"{visible.waits or 'There is no figure.'} (--train trains now)")
    try:
        with atomic_write.atomic_write(out) as path:
            _write(opaque(figure, palette) if isinstance(figure, Figure) else figure, path)
    except OSError as error:
        raise ValueError(atomic_write.unwritable(out, error)) from error
    for readout in visible.readouts.values():
        print(
            f"{readout.label}: {readout.value}"
            + (f" ({readout.caption})" if readout.caption else "")
        )
    print(f"written to {out}")


def _bench(slug: str, name: str) -> Bench:
    slugs = [record.slug for record in catalog.LESSONS]
    if slug not in slugs:
        raise ValueError(f"There is no lesson {slug!r}; there are {', '.join(slugs)}.")
    benches: dict[str, Bench] = import_module(f"seqviz.lessons.{slug}").lesson.benches
    if name not in benches:
        raise ValueError(f"{slug} has no bench {name!r}; it has {', '.join(benches)}.")
    return benches[name]


def _values(bench: Bench, settings: Sequence[str]) -> dict[str, Any]:
    """Parse pairs of names and values, each value the text of a permalink."""
    if len(settings) % 2 or not all(word.startswith("--") for word in settings[::2]):
        raise ValueError(f"Settings are pairs such as --gain 0.9, and not {' '.join(settings)!r}.")
    result: dict[str, Any] = {}
    for word, value in zip(settings[::2], settings[1::2], strict=True):
        position, _, name = word.removeprefix("--").rpartition(".")
        owner = bench.lesson.benches[position] if position in bench.after else bench
        declared = dict(controls.controls(owner.declaration))
        if name not in declared or (position and owner is bench):
            raise ValueError(f"There is no setting {word}; there are {', '.join(declared)}.")
        try:
            result[word.removeprefix("--")] = declared[name].parse(value)
        except (ValueError, KeyError):
            raise ValueError(f"{word} cannot be {value!r}.") from None
    return result


def _write(figure: Any, out: Path) -> None:
    kind = out.suffix.lower().removeprefix(".")
    if kind == "json":
        out.write_text(figure.to_json(), "utf-8")
    elif not isinstance(figure, Figure):  # an Altair chart
        figure.save(str(out), format=kind, inline=kind == "html")
    elif kind == "html":
        figure.plotly().write_html(out, include_plotlyjs=True)
    else:
        try:
            figure.plotly().write_image(out, format=kind)
        except (ValueError, RuntimeError) as error:
            sys.exit(f"An SVG needs kaleido and a Chromium on this machine: {error}")
