"""Bundled results of expensive functions, from `tools/measure_*.py`: `find` and `result`.

Each result belongs to one function with one set of arguments. A file holds its arrays (.npz
without objects). `index.json` in the same folder has for each file the call, date, device and
checksum. Other calls have no bundled result.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from seqviz.core import atomic_write, content_hash, deprecated
from seqviz.core.errors import UserError, damaged
from seqviz.core.paths import ASSETS

FOLDER = ASSETS / "data" / "measured"
_TYPE = "type"
_DEFAULT = "seqviz.compute.bert_accuracy.results"  # the module of a type without one
_FEW = 1000  # smaller arrays stay float64: an axis shows 0.35, not 0.3499999940395355


@dataclass(frozen=True)
class ShippedResult:
    """Bundled result with the circumstances of its computation.

    Attributes:
        result: return value of the function; its arrays are read-only.
        date: day of the computation.
        device: device on which it ran.
        seconds: run time.
    """

    result: Any
    date: str
    device: str
    seconds: float


def find(function: Callable[..., Any], keywords: Mapping[str, Any]) -> ShippedResult | None:
    """Return the bundled result of `function(**keywords)`; None where there is none.

    Args:
        function: function of seqviz; identified by its name.
        keywords: all arguments of the call.

    Raises:
        UserError: "damaged": the file does not match the index.
    """
    return _read(_call(function.__name__, keywords))


def call_name(function: Callable[..., Any], keywords: Mapping[str, Any]) -> str:
    """Return the key of a call in the index.

    Args:
        function: function of seqviz; identified by its name.
        keywords: all arguments of the call.
    """
    return _call(function.__name__, keywords)


def result(name: str, /, **keywords: Any) -> Any:
    """Return the bundled result of the function of this name, for notebooks.

    Args:
        name: name of the function; names of version 0.1 are accepted.
        **keywords: all arguments of the call.

    Raises:
        ValueError: there is no result for these arguments.
        UserError: "damaged": the file does not match the index.
    """
    result = _read(_call(deprecated.RESULTS.get(name, name), keywords))
    if result is None:
        raise ValueError(f"No result of {name} with these arguments came with the app.")
    return result.result


def write(
    function: Callable[..., Any],
    keywords: Mapping[str, Any],
    result: Any,
    about: Mapping[str, Any],
) -> Path:
    """Write a result to the folder and the index, replacing a former result of the same call.

    Args:
        function: function that was computed.
        keywords: its arguments.
        result: its return value: nested dataclasses, tuples, arrays and plain values.
        about: date, device, seconds and script.

    Returns:
        Path of the new file.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    call = _call(function.__name__, keywords)
    arrays: dict[str, np.ndarray] = {}
    plain = _packed(result, "", arrays)
    content = _archive(arrays)
    checksum = hashlib.sha256(content).hexdigest()
    # A new result has a new name, so the former file stays valid until the index is replaced.
    key = hashlib.sha256(f"{call} {checksum}".encode()).hexdigest()[:8]
    path = FOLDER / f"{function.__name__}-{key}.npz"
    index = _index()
    former = FOLDER / str(index.get(call, {}).get("file", path.name))
    index[call] = {
        "call": call,
        "file": path.name,
        "sha256": checksum,
        **about,
        "result": plain,
    }
    entries = [index[name] for name in sorted(index)]
    with atomic_write.atomic_write(path) as created:
        created.write_bytes(content)
    with atomic_write.atomic_write(FOLDER / "index.json") as created:
        created.write_bytes(_lines(entries))
    if former != path:
        former.unlink(missing_ok=True)
    _read.cache_clear()
    return path


