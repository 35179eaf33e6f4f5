"""One text cut by several tokenizers: aligned strips with a tint for each token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from seqviz.compute.text.tokenization.cut import Strips, Tokenization, visible_form
from seqviz.core.i18n import Text
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short

COLUMNS, LINES = 26, 3  # letters of a line on a phone, and lines of a figure
_APART = 0.6  # gap between two lines, as a share of a row
_COLORS = ("43,108,196", "214,104,20", "10,127,92", "160,58,120")
_TINTS = tuple(f"rgba({color},0.3)" for color in _COLORS)
_LONGEST = 24  # maximum number of characters of a token in the hover text
_MARKS = {" ": "", "\n": "⏎", "\r": "⏎", "\r\n": "⏎", "\t": "⇥"}


def lines(widths: Sequence[int], columns: int = COLUMNS) -> list[tuple[int, int]]:
    """Return first and end index of the characters of each line.

    Args:
        widths: width of each character in columns.
        columns: maximum width of a line.
    """
    built: list[tuple[int, int]] = []
    begin = taken = 0
    for index, wide in enumerate(widths):
        if taken + wide > columns:
            built.append((begin, index))
            begin, taken = index, 0
        taken += wide
    return [*built, (begin, len(widths))] if len(widths) > begin else built


def part_of(widths: Sequence[int], part: int) -> list[tuple[int, int]]:
    """Return the lines of one part of a text, counted from 1."""
    return lines(widths)[LINES * (part - 1) : LINES * part]


def parts(widths: Sequence[int]) -> int:
    """Return the number of figures that a text of these character widths needs."""
    return max(1, -(-len(lines(widths)) // LINES))


def name_of(cutter: str, text: Text) -> str:
    """Return the reader's word for a tokenizer."""
    return text(f"figure.cut_{cutter}")


def cut_strips(strips: Strips, chosen: str, part: int = 1, style: Style = STYLE) -> Figure:
    """Plot a row for each tokenizer over the same letters, with one tint for each token.

    Unknown tokens are hatched; special tokens typed in the text are dotted.

    Args:
        strips: the text and its tokenizations.
        chosen: tokenizer described in the alternative text.
        part: part of a long text, from 1.
        style: language, theme and scale of the figure.
    """
    sheet = Sheet(style, barmode="overlay")  # "overlay" gives each tokenizer a row of full height
    sheet.margin(t=8, b=8)
    draw_strips(sheet, strips, chosen, part_of(strips.columns.tolist(), part), (0, 1))
    cut = strips.of(chosen)
    return sheet.described(
        "alt.cut_strips", text=visible_form("".join(strips.characters[:40])),
        cutters=len(strips.names), name=name_of(chosen, style.text), tokens=cut.tokens,
        characters=len(strips.text), chinese=strips.per_character(chosen, True),
        others=strips.per_character(chosen, False),
    )  # fmt: skip


def draw_strips(
    sheet: Sheet, strips: Strips, chosen: str, visible: list[tuple[int, int]],
    up: tuple[float, float], names: Mapping[str, str] | None = None,
) -> Panel:  # fmt: skip
    """Draw lines of a text, each with one row for each tokenizer, and return the panel.

    Args:
        sheet: sheet to draw on.
        strips: the text and its tokenizations.
        chosen: tokenizer in bold.
        visible: first and end index of each line.
        up: lower and upper end, as shares of the sheet's height.
        names: other names of the tokenizers.
    """
    style = sheet.style
    named = names or {name: name_of(name, style.text) for name in strips.names}
    rows = len(strips.names)
    tops = [line * (rows + _APART) for line in range(max(1, len(visible)))]
    labels = [f"<b>{named[name]}</b>" if name == chosen and rows > 1 else named[name]
              for _ in tops for name in strips.names]  # fmt: skip
    panel = sheet.panel(
        axes.axis(range=[0, COLUMNS], showgrid=False, showticklabels=False),
        axes.axis(
            style.text("figure.cut_cutter"), range=[tops[-1] + rows - 0.4, -0.6], showgrid=False,
            tickvals=[top + row for top in tops for row in range(rows)], ticktext=labels,
            tickangle=0,
        ),
        up=up,
    )  # fmt: skip
    ends = np.concatenate([[0], np.cumsum(strips.sizes)])
    for row, name in enumerate(strips.names):
        tops_of_row = [top + row for top in tops]
        _strip(panel, strips, strips.of(name), named[name], visible, ends, tops_of_row)
    letters = [
        (x, tops[line] + row, sign)
        for line, (begin, end) in enumerate(visible)
        for x, sign in _centers(strips, begin, end)
        for row in range(rows)
    ]
    if letters:
        x, y, summary = zip(*letters, strict=True)
        font = {"size": 13 * style.scale, "color": style.palette.truth}
        panel.marks_text(x, y, summary, textfont=font, cliponaxis=False)
    return panel


def _visible(sign: str) -> str:
    """Return the printable form of a character."""
    retained = visible_form(sign)
    return retained if retained.isprintable() or len(retained) > 1 else "\ufffd"


def _centers(strips: Strips, begin: int, end: int) -> Iterator[tuple[float, str]]:
    """Yield the center of each character of a line and its printable form."""
    x = 0.0
    for index in range(begin, end):
        sign, wide = strips.characters[index], float(strips.columns[index])
        yield x + wide / 2, escape(_MARKS.get(sign, _visible(sign)))
        x += wide


def _strip(
    panel: Panel, strips: Strips, cut: Tokenization, name: str, visible: list[tuple[int, int]],
    ends: np.ndarray, rows: list[float],
) -> None:  # fmt: skip
    """Draw the tokens of one tokenizer; one that continues in the next line has two bars.

    A token that is a part of a character has that part of its width.
    """
    style = panel.style
    bars = [np.empty((4, 0))]  # start, width, row and piece of each bar
    for (begin, end), row in zip(visible, rows, strict=False):
        edges = np.concatenate([[0], np.cumsum(strips.columns[begin:end])])
        inside = np.flatnonzero((cut.starts < ends[end]) & (cut.ends > ends[begin]))
        spans = np.clip([cut.starts[inside], cut.ends[inside]], ends[begin], ends[end])
        left, right = np.interp(spans, ends[begin : end + 1], edges)
        bars.append(np.stack([left, right - left, np.full(len(inside), row), inside]))
    joined = np.concatenate(bars, axis=1)
    start, wide, at, positions = joined[:, joined[1] > 0]
    pieces = positions.astype(int).tolist()
    if not pieces:
        panel.unseen([0], [rows[0]], name)
        return
    special = f" ({style.text('figure.cut_special')})"
    names = [escape(short(_visible(cut.names[k]), _LONGEST)) + special * (k in cut.special)
             for k in pieces]  # fmt: skip
    ids = [str(cut.ids[k]) if cut.ids[k] >= 0 else "–" for k in pieces]
    panel.bars(
        at, wide, name, [_TINTS[k % len(_TINTS)] for k in pieces], sideways=True, base=start,
        width=0.86, legend=False, customdata=list(zip(names, ids, strict=True)),
        edge={"color": style.palette.grid, "width": 1},
        hover=style.text("figure.cut_hover", token="%{customdata[0]}", id="%{customdata[1]}"),
    )  # fmt: skip
    if cut.unknown.any() or cut.special:
        marker = panel.sheet.traces[-1]["marker"]
        marker["pattern"] = {
            "shape": ["." if k in cut.special else "/" if cut.unknown[k] else "" for k in pieces],
            "fgcolor": style.palette.baseline, "size": 6, "solidity": 0.3,
        }  # fmt: skip
