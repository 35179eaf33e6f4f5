"""Bits per character of all models on the same sentences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seqviz.compute.language_models.ruler import BitsPerCharacter
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes

SMOOTHINGS = ("witten_bell", "kneser_ney", "modified_kneser_ney")

_TICKS = (1, 2, 3, 4, 6, 8, 12, 16)


def bits_by_model(
    measured: BitsPerCharacter, model: str, reference: str, style: Style = STYLE
) -> Figure:
    """Plot bits per character of each model as a row, the worst on top, on a log axis.

    Whiskers are 95% intervals over the sentences.

    Args:
        measured: bits of all models.
        model: model that is marked.
        reference: model that it is compared with in the description, marked as well.
        style: style of the figure.
    """
    label, palette = style.labels("figure.ruler_"), style.palette
    sheet = Sheet(style)
    values = measured.all
    order = np.argsort(-values.mean, kind="stable")
    names = [_name(measured.models[k], label) for k in order]
    panel = sheet.panel(
        axes.axis(label("bits"), type="log", tickvals=_TICKS, ticktext=[str(k) for k in _TICKS]),
        axes.ranked(names, label("model")),
    )
    marked = [k for k, at in enumerate(order) if measured.models[at] in (model, reference)]
    panel.estimates(values[order], label("models"), palette.prediction, sideways=True,
                    hover="%{y}: %{x:.3f}")  # fmt: skip
    panel.points(values.mean[order][marked], np.array(marked) + 1, label("compared"),
                 palette.highlight, size=14, symbol="circle-open", hover=False)  # fmt: skip
    compared = measured.compared(model, reference)
    compared |= {"model": _name(model, label), "reference": _name(reference, label)}
    return sheet.described(
        f"alt.ruler_{measured.compared(model, reference).variant}", names={"y": names},
        n_models=len(names), **compared,
    )  # fmt: skip


def _name(model: str, label: Callable[..., str]) -> str:
    """Return the name of a model: that of its smoothing with n, or a word of its own."""
    stem, n = (model[:-1], model[-1]) if model[:-1] in (*SMOOTHINGS, "ngram") else (model, "")
    return label(stem, n=n)
