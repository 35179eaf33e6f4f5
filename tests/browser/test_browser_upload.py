"""A student's own file: its figure comes, and follows a hand, without the page being asked."""

from __future__ import annotations

import re

from playwright.sync_api import expect

BENCH = "ar.real"


def test_upload_draws_file_and_follows_slider(visit):
    """A series with a period of 13 steps and a trend, which is forecast 20 steps ahead.

    Its file has the newest row first, and what is said of that stays while the hand moves.
    """
    lesson = visit("ar_fitting", {"lang": "en", f"{BENCH}.source": "csv"})
    rows = "\n".join(f"{time},{7 * time % 13 + 0.1 * time:.1f}" for time in range(79, -1, -1))
    file = {"name": "own.csv", "mimeType": "text/csv", "buffer": f"t,level\n{rows}\n".encode()}
    field = lesson.by_key(f"{BENCH}.csv").locator("input[type=file]")
    field.set_input_files(file)
    first = lesson.geometry(BENCH)
    backward = lesson.page.get_by_text("The newest row comes first in this file")
    expect(backward).to_be_visible()
    requests: list[str] = []
    lesson.page.on(
        "request", lambda item: requests.append(item.url) if "/live/" in item.url else None
    )
    slider = lesson.slider(f"{BENCH}.model")
    slider.press("ArrowRight")
    moved = lesson.changed(BENCH, first)
    expect(lesson.page).to_have_url(re.compile(rf"{BENCH}\.model={slider.input_value()}(&|$)"))
    assert lesson.geometry(BENCH) == moved
    expect(backward).to_be_visible()
    assert any(f"{BENCH}.model=3" in url for url in requests)
    assert not any("level" in url for url in requests)
