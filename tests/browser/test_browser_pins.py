"""Pinned curves: chips, ghosts in the figure, the address, a reader's own text, the drag."""

from __future__ import annotations

import math
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from seqviz.core.i18n import Text
from testing.chromium import css_class
from tests.tiers import first_only

PHI = {"lang": "en", "ar.process.phi": "0.5"}
TRACES = """(selector) => document.querySelector(selector)._fullData.map((trace) => ({
    x: [...(trace.x ?? [])], y: [...(trace.y ?? [])], text: [...(trace.text ?? [])],
    opacity: trace.opacity, type: trace.type, mode: trace.mode, dash: trace.line?.dash,
}))"""
RANGE = "(selector) => [...document.querySelector(selector)._fullLayout.yaxis.range]"


# Counts elements of pinned curves that are built or whose path is another, and the partial paints.
WATCH = """(selector) => {
  const host = document.querySelector(selector), chart = host.chart, own = chart.paint.bind(chart);
  window.seen = { built: 0, moved: 0, paints: 0 };
  const ghost = (node) => node.nodeType === 1 && node.closest(".ghost");
  new MutationObserver((records) => {
    for (const { type, attributeName, target, addedNodes } of records) {
      if (!ghost(target)) continue;
      if (type === "childList") window.seen.built += addedNodes.length;
      else if (attributeName === "d") window.seen.built += 1;
      else if (attributeName === "transform" && target.matches(".ghost")) window.seen.moved += 1;
    }
  }).observe(host, { subtree: true, childList: true, attributeFilter: ["d", "transform"] });
  chart.paint = () => {
    const boxes = [...host.querySelectorAll(".ghost path")].map((path) => {
      const { x, y, width, height } = path.getBoundingClientRect();
      return [x, y, width, height];
    });
    if (boxes.length > 0) window.layer = boxes;
    window.seen.paints += 1;
    own();
  };
}"""
# The boxes of the same curves as a full paint draws them.
BOXES = """(selector) => [...document.querySelectorAll(`${selector} .scatterlayer > g.trace`)]
    .filter((group) => group.__data__[0].trace.meta === "ghost")
    .flatMap((group) => [...group.querySelectorAll("path")])
    .map((path) => path.getBoundingClientRect())
    .map(({ x, y, width, height }) => [x, y, width, height])"""


class Pinned:
    """The first bench of a lesson and its pins."""

    def __init__(self, lesson, prefix: str):
        self.lesson, self.page, self.prefix = lesson, lesson.page, prefix
        self.chart = f"{css_class(f'{prefix}.figure')} .seqviz-chart"
        self.chips = self.page.locator(f"{css_class(f'{prefix}.pins')} li")

    def press(self) -> None:
        self.lesson.by_key(f"{self.prefix}.pin").get_by_role("button").first.click()

    def traces(self) -> list[dict]:
        return self.page.evaluate(TRACES, self.chart)

    def until_traces(self, count: int) -> None:
        test = "([selector, count]) => document.querySelector(selector)._fullData.length === count"
        self.page.wait_for_function(test, arg=[self.chart, count])

    def linked(self) -> list[str]:
        script = "(name) => new URLSearchParams(location.search).getAll(name)"
        return self.page.evaluate(script, f"{self.prefix}.pin")


@pytest.fixture
def pinned(visit):
    def give(parameters: dict[str, str], slug="ar_fitting", prefix="ar.process", **options):
        lesson = visit(slug, parameters, **options)
        lesson.chart(prefix).wait_for()
        lesson.rest()
        return Pinned(lesson, prefix)

    return give


def test_pin_keeps_curves_while_controls_move_and_link_restores_them(pinned, visit):
    bench = pinned(PHI)
    before = bench.traces()
    bench.press()
    expect(bench.chips).to_have_text(["A φ 0.5 ×"])
    bench.until_traces(len(before) + 4)  # the series, two rows of bars, a letter
    bench.lesson.rest()
    bench.lesson.drag("ar.process.phi", 0.75, 0.4)
    bench.page.mouse.up()
    bench.lesson.rest()
    after = bench.traces()
    assert after[0]["y"] != before[0]["y"]
    ghosts = after[-4:]
    curves = [trace["y"] for trace in before if len(trace["y"]) == 500 or trace["type"] == "bar"]
    assert [ghost["y"] for ghost in ghosts if ghost["mode"] == "lines"] == curves
    assert ghosts[0]["opacity"] == pytest.approx(0.45)
    assert bench.linked() == ["ar.process.phi=0.5"]

    other = Pinned(
        visit("ar_fitting", dict(parse_qsl(urlsplit(bench.page.url).query))), "ar.process"
    )
    expect(other.chips).to_have_text(["A φ 0.5 ×"])
    other.until_traces(len(after))
    restored = other.traces()
    for one, two in zip(after, restored, strict=True):
        assert one["y"] == pytest.approx(two["y"], rel=1e-9, nan_ok=True)
        assert one["text"] == two["text"]

    other.page.get_by_role("button", name="Remove pin A").click()
    other.until_traces(len(before))
    other.page.wait_for_function("() => !location.search.includes('.pin=')")


