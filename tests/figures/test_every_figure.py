"""What every figure owes the reader: names, units, words, numbers, colors, in both languages.

Figures are found, not listed: each function of `seqviz.figures` that takes a style and draws has an
example beside it, and one test holds each example to all conventions.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from itertools import combinations, product

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core.i18n import number
from seqviz.core.units import plainly_spaced
from seqviz.data.series import bundled
from seqviz.figures.ar_fitting.series import series_and_correlations
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import DARK, LIGHT, LIVE, Style, opaque, recolored
from seqviz.plotting.table import axis_name, cells_name, is_reference, table, tables
from seqviz.ui.page import export
from testing.figure_examples import Example, examples, functions
from tests.line_breaks import parted

PLACEHOLDER = re.compile(r"(?<!%){[\w.]*(?::[^{}]*)?}")  # "%{x}" is filled in by the browser
RESERVED = re.compile(r"#0000\d\d")  # Streamlit replaces #000001 ... #000040 on a page
HYPHEN = re.compile(r"(?<![\w.)\]}-])-\d")  # for a minus
TAGS = re.compile(r"<[^>]+>")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
ENGLISH = re.compile("[A-Za-z]{3}")
STYLES = {
    "light": Style(),
    "zh": Style(lang="zh"),
    "dark": Style(DARK),
    "live": Style(LIVE),
    "large": Style(height=333, scale=1.25),
}
# Examples, and axes of theirs, on which some points are left out: where the best are, where a
# criterion is least, what float32 still holds, and the cliff from which a step leaps away.
CLOSER = {
    ("best so far", "y"), ("running", "y"), ("order", "y"), ("order, no truth", "y"),
    ("reach beyond float32", "y"), ("a cliff", "x"), ("a cliff", "y"),
}  # fmt: skip


def plain(text: str | None) -> str:
    return plainly_spaced(TAGS.sub("", text or "")).strip()


def description(chart) -> str:
    return chart.alt if isinstance(chart, Figure) else chart.description


def words(node) -> list[str]:
    """Every string that a reader may see in a specification."""
    if isinstance(node, dict):
        return [w for key, value in node.items() if key != "bdata" for w in words(value)]
    if isinstance(node, list):
        return [w for value in node for w in words(value)]
    return [node] if isinstance(node, str) and not node.startswith(("http", "data:")) else []


def colors(node) -> set[str]:
    """Colors of lines, marks and words; a scale of colors for values is the same in both themes."""
    if isinstance(node, dict):
        return {c for key, v in node.items() if key != "colorscale" for c in colors(v)}
    if isinstance(node, list):
        return {c for v in node for c in colors(v)}
    return (
        {c.upper() for c in re.findall(r"#[0-9A-Fa-f]{6}", node)}
        if isinstance(node, str)
        else set()
    )


def axes(chart: Figure) -> dict[str, dict]:
    """The axes on which something is drawn."""
    used = {t.get("xaxis", "x") for t in chart.traces} | {t.get("yaxis", "y") for t in chart.traces}
    return {name: chart.axis(name) for name in sorted(used)}


def title(axis) -> str:
    return str((axis.get("title") or {}).get("text") or "").strip()


def label(x) -> str:
    """A place on an axis: a number as a number, a date as it is."""
    return x if isinstance(x, str) else repr(float(x))


def scaffolding(trace) -> bool:
    """A trace that holds no data: a color bar, a guide line."""
    return trace.get("hoverinfo") == "skip" and not trace.get("name")


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


# --- conventions: each takes the example and its drawings by style -------------------------------


def says_the_number_that_matters(example: Example, rendered) -> None:
    expected = str(example.key) if isinstance(example.key, int) else number(example.key)
    for lang in ("light", "zh"):
        message = description(rendered[lang])
        assert re.search(rf"(?<![\d.]){re.escape(expected)}(?![\d])", message), (expected, message)
        assert "nan" not in message
        assert not re.search(r"\d\.\d{7}", message), message  # a number without a format
        assert len(message) > 15
    assert CHINESE.search(description(rendered["zh"]))


def leaves_no_placeholder(example: Example, rendered) -> None:
    for lang in ("light", "zh"):
        spec = json.loads(rendered[lang].to_json())
        for text in [*words(spec), description(rendered[lang])]:
            assert not PLACEHOLDER.search(text), text


def parts_no_number_from_its_unit(example: Example, panels) -> None:
    """Titles wrap on a narrow screen (responsive_panels.js), and so does the description."""
    for lang in ("light", "zh"):
        chart = panels[lang]
        messages = [
            chart.alt,
            *(str(note.get("text")) for note in chart.page.get("annotations", ())),
        ]
        messages += [title(axis) for axis in axes(chart).values()]
        messages += [str(t.get(key, "")) for t in chart.traces for key in ("name", "hovertemplate")]
        assert not [part for item in messages for part in parted(item)]


def writes_minus_as_a_sign(example: Example, rendered) -> None:
    """U+2212, as at the axes; what the browser formats has it from `tools/plotly_bundle.js`."""
    for lang in ("light", "zh"):
        chart = rendered[lang]
        shown = words([{**t, "ids": None} for t in json.loads(chart.to_json()).get("data", ())])
        notes = [str(note.get("text")) for note in chart.page.get("annotations", ())]
        texts = [description(chart), *notes, *shown]
        assert not [text for text in texts if HYPHEN.search(TAGS.sub("", text))]


def is_the_same_for_the_same_input(example: Example, rendered) -> None:
    before = [array.copy() for array in arrays_in(example.args)]
    assert example.figure().to_json() == rendered["light"].to_json()
    for old, new in zip(before, arrays_in(example.args), strict=True):
        np.testing.assert_array_equal(old, new)


def uses_the_palette_alone(example: Example, rendered) -> None:
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        written = rendered[name].to_json()
        assert not RESERVED.search(written)
        result = colors(json.loads(written))
        assert result <= {c.upper() for c in palette.colors()}
        assert len(result) >= 2


def has_a_table(example: Example, rendered) -> None:
    frame = table(rendered["light"])
    assert len(frame) > 0
    assert frame.select_dtypes("number").notna().to_numpy().any()


def replays_lines_over_updates(example: Example, rendered) -> None:
    chart = rendered["light"]
    replay = (chart.page.get("meta") or {}).get("replay", {"axes": []})
    for axis in replay["axes"]:
        lines = [t for t in chart.traces if t.get("xaxis", "x") == axis and "x" in t]
        assert lines, axis
        assert all(np.asarray(t["x"], float).min() >= 0 for t in lines if len(t["x"])), axis
    # A panel whose lines stayed as they are at the end would belie the update.
    learned = [chart.traces[item["trace"]] for item in replay.get("learned", ())]
    drawn = {t.get("xaxis", "x") for t in chart.traces if t.get("meta") == "by_update"}
    drawn |= {*replay["axes"], *(t.get("xaxis", "x") for t in learned)}
    if replay["axes"] or learned:
        assert {t.get("xaxis", "x") for t in chart.traces if "lines" in t.get("mode", "")} <= drawn
    for trace, item in zip(learned, replay.get("learned", ()), strict=True):
        updates, y = np.asarray(item["updates"]), item["y"]
        assert (np.diff(updates) > 0).all()
        assert y.shape == (len(updates), len(item.get("x", trace["x"])))
        assert y.nbytes <= 20_000


def every_axis_has_a_name(example: Example, rendered) -> None:
    for lang in ("light", "zh"):
        for name, axis in axes(rendered[lang]).items():
            hidden = axis.get("showticklabels") is False  # its neighbor's labels serve for it
            assert title(axis) or hidden, name


def axes_speak_the_readers_language(example: Example, rendered) -> None:
    for (name, item), other in zip(
        axes(rendered["light"]).items(), axes(rendered["zh"]).values(), strict=True
    ):
        english, chinese = title(item), title(other)
        given = english in map(str, example.args)  # the caller's words
        if not given and ENGLISH.search(plain(english)):
            assert english != chinese, name


def holds_all_its_points(example: Example, rendered) -> None:
    """What can be read off lies within its axes, but where a figure looks closer on purpose."""
    chart = rendered["light"]
    visible = [trace for trace in chart.traces if trace.get("hoverinfo") != "skip"]
    for trace, method in product(visible, "xy"):
        axis, given = chart.axis(trace.get(f"{method}axis", method)), trace.get(method)
        if given is None or axis.get("range") is None or isinstance(axis["range"][0], str):
            continue
        low, high = sorted(axis["range"])
        values = np.asarray(given)
        along = "x" if trace.get("orientation") == "h" else "y"
        if (
            method == along and trace.get("base") is not None
        ):  # a bar ends that far from its beginning
            values = values + np.asarray(trace["base"])
        if values.dtype.kind not in "iuf" or (example.name, method) in CLOSER:
            continue
        if axis.get("type") == "log":
            values = np.log10(values, where=values > 0, out=np.full(values.shape, np.nan))
        finite = values[np.isfinite(values)]
        assert ((finite >= low - 1e-9) & (finite <= high + 1e-9)).all(), (trace.get("name"), method)


def panels_stand_apart(example: Example, rendered) -> None:
    chart = rendered["light"]
    pairs = {(trace.get("xaxis", "x"), trace.get("yaxis", "y")) for trace in chart.traces}
    used = [[chart.axis(name) for name in pair] for pair in pairs]
    apart = [pair for pair in used if not any("overlaying" in axis for axis in pair)]
    panels = [[axis.get("domain", (0, 1)) for axis in pair] for pair in apart]
    for combination, other in combinations(panels, 2):
        common = [
            min(a[1], b[1]) - max(a[0], b[0]) for a, b in zip(combination, other, strict=True)
        ]
        assert min(common) < 1e-6, (combination, other)


def type_is_that_of_the_house(example: Example, rendered) -> None:
    """14 px for axis names (Plotly's own default is a fifth larger), scaled as told."""
    for style, scale in (("light", 1.0), ("large", 1.25)):
        for name, axis in axes(rendered[style]).items():
            assert axis["title"]["font"]["size"] == pytest.approx(14 * scale), name
            assert axis["tickfont"]["size"] == pytest.approx(13 * scale), name
    assert rendered["large"].page["height"] == 333


def traces_have_names(example: Example, rendered) -> None:
    for trace in rendered["light"].traces:
        assert (trace.get("name") or "").strip() or scaffolding(trace)


def colors_leave_with_the_file(example: Example, rendered) -> None:
    live = rendered["live"]
    assert colors(json.loads(live.to_json())) <= set(LIVE.colors())  # no fixed color on a page
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        filed = recolored(live, LIVE, palette)
        # the same figure as if it had been drawn in that palette to begin with
        assert json.loads(filed.to_json()) == json.loads(rendered[name].to_json())
    assert live.page["paper_bgcolor"] == live.page["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert opaque(rendered["light"], LIGHT).page["paper_bgcolor"] == "#FFFFFF"
    assert opaque(rendered["dark"], DARK).page["plot_bgcolor"] == "#11161D"


def its_table_holds_its_numbers(example: Example, rendered) -> None:
    """Every drawn point is in the table, under the names of its trace and of its axes."""
    chart = rendered["light"]
    frame = table(chart)
    used = axes(chart)
    traces = [trace for trace in chart.traces if not scaffolding(trace)]
    for heat in [trace for trace in traces if trace["type"] == "heatmap"]:
        name, z = cells_name(chart, heat), np.asarray(heat["z"]).ravel()
        assert plain(heat["name"]) in name
        panels = [panel[name].to_numpy() for panel in tables(chart) if name in panel]
        assert any(np.array_equal(panel, z, equal_nan=True) for panel in panels), name
    for trace in [trace for trace in traces if trace["type"] != "heatmap"]:
        x_name = plain(title(used[trace.get("xaxis", "x")])) or "x"
        y_name = axis_name(chart, trace.get("yaxis", "y"))
        assert plain(title(used[trace.get("yaxis", "y")])) in y_name
        part = frame[frame["series"] == plain(trace["name"])]
        pairs = zip(part[x_name], part[y_name], strict=True)
        listed = {(label(x), label(y)) for x, y in pairs if str(y) != "nan"}
        points = zip(np.asarray(trace["x"]).tolist(), np.asarray(trace["y"]).tolist(), strict=True)
        visible = {(label(x), label(y)) for x, y in points if str(y) not in ("nan", "None")}
        assert visible
        assert visible <= listed, trace["name"]
    assert len(frame) == sum(
        np.asarray(trace["z"]).size if trace["type"] == "heatmap" else len(trace["y"])
        for trace in traces
    )


def its_table_begins_with_data(example: Example, rendered) -> None:
    """Who reads the first rows sees what was measured, not a bound or the outline of a band."""
    traces = [trace for trace in rendered["light"].traces if not scaffolding(trace)]
    data = [plain(trace.get("name")) for trace in traces if not is_reference(trace)]
    first = tables(rendered["light"], 5)[0]
    if data and "series" in first:
        assert first["series"].iloc[0] in data


def plotly_knows_every_key(example: Example, rendered) -> None:
    """Compared with Plotly's own schema (in a page's colors: test_grayscale.py)."""
    assert len(rendered["light"].plotly().data) == len(rendered["light"].traces)


def is_json(example: Example, rendered) -> None:
    def refuse(token: str):
        raise AssertionError(f"{token} in a figure")

    json.loads(rendered["light"].to_json(), parse_constant=refuse)


EVERY = (
    says_the_number_that_matters,
    leaves_no_placeholder,
    is_the_same_for_the_same_input,
    uses_the_palette_alone,
    has_a_table,
)
PLOTLY = (
    writes_minus_as_a_sign,
    replays_lines_over_updates,
    every_axis_has_a_name,
    axes_speak_the_readers_language,
    parts_no_number_from_its_unit,
    holds_all_its_points,
    panels_stand_apart,
    type_is_that_of_the_house,
    traces_have_names,
    colors_leave_with_the_file,
    its_table_holds_its_numbers,
    its_table_begins_with_data,
    plotly_knows_every_key,
    is_json,
)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_figure_follows_all_conventions(example: Example):
    rendered = {name: example.figure(style) for name, style in STYLES.items()}
    broken = []
    if isinstance(rendered["light"], str):  # HTML: a text colored by numbers
        assert all(rendered[name] for name in STYLES)
        assert rendered["light"] != rendered["zh"]
        return
    for convention in (*EVERY, *(PLOTLY if isinstance(rendered["light"], Figure) else ())):
        try:
            convention(example, rendered)
        except AssertionError as error:
            broken.append(f"{convention.__name__}: {error}")
    assert not broken, "\n".join(broken)


def test_figure_functions_all_have_examples():
    visible = {example.draw for example in examples()}
    lacking = [f"{f.__module__}.{f.__name__}" for f in functions() if f not in visible]
    assert not lacking
    assert len(functions()) > 50


def test_example_names_are_unique():
    names = [example.name for example in examples()]
    assert len(names) == len(set(names))


def test_figure_ignores_default_plotly_template(monkeypatch):
    """Importing Streamlit changes Plotly's default template for the whole process.

    The page, the notebook and the exported file would then differ, and a file would carry colors
    that only Streamlit understands.
    """
    chart = next(e.figure() for e in examples() if isinstance(e.figure(), Figure))
    built = []
    for template in ("plotly", "streamlit"):
        monkeypatch.setattr("plotly.io.templates.default", template)
        built.append(chart.plotly().to_json())
    assert built[0] == built[1]


# --- text that looks like markup ------------------------------------------------------------------

UNIT = "<img src=x onerror=alert(1)><b>&</script><script>alert(2)</script>"


def with_unit(unit: str) -> Figure:
    nile = bundled("nile")
    return series_and_correlations(nile.values, ar.correlogram(nile.values, 10), nile.labels, unit)


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


def test_html_export_escapes_markup_in_unit():
    """Plotly itself shows a few tags as formatting and the rest as text; the page is ours."""
    page = export.html(with_unit(UNIT)).decode()
    parsed = Collector()
    parsed.feed(page)
    assert not [tag for tag, _ in parsed.tags if tag == "img"]
    assert not [script for script in parsed.scripts if script.strip().startswith("alert")]


def test_figure_keeps_unit_markup_in_axis_title():
    named = title(with_unit("<b>&").axis("y"))
    assert named.endswith("(<b>&)") or named.endswith("(&lt;b&gt;&amp;)")
