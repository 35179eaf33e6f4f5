"""Five questions at the end of a lesson: opened, answered, counted, kept for the home page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from seqviz.core.i18n import Text
from seqviz.lessons.ar_fitting.lesson import lesson

KEY = "seqviz.progress"
CARD = ".st-key-ar-quiz-card"
EN = Text("en")


def opened(visit, lang="en", **context) -> Locator:
    """The card of a lesson, open."""
    page = visit("ar_fitting", {"lang": lang}, **context).page
    card = page.locator(CARD)
    card.locator("summary").click()
    expect(card.locator(".box input")).to_be_visible()
    return card


def asked(card: Locator, place: int) -> tuple[str, int]:
    """Name and variant of the question on screen."""
    line = card.get_by_text(EN("quiz.place", place=place, of=5))
    expect(line).to_be_visible()
    written = unbroken(line.locator("xpath=..").inner_text())
    matching = [
        (name, variant)
        for name, item in lesson.quiz.items()
        for variant, case in enumerate(item.cases)
        if unbroken(EN(f"ar_fitting.{item.kind}.{name}.question", **case)) in written
    ]
    assert len(matching) == 1, written
    return matching[0]


def unbroken(sentence: str) -> str:
    return " ".join(sentence.split())


def answer(card: Locator, question: tuple[str, int], right: bool) -> None:
    name, variant = question
    _, solution, tolerance = lesson.quiz[name].variant_of(variant)
    field = card.locator(".box input")
    expect(field).to_have_value("")
    field.fill(f"{solution + (0 if right else 3 + 2 * tolerance):.6f}")
    field.press("Enter")
    expect(card.get_by_text(EN("frame.right" if right else "frame.not_yet"))).to_be_visible()


def test_quiz_asks_five_questions_and_counts_first_answers(visit):
    card = opened(visit)
    seen = []
    for place in range(1, 6):
        seen.append(asked(card, place))
        if place == 2:  # a second answer is checked, but does not count
            answer(card, seen[-1], right=False)
            field = card.locator(".box input")
            field.fill("")
            field.press("Enter")
        answer(card, seen[-1], right=True)
        card.get_by_role("button", name=EN("quiz.next" if place < 5 else "frame.result")).click()
    expect(card).to_contain_text(EN("quiz.result", score=4, of=5))
    assert len(set(seen)) == 5
    assert ("memory", 0) not in seen  # it is in the lesson
    assert {name for name, _ in seen} == set(lesson.quiz)
    page = card.page
    page.wait_for_function(f"() => localStorage.getItem('{KEY}')?.includes('quiz-4')")
    card.get_by_role("button", name=EN("quiz.new")).click()
    assert asked(card, 1) not in seen
    page.goto(page.url.partition("ar_fitting")[0] + "?lang=en")
    home = page.locator('.seqviz-card[data-slug="ar_fitting"]')
    expect(home).to_contain_text(EN("home.quiz", done=4, all=5))


@pytest.mark.nightly
def test_quiz_is_built_when_opened_and_absent_for_presenter(visit):
    page = visit("ar_fitting", {"lang": "zh"}).page
    card = page.locator(CARD)
    expect(card).to_contain_text(Text("zh")("quiz.title"))
    assert card.locator("input, button").count() == 0
    page = visit("ar_fitting", {"lang": "en", "present": "true"}).page
    page.locator(".st-key-ar-source").wait_for(state="attached")
    expect(page.locator(CARD)).to_have_count(0)


@pytest.mark.nightly
def test_quiz_fits_a_phone_and_is_not_printed(visit):
    card = opened(visit, viewport={"width": 390, "height": 844})
    width = "document.documentElement.scrollWidth - innerWidth"
    assert card.page.evaluate(width) <= 0
    place = asked(card, 1)
    answer(card, place, right=True)
    card.get_by_role("button", name=EN("quiz.next")).press("Enter")
    asked(card, 2)
    card.page.keyboard.press(
        "Shift+Tab"
    )  # the pressed button is gone; a keyboard goes on in the card
    expect(card.locator(":focus")).to_have_count(1)
    card.page.emulate_media(media="print")
    expect(card).to_be_hidden()


@pytest.mark.nightly
def test_home_ignores_forged_scores(visit):
    page = visit("", {"lang": "en"}).page
    tasks = ["visited", "quiz-9", "quiz-<b>", "quiz-3", "quiz-55", "__proto__"]
    page.evaluate(
        "([key, tasks]) => localStorage.setItem(key, JSON.stringify({gates: tasks}))", [KEY, tasks]
    )
    page.reload()
    card = page.locator('.seqviz-card[data-slug="gates"]')
    expect(card).to_contain_text(EN("home.quiz", done=3, all=5))
    assert card.locator("b").count() == 0
