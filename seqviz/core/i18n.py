"""Translations of the app and number formatting: `Text`, `fill` and `format_value`.

Labels are in `assets/locale/<lang>.toml` (shared), `assets/locale/figures/<slug>/<lang>.toml`
and `assets/lessons/<slug>/<lang>.toml` (one lesson); prose is in `assets/lessons/<slug>/<lang>.md`
in named sections. Figures and pages look sentences up by key.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Number
from pathlib import Path
from string import Formatter
from typing import Any

from seqviz.core.languages import DEFAULT
from seqviz.core.languages import LANGUAGES as LANGUAGES
from seqviz.core.paths import ASSETS
from seqviz.core.units import JOINER, NO_BREAK, NUMBER, Unit, unbroken

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Addresses, icons and arrows, which Streamlit replaces after it has processed Markdown escapes.
_TAKEN = re.compile(
    r"https?(?=://)|www(?=\.)|[-.\w+](?=@)|:(?=material/|streamlit:)"
    r"|(?<![^\s\ufeff])(?:<->|->|<-|--|[><~]=)(?![^\s\ufeff])",
    re.IGNORECASE,
)
TIMES_TEN = f"{NO_BREAK}×{NO_BREAK}10"  # between the mantissa and the raised exponent
_COUNTED = "of "  # begins the format of a number with a noun
_SECTION = re.compile(r"^<!--\s*section:\s*([a-z0-9_]+)\s*-->\s*$", re.MULTILINE)


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def _unbroken(value: Any) -> Any:
    """Return a value with no-break spaces in all its sentences."""
    if isinstance(value, list):
        return [_unbroken(item) for item in value]
    return unbroken(value) if isinstance(value, str) else value


def _of_figures(lang: str) -> list[Path]:
    """Return a language's files of figure labels, from all folders under `locale/figures`."""
    return sorted((ASSETS / "locale" / "figures").glob(f"**/{lang}.toml"))


@cache
def catalogue(lang: str) -> Mapping[str, Any]:
    """Return one language's sentences by key; keys of a lesson begin with its slug and a point."""
    keys: dict[str, Any] = {}
    for path in (ASSETS / "locale" / f"{lang}.toml", *_of_figures(lang)):
        keys.update(_flatten(tomllib.loads(path.read_text("utf-8"))))
    for path in sorted((ASSETS / "lessons").glob(f"*/{lang}.toml")):
        keys.update(_flatten(tomllib.loads(path.read_text("utf-8")), f"{path.parent.name}."))
    return {key: _unbroken(value) for key, value in keys.items()}


@cache  # every bench of a page asks for some, and there are thousands of keys
def _table(lang: str, prefix: str) -> Mapping[str, str]:
    """Return the sentences of a language whose keys begin with `prefix` and a point."""
    start = prefix + "."
    keys = catalogue(lang).items()
    return {key[len(start) :]: words for key, words in keys if key.startswith(start)}


@cache
def sections(slug: str, lang: str) -> Mapping[str, str]:
    """Return the prose sections of a lesson by name; `<!-- section: name -->` starts one.

    Args:
        slug: the lesson.
        lang: language code.
    """
    parts = _SECTION.split((ASSETS / "lessons" / slug / f"{lang}.md").read_text("utf-8"))
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {name: unbroken(body.strip()) for name, body in named}


class Placeholder(str):
    """Value that the browser fills in; inserted into the sentence without formatting."""


def fill(sentence: str, values: Mapping[str, object]) -> str:
    """Return a template with its fields filled in; each field names the format of its value.

    `{gain:points}`, `{share:percent}` and `{text:literal}` use formats of `FORMATS`. A number after
    the format's name sets its digits: `{share:percent.0}`. Other formats, as `{count:,}`, are
    Python's.

    `{count:of token}` is a number with an English noun: "1 token", "1,200 tokens".

    Args:
        sentence: a template, as in the translation files.
        values: numbers, texts, and objects whose attributes the fields name (`{gain.low:points}`).

    Raises:
        KeyError: a field has no value.
        ValueError: a value does not have the type that its format is for.
    """
    return _SENTENCES.vformat(sentence, (), values)


