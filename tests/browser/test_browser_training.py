"""A network learns while one watches; a run can be stopped."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from driver.chromium import css_class
from seqviz.text import Text

BENCH = "ar.networks"
TEXT = Text("en")
EPOCHS = 200  # some seconds
# One's own network: small for a run to watch, large for one that would take minutes.
SMALL = {f"{BENCH}.preset": "own", f"{BENCH}.epochs": str(EPOCHS), f"{BENCH}.hidden": "8"}
LARGE = {**SMALL, f"{BENCH}.epochs": "1000", f"{BENCH}.hidden": "64", "ar.process.n": "5000"}


@pytest.fixture
def trained(visit):
    """Open the lesson with a network's settings and press Train."""

    def start(parameters):
        lesson = visit("ar_fitting", parameters)
        button = lesson.by_key(f"{BENCH}.start").get_by_role("button", name=TEXT("work.start"))
        button.click()
        progress = lesson.page.get_by_test_id("stProgress")
        progress.wait_for()
        return lesson, button, progress

    return start


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


@pytest.mark.timing
def test_the_loss_curve_grows_until_the_run_is_done(trained):
    lesson, button, progress = trained(SMALL)
    expect(progress).to_contain_text("%")
    early = epochs_shown(lesson, 0)
    assert early < EPOCHS
    later = epochs_shown(lesson, early)
    expect(progress).to_have_count(0, timeout=60_000)
    assert epochs_shown(lesson, later) == EPOCHS
    expect(button).to_have_count(0)
    assert lesson.by_key(f"{BENCH}.readouts").get_by_test_id("stMetric").count() > 0


@pytest.mark.timing
def test_cancel_stops_the_run_and_gives_the_button_back(trained):
    lesson, button, progress = trained(LARGE)
    cancel = lesson.by_key(f"{BENCH}.cancel").get_by_role("button", name=TEXT("work.cancel"))
    cancel.wait_for()
    started = time.monotonic()
    cancel.click()
    button.wait_for()
    assert time.monotonic() - started < 2  # one second to stop, one for the page
    expect(progress).to_have_count(0)
    # It has really stopped: the only worker takes the next run at once, no place in the queue.
    button.click()
    expect(progress).to_contain_text("%")
    cancel.click()
    button.wait_for()
