"""What is painted in part while a hand moves is what Plotly would paint as a whole."""

from __future__ import annotations

import contextlib
import json
import re

import numpy as np
import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.brotli_assets import read_asset
from seqviz.core.paths import STATIC
from seqviz.lessons.framework.controls import SelectSlider, Slider, controls, encoded
from seqviz.lessons.framework.host import PendingError
from seqviz.plotting.figure import joined
from seqviz.ui.live import handler
from seqviz.ui.runtime.run_context import Session

pytestmark = pytest.mark.browser
SIZE = {"width": 800, "height": 420}
VALUES = 4

# Paint each figure in part over the one before, and as a whole beside it with the same margins.
# Gives whether it was painted in part, what Plotly does not know, and what is there and not there;
# order and names, which Plotly draws at random, left aside.
COMPARE = r"""async ([figures, size]) => {
  const [moved, whole] = ["moved", "whole"].map((id) => document.getElementById(id));
  Plotly.purge(moved);
  const sheet = (figure) => structuredClone(
    { traces: withTraceIds(figure.data), layout: figure.layout });
  const paint = (host, { traces, layout }) =>
    Plotly.react(host, traces, { ...layout, ...size }, { displayModeBar: false })
      .then(() => turnArrows(host));
  const drawn = /trace\w+|cb[0-9a-f]{6}|[gpl][0-9a-f]{6}-[0-9a-z-]+|clip[0-9a-z]+/g;
  const names = ["class", "d", "transform", "x", "y", "href", "width", "height"];
  const style = (mark) => (mark.getAttribute("style") ?? "").split(/; */).sort().join("; ");
  const marks = (host) =>
    [...host.querySelectorAll("path, text, image, rect, g.trace, g.point")]
      .filter((mark) => !mark.closest(".draglayer, .hoverlayer, defs"))
      .map((mark) => [mark.tagName, mark.tagName === "text" ? mark.textContent : "",
        ...names.map((name) => mark.getAttribute(name) ?? ""), style(mark)]
        .join("|").replace(drawn, "*"))
      .sort();
  const without = (some, others) => {
    const left = [...others];
    return some.filter((one) => {
      const place = left.indexOf(one);
      if (place >= 0) left.splice(place, 1);
      return place < 0;
    });
  };
  const found = [];
  let before = null, parts = false;
  for (const figure of figures) {
    const now = sheet(figure);
    const part = before !== null && repaint(moved, before, now);
    if (!part) await paint(moved, sheet(figure));
    before = now;
    parts ||= part;
    const known = moved._fullLayout;
    const unknown = [
      ...Object.entries(figure.layout)
        .filter(([key, one]) => typeof one === "object" && !(key in known))
        .filter(([key]) => key !== "template"), // every build knows it; not kept when painted again
      ...figure.data.filter(({ type }, at) => moved._fullData[at].type !== type),
    ];
    if (!parts) { // both would be Plotly's own
      found.push({ part, unknown, extra: [], missing: [] });
      continue;
    }
    const { l, r, t, b } = known._size;
    const fixed = sheet(figure);
    fixed.layout.margin = { ...fixed.layout.margin, l, r, t, b, autoexpand: false };
    Plotly.purge(whole);
    await paint(whole, fixed);
    const [one, other] = [marks(moved), marks(whole)];
    found.push({ part, unknown, extra: without(one, other), missing: without(other, one) });
  }
  return found;
}"""


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context()
    page = context.new_page()
    style = "; ".join(f"{name}: {value}px" for name, value in SIZE.items())
    page.set_content(
        "".join(f'<div id="{name}" style="{style}"></div>' for name in ("moved", "whole"))
    )
    page.add_script_tag(content=read_asset(STATIC / "plotly.min.js").decode())
    module = (STATIC / "bench/repaint.js").read_text("utf-8")
    page.add_script_tag(content=re.sub(r"^export ", "", module, flags=re.M))
    yield page
    context.close()


def figures(bench, name, control, count: int) -> list:
    """The figures of a bench along one of its sliders; as many as it has where it has to wait."""
    low, high = control.bounds()
    values = np.linspace(low, high, count)
    session, rendered = Session("test", 0.0), []
    with contextlib.suppress(PendingError, ValueError):
        for value in values:
            request = int(value) if isinstance(low, int) else float(value)
            query = {f"{bench.prefix}.{name}": encoded(request)}
            rendered.append(
                json.loads(joined(handler.render_bench(bench, query, session).figure) or "null")
            )
    return [figure for figure in rendered if figure]


SLIDERS = [
    pytest.param(slug, name, parameter, id=f"{slug} {name} {parameter}",
                 marks=() if first else pytest.mark.nightly)
    for slug in (lesson.slug for lesson in catalog.LESSONS)
    for name, bench in getattr(lessons, slug).lesson.benches.items()
    for first, (parameter, control) in zip(
        [name in getattr(lessons, slug).lesson.core] + [False] * 99,
        [control for control in controls(bench.declaration)
         if isinstance(control[1], Slider | SelectSlider) and not control[1].client], strict=False)
]  # fmt: skip


@pytest.mark.parametrize(("slug", "name", "parameter"), SLIDERS)
def test_partial_repaint_matches_full_repaint(page, slug, name, parameter, minilm, smollm2):
    bench = getattr(lessons, slug).lesson.benches[name]
    rendered = figures(bench, parameter, dict(controls(bench.declaration))[parameter], VALUES)
    for index, item in enumerate(page.evaluate(COMPARE, [rendered, SIZE])):
        assert (item["extra"], item["missing"]) == ([], []), index
        assert item["unknown"] == [], "our build of Plotly lacks a part"


