"""What every figure owes the reader: names, units, words, numbers, colors, in both languages."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from drawn import Case, cases, nile, plotly_cases

from seqviz.compute import autoregression as ar
from seqviz.figures.autoregression.series import series_and_correlations
from seqviz.figures.grammar.style import (
    DARK,
    LIGHT,
    LIVE,
    Style,
    alt_text,
    checking,
    opaque,
    recolored,
)
from seqviz.figures.grammar.table import table, tables
from seqviz.text import LANGUAGES, number
from seqviz.ui.bench import export

PLACEHOLDER = re.compile(r"(?<!%){\w*}")  # "%{x}" is filled in by the browser
RESERVED = re.compile(r"#0000\d\d")  # Streamlit replaces #000001 ... #000040 on a page
TAGS = re.compile(r"<[^>]+>")
EVERY = pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
PLOTLY = pytest.mark.parametrize("case", plotly_cases(), ids=lambda case: case.name)
LANG = pytest.mark.parametrize("lang", LANGUAGES)


def description(chart) -> str:
    return alt_text(chart) if isinstance(chart, go.Figure) else chart.description


def drawn(chart) -> str:
    """What is drawn, without Plotly's template of defaults (which Streamlit replaces)."""
    spec = json.loads(chart.to_json())
    spec.get("layout", {}).pop("template", None)
    return json.dumps(spec, sort_keys=True)


def colors_in(chart) -> set[str]:
    """Colors of lines, marks and words; a scale of colors for values is the same in both themes."""
    spec = json.loads(drawn(chart))
    for trace in spec.get("data", []):
        if isinstance(trace, dict):
            trace.pop("colorscale", None)
    return set(re.findall(r"#[0-9A-Fa-f]{6}", json.dumps(spec)))


def words(chart) -> list[str]:
    """Every string that a reader may see in the figure's specification."""

    def walk(node):
        if isinstance(node, dict):
            for value in node.values():
                yield from walk(value)
        elif isinstance(node, list):
            for value in node:
                yield from walk(value)
        elif isinstance(node, str):
            yield node

    spec = json.loads(drawn(chart))
    return [text for text in walk(spec) if not text.startswith("http")]


def axes(chart: go.Figure) -> dict[str, go.layout.XAxis]:
    """The axes on which something is drawn."""
    used = {t.xaxis or "x" for t in chart.data} | {t.yaxis or "y" for t in chart.data}
    return {name: chart.layout[f"{name[0]}axis{name[1:]}"] for name in sorted(used)}


def label(x) -> str:
    """A place on an axis: a number as a number, a date as it is."""
    return x if isinstance(x, str) else repr(float(x))


def rows_of(chart: go.Figure, trace) -> list[tuple]:
    return list(zip(np.asarray(trace.x).tolist(), np.asarray(trace.y).tolist(), strict=True))


def is_map(chart: go.Figure) -> bool:
    return any(trace.type == "heatmap" for trace in chart.data)


def is_scaffolding(trace) -> bool:
    """A trace that holds no data: a color bar, a guide line."""
    return trace.hoverinfo == "skip" and not trace.name


