"""What leaves a figure says the same as the figure, and needs nobody."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from seqviz.compute import ar_fitting as ar
from seqviz.core.i18n import LANGUAGES
from seqviz.figures.ar_fitting.by_hand import slopes_by_window
from seqviz.figures.ar_fitting.series import series_and_correlations
from seqviz.plotting import axes, scales
from seqviz.plotting.sheet import Sheet
from seqviz.plotting.style import LIGHT, LIVE, Style
from seqviz.plotting.table import table
from seqviz.ui.page import export
from seqviz.ui.render.share_link import svg_code

PATH = ar.simulate((0.8,), n=120, seed=3)
FOUND = ar.correlogram(PATH.values, 12, PATH.coefficients)


def charts(lang):
    style = Style(LIVE, lang)
    return [
        series_and_correlations(PATH.values, FOUND, style=style),
        slopes_by_window(PATH.values, ar.window_slopes(PATH.values), style),
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("which", [0, 1])
def test_csv_matches_table(lang, which):
    chart = charts(lang)[which]
    read = pd.read_csv(io.BytesIO(export.csv(chart)), encoding="utf-8-sig")
    pd.testing.assert_frame_equal(read, table(chart), check_dtype=False)
    assert len(read) > 100


def test_csv_keeps_series_at_full_precision():
    read = pd.read_csv(io.BytesIO(export.csv(charts("en")[0])))
    series = read[read["series"] == "series"]["value xt"]
    # The figure carries float64 and the file all its digits.
    np.testing.assert_allclose(series, PATH.values, rtol=1e-15)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("which", [0, 1])
def test_html_is_self_contained(lang, which):
    page = export.html(charts(lang)[which]).decode()
    loaded = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=[\"']([^\"']+)", page)
    assert not [address for address in loaded if address.startswith(("http", "//"))]
    assert LIGHT.prediction in page
    assert len(page) > 500_000  # the drawing library is inside
    # The reserved colors mean nothing outside Streamlit.
    assert not re.search(r"\"#0000(0[1-9]|10)\"", page)


def test_qr_code_renders_svg_with_white_background():
    """The QR picture is an SVG with dark modules on a white ground and its quiet zone."""
    tree = ElementTree.fromstring(svg_code("http://10.0.0.7:8501/ar_fitting?lang=zh"))
    assert tree.tag.endswith("svg")
    assert "#fff" in ElementTree.tostring(tree).decode()


def test_table_names_decade_columns_as_logarithms():
    """The norm of a product is not negative; both maps below share one color bar."""
    sheet = Sheet(Style())
    scale = scales.unit_scale(-12, 0, scales.decades(-12, 0))
    for panel, name, bar in (((0, 0.4), "kept", ""), ((0.5, 0.9), "lost", None)):
        created = sheet.panel(x=axes.axis("t", domain=panel), y=axes.axis("τ"))
        created.cells([[-3.0, -6.0]], name, scale, bar=bar)
    created = sheet.panel(x=axes.axis("k"), y=axes.axis("share"))
    created.cells([[0.5]], "part", scales.unit_scale(0, 1))
    columns = set(table(sheet.finish("")).columns)
    assert {"log₁₀ (kept)", "log₁₀ (lost)", "part"} <= columns


def test_table_reuses_title_of_axis_with_same_range():
    sheet = Sheet(Style())
    for position, (domain, title, ends) in enumerate(
        [((0, 0.3), "rank", [0, 9]), ((0.4, 0.6), "", [0, 9]), ((0.7, 1), "", [0, 5])]
    ):
        panel = sheet.panel(
            x=axes.axis(f"x{position}", domain=domain), y=axes.axis(title, range=ends)
        )
        panel.line([1, 2], [3, 4], "a", {})
    assert {"rank", "rank (2)", "y"} <= set(table(sheet.finish("")).columns)


def test_data_panel_formats_floats_to_six_significant_digits():
    """Not 0.000000000000000004: six digits, wherever the point is; whole numbers as they are."""

    def page() -> None:
        from seqviz.compute import ar_fitting as ar
        from seqviz.core.i18n import Text
        from seqviz.figures.ar_fitting.series import series_and_correlations
        from seqviz.ui.page import export

        path = ar.simulate((0.8,), n=120, seed=3)
        correlogram = ar.correlogram(path.values, 12, path.coefficients)
        export.data_panel(Text("en"), series_and_correlations(path.values, correlogram))

    visible = AppTest.from_function(page).run()
    assert not visible.exception
    assert len(visible.dataframe) >= 2
    for element in visible.dataframe:
        columns = json.loads(element.proto.columns)
        for name, kind in element.value.dtypes.items():
            written = columns.get(name, {}).get("type_config", {}).get("format")
            assert written == ("%.6g" if kind.kind == "f" else None), name
    # What the browser saves has every digit: the numbers themselves are sent.
    sent = next(item.value["value xt"] for item in visible.dataframe if "value xt" in item.value)
    np.testing.assert_array_equal(sent.dropna().to_numpy()[:120], PATH.values)
