"""Benches that build on another are drawn anew when its hand rests and the reader comes near."""

from __future__ import annotations

import pytest
from rings import one_of

from seqviz.content import catalog
from seqviz.core.i18n import Text

# The first slider of the page, and benches that build on its bench, in the order of the page.
BUILD_ON = {
    "ar_fitting": ("ar.process.phi", ["by_hand", "fit", "forecast"]),
    "vanishing_gradients": ("vg.reach.gain", ["pairs", "cut", "gates"]),
}


@pytest.mark.parametrize("slug", one_of(BUILD_ON))
def test_a_bench_is_drawn_when_the_reader_comes_near(visit, slug):
    key, names = BUILD_ON[slug]
    benches = [f"{catalog.lesson(slug).code}.{name}" for name in names]
    lesson = visit(slug)
    before = {bench: lesson.geometry(bench) for bench in benches}
    lesson.slider(key).focus()
    sent = lesson.sent
    lesson.slider(key).press("ArrowLeft")
    lesson.page.wait_for_timeout(1_000)
    assert lesson.sent == sent + 1
    for bench in benches:
        assert lesson.geometry(bench) == before[bench]
    lesson.figure(benches[0]).scroll_into_view_if_needed()
    lesson.changed(benches[0], before[benches[0]])
    assert lesson.geometry(benches[-1]) == before[benches[-1]]
    lesson.by_key("go.next").last.scroll_into_view_if_needed()
    for bench in reversed(benches[1:]):
        lesson.figure(bench).scroll_into_view_if_needed()
        lesson.changed(bench, before[bench])
    sent = lesson.sent
    lesson.page.mouse.wheel(0, -4_000)  # all of them know the settings now
    lesson.page.wait_for_timeout(500)
    assert lesson.sent == sent


@pytest.mark.nightly
def test_a_page_that_was_left_asks_for_nothing(minilm_on_disk, visit):
    """Two lessons have a bench named by_hand: scrolling to one does not ask for the other."""
    lesson = visit()
    lesson.page.locator("a[href^='ar_fitting?']").first.click()
    lesson.titled(Text("en")("ar_fitting.title"))
    lesson.whole()
    lesson.geometry("ar.by_hand")
    lesson.slider("ar.process.phi").focus()
    lesson.slider("ar.process.phi").press("ArrowLeft")
    lesson.page.wait_for_timeout(1_000)
    lesson.page.go_back()
    lesson.page.go_back()  # the slider's address, the lesson's
    lesson.page.locator("a[href^='attention?']").first.click()
    lesson.titled("Attention heatmaps")
    lesson.whole()
    lesson.chart("at.apart").wait_for(timeout=60_000)  # until then the page asks for the model
    lesson.rest()
    sent = lesson.sent
    lesson.figure("at.by_hand").scroll_into_view_if_needed()
    lesson.page.mouse.wheel(0, 300)
    lesson.page.wait_for_timeout(1_000)
    assert lesson.sent == sent
