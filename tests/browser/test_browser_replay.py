"""Replay of a training: play, pause, step, scrub, without the server."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from seqviz.compute.vanishing_gradients.recall import compare
from seqviz.data import precomputed
from seqviz.lessons.ar_fitting import lesson as ar_lesson
from seqviz.lessons.vanishing_gradients import lesson
from tools import measure_trainings

pytestmark = pytest.mark.browser
FIGURE = ".st-key-vg-race-figure .seqviz-chart"
BAR = ".st-key-vg-race-replay .seqviz-replay"
RUN_UPDATES = 200
RUN = {"vg.race.updates": str(RUN_UPDATES), "vg.race.seed": "7"}  # ten seconds
LINES = """(selector) => document.querySelector(selector)._fullData
    .filter(({ mode, x }) => mode === "lines" && x.length > 2)
    .map(({ xaxis, x, y }) => ({ axis: xaxis, n: x.length, last: x.at(-1), y: [...y] }))"""
# Milliseconds of a step back, median of nine, until the next frame can be painted.
STEPS = """async (selector) => {
  const back = document.querySelector(selector), times = [];
  for (let step = 0; step < 9; step++) {
    const begin = performance.now();
    back.click();
    times.push(performance.now() - begin);
    await new Promise(requestAnimationFrame);
  }
  return times.sort((a, b) => a - b)[4];
}"""


@pytest.fixture
def race(visit):
    lesson = visit("vanishing_gradients", {"lang": "en"})
    lesson.by_key("vg.race.figure").scroll_into_view_if_needed()
    lesson.page.locator(f"{FIGURE} .main-svg").first.wait_for(timeout=90_000)
    lesson.page.locator(BAR).wait_for()
    lesson.rest()
    return lesson.page


def test_scrubbed_training_shows_its_lines_up_to_an_update(race):
    race.route("**/live/**", lambda route: route.fulfill(status=204))  # it has no answer
    whole = race.evaluate(LINES, FIGURE)
    slider = race.locator(f"{BAR} input")
    race.locator(f"{BAR} .back").click()
    n = int(slider.get_attribute("max"))
    slider.fill(str(n // 2))
    cut = race.evaluate(LINES, FIGURE)
    output = race.locator(f"{BAR} output")
    curves = [(a, b) for a, b in zip(whole, cut, strict=True) if a["axis"] == "x"]
    assert curves
    for before, after in curves:
        assert 2 < after["n"] < before["n"]
        expect(output).to_have_text(f"update {after['last']:,} of {before['last']:,}")
    # The gradients are those of this update.
    call = next(c for c in measure_trainings.calls(lesson.benches["race"]) if c[0] is compare)
    done = precomputed.find(*call).result
    (report,) = np.flatnonzero(done.updates == curves[0][1]["last"])
    gradients = [line["y"] for line in cut if line["axis"] == "x2"]
    assert len(gradients) == len(done.settings.cells)
    for drawn, log10 in zip(gradients, done.log10_gradients[report], strict=True):
        assert np.log10(drawn) == pytest.approx(log10, abs=1e-5)
    assert gradients != [line["y"] for line in whole if line["axis"] == "x2"]
    slider.fill(str(n))
    race.wait_for_timeout(600)  # the full paint
    assert race.evaluate(LINES, FIGURE) == whole


def test_replay_plays_to_the_end_and_pauses(race):
    play = race.locator(f"{BAR} .play")
    play.click()
    expect(play).to_have_attribute("aria-label", "Pause")
    race.wait_for_timeout(800)
    play.click()
    expect(play).to_have_attribute("aria-label", "Play the training again")
    slider = race.locator(f"{BAR} input")
    assert 0 <= int(slider.input_value()) < int(slider.get_attribute("max"))
    play.click()
    expect(play).to_have_attribute("aria-label", "Play the training again")
    assert slider.evaluate("(bar) => bar.value === bar.max")


def test_running_training_is_paused_and_followed(visit):
    """At the end of the slider it is followed, before it the reader's update stays."""
    lesson = visit("vanishing_gradients", {"lang": "en", **RUN})
    page = lesson.page
    lesson.by_key("vg.race.start").get_by_role("button").click()
    slider, output = page.locator(f"{BAR} input"), page.locator(f"{BAR} output")

    def last_reported(more_than: int) -> int:
        """The place of the last report, when there are more of them."""
        return page.wait_for_function(
            """([selector, least]) => {
                const { max, value } = document.querySelector(selector) ?? {};
                return Number(max) > least && value !== "" && Number(max);
            }""",
            arg=[f"{BAR} input", more_than],
            timeout=60_000,
        ).json_value()

    begun = "(selector) => document.querySelector(selector)?._fullData?.at(-2).x.length > 4"
    page.wait_for_function(begun, arg=FIGURE, timeout=90_000)
    page.locator(f"{BAR} .back").click()
    here, *_ = output.text_content().split(" of ")
    seen = [line for line in page.evaluate(LINES, FIGURE) if line["axis"] == "x"]
    reported = int(slider.get_attribute("max"))
    place = int(slider.input_value())
    later = last_reported(reported + 2)
    assert output.text_content().split(" of ")[0] == here
    assert int(slider.input_value()) == place < later
    now = page.evaluate(LINES, FIGURE)
    assert [line for line in now if line["axis"] == "x"] == seen
    # At once: the next report moves the end.
    slider.evaluate("(bar) => { bar.value = bar.max; bar.dispatchEvent(new Event('input')); }")
    last_reported(later + 1)
    assert slider.evaluate("(bar) => bar.value === bar.max")
    page.locator(f"{BAR} .back").click()
    here, *_ = output.text_content().split(" of ")
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=90_000)
    lesson.rest()
    expect(output).to_have_text(f"{here} of {RUN_UPDATES}")
    for _ in range(50):  # the figure of the result may come after the words
        drawn = [line for line in page.evaluate(LINES, FIGURE) if line["axis"] == "x"]
        ends = {f"update {line['last']:,}" for line in drawn}
        if ends == {here}:
            break
        page.wait_for_timeout(200)
    assert ends == {here}


@pytest.mark.nightly
def test_map_of_a_network_is_learned_again(visit):
    lesson = visit("ar_fitting", {"lang": "en", "ar.networks.view": "map"})
    lesson.by_key("ar.networks.figure").scroll_into_view_if_needed()
    figure = ".st-key-ar-networks-figure .seqviz-chart"
    lesson.page.locator(f"{figure} .main-svg").first.wait_for(timeout=90_000)
    bar = lesson.page.locator(".st-key-ar-networks-replay .seqviz-replay")
    bar.wait_for()
    lesson.rest()
    call = next(
        (f, {**k}) for f, k in measure_trainings.calls(ar_lesson.benches["networks"])
        if f.__name__ == "fit_network"
    )  # fmt: skip
    history = precomputed.find(*call).result.history
    slider = bar.locator("input")
    bar.locator(".back").click()
    for row in (2, 0):
        slider.fill(str(row))
        epochs, last = history.epochs[[row, -1]].tolist()
        expect(bar.locator("output")).to_have_text(f"epoch {epochs:,} of {last:,}")
        curves = lesson.page.evaluate(LINES, figure)
        assert curves[-1]["y"] == pytest.approx(history.mean[row], abs=1e-6)


@pytest.mark.nightly
@pytest.mark.timing
def test_step_of_a_replay_takes_less_than_30_ms(race):
    assert race.evaluate(STEPS, f"{BAR} .back") <= 30
