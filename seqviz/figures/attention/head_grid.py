"""All heads of all layers as a grid: a cell is a head, and a click on it gives the head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Shaped

from seqviz.plotting import Sheet, axis
from seqviz.plotting.scales import ColorScale

NAMED = 12  # layers or heads of which each has its number


class HeadGrid:
    """Layers and heads on axes of a sheet, from 0; layers along x where there are more of them.

    across, up: where it is on the sheet. named: how many along x all have their numbers.
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
        y["range"] = y["range"][::-1]  # the first on top
        self.panel = sheet.panel(x, y, across=across, up=up)

    def turned(
        self, values: Shaped[np.ndarray, "layer head *rest"]
    ) -> Shaped[np.ndarray, "row column *rest"]:
        """As they stand on the axes."""
        return values.swapaxes(0, 1) if self.deep else values

    def cells(
        self, values: Shaped[np.ndarray, "layer head"], name: str, scale: ColorScale, **more: Any
    ) -> None:
        """A number for each head, in cells that answer to a click; `more` as in `Panel.cells`."""
        columns, rows = (np.arange(count) for count, _ in self.sides)
        self.panel.cells(
            self.turned(values), name, scale, x=columns, y=rows, **{"pick": True, **more}
        )

    def outline(self, layer: int, head: int) -> None:
        """Around the chosen head."""
        column, row = (layer, head) if self.deep else (head, layer)
        self.panel.outline(self.panel.style.palette.highlight, column=column, row=row, width=3)

    def hover(self, key: str, **words: str) -> str:
        """What stands over a cell: the words of `key` with the layer and the head there."""
        layer, head = ("%{x}", "%{y}") if self.deep else ("%{y}", "%{x}")
        return self.text(key, layer=layer, head=head, **words)


def counted(count: int, title: str, named: int = NAMED) -> dict[str, Any]:
    """An axis of layers or heads, from 0, each with its number up to `named` of them."""
    step = 1 if count <= named else 2 if count <= 2 * named else 5
    return axis(
        title, range=[-0.5, count - 0.5], tickvals=list(range(0, count, step)), showgrid=False
    )
