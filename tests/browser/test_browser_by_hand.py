"""The slider that lives in the browser: the chart changes, and the server hears nothing."""

from __future__ import annotations

BENCH = "ar.by_hand"


def test_the_slope_slider_changes_the_chart_without_the_server(visit):
    lesson = visit("ar_fitting")
    before = lesson.geometry(BENCH)
    slider = lesson.figure(BENCH).locator("input[type=range]")
    value, sent = slider.input_value(), lesson.sent
    assert sent > 0  # the page has told the server of itself: the counter works
    slider.focus()
    for _ in range(20):
        lesson.page.keyboard.press("ArrowRight")
    assert float(slider.input_value()) > float(value)
    assert lesson.changed(BENCH, before) != before
    assert lesson.sent == sent