def _archive(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return an .npz archive with LZMA, a tenth smaller than NumPy's; `np.load` reads both."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy")  # without a date: equal arrays give equal files
            archive.writestr(entry, member.getvalue(), zipfile.ZIP_LZMA)
    return buffer.getvalue()


def _lines(entries: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a JSON list with one entry per line and no spaces, for readable diffs."""
    rows = (json.dumps(entry, separators=(",", ":")) for entry in entries)
    return ("[\n" + ",\n".join(rows) + "\n]\n").encode()


def _call(name: str, keywords: Mapping[str, Any]) -> str:
    """Return the text that identifies a call: function name and arguments."""
    plain = {key: _argument(value) for key, value in keywords.items()}
    return f"{name} {json.dumps(plain, sort_keys=True)}"


def _argument(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: _argument(part) for key, part in dataclasses.asdict(value).items()}
    if isinstance(value, np.ndarray):  # e.g. training series
        return f"{value.dtype.str}{value.shape} {hashlib.sha256(value.tobytes()).hexdigest()[:16]}"
    return [_argument(part) for part in value] if isinstance(value, tuple) else value


def _index() -> dict[str, dict[str, Any]]:
    """Return the index entries by call."""
    path = FOLDER / "index.json"
    try:
        return {entry["call"]: entry for entry in json.loads(path.read_text("utf-8"))}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        raise damaged(path) from None


@cache
def _read(call: str) -> ShippedResult | None:
    entry = _index().get(call)
    if entry is None:
        return None
    path = FOLDER / str(entry.get("file"))
    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise damaged(path)
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            result = _unpacked(entry["result"], arrays)
        content_hash.name_value(result, content_hash.hash_value((call, entry["sha256"])))
        return ShippedResult(result, entry["date"], entry["device"], entry["seconds"])
    except UserError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise damaged(path) from None


def _packed(
    value: Any, location: str, arrays: dict[str, np.ndarray], is_probability: bool = False
) -> Any:
    """Return a result as JSON values; its arrays are added to `arrays` under their paths."""
    if isinstance(value, np.ndarray):
        arrays[location] = _small(value, is_probability)
        return {"array": location}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            f.name: _packed(
                getattr(value, f.name), f"{location}.{f.name}".lstrip("."), arrays, _likely(f)
            )
            for f in dataclasses.fields(value)
            if f.init
        }
        kind = type(value)
        return {_TYPE: f"{kind.__module__}:{kind.__qualname__}", "fields": fields}
    if isinstance(value, tuple):
        return [
            _packed(part, f"{location}.{i}".lstrip("."), arrays) for i, part in enumerate(value)
        ]
    return value


def _small(array: np.ndarray, is_probability: bool) -> np.ndarray:
    """Return an array in the smallest type that keeps the displayed digits.

    A probability is stored as its distance from 1/2, so that half precision never changes a
    prediction: a distance that would round to 0 becomes the smallest number of its sign.
    """
    if array.dtype.kind == "f":
        if is_probability:
            distance = array - 0.5
            small = distance.astype(np.float16)
            minimum = np.copysign(np.finfo(np.float16).smallest_subnormal, distance)
            return np.where((small == 0) & (distance != 0), minimum, small).astype(np.float16)
        exact = array.size <= _FEW or array.dtype == np.float16
        return array if exact else array.astype(np.float32)
    if array.dtype.kind == "i" and array.size and abs(array).max() < 2**15:
        return array.astype(np.int16)
    return array


def _likely(declared: dataclasses.Field[Any]) -> bool:
    """Return True where the metadata of a field declare probabilities."""
    return declared.metadata.get("holds") == "probability"


def _class(name: str) -> Any:
    """Return a result class by module and name; ValueError outside compute and stats."""
    module, _, qualified = name.rpartition(":")
    if not (module or _DEFAULT).startswith(("seqviz.compute.", "seqviz.stats.")):
        raise ValueError(name)
    result = getattr(import_module(module or _DEFAULT), qualified)
    if not dataclasses.is_dataclass(result):
        raise ValueError(name)
    return result


def _unpacked(value: Any, arrays: Mapping[str, np.ndarray], is_probability: bool = False) -> Any:
    if isinstance(value, dict) and "array" in value:
        array = arrays[value["array"]]
        if array.dtype.kind == "f":
            array = array.astype(np.float64) + (0.5 if is_probability else 0.0)
        elif array.dtype.kind == "i":
            array = array.astype(np.int64)
        array.flags.writeable = False
        return array
    if isinstance(value, dict):
        kind = _class(value[_TYPE])
        payload = {f.name: _likely(f) for f in dataclasses.fields(kind)}
        fields = value["fields"].items()
        return kind(**{name: _unpacked(part, arrays, payload[name]) for name, part in fields})
    if isinstance(value, list):
        return tuple(_unpacked(part, arrays) for part in value)
    return value
