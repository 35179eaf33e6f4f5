"""A figure: the plain specification that Plotly.js draws, a dictionary whose leaves are arrays.

No `plotly.graph_objects` on the way of a slider press: making one and writing it as JSON took four
fifths of an answer. Who wants one asks for it (`Figure.plotly`).
"""

from __future__ import annotations

import base64
import hashlib
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np

# Loaded by its name, since it builds on this module; only a notebook needs it.
STATIC_IMAGE = "seqviz.plotting.static_image"

# Integers of 64 bits have no typed array in a browser: they travel in 32 where they fit.
_INT32 = np.iinfo(np.int32)
_SHORT = 256  # integers that are no longer as text than as base64
LARGE = 4096  # characters of base64 that are written apart
_APART = b'"bdata":"@"'  # where an array belongs; base64 has no such letter
_TYPED = {"i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"}


@dataclass(frozen=True)
class Array:
    """A large array as base64, and a name that tells it from others."""

    name: str
    text: bytes


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
        return joined(self.parts()).decode()

    def parts(self) -> tuple[bytes | Array, ...]:
        """The same in pieces, each large array one of its own.

        One that nobody can write into is encoded once, for all figures that show it.
        """
        import orjson  # here and below: a figure is numbers also where nobody writes it

        full, arrays = {"data": self.traces, "layout": self.page}, list[Array]()
        default = partial(_written, arrays)
        text = orjson.dumps(full, default=default, option=orjson.OPT_NON_STR_KEYS)
        first, *others = text.split(_APART)
        # A copy: behind what it gives, orjson keeps the room in which it has worked, 20 times it.
        results: list[bytes | Array] = [bytes(memoryview(first))]
        for array, after in zip(arrays, others, strict=True):
            results[-1] += b'"bdata":"'  # type: ignore[operator]
            results += [array, b'"' + after]
        return tuple(results)

    def axis(self, name: str) -> Mapping[str, Any]:
        """An axis by its short name ("x", "y2"); empty where there is none."""
        result: Mapping[str, Any] = self.page.get(f"{name[0]}axis{name[1:]}") or {}
        return result

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
        """Show it in a notebook or a browser, as Plotly does; a notebook keeps a picture of it."""
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is not None and not options:
            shell.display_pub.publish(self._repr_mimebundle_())
        else:
            self.plotly().show(**options)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = import_module(STATIC_IMAGE).bundle(self)
        return bundle

    def _display_(self) -> Any:
        """The same for marimo."""
        return self.plotly()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Figure) and self.to_json() == other.to_json()

    __hash__ = object.__hash__


def joined(parts: Sequence[bytes | Array]) -> bytes:
    """The JSON that `Figure.parts` gave in pieces."""
    return b"".join(part.text if isinstance(part, Array) else part for part in parts)


def read(written: str) -> Figure:
    """The figure that `Figure.to_json` wrote; its arrays stay as they were written."""
    import orjson

    full = orjson.loads(written)
    return Figure(full["data"], full["layout"])


def _written(buffers: list[Array], value: Any) -> Any:
    """What orjson does not know: arrays as Plotly.js reads them, and numpy's numbers.

    Large arrays are put into `buffers`.
    """
    if isinstance(value, np.ndarray):
        return _typed(value, buffers)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, range):
        return list(value)
    raise TypeError(f"a figure cannot hold {type(value).__name__}")


def _typed(values: np.ndarray, buffers: list[Array]) -> Any:
    """An array as base64 with its type and shape; what is short or has no such type as a list."""
    if values.dtype.kind in "iu" and values.itemsize == 8 and values.size > _SHORT:
        fits = values.min() >= _INT32.min and values.max() <= _INT32.max
        values = values.astype(np.int32 if fits else np.float64)
    kind = values.dtype.str[1:]
    if kind not in _TYPED or values.size <= (_SHORT if values.dtype.kind in "iu" else 0):
        return values.tolist()
    if 4 * -(-values.nbytes // 3) < LARGE:  # `bench/live.js` counts them in the same way
        text = _base64(values).decode("ascii")
    else:
        text = "@"
        buffers.append(_array(values))
    result = {"dtype": kind, "bdata": text}
    if values.ndim > 1:
        result["shape"] = ", ".join(map(str, values.shape))
    return result


_arrays: dict[int, Array] = {}  # by address, of arrays that nobody can write into


def _array(values: np.ndarray) -> Array:
    """A large array to be written apart; what was written of it is kept as long as it lives."""
    if (result := _arrays.get(id(values))) is not None:
        return result
    text = _base64(values)
    result = Array(hashlib.sha256(text).hexdigest()[:16], text)
    if not values.flags.writeable:
        weakref.finalize(values, _arrays.pop, id(values), None).atexit = False
        _arrays[id(values)] = result
    return result


def _base64(values: np.ndarray) -> bytes:
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes())
