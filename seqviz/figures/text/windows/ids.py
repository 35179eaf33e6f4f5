"""A vocabulary by its ids, and a network whose ids or rows have been moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.text.windows.permuted import CASES, ByShare, Listed, Permuted
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short
from seqviz.plotting.progress_figure import share_done
from seqviz.stats.estimate import stack

SHOWN = 8  # tokens of a sentence that have a row
_LETTERS = 11  # of a token in a cell
_TABLE, _BESIDE = (0.0, 0.6), (0.68, 1.0)
_MOVED, _EFFECT = (0.0, 0.56), (0.79, 1.0)
_UPPER, _LOWER = (0.62, 1.0), (0.0, 0.36)


def vocabulary_window(result: Listed, style: Style = STYLE) -> Figure:
    """Left ids and tokens, the special ones on top, each with its nearest vector; right cosines.

    Right of each row: the cosine of its vector with that of the next id, and with the nearest one.
    The dotted line is the mean over random pairs.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    above, rows = len(result.special), len(result.special) + len(result.ids)
    names = [text(f"figure.ids_{what}") for what in ("id", "token", "near", "near_id")]
    cells = [[str(item), name, "", ""] for item, name in result.special]
    cells += [
        [str(item), name, near, str(its)]
        for item, name, near, its in zip(
            result.ids.tolist(), result.names, result.nearest_names, result.nearest.tolist(),
            strict=True,
        )
    ]  # fmt: skip
    depth = np.zeros((rows, len(names)), np.float32)
    depth[:above, :2] = 0.5
    depth[above:, 2:] = result.closeness[:, None]
    upright: dict[str, Any] = {
        "range": [rows + 0.5, 0.5],
        "showticklabels": False,
        "showgrid": False,
        "tickvals": list(range(1, rows + 1)), "ticktext": [row[0] for row in cells],
    }  # fmt: skip
    table = sheet.panel(
        axes.names(names, text("figure.ids_table"), side="top", ticklabelstandoff=0),
        axes.axis(**upright), across=_TABLE,
    )  # fmt: skip
    table.cells(
        depth, text("figure.ids_near"), scales.tint(), bar=None, xgap=1, ygap=1,
        text=[[escape(short(item, _LETTERS)) for item in row] for row in cells],
        texttemplate="%{text}", textfont={"size": 12 * style.scale, "color": palette.truth},
        hover="%{text}",
    )  # fmt: skip
    panel = sheet.panel(
        axes.axis(text("figure.ids_cosine"), range=[-0.25, 1.02], tickvals=[0, 0.5, 1]),
        axes.axis(**upright), across=_BESIDE,
    )  # fmt: skip
    panel.vertical(result.pairs, palette.baseline, width=1.5, dash="dot")
    positions = np.arange(above + 1, rows + 1)
    panel.points(result.next_cosine, positions, text("figure.ids_next"), palette.rnn,
                 symbol="diamond", hover="%{x:.3f}")  # fmt: skip
    panel.points(result.closeness, positions, text("figure.ids_nearest"), palette.prediction,
                 hover="%{x:.3f}")  # fmt: skip
    sheet.margin(t=64)
    sheet.legend(x=1, xanchor="right", y=1.08)
    return sheet.described(
        "alt.ids_window",
        first=result.ids[0] if len(result.ids) else "–",
        tokens=", ".join(escape(name) for name in result.names) or "–",
        size=result.size,
        next=result.neighbors,
        pairs=result.pairs,
    )


