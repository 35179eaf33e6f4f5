"""Progress bar of a long computation, for jobs whose partial results are not plotted."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.core.i18n import percent
from seqviz.plotting import axes
from seqviz.plotting.figure import Figure
from seqviz.plotting.sheet import Sheet
from seqviz.plotting.style import Style


def share_done(done: Any, style: Style, *, read: str, of: str, alt: str) -> Figure:
    """Return a bar of the latest reported fraction.

    Args:
        done: reported fractions, the latest last.
        style: style of the figure.
        read: translation key of the bar's name.
        of: translation key of the row axis title.
        alt: translation key of the text description.
    """
    share = float(np.asarray(done, float).ravel()[-1])
    summary, name = percent(share, 0), style.text(read)
    sheet = Sheet(style, showlegend=False)
    panel = sheet.panel(axes.percent(name), axes.names([summary], style.text(of)))
    panel.bars([1], [100 * share], name, style.palette.prediction, sideways=True, hover=False)
    return sheet.described(alt, what=name, share=summary)
