"""A figure: the plain specification that Plotly.js draws, a dictionary whose leaves are arrays.

No `plotly.graph_objects` on the way of a slider press: making one and writing it as JSON took four
fifths of an answer. Who wants one asks for it (`Figure.plotly`).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

# Integers of 64 bits have no typed array in a browser: they travel in 32 where they fit.
_INT32 = np.iinfo(np.int32)
_SHORT = 256  # integers that are no longer as text than as base64
_TYPED = {"i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"}


class Figure:
    """What Plotly.js draws: `traces`, and a `page` with axes, words and shapes ("layout").

    Both are Plotly's own keys; numbers are numpy arrays. Whoever has a figure shares it: nobody
    writes into it.
    """

    def __init__(self, traces: Sequence[Mapping[str, Any]], page: Mapping[str, Any]):
        self.traces = list(traces)
        self.page = dict(page)

    @property
    def alt(self) -> str:
        """The description in words, for those who do not see it."""
        return str((self.page.get("meta") or {}).get("alt", ""))

    def to_json(self) -> str:
        """As a page gets it: arrays as base64, what is not a number as null."""
        import orjson  # here and below: a figure is numbers also where nobody writes it

        whole = {"data": self.traces, "layout": self.page}
        return orjson.dumps(whole, default=_written, option=orjson.OPT_NON_STR_KEYS).decode()

    def axis(self, name: str) -> Mapping[str, Any]:
        """An axis by its short name ("x", "y2"); empty where there is none."""
        found: Mapping[str, Any] = self.page.get(f"{name[0]}axis{name[1:]}") or {}
        return found

    def plotly(self) -> go.Figure:
        """The same as an object of Plotly's Python library, compared with its schema.

        Raises ValueError for what the schema does not know. Example:

        >>> Figure([{"type": "bar", "y": [1, 2]}], {"height": 300}).plotly().layout.height
        300
        """
        import plotly.graph_objects as go

        return go.Figure({"data": self.traces, "layout": self.page})

    @cached_property
    def _as_plotly(self) -> go.Figure:
        return self.plotly()

    @property
    def data(self) -> Any:
        """The traces as Plotly's objects: for a notebook; a page does not need them."""
        return self._as_plotly.data

    @property
    def layout(self) -> Any:
        """The layout as Plotly's object: for a notebook; a page does not need it."""
        return self._as_plotly.layout

    def show(self, **options: Any) -> None:
        """Show it in a notebook or a browser, as Plotly does."""
        self.plotly().show(**options)

    def _ipython_display_(self) -> None:
        self.show()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Figure) and self.to_json() == other.to_json()

    __hash__ = object.__hash__


def read(written: str) -> Figure:
    """The figure that `Figure.to_json` wrote; its arrays stay as they were written."""
    import orjson

    whole = orjson.loads(written)
    return Figure(whole["data"], whole["layout"])


def _written(value: Any) -> Any:
    """What orjson does not know: arrays as Plotly.js reads them, and numpy's numbers."""
    if isinstance(value, np.ndarray):
        return typed(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, range):
        return list(value)
    raise TypeError(f"a figure cannot hold {type(value).__name__}")


def typed(values: np.ndarray) -> Any:
    """An array as base64 with its type and shape; what is short or has no such type as a list."""
    if values.dtype.kind in "iu" and values.itemsize == 8 and values.size > _SHORT:
        fits = values.min() >= _INT32.min and values.max() <= _INT32.max
        values = values.astype(np.int32 if fits else np.float64)
    kind = values.dtype.str[1:]
    if kind not in _TYPED or values.size <= (_SHORT if values.dtype.kind in "iu" else 0):
        return values.tolist()
    written = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
    found = {"dtype": kind, "bdata": base64.b64encode(written).decode("ascii")}
    if values.ndim > 1:
        found["shape"] = ", ".join(map(str, values.shape))
    return found
