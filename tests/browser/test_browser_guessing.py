"""Shannon's game: a sentence guessed by keys and buttons, and the reader's band in the figure."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from seqviz.experiments.language_models import guessing

VIEW = {"lang": "en", "lm.ladder.view": "you"}


# Keys of the game that something lies on while the lowest is at the edge of the window.
COVERED = """async (game) => {
    const all = [...game.querySelectorAll("button[data-key]")];
    all.at(-1).scrollIntoView({ block: "end", behavior: "instant" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    return all.filter((one) => {
        const { left, top, width, height } = one.getBoundingClientRect();
        const [x, y] = [left + width / 2, top + height / 2];
        return top > 64 && one.getRootNode().elementFromPoint(x, y) !== one;
    }).map((one) => one.dataset.key);
}"""


BAR = 72  # pixels of a room's bar at the lower edge
# The lower keys are under the bar, the upper ones can be seen.
UNDER_BAR = """(game, bar) => {
    document.documentElement.style.setProperty("--seqviz-room-height", `${bar}px`);
    const { bottom } = game.querySelector(".keys").getBoundingClientRect();
    document.querySelector("[data-testid=stMain]").scrollBy({ top: bottom - innerHeight });
}"""


def game_of(lesson):
    lesson.by_key("bench-ladder").scroll_into_view_if_needed()  # it is drawn when a reader comes
    result = lesson.page.locator(".seqviz-guessing")
    result.scroll_into_view_if_needed()
    result.locator("button").first.wait_for()
    lesson.rest()
    return result


def marks(game) -> str:
    return game.locator(".sentence small").evaluate_all(
        "(all) => all.map((mark) => mark.textContent).join(' ').trim()"
    )


def test_keys_and_buttons_guess_a_sentence_and_show_the_band(visit):
    lesson = visit("language_models", VIEW)
    game = game_of(lesson)
    game.focus()
    wanted = guessing.characters(1)
    lesson.page.keyboard.press("z")  # a wrong guess, and again: it counts once
    lesson.page.keyboard.press("z")
    expect(game.locator("button[data-key='z']")).to_be_disabled()
    game.locator(f"button[data-key='{wanted[0]}']").click()
    expect(game.locator("button[data-key='z']")).to_be_enabled()
    assert marks(game) == "2"
    game.focus()
    for character in wanted[1:]:
        lesson.page.keyboard.press("Enter" if character == "\n" else character)
    notes = lesson.page.locator("[class*='lm-ladder-notes']")
    expect(notes.filter(has_text="You guessed")).to_contain_text(re.compile(r"97\.2% of 36"))
    assert marks(game).split() == ["2"] + ["1"] * 35
    lesson.heard("lm.ladder")
    assert "lm.ladder.played" in lesson.settings
    badge = lesson.page.locator("[class*='lm-ladder-footer'] .stMarkdownBadge")
    assert badge.evaluate("(one) => one.scrollWidth <= one.clientWidth")  # Reset is beside it


@pytest.mark.nightly
def test_finger_starts_again(visit):
    lesson = visit("language_models", VIEW, viewport={"width": 390, "height": 844}, has_touch=True)
    game = game_of(lesson)
    game.evaluate(UNDER_BAR, BAR)
    game.locator("button[data-key='t']").tap()
    assert marks(game) == "1"
    board = game.locator(".keys").bounding_box()
    assert board["y"] + board["height"] <= 844 - BAR
    box = game.locator("button[data-key='h']").bounding_box()
    assert min(box["width"], box["height"]) >= 40
    assert game.evaluate(COVERED) == []
    game.locator("button.again").tap()
    assert marks(game) == ""
