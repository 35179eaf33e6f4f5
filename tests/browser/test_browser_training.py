"""A network learns while one watches; a run can be stopped."""

from __future__ import annotations

import time
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from seqviz.core.i18n import Text
from testing.chromium import css_class

BENCH = "ar.networks"
TEXT = Text("en")
EPOCHS = 50
# One's own network: small for a run to its end, large for one that would take minutes.
SMALL = {f"{BENCH}.preset": "own", f"{BENCH}.epochs": str(EPOCHS), f"{BENCH}.hidden": "8"}
LARGE = {**SMALL, f"{BENCH}.epochs": "1000", f"{BENCH}.hidden": "64", "ar.process.n": "5000"}


def epochs_shown(lesson, more_than: int) -> int:
    """How many epochs the loss curve shows, when it shows more than these."""
    return lesson.page.wait_for_function(
        f"""(least) => {{
            const chart = document.querySelector("{css_class(BENCH)}-figure .js-plotly-plot");
            const epochs = chart?._fullData?.[0]?.x.length;
            return epochs > least && epochs;
        }}""",
        arg=more_than,
    ).json_value()


def buttons(lesson) -> tuple:
    """Start and cancel."""
    return tuple(
        lesson.by_key(f"{BENCH}.{name}").get_by_role("button", name=TEXT(f"work.{name}"))
        for name in ("start", "cancel")
    )


def seconds_to(press, shown) -> float:
    """Click one button and return the time until the other is shown."""
    begun = time.monotonic()
    press.click()
    shown.wait_for()
    return time.monotonic() - begun


@pytest.mark.nightly
@pytest.mark.timing
def test_training_is_cancelled_within_two_seconds(visit):
    lesson = visit("ar_fitting", LARGE)
    start, cancel = buttons(lesson)
    lesson.page.locator(".st-key-bench-networks").scroll_into_view_if_needed()
    start.click()
    epochs_shown(lesson, 0)
    assert seconds_to(cancel, start) < 2  # one second to stop, one for the page


@pytest.mark.timing
def test_training_grows_loss_curve_and_can_be_cancelled_or_finish(visit):
    lesson = visit("ar_fitting", LARGE)
    start, cancel = buttons(lesson)
    progress = lesson.page.get_by_test_id("stProgress")
    lesson.page.locator(".st-key-bench-networks").scroll_into_view_if_needed()
    start.click()
    expect(progress).to_contain_text("%")
    early, begun = epochs_shown(lesson, 0), time.monotonic()
    later = epochs_shown(lesson, early + 3)
    epoch = (time.monotonic() - begun) / (later - early)  # seconds
    assert early < later < 1000
    cancel.click()
    start.wait_for()
    expect(progress).to_have_count(0)
    # It has really stopped: the only worker takes the next run, which has no place in the queue.
    page = seconds_to(start, cancel)
    expect(progress).to_contain_text("%")
    # The epoch under way ends first, and the page shares the processor with it.
    stopped = seconds_to(cancel, start)
    assert stopped < page + 6 * epoch, f"page {page:.2f}, epoch {epoch:.2f}, {stopped:.2f} s"
    lesson.go(f"/ar_fitting?{urlencode(SMALL)}")
    expect(lesson.slider("ar.process.n")).to_have_attribute("aria-valuetext", "500 values")
    lesson.rest()
    start.click()
    expect(cancel).to_be_visible()
    expect(progress).to_have_count(0, timeout=60_000)
    assert epochs_shown(lesson, EPOCHS - 1) == EPOCHS
    expect(start).to_have_count(0)
    assert lesson.by_key(f"{BENCH}.readouts").get_by_test_id("stMetric").count() > 0
