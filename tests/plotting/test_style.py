"""Colors that everybody can read: contrast, color blindness, and the theme that carries them."""

from __future__ import annotations

import tomllib
from itertools import combinations

import numpy as np
import pytest

from seqviz.core.i18n import ASSETS
from seqviz.plotting.sheet import Sheet
from seqviz.plotting.style import DARK, LIGHT, LIVE, ROLES, Palette, Style, layout

BACKGROUNDS = {"light": "#FFFFFF", "dark": "#11161D"}
PALETTES = {"light": LIGHT, "dark": DARK}
# `highlight` fills a mark, `band` tints an area and `grid` is quiet on purpose: never text.
NOT_FOR_TEXT = {"highlight", "band", "grid"}
NETWORKS = ("rnn", "lstm", "gru", "mlp")
# Other lines that stand in one figure.
TOGETHER = (
    ("truth", "prediction"), ("prediction", "baseline"), ("prediction", "highlight"),
    ("prediction", "rnn"), ("prediction", "mlp"), ("truth", "highlight"),
)  # fmt: skip
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])

# Machado, Oliveira & Fernandes 2009, A physiologically-based model for simulation of color vision
# deficiency, IEEE TVCG 15(6): severity 1.0, applied to linear RGB.
BLINDNESS = {
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868],
         [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968],
         [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "normal": np.eye(3),
}  # fmt: skip
# Björn Ottosson 2020, A perceptual color space for image processing: linear sRGB to OKLab.
TO_CONES = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929],
     [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
TO_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468],
     [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip


def linear(color: str) -> np.ndarray:
    """Linear light of an sRGB color, IEC 61966-2-1."""
    value = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def luminance(color: str) -> float:
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def contrast(left: str, right: str) -> float:
    """WCAG 2.2, relative luminance and contrast ratio."""
    low, high = sorted((luminance(left), luminance(right)))
    return (high + 0.05) / (low + 0.05)


def oklab(light: np.ndarray) -> np.ndarray:
    return TO_LAB @ np.cbrt(TO_CONES @ np.clip(light, 0, 1))


def distance(left: str, right: str, observed: str) -> float:
    matrix = BLINDNESS[observed]
    return float(np.linalg.norm(oklab(matrix @ linear(left)) - oklab(matrix @ linear(right))))


def test_color_formulas_match_known_values():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)  # WCAG's own example
    white = oklab(linear("#FFFFFF"))
    np.testing.assert_allclose(white, [1, 0, 0], atol=1e-4)
    red = oklab(linear("#FF0000"))  # Ottosson's table
    np.testing.assert_allclose(red, [0.628, 0.225, 0.126], atol=1e-3)
    for matrix in BLINDNESS.values():
        np.testing.assert_allclose(matrix @ np.ones(3), 1, atol=2e-6)  # gray stays gray
    # Red and green of equal lightness, far apart for most people, are near for a deuteranope.
    observed, missed = (distance("#C05040", "#5F8030", eyes) for eyes in ("normal", "deuteranopia"))
    assert missed < 0.4 * observed
    assert distance("#0000C0", "#C0C000", "deuteranopia") > 0.3


@THEMES
@pytest.mark.parametrize("role", [role for role in ROLES if role not in NOT_FOR_TEXT])
def test_palette_roles_meet_text_contrast(theme, role):
    ratio = contrast(getattr(PALETTES[theme], role), BACKGROUNDS[theme])
    assert ratio >= 4.5, f"{role}: {ratio:.2f}"


@THEMES
def test_palette_highlight_is_visible_and_grid_is_subtle(theme):
    palette = PALETTES[theme]
    # A mark that carries meaning needs 3 : 1 (WCAG 2.2, 1.4.11).
    assert contrast(palette.highlight, BACKGROUNDS[theme]) >= 3
    assert 1.1 < contrast(palette.grid, BACKGROUNDS[theme]) < 2
    # Lines are drawn over the band.
    for role in ("prediction", "truth", "mlp", "rnn"):
        assert contrast(getattr(palette, role), palette.band) >= 3, role


@THEMES
@pytest.mark.parametrize("seen", list(BLINDNESS))
def test_palette_pairs_are_distinguishable_with_color_blindness(theme, seen):
    """At least 0.05 in OKLab, some two and a half times a just noticeable difference (0.02).

    The networks of a lesson also differ by dash, marker or label; color alone never decides.
    """
    palette = PALETTES[theme]
    near = {
        pair: distance(*(getattr(palette, role) for role in pair), seen)
        for pair in [*combinations(NETWORKS, 2), *TOGETHER]
    }
    pair = min(near, key=near.__getitem__)
    assert near[pair] >= 0.05, f"{pair}: {near[pair]:.3f}"


def test_live_palette_matches_streamlit_category_colors():
    """The ten that Streamlit's own template gives to categories, in the same order."""
    from streamlit.elements.lib import streamlit_plotly_theme as theme

    assert LIVE.colors() == tuple(getattr(theme, f"CATEGORY_{slot}") for slot in range(10))
    for palette in (LIGHT, DARK, LIVE):
        assert len(set(palette.colors())) == len(ROLES) == 10


@THEMES
def test_theme_matches_palette_and_meets_text_contrast(theme):
    palette: Palette = PALETTES[theme]
    config = (ASSETS.parent / ".streamlit/config.toml").read_text("utf-8")
    section = tomllib.loads(config)["theme"][theme]
    assert tuple(section["chartCategoricalColors"]) == palette.colors()
    assert section["backgroundColor"].upper() == BACKGROUNDS[theme]
    assert section["textColor"].upper() == palette.truth
    assert section["primaryColor"].upper() == palette.prediction
    for panel in (section["backgroundColor"], section["secondaryBackgroundColor"]):
        for key, minimum in (("textColor", 7), ("linkColor", 4.5), ("primaryColor", 4.5)):
            assert contrast(section[key], panel) >= minimum, key
    if sidebar := section.get("sidebar"):
        assert contrast(sidebar["textColor"], sidebar["backgroundColor"]) >= 7


def test_layout_returns_independent_copies():
    """A figure that changes its axis must not change the template of the next one."""
    item = layout(Style())
    item["xaxis"]["title"]["text"] = "changed"
    item["xaxis"]["gridcolor"] = "#123456"
    assert "text" not in layout(Style())["xaxis"]["title"]
    assert layout(Style())["xaxis"]["gridcolor"] == LIGHT.grid


def widths(style: Style) -> np.ndarray:
    """Of every kind of line that a figure draws."""
    sheet = Sheet(style)
    panel = sheet.panel({}, {})
    panel.line([0, 1], [0, 1], "line", "#000000", width=2.0)
    panel.points([0], [0], "points", "#000000", edge={"width": 3, "color": "#000000"})
    panel.vertical(0, "#000000")
    panel.rectangle((0, 1), None, "#000000", width=1.6)
    line, points = sheet.traces
    return np.array([line["line"]["width"], points["marker"]["line"]["width"],
                     *(shape["line"]["width"] for shape in sheet.shapes)])  # fmt: skip


def test_line_widths_scale_with_style():
    np.testing.assert_allclose(widths(Style()), [2, 3, 2, 1.6])
    np.testing.assert_allclose(widths(Style(scale=1.25)), [2.5, 3.75, 2.5, 2.0])
