"""Results made from the annotations of their class, for figures and tests: `fake(FewShotAccuracy)`.

A result of `seqviz.compute` is a frozen dataclass whose annotations say what a figure needs of it:
dtype and dimension names of each array (jaxtyping), the unit of a number (`core.units`). So an
example or a test states what its branch needs, and `fake` fills in the rest.
"""

from __future__ import annotations

import types
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from zlib import crc32

import numpy as np

from seqviz.core.units import NUMBER, Unit

T = TypeVar("T")
# The first words contain markup, so every example checks that its figure escapes it.
WORDS = ("one", "<b>two</b>", "three & 3", "%{x}")
MIN_SIZE = 3  # smallest size of a dimension without a given one
MAX_INT = 9
_DTYPES = ("float64", "int64", "bool", "complex128")  # in order of preference
_RANGES = {"log10": (-3.0, 3.0), "count": (2.0, 100.0)}  # by unit; 0 to 1 for all others


def fake(result_type: type[T], seed: int = 0, /, **values: Any) -> T:
    """Make a result from the annotations of its class and of the classes of its fields.

    * An array has the sizes of its dimensions. Those that neither a number nor an array or a tuple
      in `values` gives are 3, 4, 5, ... as they appear, so that mixed-up axes fail. Floats lie
      between 0 and 1, integers from 1 to 9. What can be an axis ascends: one-dimensional integers,
      and floats of a field that is named for its dimension (`shares` of "share").
    * A tuple of any length has the dimension for which its field is named (`methods`: "method").
    * A number lies in the range of its unit. Of `Literal` it is the first, of a union the first
      type. A field with a default keeps it.

    Each field has a random stream of its own, so a new field changes no value of the others.

    Args:
        result_type: A dataclass.
        seed: Seed of all values. By position, as there are dimensions of this name.
        values: By name the size of a dimension, here and within fields (a number, or several for
            "*rows"), or the value of a field of this class. A number for a field that holds an
            array or a tuple is the size of the dimension of that name.

    Raises:
        TypeError: An annotation cannot be filled in, or a name in `values` is of no field and of no
            dimension.
    """
    factory = _Factory(seed, values)
    result: T = factory.make_result(result_type, result_type.__name__, values)
    if unused := sorted(values.keys() - factory.used):
        raise TypeError(f"{result_type.__name__} has no field or dimension {', '.join(unused)}.")
    return result


class _Factory:
    """State of one call of `fake`: given values, used names, and dimension sizes so far."""

    def __init__(self, seed: int, given: dict[str, Any]) -> None:
        self.seed, self.given = seed, given
        self.used: set[str] = set()
        self.sizes: dict[str, int] = {}

    def make_result(self, kind: type[Any], path: str, given: dict[str, Any]) -> Any:
        """Make a dataclass; its path seeds the random streams of its fields."""
        hints = get_type_hints(kind, include_extras=True)
        for name in given.keys() & hints.keys():
            value = given[name]
            if isinstance(value, np.ndarray) and hasattr(hints[name], "dim_str"):
                self.sizes |= zip(hints[name].dim_str.split(), value.shape, strict=False)
            elif isinstance(value, tuple):
                self.sizes |= dict.fromkeys((name, name.removesuffix("s")), len(value))
        values = {}
        for field in fields(kind):
            hint, value = hints[field.name], given.get(field.name)
            is_size = isinstance(value, int) and (hasattr(hint, "dim_str") or _is_tuple(hint))
            if field.name in given and not is_size:
                self.used.add(field.name)
                values[field.name] = value
            elif field.default is MISSING and field.default_factory is MISSING:
                values[field.name] = self.make(hint, f"{path}.{field.name}")
        return kind(**values)

    def make(self, hint: Any, path: str) -> Any:
        """Make a value for an annotation."""
        random = np.random.RandomState([self.seed, crc32(path.encode())])
        name, args = path.rpartition(".")[2], get_args(hint)
        if get_origin(hint) is Annotated:
            return _number(args, random)
        if get_origin(hint) is Literal:
            return args[0]
        if get_origin(hint) in (Union, types.UnionType):
            return self.make(args[0], path)
        if _is_tuple(hint):
            kinds = args[:1] * self.size(name.removesuffix("s")) if args[-1] is ... else args
            return tuple(
                _word(n) if item is str else self.make(item, f"{path}[{n}].{name}")
                for n, item in enumerate(kinds)
            )
        if hasattr(hint, "dim_str"):
            return self._array(hint, name, random)
        if is_dataclass(hint):
            return self.make_result(hint, path, {})  # type: ignore[arg-type]
        scalars = {str: _word(1), bool: True, int: random.randint(1, MAX_INT + 1)}
        if hint not in (float, *scalars):
            raise TypeError(f"Cannot make {path} of {hint}: pass {name}=...")
        return scalars.get(hint, random.uniform())

    def size(self, dimension: str) -> int:
        """Return the size of a dimension: given, of a given array, or a new one."""
        if isinstance(self.given.get(dimension), int):
            self.used.add(dimension)
            return int(self.given[dimension])
        return self.sizes.setdefault(dimension, MIN_SIZE + len(self.sizes))

    def _shape(self, dimensions: list[str]) -> tuple[int, ...]:
        shape: list[int] = []
        for name in dimensions:
            if name.isdigit():
                shape.append(int(name))
            elif name.startswith("*"):  # variadic: no dimensions unless given
                self.used.add(name[1:])
                shape += self.given.get(name[1:], ())
            else:
                shape.append(self.size(name))
        return tuple(shape)

    def _array(self, hint: Any, name: str, random: np.random.RandomState) -> np.ndarray:
        dimensions = hint.dim_str.split()
        dtype = np.dtype(next((item for item in _DTYPES if item in hint.dtypes), hint.dtypes[0]))
        shape = self._shape(dimensions)
        if dtype.kind == "b":
            return random.uniform(size=shape) < 0.5
        if dtype.kind in "iu":
            steps = random.randint(1, MAX_INT + 1, shape).astype(dtype)
            return np.cumsum(steps, dtype=dtype) if len(shape) == 1 else steps
        values = random.uniform(size=shape).astype(dtype)
        if dtype.kind == "c":
            return values + 1j * random.uniform(size=shape)
        return np.sort(values) if dimensions == [name.removesuffix("s")] else values


def _is_tuple(hint: Any) -> bool:
    return get_origin(hint) is tuple


def _word(index: int) -> str:
    return WORDS[index] if index < len(WORDS) else f"word {index}"


def _number(args: tuple[Any, ...], random: np.random.RandomState) -> Any:
    """Make a number, or a pair of numbers, in the range of its unit."""
    unit = next((item for item in args if isinstance(item, Unit)), NUMBER)
    if unit.kind == "part":
        return int(random.randint(1, MAX_INT)), MAX_INT
    low, high = _RANGES.get(unit.kind, (0.0, 1.0))
    values = np.sort(random.uniform(low, high, 2))
    values = np.round(values) if unit.kind == "count" else values
    return tuple(values.tolist()) if _is_tuple(args[0]) else float(values[0])
