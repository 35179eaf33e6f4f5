"""Benches that build on another are drawn anew when its hand rests and the reader comes near."""

from __future__ import annotations

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import Text
from tests.shared_fixtures import MODELS, dependents, lesson_of
from tests.tiers import first_only
from tools import measure_trainings

# Lessons without a pretrained model whose first slider is in a bench on which others build.
LEADING = [
    record.slug
    for record in catalog.LESSONS
    if record.slug not in MODELS and dependents(record.slug, record.first[0])
]


def drawn_at_once(slug: str) -> tuple[list[str], list[str]]:
    """The dependents of the first slider's bench that train nothing, above and below that bench."""
    benches, leading = lesson_of(slug).benches, catalog.lesson(slug).first[0]
    names = [name for name in dependents(slug, leading)
             if not measure_trainings.calls(benches[name])]  # fmt: skip
    order = list(benches)
    above = [name for name in names if order.index(name) < order.index(leading)]
    return above, [name for name in names if name not in above]


@pytest.mark.parametrize("slug", first_only(LEADING))
def test_dependent_bench_redraws_when_scrolled_near(visit, slug):
    record = catalog.lesson(slug)
    code, key = record.code, ".".join((record.code, *record.first))
    above, below = drawn_at_once(slug)
    benches = [f"{code}.{name}" for name in below]
    assert len(benches) >= 2
    lesson = visit(slug)
    before = {bench: lesson.geometry(bench) for bench in benches}
    lesson.slider(key).focus()
    sent = lesson.sent
    lesson.slider(key).press("ArrowLeft")
    lesson.page.wait_for_timeout(1_000)
    assert sent < lesson.sent <= sent + 1 + len(above)  # what stands above may be near already
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
def test_dependent_bench_of_left_page_sends_no_request(minilm_on_disk, visit):
    """Scrolling to a bench of one lesson does not ask for those of the lesson before."""
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
    lesson.figure("at.features").scroll_into_view_if_needed()
    lesson.page.mouse.wheel(0, 300)
    lesson.page.wait_for_timeout(1_000)
    assert lesson.sent == sent
