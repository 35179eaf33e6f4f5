"""Equation of a bench: its line, its symbols with the numbers of the run, what each lights up.

`Lesson.equation` declares equations and `Bench.equation_at` returns the first that applies. The
line writes symbols in brackets, indices with `_` and exponents with `^`, several signs in braces:
`[x_t] = [φ] x_{t−1} + [ε_t]`. Under each symbol stands its number, a template that is filled with
the parameters and the facts of the run (`facts.<name>` where a parameter has the same name). The
color of a letter comes from `letters.toml`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from seqviz.content import glossary
from seqviz.core.i18n import Text, fill
from seqviz.lessons.framework.steps import ControlLight, Light, light_json

_SYMBOL = re.compile(r"\[([^\]]+)\]")
_LETTER = re.compile(r"(?<![^\W\d_])([^\W\d_][\u0300-\u036f\u20d0-\u20ff]*)(?![^\W\d_])")
_RAISED = re.compile(r"([_^])(?:\{([^{}]*)\}|(.))")


@dataclass(frozen=True)
class Symbol:
    """Symbol of an equation.

    Attributes:
        meaning: name of its meaning in `letters.toml`.
        lights: what it lights up: parts of the figure, and controls.
        value: template of its number; empty for none.
    """

    meaning: str
    lights: tuple[Light, ...]
    value: str = ""


@dataclass(frozen=True)
class Equation:
    """Equation under the figure of a bench.

    Attributes:
        bench: name of the bench.
        line: the equation; its symbols are in brackets.
        terms: its symbols, as the line writes them.
        when: controls and the values of each with which it applies; empty for all settings.
    """

    bench: str
    line: str
    terms: Mapping[str, Symbol]
    when: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        written = _SYMBOL.findall(self.line)
        if sorted(written) != sorted(self.terms) or set(self.line) & set("<>&"):
            raise ValueError(f"The symbols of {self.line!r} are not those declared: {written}")

    def applies(self, params: Any) -> bool:
        """Return True where the parameters have values with which it applies."""
        return all(getattr(params, name) in values for name, values in self.when.items())


def html(
    equation: Equation, values: Mapping[str, Any], prefixes: Mapping[str, str], text: Text
) -> str:
    """Return an equation with its numbers as HTML.

    Args:
        equation: the equation.
        values: parameters and facts of the run, by name.
        prefixes: prefix of the keys of controls, by bench; "" for the bench itself.
        text: shared texts in the reader's language.
    """
    symbols = [
        _symbol(written, equation.terms[written], values, prefixes, text)
        for written in _SYMBOL.findall(equation.line)
    ]
    parts = re.split(r"\[[^\]]+\]", equation.line)  # in a row of their own, for the numbers below
    line = "".join(
        (_between(part.strip()) if part.strip() else "") + symbol
        for part, symbol in zip(parts, (*symbols, ""), strict=True)
    )
    label = escape(text("frame.equation"))
    return f'<div class="seqviz-equation" role="group" aria-label="{label}">{line}</div>'


def number(term: Symbol, values: Mapping[str, Any]) -> str:
    """Return the number of a symbol; empty where the run does not state it."""
    try:
        written = re.sub(r"-(?=\d)", "−", fill(term.value, values))
    except (KeyError, AttributeError, ValueError):  # another control leads to a run without it
        return ""
    return re.sub(r"^\(([^()]*)\)$", r"\1", written)  # a sentence has negative factors in them


def _between(part: str) -> str:
    """Return what stands between two symbols as HTML; an exponent stands at the one before."""
    kind = ' class="raised"' if _RAISED.match(part) else ""
    return f"<span{kind}>{_markup(part)}</span>"


def _symbol(
    written: str, term: Symbol, values: Mapping[str, Any], prefixes: Mapping[str, str], text: Text
) -> str:
    value = number(term, values)
    name = f"{glossary.to_speech(written)}, {glossary.meaning(term.meaning).words[text.lang]}"
    lights = json.dumps([_light(light, prefixes, text) for light in term.lights])
    # What is heard ends with the number that is seen, also where a drag has written a newer one.
    return (
        f'<button type="button" class="symbol" title="{escape(name)}" '
        f'data-lights="{escape(lights)}">'
        f'<span class="letter" aria-hidden="true">{_markup(written)}</span>'
        f'<span class="spoken">{escape(name)}{": " if value else ""}</span>'
        f'<span class="number">{escape(value)}</span></button>'
    )


def _light(light: Light, prefixes: Mapping[str, str], text: Text) -> dict[str, Any]:
    if not isinstance(light, ControlLight):
        return light_json(light, text)
    bench, _, name = light.name.rpartition(".")
    return {"kind": "control", "key": f"{prefixes[bench]}.{name}"}


def _markup(line: str) -> str:
    """Return a line as HTML: letters in italics and in their color, indices and exponents plain."""

    def colored(match: re.Match[str]) -> str:
        group = glossary.letter_group(unicodedata.normalize("NFD", match[1])[0])
        return f'<i class="{group}">{match[1]}</i>' if group else f"<i>{match[1]}</i>"

    parts, end = [], 0
    for match in _RAISED.finditer(line):
        tag, inner = "sub" if match[1] == "_" else "sup", match[2] or match[3]
        inner = _LETTER.sub(r"<i>\1</i>", inner)
        parts += [_LETTER.sub(colored, line[end : match.start()]), f"<{tag}>{inner}</{tag}>"]
        end = match.end()
    return "".join((*parts, _LETTER.sub(colored, line[end:])))
