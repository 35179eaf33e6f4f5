"""Panels side by side where there is room, one below the other where there is none."""

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
    const {_fullLayout: {xaxis, xaxis2, width, height}} = host.querySelector(".js-plotly-plot");
    return {domains: [xaxis.domain, xaxis2.domain], width, height};
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
def test_panels_stack_on_phone_and_follow_window_width(visit, bench):
    """On a phone, in a wide window, and on a phone again, which is as it was."""
    lesson = visit("vanishing_gradients", viewport=PHONE)
    results = boxes(lesson, bench)
    assert not any(overlap(a, b) for index, a in enumerate(results) for b in results[:index])
    rendered = lesson.figure(bench).evaluate(FULL)
    (left, right), (left_2, right_2) = rendered["domains"]
    assert min(right, right_2) > 0.8  # a round panel may shrink
    assert max(left, left_2) < 0.1
    assert rendered["height"] > 1.5 * rendered["width"]
    frame = lesson.figure(bench).bounding_box()
    assert (
        frame["height"] == rendered["height"]
    )  # nothing is cut off, nothing lies under the figure
    footer = lesson.by_key(f"{bench}.footer").bounding_box()
    assert footer["y"] >= frame["y"] + frame["height"]

    lesson.page.set_viewport_size(WIDE)
    boxes(lesson, bench)
    wide = lesson.figure(bench).evaluate(FULL)["domains"]
    assert wide[0][1] < wide[1][0]
    lesson.page.set_viewport_size(PHONE)
    boxes(lesson, bench)
    assert lesson.figure(bench).evaluate(FULL) == rendered


@pytest.mark.nightly
def test_panels_get_own_tick_labels_on_phone(visit):
    """Side by side a panel shares its neighbor's tick labels; stacked it has its own."""
    wide, phone = (visit("ar_fitting", viewport=window) for window in (WIDE, PHONE))
    for lesson, labels in ((wide, 0), (phone, 5)):
        boxes(lesson, "ar.process")
        assert lesson.figure("ar.process").locator(".y3tick text").count() == labels
