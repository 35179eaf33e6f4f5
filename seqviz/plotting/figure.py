"""`Figure`: Plotly.js specification with NumPy arrays, and its JSON encoding.

`plotly.graph_objects` is avoided while a slider is dragged: building and serializing one took four
fifths of the response time. `Figure.plotly` builds one on request.
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

# Imported by name, as it imports this module; only notebooks need it.
STATIC_IMAGE = "seqviz.plotting.static_image"

# Plotly.js has no typed array for 64-bit integers, so they are sent in 32 bits where they fit.
_INT32 = np.iinfo(np.int32)
_SHORT = 256  # up to this many integers are as short in text as in base64
LARGE = 4096  # base64 characters from which an array is a separate piece
_APART = b'"bdata":"@"'  # placeholder of a separate array; @ is no base64 character
_TYPED = {"i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"}


@dataclass(frozen=True)
class Array:
    """Base64-encoded large array with a content hash.

    Attributes:
        name: hash of the content, by which clients cache it.
        text: base64 data.
    """

    name: str
    text: bytes


class Figure:
    """Plotly.js figure.

    Figures are shared and must not be modified.

    Args:
        traces: Plotly traces with NumPy arrays as data.
        page: Plotly layout: axes, annotations and shapes.

    Attributes:
        traces: as given.
        page: as given.
    """

    def __init__(self, traces: Sequence[Mapping[str, Any]], page: Mapping[str, Any]):
        self.traces = list(traces)
        self.page = dict(page)

    @property
    def alt(self) -> str:
        """Text description for screen readers."""
        return str((self.page.get("meta") or {}).get("alt", ""))

    def to_json(self) -> str:
        """Return the figure as JSON: arrays as base64, nan and infinities as null."""
        return joined(self.parts()).decode()

    def parts(self) -> tuple[bytes | Array, ...]:
        """Return the JSON in pieces, with each large array as a separate piece.

        A read-only array is encoded once for all figures that contain it.
        """
        import orjson  # imported on use, as figures also work without serialization

        full, arrays = {"data": self.traces, "layout": self.page}, list[Array]()
        default = partial(_written, arrays)
        text = orjson.dumps(full, default=default, option=orjson.OPT_NON_STR_KEYS)
        first, *others = text.split(_APART)
        # A copy releases orjson's working buffer, which is 20 times the size of its result.
        results: list[bytes | Array] = [bytes(memoryview(first))]
        for array, after in zip(arrays, others, strict=True):
            results[-1] += b'"bdata":"'  # type: ignore[operator]
            results += [array, b'"' + after]
        return tuple(results)

    def axis(self, name: str) -> Mapping[str, Any]:
        """Return an axis by its short name ("x", "y2"); empty where it does not exist."""
        result: Mapping[str, Any] = self.page.get(f"{name[0]}axis{name[1:]}") or {}
        return result

    def plotly(self) -> go.Figure:
        """Return the figure as a `plotly.graph_objects.Figure`, validated by its schema.

        Raises:
            ValueError: the schema does not know a key or value.

        Example:
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
        """Traces as Plotly objects, for notebooks."""
        return self._as_plotly.data

    @property
    def layout(self) -> Any:
        """Layout as a Plotly object, for notebooks."""
        return self._as_plotly.layout

    def show(self, **options: Any) -> None:
        """Show the figure in a notebook or browser; a notebook also stores a static image.

        Args:
            **options: options of Plotly's `show`; with any, Plotly renders the figure.
        """
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is not None and not options:
            shell.display_pub.publish(self._repr_mimebundle_())
        else:
            self.plotly().show(**options)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = import_module(STATIC_IMAGE).bundle(self)
        return bundle

    def _display_(self) -> Any:
        """Return the display object for marimo."""
        return self.plotly()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Figure) and self.to_json() == other.to_json()

    __hash__ = object.__hash__


def joined(parts: Sequence[bytes | Array]) -> bytes:
    """Return the JSON from the pieces of `Figure.parts`."""
    return b"".join(part.text if isinstance(part, Array) else part for part in parts)


def read(written: str) -> Figure:
    """Parse the output of `Figure.to_json`; arrays stay base64-encoded."""
    import orjson

    full = orjson.loads(written)
    return Figure(full["data"], full["layout"])


def _written(buffers: list[Array], value: Any) -> Any:
    """Encode a value that orjson does not support; large arrays are appended to `buffers`."""
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
    """Return an array as base64 with type and shape, or as a list where it is short or untyped."""
    if values.dtype.kind in "iu" and values.itemsize == 8 and values.size > _SHORT:
        fits = values.min() >= _INT32.min and values.max() <= _INT32.max
        values = values.astype(np.int32 if fits else np.float64)
    kind = values.dtype.str[1:]
    if kind not in _TYPED or values.size <= (_SHORT if values.dtype.kind in "iu" else 0):
        return values.tolist()
    if 4 * -(-values.nbytes // 3) < LARGE:  # `bench/live.js` has the same limit
        text = _base64(values).decode("ascii")
    else:
        text = "@"
        buffers.append(_array(values))
    result = {"dtype": kind, "bdata": text}
    if values.ndim > 1:
        result["shape"] = ", ".join(map(str, values.shape))
    return result


_arrays: dict[int, Array] = {}  # encodings of read-only arrays by id


def _array(values: np.ndarray) -> Array:
    """Return a large array encoded; for a read-only array, cached until the array is freed."""
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