@pytest.mark.nightly
def test_drag_moves_pinned_curves_without_drawing_them(pinned):
    bench = pinned(PHI)
    bench.press()
    expect(bench.chips).to_have_count(1)
    bench.lesson.rest()
    ranges = bench.page.evaluate(RANGE, bench.chart)
    bench.page.evaluate(WATCH, bench.chart)
    bench.lesson.drag("ar.process.phi", 0.75, 0.99)  # the axis of the series widens
    bench.page.mouse.up()
    bench.lesson.rest()
    bench.page.wait_for_function("() => window.seen.paints > 0")
    assert bench.page.evaluate(RANGE, bench.chart) != ranges
    seen = bench.page.evaluate("seen")
    assert seen["moved"] > 0
    assert seen["built"] == 0
    moved, drawn = bench.page.evaluate("layer"), bench.page.evaluate(BOXES, bench.chart)
    assert len(moved) == len(drawn) == 3
    for one, two in zip(moved, drawn, strict=True):
        assert one == pytest.approx(two, abs=1)  # pixels


@pytest.mark.nightly
def test_chips_name_what_differs_and_letters_stand_within_the_axis(pinned):
    bench = pinned({"lang": "en", "vg.reach.gain": "1.2"}, "vanishing_gradients", "vg.reach")
    bench.press()
    expect(bench.chips).to_have_text(["A Gain 1.2 ×"])
    bench.lesson.rest()
    bench.lesson.by_key("vg.reach.restore").get_by_role("button").first.click()
    bench.page.wait_for_function("() => !location.search.includes('vg.reach.gain=')")
    bench.lesson.rest()
    bench.press()
    expect(bench.chips).to_have_text(["A Gain 1.2 ×", "B Gain 0.9 ×"])
    bench.lesson.rest()
    tags = [trace for trace in bench.traces() if trace["mode"] == "text"]
    assert len(tags) == 2
    low, high = bench.page.evaluate(RANGE, bench.chart)
    assert all(low <= math.log10(tag["y"][0]) <= high for tag in tags)


@pytest.mark.nightly
def test_fourth_pin_replaces_first_and_same_settings_pin_once(pinned):
    bench = pinned(PHI)
    bench.press()
    expect(bench.chips).to_have_count(1)
    bench.press()
    said = bench.page.locator(f"{css_class('ar.process.pins')} .says")
    expect(said).to_have_text(Text("en")("pins.same"))
    for count, place in ((2, 0.6), (3, 0.65), (3, 0.85)):
        bench.lesson.drag("ar.process.phi", 0.5, place)
        bench.page.mouse.up()
        bench.lesson.rest()
        bench.press()
        expect(bench.chips).to_have_count(count)
    expect(bench.chips.first).not_to_contain_text("0.5 ")
    bench.lesson.rest()
    # Each in a dash of its own, in the order of the chips.
    dashes = [trace["dash"] for trace in bench.traces() if trace["opacity"] == pytest.approx(0.45)]
    assert dashes == ["solid", "dash", "dot"]


@pytest.mark.nightly
def test_axis_widens_to_pinned_curves(pinned):
    wide = pinned(PHI | {"ar.process.phi": "0.99"})
    wide.press()
    expect(wide.chips).to_have_count(1)
    before = wide.page.evaluate(RANGE, wide.chart)
    wide.lesson.drag("ar.process.phi", 0.97, 0.6)
    wide.page.mouse.up()
    wide.lesson.rest()
    after = wide.page.evaluate(RANGE, wide.chart)
    assert after[0] <= before[0]
    assert after[1] >= before[1]


@pytest.mark.parametrize(
    "value", first_only(["ar.process.phi=0.5&x=1", "ar.process.phi=9", "<b>", "|||||||"])
)
def test_invalid_pins_of_address_break_nothing(pinned, value):
    bench = pinned(PHI | {"ar.process.pin": value})
    bench.page.wait_for_timeout(1500)
    assert bench.chips.count() <= 3
    expect(bench.lesson.chart("ar.process")).to_be_visible()
    assert bench.traces()[0]["type"] == "scatter"


@pytest.mark.nightly
def test_pin_of_own_text_is_not_in_address(pinned):
    texts = {"rn.step.view": "order", "rn.step.one_text": "my secret diary says"}
    bench = pinned({"lang": "en", **texts}, "recurrent", "rn.step")
    bench.press()
    expect(bench.chips).to_have_count(1)
    expect(bench.chips).to_have_attribute("title", Text("en")("pins.text"))
    bench.lesson.rest()
    assert bench.linked() == []
