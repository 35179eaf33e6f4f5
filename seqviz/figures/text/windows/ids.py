"""Ids of a vocabulary, and a network with permuted ids or rows."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.windows.permuted import CASES, ByShare, Listed, Permuted
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short
from seqviz.plotting.progress_figure import share_done
from seqviz.stats.estimate import stack

SHOWN = 8  # maximum number of tokens with a row
_LETTERS = 11  # maximum number of characters of a token in a cell
_EFFECT = (0.79, 1.0)  # horizontal domain of the effect on many reviews


def vocabulary_window(result: Listed, style: Style = STYLE) -> Figure:
    """Plot ids, tokens and nearest tokens (left), and cosines of their vectors (right).

    Special tokens stand on top. Right: cosine with the next id and with the nearest one; the dotted
    line is the mean over random pairs.
    """
    label, palette = style.labels("figure.ids_"), style.palette
    above, rows = len(result.special), len(result.special) + len(result.ids)
    columns = result.ids.tolist(), result.names, result.nearest_names, result.nearest.tolist()
    cells = [[str(item), name, "", ""] for item, name in result.special]
    cells += [[str(item), name, near, str(its)]
              for item, name, near, its in zip(*columns, strict=True)]  # fmt: skip
    depth = np.zeros((rows, 4), np.float32)
    depth[:above, :2] = 0.5
    depth[above:, 2:] = result.closeness[:, None]
    names = [label(key) for key in ("id", "token", "near", "near_id")]
    upright = axes.axis(
        range=[rows + 0.5, 0.5], showticklabels=False, showgrid=False,
        tickvals=list(range(1, rows + 1)), ticktext=[row[0] for row in cells],
    )  # fmt: skip
    sheet = Sheet(style)
    table, panel = sheet.row(
        (axes.names(names, label("table"), side="top", ticklabelstandoff=0), upright),
        (axes.axis(label("cosine"), range=[-0.25, 1.02], tickvals=[0, 0.5, 1]), upright),
        gaps=(0.6, 0.68),
    )  # fmt: skip
    table.cells(
        depth, label("near"), scales.tint(), bar=None, xgap=1, ygap=1,
        text=[[escape(short(item, _LETTERS)) for item in row] for row in cells],
        texttemplate="%{text}", textfont={"size": 12 * style.scale, "color": palette.truth},
        hover="%{text}",
    )  # fmt: skip
    positions = np.arange(above + 1, rows + 1)
    panel.points(result.next_cosine, positions, label("next"), palette.rnn, symbol="diamond",
                 hover="%{x:.3f}")  # fmt: skip
    panel.points(result.closeness, positions, label("nearest"), palette.prediction,
                 hover="%{x:.3f}")  # fmt: skip
    panel.reference([result.pairs] * 2, [0.5, rows + 0.5], label("random"))
    sheet.margin(t=64)
    sheet.legend(x=1, xanchor="right", y=1.08)
    return sheet.described(
        "alt.ids_window", first=result.ids[0] if len(result.ids) else "–",
        tokens=", ".join(escape(name) for name in result.names) or "–", size=result.size,
        next=result.neighbors, pairs=result.pairs,
    )  # fmt: skip


def permuted_sentence(
    result: Permuted, many: ByShare, share: float, style: Style = STYLE
) -> Figure:
    """Plot the tokens that a permuted network reads (left), and the effect on reviews (right).

    Left: a column for the trained network and for each case; orange cells read another token's
    vector. Right: cosine with the trained network's sentence vector (top) and accuracy (bottom)
    over many reviews, with 95% intervals; diamonds are the sentence.

    Args:
        result: the sentence.
        many: many reviews.
        share: share of permuted ids.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.permuted_"), style.palette
    sheet = Sheet(style)
    visible = min(SHOWN, len(result.ids))
    more = len(result.ids) > visible  # then a last row of "…"
    rows = [label(case) for case in CASES]
    # two lines, because four columns share a phone's width
    columns = ["<br>".join(case.rsplit(" ", 1)) for case in (label("trained"), *rows)]
    names, ids = [result.pieces, *result.reads], [result.ids, *result.given]
    written = [
        [f"{int(ids[c][r])}<br>{escape(short(names[c][r], _LETTERS))}" for c in range(len(columns))]
        for r in range(visible)
    ] + [["…"] * len(columns)] * more
    wrong = np.zeros((visible + more, len(columns)), np.float32)
    wrong[:visible, 1:] = ~result.same[:, :visible].T
    table = sheet.panel(
        axes.names(columns, label("enters"), side="top", ticklabelstandoff=0),
        axes.axis(
            range=[visible + more + 0.5, 0.5], showticklabels=False, showgrid=False,
            tickvals=list(range(1, visible + more + 1)),
            ticktext=[escape(short(piece, _LETTERS)) for piece in result.pieces[:visible]]
            + ["…"] * more,
        ),
        across=(0.0, 0.56),
    )  # fmt: skip
    table.cells(
        0.55 * wrong, label("reads"), scales.tint(), bar=None, xgap=1, ygap=1, text=written,
        texttemplate="%{text}", textfont={"size": 11 * style.scale, "color": palette.truth},
        hover="%{text}",
    )  # fmt: skip
    colors = [*palette.series[:2], palette.mlp, palette.baseline]
    cosines = stack([*(many.mean(share, case) for case in CASES), many.others()])
    effect = [*rows, label("other")]
    upper = sheet.panel(
        axes.axis(label("cosine"), range=[-0.25, 1.12], tickvals=[0, 0.5, 1]),
        axes.ranked(effect, label("moved")), across=_EFFECT, up=(0.62, 1.0),
    )  # fmt: skip
    upper.ranked_bars(cosines, label("many"), colors, legend=False, hover="%{x:.3f}")
    upper.points(result.cosine, np.arange(1, 4), label("own"), palette.highlight, symbol="diamond",
                 size=10, edge={"color": palette.truth, "width": 1}, hover="%{x:.3f}")  # fmt: skip
    right = 100 * stack([*(many.accuracy(share, case) for case in CASES), many.as_trained()])
    lower = sheet.panel(
        axes.percent(label("right"), tickvals=[0, 50, 100]),
        axes.ranked([*rows, label("trained")], label("moved")), across=_EFFECT, up=(0.0, 0.36),
    )  # fmt: skip
    lower.vertical(50, palette.baseline, width=1.5, dash="dot")
    lower.ranked_bars(right, label("many"), colors, legend=False, hover="%{x:.1f}%")
    sheet.margin(t=30)
    sheet.legend(x=1, xanchor="right", y=1.02)
    return sheet.described(
        "alt.permuted", names={"y2": effect}, **{**result.summary(), **many.summary(share)}
    )


def permuted_so_far(done: object, style: Style = STYLE) -> Figure:
    """Plot the share of reviews read so far."""
    return share_done(
        done, style, read="figure.permuted_read", of="figure.permuted_all", alt="alt.windows_so_far"
    )
