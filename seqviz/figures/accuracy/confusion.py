"""How two systems err: what each says of the negative and of the positive sentences."""

from __future__ import annotations

import numpy as np

from seqviz.compute.proportions import Confusion, of
from seqviz.figures.accuracy.compare import LOOKS, short
from seqviz.figures.accuracy.parts import said
from seqviz.figures.grammar import axes
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.scales import Scale, sign_color
from seqviz.figures.grammar.sheet import Panel, Sheet
from seqviz.figures.grammar.style import Style
from seqviz.figures.grammar.tokens import plain
from seqviz.text import percent

_STYLE = Style()
_COLORS = [[0, sign_color(-1, 0)], [1, sign_color(-1, 0.7)]]
_KINDS = ("right_negative", "wrong_positive", "wrong_negative", "right_positive")


def confusion_matrices(
    first: Confusion, second: Confusion, names: tuple[str, str], style: Style = _STYLE
) -> Figure:
    """What each system says of the negative and of the positive sentences: counts, row percent."""
    text = style.text
    classes = [text("figure.acc_negative"), text("figure.acc_class_positive")]
    scale = Scale(_COLORS, 0, max(1, int(first.counts.max()), int(second.counts.max())))
    sheet = Sheet(style)
    sheet.margin(t=34 * style.scale)
    values = []
    for found, name, across, (role, *_) in zip(
        (first, second), names, ((0, 0.46), (0.54, 1)), LOOKS, strict=True
    ):
        said_of = axes.names(classes, text("figure.acc_predicted"), range=[0.5, 2.5])
        actual = axes.names(classes, text("figure.acc_actual"), range=[2.5, 0.5], tickangle=-90)
        if across[0]:  # the neighbor's labels hold for both
            actual |= {"title": {"text": ""}, "showticklabels": False}
        right = of(int(np.trace(found.counts)), int(found.counts.sum()))
        panel = sheet.panel(said_of, actual, across=across)
        panel.title(f"{short(name)}: {said(right, style)}", color=getattr(style.palette, role))
        _matrix(panel, found, f"{text('figure.acc_sentences')}, {plain(name)}", scale)
        counts = zip(_KINDS, found.counts.ravel().tolist(), strict=True)
        kinds = {kind: f"{count:,}" for kind, count in counts}
        values.append(text("figure.acc_confused", name=name, **kinds))
    axis_names = dict.fromkeys(("x", "y", "x2", "y2"), classes)
    return sheet.finish(text("alt.acc_confusion", values="; ".join(values)), axis_names, gap=0.2)


def _matrix(panel: Panel, found: Confusion, name: str, scale: Scale) -> None:
    """A count and the percent of its row in each cell."""
    style = panel.style
    rows = [[of(int(cell), int(row.sum())) for cell in row] for row in found.counts]
    words = [[f"<b>{one.correct:,}</b><br>{percent(one.share)}" for one in row] for row in rows]
    of_class = style.text("figure.acc_of_the_class", said="%{customdata}")
    panel.cells(
        found.counts,
        name,
        scale,
        bar=None,
        xgap=3,
        ygap=3,
        text=words,
        texttemplate="%{text}",
        textfont={"size": 16 * style.scale, "color": style.palette.truth},
        customdata=[[said(one, style) for one in row] for row in rows],
        hover=f"<b>%{{z:,d}}</b><br>{of_class}",
    )
