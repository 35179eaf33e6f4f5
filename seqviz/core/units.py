"""What a number is, so that it is written in one way everywhere: a share, a power of ten, a count.

A property of a result says it in its return type: `def leak(self) -> Share`.

How a number stands beside its unit, in both languages: the percent sign right behind the digits,
as English style guides and Chinese typesetting (GB/T 15835) have it ("99.2%"); any other unit, a
power of ten and a sign of relation behind a no-break space ("2.4 s", "3.09 × 10⁻⁵", "p < 0.001"),
so that no line ends between them. Sentences are written with plain spaces; `unbroken` is applied
where words are loaded (`text.catalogue`, `text.sections`, `glossary`) and where code makes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, get_type_hints

# U+00A0, not the narrow U+202F: every font has it, and a browser copies it as a plain space.
NO_BREAK = "\u00a0"
JOINER = "\u2060"  # a word joiner: no width, and no line break
# A placeholder ("{p}", Plotly's "%{x}") stands for a number. Marks of Markdown may stand between.
_DIGITS = r"(?:[\d%∞°⁰¹²³⁴-⁹]|\})[*_]*"
_NUMBER = r"[*_(\[|]*[-−+±]?(?:\d|\.\d|∞|%?\{)"
_NAMES = (
    r"[mµμn]?s|min|[kKMGT]i?B|[kMG]?Hz|px|[kMGT]?bits?|bytes?|nats?|[kMGTP]?FLOPs?|°C?"
    r"|seconds?|minutes?|hours?|thousand|million|billion"
)
_CHINESE = "毫秒|微秒|秒|分钟|小时|比特|字节|纳特|像素|倍|位|度|万|亿|个百分点"
_UNIT = rf"[*_]*(?:(?:{_NAMES})(?![\w'’])|{_CHINESE})"
_RELATION = r"[=<>≤≥≈≠∼±×]"
# Not altered: code, formulas, tags with their attributes, addresses.
_LEFT_ALONE = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$(?:\\.|[^$\\\n])+\$|<[A-Za-z/!][^<>]*>|https?://\S+",
    re.DOTALL,
)
_BROKEN = re.compile(
    r" (?:"  # the space comes first: most sentences have few, and none of these
    rf"(?:(?<=[^\s|] )|(?<=\S\| ))(?={_RELATION} {_NUMBER})"  # p |= 0.04; no cell of a table
    rf"|(?<![^\s>(（:：,，]{_RELATION} )(?<={_RELATION} )(?={_NUMBER})"  # p =| 0.04
    rf"|(?<=[\d∞}}] )(?={_RELATION} |×)|(?<=\d {_RELATION} )(?=\S)"  # 0 |<| r, 3 |×
    rf"|(?<= − )(?={_NUMBER})"  # 1 −| 0.5
    rf"|(?<=[\d}}] )(?=[/…] {_NUMBER})|(?<=[\d}}] / )(?={_NUMBER})"  # 3 |/| 20, 0.1 |… 0.3
    r"|(?<=\bp )(?=\{p\})"  # the sign is in the value: p |< 0.001
    r")"
)
_APART = re.compile(rf"{_DIGITS} (?={_UNIT})")  # 2.4| s


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
TwoDigits = Annotated[float, Unit("number", 2)]
Exact = Annotated[float, Unit("number", 4)]
VeryExact = Annotated[float, Unit("number", 6)]
Degrees = Annotated[float, Unit("number", 3, "°")]
FineShare = Annotated[float, Unit("fine share")]
SmallShare = Annotated[float, Unit("small share")]
Count = Annotated[float, Unit("count")]
Probability = Annotated[float, Unit("probability")]
Seconds = Annotated[float, Unit("seconds", 2)]
Interval = Annotated[tuple[float, float], Unit()]
ShareEnds = Annotated[tuple[float, float], Unit("share", 1)]
Fraction = Annotated[tuple[int, int], Unit("part")]
NUMBER = Unit()


def unbroken(words: str) -> str:
    """The same words with no-break spaces where a line would part a number from what it is with.

    Examples: "3.09 × 10⁻⁵", "p < 0.001", "{n} bits". Code and formulas stay as they are.
    """
    alone = [match.span() for match in _LEFT_ALONE.finditer(words)]

    def bound(match: re.Match[str]) -> str:
        at = match.end() - 1
        if any(low <= at < high for low, high in alone):
            return match[0]
        bar = JOINER if words[at - 1 : at] == "|" else ""  # behind it a line may end all the same
        return match[0][:-1] + bar + NO_BREAK

    return _BROKEN.sub(bound, _APART.sub(bound, words))


def plainly_spaced(words: str) -> str:
    """The words as they were before `unbroken`: for files, and to compare them with typed ones."""
    return words.replace(JOINER, "").replace(NO_BREAK, " ")


def array_item(array: str, index: int, text: str, unit: Any = float) -> property:
    """A property of a result: the number at one place of one of its arrays. unit: as above."""

    def number(self: Any) -> float:
        return float(getattr(self, array)[index])

    number.__annotations__["return"] = unit
    return property(number, doc=text)


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
    message = get_type_hints(holder, include_extras=True).get(name)
    parts = (message, *getattr(message, "__args__", ()))  # a number that may be None says it within
    units = [unit for part in parts for unit in getattr(part, "__metadata__", ())]
    return next((unit for unit in units if isinstance(unit, Unit)), NUMBER)
