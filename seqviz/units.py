"""What a number is, so that it is written in one way everywhere: a share, a power of ten, a count.

A property of a result says it in its return type: `def leak(self) -> Share`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints


@dataclass(frozen=True)
class Unit:
    """kind: "number", "share" (0 to 1, written in percent), "log10" (of a number), or "count";
    "fine" is a share in percent with significant digits, "of" a count and of how many.

    digits: significant digits of a number, decimals of a share. sign: right behind it, as in 90°.
    """

    kind: str = "number"
    digits: int = 3
    sign: str = ""


Share = Annotated[float, Unit("share", 1)]
WholeShare = Annotated[float, Unit("share", 0)]
FineShare = Annotated[float, Unit("fine")]
Of = Annotated[tuple[int, int], Unit("of")]
Log10 = Annotated[float, Unit("log10")]
Rough = Annotated[float, Unit("number", 2)]
Exact = Annotated[float, Unit("number", 4)]
VeryExact = Annotated[float, Unit("number", 6)]
Degrees = Annotated[float, Unit("number", 3, "°")]
NUMBER = Unit()


def unit_of_attribute(holder: object, name: str) -> Unit:
    """What the class says of a property or a field; a number where it says nothing."""
    kind: Any = type(holder)
    return _unit_in_class(kind, name)


@cache
def _unit_in_class(kind: Any, name: str) -> Unit:
    getter = getattr(kind, name, None)
    if isinstance(getter, property):
        return unit_of(getter.fget)
    return _said(get_type_hints(kind, include_extras=True).get(name))


@cache
def unit_of(function: Any) -> Unit:
    """What a function or a property's getter says of its result; a number where it says nothing."""
    return _said(get_type_hints(function, include_extras=True).get("return"))


def _said(said: Any) -> Unit:
    kinds = (said, *get_args(said))  # of `Share | None` one of several
    found = [
        part
        for kind in kinds
        for part in getattr(kind, "__metadata__", ())
        if isinstance(part, Unit)
    ]
    return found[0] if found else NUMBER