def permuted_sentence(
    result: Permuted, many: ByShare, share: float, style: Style = STYLE
) -> Figure:
    """Left the first tokens of a sentence: which id enters, and whose vector the network reads.

    A column for the network as trained and one for each case; orange: another token's vector.
    Right, over many reviews: the cosine of the sentence vector with the trained network's, and how
    often the verdict is right. Whiskers: 95% intervals; diamonds: the sentence itself.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    visible = min(SHOWN, len(result.ids))
    cases = [text(f"figure.permuted_{case}") for case in ("trained", *CASES)]
    columns = ["<br>".join(case.rsplit(" ", 1)) for case in cases]  # four share a phone's width
    names = [result.pieces, *result.reads]
    ids = [result.ids, *result.given]
    written = [
        [f"{int(ids[c][r])}<br>{escape(short(names[c][r], _LETTERS))}" for c in range(len(columns))]
        for r in range(visible)
    ]
    wrong = np.zeros((visible, len(columns)), np.float32)
    wrong[:, 1:] = ~result.same[:, :visible].T
    table = sheet.panel(
        axes.names(columns, text("figure.permuted_enters"), side="top", ticklabelstandoff=0),
        axes.axis(
            range=[visible + 0.5, 0.5],
            showticklabels=False,
            showgrid=False,
            tickvals=list(range(1, visible + 1)),
            ticktext=[escape(short(piece, _LETTERS)) for piece in result.pieces[:visible]],
        ),
        across=_MOVED,
    )
    table.cells(
        0.55 * wrong, text("figure.permuted_reads"), scales.tint(), bar=None, xgap=1, ygap=1,
        text=written, texttemplate="%{text}",
        textfont={"size": 11 * style.scale, "color": palette.truth}, hover="%{text}",
    )  # fmt: skip
    rows = [text(f"figure.permuted_{case}") for case in CASES]
    colors = [palette.prediction, palette.rnn, palette.mlp, palette.baseline]
    cosines = stack([*(many.mean(share, case) for case in CASES), many.others()])
    upper = sheet.panel(
        axes.axis(text("figure.permuted_cosine"), range=[-0.25, 1.12], tickvals=[0, 0.5, 1]),
        axes.names([*rows, text("figure.permuted_other")], text("figure.permuted_moved"),
                   range=[4.6, 0.4]),
        across=_EFFECT, up=_UPPER,
    )  # fmt: skip
    upper.bars(np.arange(1, 5), cosines.mean, text("figure.permuted_many"), colors, sideways=True,
               whiskers=cosines.ci, legend=False, hover="%{x:.3f}")  # fmt: skip
    upper.points(result.cosine, np.arange(1, 4), text("figure.permuted_own"), palette.highlight,
                 symbol="diamond", size=10, edge={"color": palette.truth, "width": 1},
                 hover="%{x:.3f}")  # fmt: skip
    right = 100 * stack([*(many.accuracy(share, case) for case in CASES), many.as_trained()])
    lower = sheet.panel(
        axes.percent(text("figure.permuted_right"), tickvals=[0, 50, 100]),
        axes.names([*rows, text("figure.permuted_trained")], text("figure.permuted_moved"),
                   range=[4.6, 0.4]),
        across=_EFFECT, up=_LOWER,
    )  # fmt: skip
    lower.vertical(50, palette.baseline, width=1.5, dash="dot")
    lower.bars(np.arange(1, 5), right.mean, text("figure.permuted_many"), colors, sideways=True,
               legend=False, hover="%{x:.1f}%", whiskers=right.ci)  # fmt: skip
    sheet.margin(t=30)
    sheet.legend(x=1, xanchor="right", y=1.02)
    return sheet.described(
        "alt.permuted",
        names={"y2": [*rows, text("figure.permuted_other")]},
        moved=result.moved(),
        tokens=len(result.ids),
        both=float(result.cosine[0]),
        ids=float(result.cosine[1]),
        rows=float(result.cosine[2]),
        many=many.mean(share, "ids").mean,
        right=many.accuracy(share, "ids").share,
        trained=many.as_trained().share,
        sentences=many.sentences,
    )


def permuted_so_far(done: object, style: Style = STYLE) -> Figure:
    """How much of the reviews has been read."""
    return share_done(
        done, style, read="figure.permuted_read", of="figure.permuted_all", alt="alt.windows_so_far"
    )
