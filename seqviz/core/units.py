"""Units that determine how a number is displayed, and no-break spaces around numbers.

A property of a result declares its unit as its return type: `def leak(self) -> Share`.

Spacing is the same in both languages. The percent sign follows the digits directly, as in English
style guides and Chinese typesetting (GB/T 15835): "99.2%". Any other unit, a power of ten and a
relation sign follow a no-break space ("2.4 s", "3.09 × 10⁻⁵", "p < 0.001"), so that no line ends
between them. Sentences in files have ordinary spaces; `unbroken` is applied where translations are
loaded (`i18n.catalogue`, `i18n.sections`, `glossary`) and where code builds sentences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, get_type_hints

# U+00A0, not the narrow U+202F: every font has it, and browsers copy it as an ordinary space.
NO_BREAK = "\u00a0"
JOINER = "\u2060"  # a word joiner: no width, and no line break
# A placeholder ("{p}", Plotly's "%{x}") counts as a number. Markdown marks may come in between.
_DIGITS = r"(?:[\d%∞°⁰¹²³⁴-⁹]|\})[*_]*"
_NUMBER = r"[*_(\[|]*[-−+±]?(?:\d|\.\d|∞|%?\{)"
_NAMES = (
    r"[mµμn]?s|min|[kKMGT]i?B|[kMG]?Hz|px|[kMGT]?bits?|bytes?|nats?|[kMGTP]?FLOPs?|°C?"
    r"|seconds?|minutes?|hours?|thousand|million|billion"
)
_CHINESE = "毫秒|微秒|秒|分钟|小时|比特|字节|纳特|像素|倍|位|度|万|亿|个百分点"
_UNIT = rf"[*_]*(?:(?:{_NAMES})(?![\w'’])|{_CHINESE})"
_RELATION = r"[=<>≤≥≈≠∼±×]"
# Unchanged parts: code, formulas, tags with their attributes, URLs.
_LEFT_ALONE = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$(?:\\.|[^$\\\n])+\$|<[A-Za-z/!][^<>]*>|https?://\S+",
    re.DOTALL,
)
_BROKEN = re.compile(
    r" (?:"  # the space first, for speed: most sentences have no match
    rf"(?:(?<=[^\s|] )|(?<=\S\| ))(?={_RELATION} {_NUMBER})"  # p |= 0.04; no cell of a table
    rf"|(?<![^\s>(（:：,，]{_RELATION} )(?<={_RELATION} )(?={_NUMBER})"  # p =| 0.04
    rf"|(?<=[\d∞}}] )(?={_RELATION} |×)|(?<=\d {_RELATION} )(?=\S)"  # 0 |<| r, 3 |×
    rf"|(?<= − )(?={_NUMBER})"  # 1 −| 0.5
    rf"|(?<=[\d}}] )(?=[/…] {_NUMBER})|(?<=[\d}}] / )(?={_NUMBER})"  # 3 |/| 20, 0.1 |… 0.3
    r"|(?<=\bp )(?=\{(?:[\w.]+\.)?p(?::p)?\})"  # the value contains the sign: p |< 0.001
    r")"
)
_APART = re.compile(rf"{_DIGITS} (?={_UNIT})")  # 2.4| s


@dataclass(frozen=True)
class Unit:
    """Display format of a number, or of a pair of numbers.

    Attributes:
        kind: "number", "share" (0 to 1, displayed in percent), "fine share" (in percent with
            significant digits: 0.00140%), "log10" (the value is a decimal logarithm), "count" (may
            be infinite), "part" (a pair of counts: part of total), "probability" (three decimals),
            "fixed" (decimals, for values of a known size, of which small ones are nearly 0), or
            "seconds".
        digits: significant digits of a number, decimals of a share.
        sign: suffix without a space, as in 90°.
    """

    kind: str = "number"
    digits: int = 3
    sign: str = ""


Share = Annotated[float, Unit("share", 1)]
WholeShare = Annotated[float, Unit("share", 0)]
Log10 = Annotated[float, Unit("log10")]
TwoDigits = Annotated[float, Unit("number", 2)]
Exact = Annotated[float, Unit("number", 4)]
VeryExact = Annotated[float, Unit("number", 6)]
Decimals = Annotated[float, Unit("fixed", 2)]
Cosine = Annotated[float, Unit("fixed", 3)]
Degrees = Annotated[float, Unit("number", 3, "°")]
FineShare = Annotated[float, Unit("fine share")]
Count = Annotated[float, Unit("count")]
Probability = Annotated[float, Unit("probability")]
Seconds = Annotated[float, Unit("seconds", 2)]
Interval = Annotated[tuple[float, float], Unit()]
ShareEnds = Annotated[tuple[float, float], Unit("share", 1)]
Fraction = Annotated[tuple[int, int], Unit("part")]
NUMBER = Unit()


def unbroken(words: str) -> str:
    """Return text with no-break spaces between numbers and the units or signs next to them.

    Examples: "3.09 × 10⁻⁵", "p < 0.001", "{n} bits". Code and formulas are unchanged.
    """
    alone = [match.span() for match in _LEFT_ALONE.finditer(words)]

    def bound(match: re.Match[str]) -> str:
        at = match.end() - 1
        if any(low <= at < high for low, high in alone):
            return match[0]
        bar = JOINER if words[at - 1 : at] == "|" else ""  # lines may break after a bar
        return match[0][:-1] + bar + NO_BREAK

    return _BROKEN.sub(bound, _APART.sub(bound, words))


def plainly_spaced(words: str) -> str:
    """Return text with ordinary spaces, for files and comparisons; inverse of `unbroken`."""
    return words.replace(JOINER, "").replace(NO_BREAK, " ")


def array_item(array: str, index: int, text: str, unit: Any = float) -> property:
    """Return a property that reads one element of an array field of a result.

    Args:
        array: name of the array field.
        index: position of the element.
        text: docstring of the property.
        unit: type of the property with its `Unit`, such as `Share`.
    """

    def number(self: Any) -> float:
        return float(getattr(self, array)[index])

    number.__annotations__["return"] = unit
    return property(number, doc=text)


@cache
def unit_of(holder: Any, name: str = "return") -> Unit:
    """Return the unit that a function, property or field declares, or `NUMBER`.

    Args:
        holder: a function, or the class of a property or field.
        name: name of the property or field; "return" for a function.
    """
    getter = getattr(holder, name, None)
    if isinstance(getter, property):
        return unit_of(getter.fget)
    if isinstance(getter, cached_property):
        return unit_of(getter.func)
    message = get_type_hints(holder, include_extras=True).get(name)
    parts = (message, *getattr(message, "__args__", ()))  # for Optional, the unit is on an argument
    units = [unit for part in parts for unit in getattr(part, "__metadata__", ())]
    return next((unit for unit in units if isinstance(unit, Unit)), NUMBER)
