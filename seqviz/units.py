"""What a number is, so that it is written in one way everywhere: a share, a power of ten, a count.

A property of a result says it in its return type: `def leak(self) -> Share`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, get_type_hints


@dataclass(frozen=True)
class Unit:
    """How a number, or a pair of numbers that are two ends, is written.

    kind: "number", "share" (0 to 1, written in percent), "fine share" (the same, with significant
    digits), "small share" (with as many as it has: 0.0014%), "log10" (of a number), "count"
    (infinite where there is no end), "part" (a pair of counts: of the second the first),
    "probability" (three decimals), or "seconds".
    digits: significant digits of a number, decimals of a share. sign: right behind it, as in 90°.
    """

    kind: str = "number"
    digits: int = 3
    sign: str = ""


Share = Annotated[float, Unit("share", 1)]
WholeShare = Annotated[float, Unit("share", 0)]
Log10 = Annotated[float, Unit("log10")]
Rough = Annotated[float, Unit("number", 2)]
Exact = Annotated[float, Unit("number", 4)]
VeryExact = Annotated[float, Unit("number", 6)]
Degrees = Annotated[float, Unit("number", 3, "°")]
FineShare = Annotated[float, Unit("fine share")]
SmallShare = Annotated[float, Unit("small share")]
Count = Annotated[float, Unit("count")]
Probability = Annotated[float, Unit("probability")]
Seconds = Annotated[float, Unit("seconds", 2)]
Ends = Annotated[tuple[float, float], Unit()]
ShareEnds = Annotated[tuple[float, float], Unit("share", 1)]
Part = Annotated[tuple[int, int], Unit("part")]
NUMBER = Unit()


def entry(array: str, place: int, said: str, unit: Any = float) -> property:
    """A property of a result: the number at one place of one of its arrays. unit: as above."""

    def number(self: Any) -> float:
        return float(getattr(self, array)[place])

    number.__annotations__["return"] = unit
    return property(number, doc=said)


@cache
def unit_of(holder: Any, name: str = "return") -> Unit:
    """What a function says of its result, or a class of a field; a number where they say nothing.

    name: of the field, or of a property.
    """
    getter = getattr(holder, name, None)
    if isinstance(getter, property):
        return unit_of(getter.fget)
    if isinstance(getter, cached_property):
        return unit_of(getter.func)
    said = get_type_hints(holder, include_extras=True).get(name)
    parts = (said, *getattr(said, "__args__", ()))  # a number that may be None says it within
    units = [unit for part in parts for unit in getattr(part, "__metadata__", ())]
    return next((unit for unit in units if isinstance(unit, Unit)), NUMBER)
