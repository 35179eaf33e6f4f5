"""Panels side by side where there is room; on a phone one of them, with tabs for the others."""

from __future__ import annotations

import pytest

from tests.tiers import first_only

WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 420, "height": 900}
# The rectangles of a figure's panels and of its color bars, in the window's pixels.
BOXES = """(host) => [...host.querySelectorAll(".plotbg path, .bg, .colorbar .cbfills")]
    .map((mark) => mark.getBoundingClientRect())
    .filter(({width, height}) => width > 4 && height > 4)
    .map(({left, right, top, bottom}) => ({left, right, top, bottom}))"""
FULL = """(host) => {
    const { _fullLayout: layout } = host.querySelector(".js-plotly-plot");
    const drawn = (id) => host.querySelector(`.cartesianlayer > [class^="subplot ${id}y"]`);
    const axes = ["x", "x2"].filter(drawn)
        .map((id) => id.replace("x", "xaxis"));
    return { domains: axes.map((name) => layout[name].domain), height: layout.height };
}"""

# Figures with two panels, one of them with a color bar: the bench and its own words.
BENCHES = ("vg.pairs", "vg.cut", "vg.gates")


def boxes(lesson, bench: str) -> list[dict[str, float]]:
    lesson.figure(bench).scroll_into_view_if_needed()
    lesson.geometry(bench)
    return lesson.figure(bench).evaluate(BOXES)


def overlap(a: dict[str, float], b: dict[str, float]) -> bool:
    across = min(a["right"], b["right"]) - max(a["left"], b["left"])
    down = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
    return across > 1 and down > 1


@pytest.mark.parametrize("bench", first_only(BENCHES))
@pytest.mark.nightly
def test_phone_shows_each_panel_alone_and_wide_window_both(visit, bench):
    """On a phone, in a wide window, and on a phone again, which is as it was."""
    lesson = visit("vanishing_gradients", viewport=PHONE)
    boxes(lesson, bench)
    tabs = lesson.figure(bench).get_by_role("tab")
    assert tabs.count() == 2
    for index in (0, 1):
        tabs.nth(index).click()
        results = boxes(lesson, bench)
        assert not any(overlap(a, b) for k, a in enumerate(results) for b in results[:k])
        rendered = lesson.figure(bench).evaluate(FULL)
        ((left, right),) = rendered["domains"]
        assert left < 0.1
        assert right > 0.8  # a round panel may shrink
        frame = lesson.figure(bench).bounding_box()
        row = lesson.figure(bench).get_by_role("tablist").bounding_box()
        # nothing is cut off, nothing lies under the figure
        assert frame["height"] == pytest.approx(rendered["height"] + row["height"], abs=1)
        footer = lesson.by_key(f"{bench}.footer").bounding_box()
        assert footer["y"] >= frame["y"] + frame["height"]

    lesson.page.set_viewport_size(WIDE)
    boxes(lesson, bench)
    wide = lesson.figure(bench).evaluate(FULL)["domains"]
    assert wide[0][1] < wide[1][0]
    assert tabs.count() == 0
    lesson.page.set_viewport_size(PHONE)
    boxes(lesson, bench)
    assert lesson.figure(bench).evaluate(FULL) == rendered


@pytest.mark.nightly
def test_panels_get_own_tick_labels_on_phone(visit):
    """Side by side a panel shares its neighbor's tick labels; alone it has its own."""
    wide, phone = (visit("ar_fitting", viewport=window) for window in (WIDE, PHONE))
    boxes(phone, "ar.process")
    phone.figure("ar.process").get_by_role("tab").nth(2).click()
    for lesson, is_alone in ((wide, False), (phone, True)):
        boxes(lesson, "ar.process")
        labels = lesson.figure("ar.process").locator(".y3tick text").count()
        assert (labels > 2) is is_alone
