"""Colored text: nothing of a student's becomes markup, and every letter can be read."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from seqviz.core.i18n import LANGUAGES, Text
from seqviz.plotting.colored_text import STRONGEST, colored_text
from seqviz.plotting.scales import ABOVE, BELOW
from seqviz.plotting.style import Style
from tests.plotting.test_style import BACKGROUNDS, PALETTES, contrast

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "'", "&lt;", "</div>")
ALPHA = re.compile(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)")


class Page(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    @property
    def spans(self) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == "span"]


def drawn(pieces, values, signed=False, **more) -> Page:
    return Page(colored_text(pieces, np.asarray(values, float), signed, "f", **more))


def colors(page: Page) -> list[tuple[tuple[int, ...], float]]:
    results = [ALPHA.search(span["style"] or "") for span in page.spans]
    return [(tuple(int(m[k]) for k in (1, 2, 3)), float(m[4])) for m in results if m]


def test_colored_text_escapes_hostile_pieces():
    page = drawn(HOSTILE, np.linspace(0, 1, 5), selected=2, unknown=[True] * 5)
    assert [tag for tag, _ in page.tags] == ["div", *["span"] * 5]
    assert page.text == "".join(HOSTILE)
    for (_, attributes), piece in zip(page.tags[1:], HOSTILE, strict=True):
        assert set(attributes) == {"style", "title"}
        assert (attributes["title"] or "").startswith(f"{piece}: ")
    assert set(page.tags[0][1]) == {"role", "aria-label", "style"}
    assert "".join(HOSTILE) in (page.tags[0][1]["aria-label"] or "")
    titled = Page(colored_text(["a"], np.ones(1), False, '"><b onclick=alert(1)>'))
    assert [tag for tag, _ in titled.tags] == ["div", "span"]  # a title is plain text too


@pytest.mark.parametrize(
    ("values", "signed", "hues", "shares"),
    [
        ([0, 0.5, 1], False, [BELOW] * 3, [0, 0.5, 1]),  # deeper is more
        ([-4, -2, 0, 2], True, [BELOW, BELOW, BELOW, ABOVE], [1, 0.5, 0, 0.5]),  # of the largest
    ],
)
def test_colored_text_opacity_matches_value(values, signed, hues, shares):
    result = colors(drawn("abcd"[: len(values)], values, signed))
    assert result == [(hue, STRONGEST * share) for hue, share in zip(hues, shares, strict=True)]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("color", [ABOVE, BELOW])
def test_colored_text_contrast_meets_wcag(theme, color):
    page = [int(BACKGROUNDS[theme][k : k + 2], 16) for k in (1, 3, 5)]
    for alpha in STRONGEST * np.array([0.25, 0.5, 0.75, 1.0]):
        mixed = [round(alpha * c + (1 - alpha) * b) for c, b in zip(color, page, strict=True)]
        shade = "#" + "".join(f"{value:02X}" for value in mixed)
        assert contrast(PALETTES[theme].truth, shade) >= 4.5


def test_colored_text_shows_line_breaks():
    page = drawn(["a", "\n", "b", "\r\n"], [0, 1, 0, 1])
    assert page.text == "a↵\nb↵\n"
    assert "white-space:pre-wrap" in (page.tags[0][1]["style"] or "")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_colored_text_marks_unknown_pieces(lang):
    page = drawn("ab", [0, 1], unknown=[False, True], style=Style(lang=lang))
    assert ["dotted" in (span["style"] or "") for span in page.spans] == [False, True]
    message = Text(lang)("figure.unknown_symbol")
    assert [message in (span["title"] or "") for span in page.spans] == [False, True]


def test_colored_text_outlines_selected_piece():
    page = drawn("abc", [0, 0, 0], selected=2)
    outlined = ["outline" in (span["style"] or "") for span in page.spans]
    assert outlined == [False, True, False]
    assert "outline" not in colored_text("abc", np.zeros(3), False, "f")


@pytest.mark.parametrize("signed", [True, False])
def test_colored_text_accepts_empty_or_nan_and_rejects_bad_length(signed):
    assert drawn([], [], signed).spans == []
    for value in (0.0, np.nan, 7.0):
        page = drawn(["中"], [value], signed)
        assert page.text == "中"
        assert all(0 <= alpha <= STRONGEST for _, alpha in colors(page))
    with pytest.raises(ValueError, match="zip"):
        colored_text("abc", np.zeros(2), signed, "f")


def test_colored_text_accepts_any_code_point():
    strange = ["\x00", "\x1b", "\ud800", "\u202e", "e\u0301", "👩‍👩‍👧", "\ufffe"]
    source = colored_text(strange, np.zeros(len(strange)), False, "f")
    source.encode("utf-8")
    assert "\x00" not in source
    page = Page(source)
    assert len(page.spans) == len(strange)
    assert "e\u0301👩‍👩‍👧" in page.text


def test_colored_text_selection_changes_only_selected_piece():
    pieces, values = list("abc"), np.array([0.1, 0.2, 0.3])
    item, other, none = (colored_text(pieces, values, False, "f", k) for k in (1, 3, None))
    assert [p.count("outline") for p in (item, other, none)] == [1, 1, 0]
    assert item.index("outline") < item.index("a: 0.1")
    assert other.index("b: 0.2") < other.index("outline") < other.index("c: 0.3")
    for page in (item, other):
        assert page.replace(";outline:2px solid currentColor;border-radius:2px", "") == none