class _Sentences(Formatter):
    """Template formatter with the formats of this module."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Placeholder):
            is_counted = format_spec.startswith(_COUNTED)  # the browser writes the noun, too
            return f"{value[:-1]}:{format_spec}}}" if is_counted else value
        if format_spec.startswith(_COUNTED):
            return counted(value, format_spec.removeprefix(_COUNTED))
        name, _, digits = format_spec.partition(".")
        if name not in FORMATS:
            plain = format(value, format_spec)
            return plain.replace("-", "−") if isinstance(value, Number) else plain
        if isinstance(value, str) != (name == "literal"):
            raise ValueError(f"The format {format_spec!r} is not for {type(value).__name__}.")
        return FORMATS[name](value, int(digits)) if digits else FORMATS[name](value)


_SENTENCES = _Sentences()


@dataclass(frozen=True)
class Text:
    """Translations of one language; a call with a key and values returns the filled sentence.

    A call raises KeyError for a missing key. A test looks up all keys, so a missing translation
    fails there and not in a lecture.

    Attributes:
        lang: language code.
    """

    lang: str = DEFAULT

    def __call__(self, key: str, /, **values: object) -> str:
        sentence = catalogue(self.lang)[key]
        return fill(sentence, values) if values else sentence

    def first(self, *keys: str) -> str:
        """Return the sentence of the first key that exists, in the order of the arguments.

        Raises:
            KeyError: no key exists.
        """
        existing = catalogue(self.lang)
        for key in keys:
            if key in existing:
                return existing[key]
        raise KeyError(keys[0])

    def has(self, key: str) -> bool:
        """Return True where the language has this key."""
        return key in catalogue(self.lang)

    def table(self, prefix: str) -> dict[str, str]:
        """Return the sentences whose keys begin with `prefix` and a point, by remaining key."""
        return dict(_table(self.lang, prefix))

    def items(self, key: str) -> list[str]:
        """Return the list of sentences under a key."""
        return list(catalogue(self.lang)[key])


def escape_markdown(text: str) -> str:
    """Return user text escaped for Markdown, so that it has no emphasis, formula, image or link.

    A shared permalink can carry any text, and an image in it would be fetched. A backslash does not
    stop Streamlit's processing of addresses, icons and arrows; an invisible word joiner does. Line
    breaks become spaces, as two of them would end the paragraph.
    """
    full_text = _TAKEN.sub(lambda result: result[0] + JOINER, re.sub(r"[\r\n]+", " ", text))
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$:^&])", r"\\\1", full_text)


def number(value: float, digits: int = 3) -> str:
    """Return a number as displayed: three significant digits, or all digits before the point.

    Thousands have commas. Numbers below 0.001 or from 10 million on are written with powers of ten.

    Examples: 0.80312 -> "0.803", 12345.6 -> "12,346", 0.00001234 -> "1.23 × 10⁻⁵", nan -> "–". The
    minus is a true minus sign (U+2212), as in axis labels.

    Args:
        value: any float; None is displayed like nan.
        digits: significant digits.
    """
    if value is None or math.isnan(value):
        return "–"
    if digits > 2 and 0.001 <= abs(value) < 999:  # fast path for most numbers, same result
        return f"{value:#.{digits}g}".rstrip(".").replace("-", "−")
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")  # exponent after rounding
    exponent = int(power)
    if exponent < -3 or exponent > 6:
        return f"{mantissa}{_tens(exponent)}".replace("-", "−")
    return f"{value:,.{max(0, digits - 1 - exponent)}f}".replace("-", "−")


@cache
def _tens(exponent: int) -> str:
    """Return "× 10" with this exponent."""
    return f"{TIMES_TEN}{str(exponent).translate(_RAISED)}"


def percent(share: float, digits: int = 1) -> str:
    """Return a share of 1 as displayed in percent; nan is "–".

    Examples: 0.66139 -> "66.1%", 0.35 with no digits -> "35%", 12.5 -> "1,250.0%".

    Args:
        share: 0.5 for 50%.
        digits: decimals of the percentage.
    """
    if math.isnan(share):
        return "–"
    return f"{100 * share:,.{digits}f}%".replace("-", "−")


def counted(count: float, noun: str) -> str:
    """Return a number with an English noun.

    >>> counted(1, "token"), counted(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return f"{count:,.0f} {noun}{'' if count == 1 else 's'}"


def format_log10(log10: float, digits: int = 3) -> str:
    """Return 10 to a power as displayed, also where float64 would underflow or overflow.

    Examples: 0.30103 -> "2.00", -400.5 -> "3.16 × 10⁻⁴⁰¹", -inf -> "0".

    Args:
        log10: decimal logarithm of the number.
        digits: significant digits.
    """
    if not math.isfinite(log10) or abs(log10) < 300:
        return number(10**log10, digits)
    exponent = math.floor(log10)
    mantissa = f"{10 ** (log10 - exponent):.{digits - 1}f}"
    return f"{mantissa}{_tens(exponent)}"


FORMATS: Mapping[str, Callable[..., str]] = {
    "number": number,
    "numbers": lambda values, digits=3: ", ".join(number(value, digits) for value in values),
    "percent": percent,
    "points": lambda share, digits=3: number(100 * share, digits),  # percentage points
    "signed": lambda value, digits=2: f"{value:+.{digits}f}".replace("-", "−"),
    "fixed": lambda value, digits=2: f"{value:z.{digits}f}".replace("-", "−"),  # "0.00" has no sign
    # A whole ratio is exact: "3"; "3.00" is rounded.
    "ratio": lambda value, digits=3: f"{value:,.0f}" if value % 1 == 0 else number(value, digits),
    "fine": lambda share, digits=3: _written(share, Unit("fine share", digits)),
    "log10": format_log10,
    "p": lambda p: unbroken(f"= {p:.3f}" if p >= 0.001 else "< 0.001"),  # with "=" or "<"
    "literal": escape_markdown,
}
"""Formatters by the format name in a template's field."""


def format_value(value: Any, unit: Unit = NUMBER) -> str:
    """Return a metric's value as displayed; None is "–", text is unchanged.

    Args:
        value: number, text, or a pair of numbers (two ends, or part and total).
        unit: how numbers are written.
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        first, last = (format_value(end, unit) for end in value)
        if unit.kind == "share":
            return f"{first.removesuffix('%')}–{last}"
        dots, after = ("/", NO_BREAK) if unit.kind == "part" else ("…", " ")
        return f"{first}{NO_BREAK}{dots}{after}{last}"
    if isinstance(value, bool | int):
        return f"{value:,}"
    return _written(float(value), unit)


def _written(value: float, unit: Unit) -> str:
    match unit.kind:
        case "share":
            return percent(value, unit.digits)
        case "fine share":
            return "–" if math.isnan(value) else f"{number(100 * value, unit.digits)}%"
        case "log10":
            return format_log10(value, unit.digits)
        case "fixed":
            plain = abs(value) < 1e7 and unit.digits <= 6
            return FORMATS["fixed"](value, unit.digits) if plain else number(value)
        case "count" if math.isfinite(value):
            return f"{value:,.0f}"
        case "probability":
            return f"<{NO_BREAK}0.001" if value < 0.001 else f"{value:.3f}"
        case "seconds":
            return f"{value:.{unit.digits}g}{NO_BREAK}s" if value < 99.5 else duration(value)
    return number(value, unit.digits) + unit.sign


def duration(seconds: float) -> str:
    """Return a duration as displayed: 120 ms, 2.4 s, 14 min."""
    if seconds < 0.001:
        return f"<{NO_BREAK}1{NO_BREAK}ms"
    if seconds < 0.9995:  # 1000 ms after rounding is displayed as a second
        return f"{seconds * 1000:.0f}{NO_BREAK}ms"
    if seconds < 99.95:
        return f"{seconds:.1f}{NO_BREAK}s"
    return f"{seconds / 60:.0f}{NO_BREAK}min"
