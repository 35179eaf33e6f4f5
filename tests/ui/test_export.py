"""What leaves a figure says the same as the figure, and needs nobody."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from seqviz.compute import autoregression as ar
from seqviz.figures.autoregression.by_hand import fit_by_hand
from seqviz.figures.autoregression.series import series_and_correlations
from seqviz.figures.grammar.style import LIGHT, LIVE, Style
from seqviz.figures.grammar.table import table
from seqviz.text import LANGUAGES
from seqviz.ui.bench import export
from seqviz.ui.shared.share_link import svg_code

PATH = ar.simulate((0.8,), n=120, seed=3)
FOUND = ar.correlogram(PATH.values, 12, PATH.coefficients)


def charts(lang):
    style = Style(LIVE, lang)
    return [
        series_and_correlations(PATH.values, FOUND, style=style),
        fit_by_hand(PATH.values, style),
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("which", [0, 1])
def test_csv_holds_the_table(lang, which):
    chart = charts(lang)[which]
    read = pd.read_csv(io.BytesIO(export.csv(chart)), encoding="utf-8-sig")
    pd.testing.assert_frame_equal(read, table(chart), check_dtype=False)
    assert len(read) > 100


def test_csv_holds_the_series_itself():
    read = pd.read_csv(io.BytesIO(export.csv(charts("en")[0])))
    series = read[read["series"] == "series"]["value xt"]
    # The figure carries float64 and the file all its digits.
    np.testing.assert_allclose(series, PATH.values, rtol=1e-15)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("which", [0, 1])
def test_html_runs_alone(lang, which):
    page = export.html(charts(lang)[which]).decode()
    loaded = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=[\"']([^\"']+)", page)
    assert not [address for address in loaded if address.startswith(("http", "//"))]
    assert LIGHT.prediction in page
    assert len(page) > 500_000  # the drawing library is inside
    # The reserved colors mean nothing outside Streamlit.
    assert not re.search(r"\"#0000(0[1-9]|10)\"", page)


def test_a_link_becomes_a_code_that_says_it():
    """The QR picture is an SVG with dark modules on a white ground and its quiet zone."""
    tree = ElementTree.fromstring(svg_code("http://10.0.0.7:8501/ar_fitting?lang=zh"))
    assert tree.tag.endswith("svg")
    assert "#fff" in ElementTree.tostring(tree).decode()