@pytest.mark.parametrize(("slug", "name", "parameter"), [
    ("gates", "force", "f"), ("attention", "features", "query"),
    ("positions", "effect", "strength"), ("bert_accuracy", "knife", "share"),
    ("vanishing_gradients", "reach", "forget_bias"), ("ar_fitting", "process", "sigma"),
    ("transformer", "account", "part"), ("gates", "one", "step"), ("positions", "schemes", "key"),
])  # fmt: skip
def test_partial_repaint_is_used_for_slider_moves(page, slug, name, parameter, minilm, smollm2):
    """The sliders that a class moves most; gaining or losing a line takes a whole one."""
    bench = getattr(lessons, slug).lesson.benches[name]
    rendered = figures(bench, parameter, dict(controls(bench.declaration))[parameter], 9)
    parts = [item["part"] for item in page.evaluate(COMPARE, [rendered, SIZE])]
    assert sum(parts) >= 6, parts


MEASURED = r"""async ([figures, size]) => {
  const host = document.getElementById("moved");
  Plotly.purge(host);
  const sheet = (figure) => structuredClone(
    { traces: withTraceIds(figure.data), layout: figure.layout });
  const { traces, layout } = sheet(figures[0]);
  await Plotly.react(host, traces, { ...layout, ...size });
  const measure = Element.prototype.getBoundingClientRect;
  let texts = [];
  Element.prototype.getBoundingClientRect = function () {
    if (this.closest("#js-plotly-tester") && this.textContent) texts.push(this.textContent);
    return measure.call(this);
  };
  const found = [];
  for (const [place, figure] of figures.entries()) {
    if (place === 0) continue;
    texts = [];
    const part = repaint(host, sheet(figures[place - 1]), sheet(figure));
    const said = [...host.querySelectorAll(".legendtext")]
      .map((one) => one.textContent.replaceAll("\u200b", ""));
    found.push({ part, texts, said });
  }
  Element.prototype.getBoundingClientRect = measure;
  return found;
}"""


def test_partial_repaint_measures_no_text_of_unchanged_width(page):
    """Each measuring makes the browser lay the page out: eight of them were half of a painting."""
    bench = lessons.vanishing_gradients.lesson.benches["reach"]
    rendered = [
        json.loads(
            joined(handler.render_bench(bench, {"vg.reach.gain": gain}, Session("", 0)).figure)
        )
        for gain in ("0.91", "0.92", "0.93", "0.94")  # with the same words at the axis
    ]
    for figure, item in zip(rendered[1:], page.evaluate(MEASURED, [rendered, SIZE]), strict=True):
        assert item["part"]
        names = [re.sub("<[^>]*>", "", trace["name"]) for trace in figure["data"]
                 if trace.get("showlegend") is not False]  # fmt: skip
        assert item["said"] == names
        assert item["texts"] == []


@pytest.mark.parametrize(("slug", "bench", "parameter", "values", "most"), [
    ("ar_fitting", "process", "phi", ("0.3", "0.9", "0.5", "0.95"), 0),  # other numbers at an axis
    ("text", "merges", "merges", ("400", "401", "402"), 1),  # words move up; one is new
])  # fmt: skip
def test_partial_repaint_measures_each_word_once(page, slug, bench, parameter, values, most):
    """Nor one that another place has, or other digits."""
    request = getattr(lessons, slug).lesson.benches[bench]
    key = f"{request.prefix}.{parameter}"
    rendered = [
        json.loads(joined(handler.render_bench(request, {key: value}, Session("", 0)).figure))
        for value in values
    ]
    for item in page.evaluate(MEASURED, [rendered, SIZE]):
        assert item["part"]
        assert len(item["texts"]) <= most, item["texts"]


def test_figure_font_digits_have_equal_width(visit):
    """In the letters of a figure, by which a number is as wide as one with other digits."""
    lesson = visit("ar_fitting", {"lang": "en"})
    lesson.geometry("ar.process")
    widths = lesson.page.evaluate("""() => {
        const text = document.querySelector(".seqviz-chart .ytick text");
        const line = document.createElement("canvas").getContext("2d");
        const { fontSize, fontFamily } = getComputedStyle(text);
        return ["400", "600"].map((weight) => {
            line.font = `${weight} ${fontSize} ${fontFamily}`;
            return [..."0123456789"].map((digit) => line.measureText(digit.repeat(20)).width);
        });
    }""")
    for of_a_weight in widths:
        assert max(of_a_weight) - min(of_a_weight) < 0.02, of_a_weight


def test_text_width_grows_with_font_size(page):
    """The digits of a size are no digits of the word."""
    widths = page.evaluate("""async () => {
        const host = document.getElementById("moved"), widths = [];
        for (const size of [12, 34]) {
            const text = `<span style='font-size:${size}px'><b>1,024</b></span>`;
            const note = { text, x: 0.5, y: 0.5, xref: "paper", yref: "paper", showarrow: false };
            Plotly.purge(host);
            await Plotly.react(host, [], { annotations: [{ ...note, bgcolor: "white" }] });
            widths.push(Number(host.querySelector(".annotation rect.bg").getAttribute("width")));
        }
        return widths;
    }""")
    assert widths[1] > 2 * widths[0] > 20
