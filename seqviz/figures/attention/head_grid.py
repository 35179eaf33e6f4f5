"""`HeadGrid`: a clickable grid with a cell for each attention head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Shaped

from seqviz.plotting import Sheet, axis
from seqviz.plotting.scales import ColorScale

NAMED = 12  # maximum number of layers or heads that are all numbered


class HeadGrid:
    """Grid of layers and heads, counted from 0, with a cell for each head.

    Layers run along x where there are more layers than heads.

    Args:
        sheet: sheet to draw on.
        layers: number of layers.
        heads: number of heads.
        across: left and right end, as shares of the sheet's width.
        up: lower and upper end, as shares of its height.
        named: maximum number of columns that are all numbered.
    """

    def __init__(
        self,
        sheet: Sheet,
        layers: int,
        heads: int,
        across: Sequence[float] | None = None,
        up: Sequence[float] | None = None,
        named: int = NAMED,
    ):
        self.deep, self.text = layers > heads, sheet.style.text
        sides = [(heads, self.text("figure.head")), (layers, self.text("figure.layer"))]
        self.sides = sides[::-1] if self.deep else sides
        x, y = (
            counted(count, title, maximum)
            for (count, title), maximum in zip(self.sides, (named, NAMED), strict=True)
        )
        y["range"] = y["range"][::-1]  # the first row is on top
        self.panel = sheet.panel(x, y, across=across, up=up)

    def turned(
        self, values: Shaped[np.ndarray, "layer head *rest"]
    ) -> Shaped[np.ndarray, "row column *rest"]:
        """Return values [layer, head, ...] as [row, column, ...] of the grid."""
        return values.swapaxes(0, 1) if self.deep else values

    def cells(
        self, values: Shaped[np.ndarray, "layer head"], name: str, scale: ColorScale, **more: Any
    ) -> None:
        """Draw clickable cells, one value for each head.

        Args:
            values: values [layer, head].
            name: name of the trace.
            scale: color scale.
            **more: further keys of `Panel.cells`.
        """
        columns, rows = (np.arange(count) for count, _ in self.sides)
        self.panel.cells(
            self.turned(values), name, scale, x=columns, y=rows, **{"pick": True, **more}
        )

    def outline(self, layer: int, head: int) -> None:
        """Outline a head, given by its layer and its number in the layer, from 0."""
        column, row = (layer, head) if self.deep else (head, layer)
        self.panel.outline(self.panel.style.palette.highlight, column=column, row=row, width=3)

    def hover(self, key: str, **words: str) -> str:
        """Return the hover template of a text key, with the layer and the head of the cell."""
        layer, head = ("%{x}", "%{y}") if self.deep else ("%{y}", "%{x}")
        return self.text(key, layer=layer, head=head, **words)


def counted(count: int, title: str, named: int = NAMED) -> dict[str, Any]:
    """Return an axis of layers or heads from 0, with a tick for each up to `named` of them."""
    step = 1 if count <= named else 2 if count <= 2 * named else 5
    return axis(
        title, range=[-0.5, count - 0.5], tickvals=list(range(0, count, step)), showgrid=False
    )
