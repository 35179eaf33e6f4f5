"""Training windows of a text: their positions, continuity, and contents of X and Y."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.text.windows.cutting import Windows
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short

SHOWN = 12  # maximum number of windows with a row
_GAP = 0.6  # gap between two batches, in rows
_LETTERS = 5  # maximum number of characters of a token in a cell


def windows_of_text(windows: Windows, pieces: Sequence[str], style: Style = STYLE) -> Figure:
    """Plot the positions of the first windows by batch (left), and their X and Y (right).

    A line leads from a window to the next one of its row: solid where the next continues it, dotted
    where it jumps. Deeper cells have later tokens.

    Args:
        windows: windows by batch.
        pieces: tokens of the text.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.cut_"), style.palette
    sheet = Sheet(style)
    batches, rows = windows.starts.shape
    batches = min(batches, max(1, SHOWN // rows))
    positions = np.arange(batches)[:, None] * (rows + _GAP) + np.arange(rows) + 1
    upright: dict[str, Any] = {
        "range": [float(positions.max()) + 0.6, 0.4], "tickvals": positions[:, 0].tolist(),
        "ticktext": [f"{label('batch')} {k}" for k in range(1, batches + 1)], "showgrid": False,
    }  # fmt: skip
    steps = axes.axis(label("step"), range=[0.5, windows.steps + 0.5], showgrid=False,
                      dtick=1 if windows.steps < 7 else 2, tick0=1)  # fmt: skip
    bare = axes.axis(**{**upright, "showticklabels": False})
    path, *tables = sheet.row(
        (axes.axis(label("place"), range=[0.5, windows.length + 0.5]),
         axes.axis(label("batches"), **upright)),
        (steps, bare), (steps, bare),
        gaps=(0.42, 0.54, 0.75, 0.79), titles=(label("path"), "X", "Y"),
    )  # fmt: skip
    full, jumps = _links(windows.starts[:batches] + 1, windows.steps, positions)
    for ends, name, color, dash in (
        (full, "goes_on", palette.truth, "solid"), (jumps, "jumps", palette.baseline, "dot")
    ):  # fmt: skip
        if len(ends[0]):
            path.line(*ends, label(name), color, dash=dash, width=1.6, hover=False)
    for row, color in zip(range(rows), (palette.lstm, *palette.series[1:]), strict=False):
        first = windows.starts[:batches, row] + 1.0
        gaps = np.full(batches, np.nan)
        x = np.column_stack([first - 0.4, first + windows.steps - 0.6, gaps]).ravel()
        path.line(x, np.repeat(positions[:, row], 3), label("row", row=row + 1), color, width=7,
                  legend=False, hover="%{x:.0f}")  # fmt: skip
    # A row without tokens separates two batches, because cells of a map touch.
    edges = np.append(positions.ravel() - 0.5, positions.ravel() + 0.5)
    edges = np.unique(np.round(edges, 3))
    numbers = {round(float(y), 3): k for k, y in enumerate(positions.ravel())}
    filled = [numbers.get(round(float(y), 3)) for y in (edges[1:] + edges[:-1]) / 2]
    blank = np.full(windows.steps, np.nan, np.float32)
    for panel, name, read in zip(tables, ("X", "Y"), (windows.x, windows.y), strict=True):
        at = read[:batches].reshape(-1, windows.steps)
        share = [blank if k is None else 0.1 + 0.7 * (at[k] + 1) / windows.length for k in filled]
        words = [
            [""] * windows.steps if k is None else [_written(pieces[item]) for item in at[k]]
            for k in filled
        ]
        panel.cells(
            np.array(share, np.float32), name, scales.tint(), bar=None, y=edges, xgap=1, ygap=1,
            text=words, texttemplate="%{text}", hoverongaps=False, hover="%{text}",
            textfont={"size": 13 * style.scale, "color": palette.truth},
        )  # fmt: skip
    sheet.margin(t=56)
    sheet.legend(y=1.08)
    return sheet.described("alt.cut", **windows.summary())


def _written(piece: str) -> str:
    return escape(short("␣" if piece == " " else piece, _LETTERS))


def _links(
    starts: np.ndarray, steps: int, position: np.ndarray
) -> tuple[tuple[list[float], list[float]], tuple[list[float], list[float]]]:
    """Return lines from each window to the next of its row: continuations, and jumps.

    Each is x and y, with a gap behind every line.
    """
    full: tuple[list[float], list[float]] = ([], [])
    jumps: tuple[list[float], list[float]] = ([], [])
    for k in range(len(starts) - 1):
        for row, (item, other) in enumerate(zip(starts[k], starts[k + 1], strict=True)):
            into = full if other == item + steps else jumps
            into[0].extend([float(item) + steps - 0.5, float(other) - 0.5, np.nan])
            into[1].extend([float(position[k, row]), float(position[k + 1, row]), np.nan])
    return full, jumps