@PLOTLY
def test_it_is_the_same_without_plotly_s_checks(case: Case, monkeypatch):
    """As a server draws it; that the checks find nothing is what all the other tests see."""
    checked = case.figure(Style(LIVE))
    monkeypatch.setattr(checking, "on", False)
    unchecked = case.figure(Style(LIVE))
    assert drawn(unchecked) == drawn(checked)
    assert alt_text(unchecked) == alt_text(checked)
    for one, other in zip(tables(unchecked), tables(checked), strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert export.csv(unchecked) == export.csv(checked)
    files = [drawn(opaque(recolored(one, LIVE, LIGHT), LIGHT)) for one in (unchecked, checked)]
    assert files[0] == files[1]


@LANG
@PLOTLY
def test_every_axis_has_a_name(case: Case, lang: str):
    chart = case.figure(Style(lang=lang))
    for name, axis in axes(chart).items():
        hidden = axis.showticklabels is False  # its neighbor's labels serve for it
        assert (axis.title.text or "").strip() or hidden, name


@PLOTLY
def test_axis_names_are_in_the_readers_language(case: Case):
    english, chinese = (axes(case.figure(Style(lang=lang))) for lang in LANGUAGES)
    for name in english:
        e, c = english[name].title.text, chinese[name].title.text
        given = any(isinstance(arg, str) and arg == e for arg in case.args)  # the caller's words
        formula = not re.search("[A-Za-z]{3}", TAGS.sub("", e or ""))
        if given or e in ("ACF", "PACF") or formula:
            continue
        assert e != c, name


@PLOTLY
def test_type_is_that_of_the_house(case: Case):
    """14 px for axis names (Plotly's own default is a fifth larger), scaled as told."""
    for scale in (1.0, 1.25):
        for name, axis in axes(case.figure(Style(scale=scale))).items():
            assert axis.title.font.size == pytest.approx(14 * scale), name
            assert axis.tickfont.size == pytest.approx(13 * scale), name


@LANG
@EVERY
def test_no_placeholder_is_left(case: Case, lang: str):
    chart = case.figure(Style(lang=lang))
    for text in [*words(chart), description(chart)]:
        assert not PLACEHOLDER.search(text), text


@LANG
@EVERY
def test_description_names_the_number_that_matters(case: Case, lang: str):
    said = description(case.figure(Style(lang=lang)))
    wanted = str(case.key) if isinstance(case.key, int) else number(case.key)
    assert re.search(rf"(?<![\d.]){re.escape(wanted)}(?![\d])", said), (wanted, said)
    assert "nan" not in said
    assert len(said) > 15


@EVERY
def test_descriptions_differ_by_language(case: Case):
    english, chinese = (description(case.figure(Style(lang=lang))) for lang in LANGUAGES)
    assert english != chinese
    assert re.search(r"[\u4e00-\u9fff]", chinese)


@PLOTLY
def test_traces_have_names(case: Case):
    for trace in case.figure().data:
        assert (trace.name or "").strip() or is_scaffolding(trace)


@EVERY
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_plain_palettes_use_no_reserved_color(case: Case, palette):
    chart = case.figure(Style(palette))
    assert not RESERVED.search(drawn(chart))
    colors = {c.upper() for c in colors_in(chart)}
    assert colors <= {c.upper() for c in palette.colors()}
    assert len(colors) >= 3


@PLOTLY
def test_live_colors_are_reserved_ones_and_leave_with_the_file(case: Case):
    live = case.figure(Style(LIVE))
    colors = colors_in(live)
    assert colors <= set(LIVE.colors())  # no fixed color: a reader's dark theme could hide it
    for palette in (LIGHT, DARK):
        filed = recolored(live, LIVE, palette)
        assert not RESERVED.search(drawn(filed))
        # the same figure as if it had been drawn in that palette to begin with
        assert drawn(filed) == drawn(case.figure(Style(palette)))


def test_a_figure_does_not_depend_on_who_imported_what(monkeypatch):
    """Importing Streamlit changes Plotly's default template for the whole process.

    The page, the notebook and the exported file would then differ, and a file would carry colors
    that only Streamlit understands.
    """
    case = plotly_cases()[0]
    made = []
    for template in ("plotly", "streamlit"):
        monkeypatch.setattr("plotly.io.templates.default", template)
        made.append(case.figure().to_json())
    assert made[0] == made[1]


def test_a_file_has_no_color_that_only_streamlit_understands():
    filed = recolored(plotly_cases()[0].figure(Style(LIVE)), LIVE, LIGHT)
    assert not RESERVED.search(filed.to_json())


@PLOTLY
def test_backgrounds_are_transparent_on_the_page_and_solid_in_a_file(case: Case):
    chart = case.figure(Style(LIVE))
    assert chart.layout.paper_bgcolor == chart.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert opaque(case.figure(), LIGHT).layout.paper_bgcolor == "#FFFFFF"
    assert opaque(case.figure(), DARK).layout.plot_bgcolor == "#11161D"


@PLOTLY
def test_table_holds_the_numbers_of_the_figure(case: Case):
    """Every drawn point is in the table, under the names of its trace and of its axes."""
    chart = case.figure()
    frame = table(chart)
    used = axes(chart)
    traces = [trace for trace in chart.data if not is_scaffolding(trace)]
    for heat in [trace for trace in traces if trace.type == "heatmap"]:
        name, z = TAGS.sub("", heat.name), np.asarray(heat.z).ravel()
        panels = [panel[name].to_numpy() for panel in tables(chart) if name in panel]
        assert any(np.array_equal(panel, z, equal_nan=True) for panel in panels), name
    for trace in [trace for trace in traces if trace.type != "heatmap"]:
        x_name = TAGS.sub("", used[trace.xaxis or "x"].title.text or "").strip() or "x"
        y_name = TAGS.sub("", used[trace.yaxis or "y"].title.text or "").strip() or "y"
        part = frame[frame["series"] == TAGS.sub("", trace.name).strip()]
        listed = {
            (label(x), label(y))
            for x, y in zip(part[x_name], part[y_name], strict=True)
            if str(y) != "nan"
        }
        drawn_points = {(label(x), label(y)) for x, y in rows_of(chart, trace) if str(y) != "nan"}
        assert drawn_points
        assert drawn_points <= listed, trace.name
    assert len(frame) == sum(
        np.asarray(trace.z).size if trace.type == "heatmap" else len(trace.y) for trace in traces
    )


@EVERY
def test_table_is_not_empty(case: Case):
    frame = table(case.figure())
    assert len(frame) > 0
    assert frame.select_dtypes("number").notna().to_numpy().any()


def arrays_in(value):
    """All arrays within arguments, tuples and results."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from arrays_in(part)
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))
    elif is_dataclass(value):
        for field in fields(value):
            yield from arrays_in(getattr(value, field.name))


@EVERY
def test_figure_does_not_change_its_input(case: Case):
    before = [array.copy() for array in arrays_in(case.args)]
    case.figure()
    for old, new in zip(before, arrays_in(case.args), strict=True):
        np.testing.assert_array_equal(old, new)


@EVERY
def test_the_same_input_gives_the_same_figure(case: Case):
    assert case.figure().to_json() == case.figure().to_json()


@PLOTLY
def test_height_is_that_of_the_style(case: Case):
    assert case.figure(Style(height=333)).layout.height == 333


# --- text that looks like markup ------------------------------------------------------------------

UNIT = "<img src=x onerror=alert(1)><b>&</script><script>alert(2)</script>"


def with_unit(unit: str) -> go.Figure:
    found = ar.correlogram(nile().values, 10)
    return series_and_correlations(nile().values, found, nile().labels, unit)


class Collector(HTMLParser):
    """Tags of a page, and the text of each script."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts.append(data)


def test_markup_in_a_unit_cannot_leave_its_script_in_a_standalone_page():
    """Plotly itself shows a few tags as formatting and the rest as text; the page is ours."""
    page = export.html(with_unit(UNIT)).decode()
    parsed = Collector()
    parsed.feed(page)
    assert not [tag for tag, _ in parsed.tags if tag == "img"]
    assert not [script for script in parsed.scripts if script.strip().startswith("alert")]


def test_markup_in_a_unit_stays_in_the_axis_name():
    title = with_unit("<b>&").layout.yaxis.title.text
    assert title.endswith("(<b>&)") or title.endswith("(&lt;b&gt;&amp;)")
