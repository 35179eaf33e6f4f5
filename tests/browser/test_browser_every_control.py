"""Every slider of every lesson: by key and by finger, and its name for a screen reader."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations, product, zip_longest
from typing import Any

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.controls import (
    Choice,
    Control,
    SelectSlider,
    Slider,
    Toggle,
    controls,
    encoded,
    parse_params,
)
from seqviz.lessons.framework.words import LessonWords
from testing.chromium import slider_input
from tests.browser.lesson_page import PARTS, LessonPage

PHONE = {"viewport": {"width": 420, "height": 800}, "has_touch": True, "is_mobile": True}
THEMES = {"en": "light", "zh": "dark"}  # in turn
LISTED = 10  # whole numbers of a slider that another control may wait for
NAMED = {"slider", "spinbutton", "button", "checkbox", "switch", "radio", "combobox", "textbox",
         "tab", "link"}  # fmt: skip
# What is out of sight is in the tree of the browser, but says nothing there before it is laid out.
LAID_OUT = '[class*="st-key-bench-"] {content-visibility: visible !important;}'
TEXT = "(range) => range.closest('.seqviz-slider').control.slider.text"
IN_THE_LINK = """([key, text, usual]) =>
    Number(new URLSearchParams(location.search).get(key) ?? usual) === Number(text)"""


def worth_trying(control: Control) -> Sequence[Any]:
    """Values that may bring another control on the page."""
    match control:
        case Choice():
            return (control.options,) if control.many else control.options
        case Toggle():
            return (False, True)
        case SelectSlider():
            return control.stops
        case Slider() if isinstance(control.default, int) and control.high - control.low < LISTED:
            return range(int(control.low), int(control.high) + 1)
    return ()


def sliders_with(declaration: type[Any], settings: Mapping[str, Any]) -> list[str]:
    """The sliders that apply with these settings; those that wait for others come first."""
    values = dataclasses.asdict(parse_params(declaration, settings))
    return [
        name
        for name, control in reversed(list(controls(declaration)))
        if isinstance(control, Slider | SelectSlider) and not control.client
        if control.when is None or control.when(values)
    ]


def settings_for_all(declaration: type[Any]) -> list[dict[str, Any]]:
    """As few settings, of at most two controls each, as together bring every slider."""
    values = {name: worth_trying(control) for name, control in controls(declaration)}
    tried = [
        dict(zip(names, chosen, strict=True))
        for count in range(3)
        for names in combinations(values, count)
        for chosen in product(*(values[name] for name in names))
    ]
    brought = {}
    for index, settings in enumerate(tried):
        with suppress(ValueError):  # an end that another bench sets
            brought[index] = set(sliders_with(declaration, settings))
    missing = set(chain.from_iterable(brought.values()))
    chosen = []
    while missing:
        best = max(brought, key=lambda position: len(brought[position] & missing))
        missing -= brought[best]
        chosen.append(tried[best])
    return chosen


@dataclasses.dataclass
class Due:
    """The sliders that are to be tried on a visit, by their keys: control and label."""

    link: dict[str, str]
    sliders: dict[str, tuple[Control, str]]


def visits(slug: str, first: int) -> Iterator[tuple[str, Due]]:
    """In turn in each language: links that together bring every slider of a lesson."""
    lesson = getattr(lessons, slug).lesson
    plans = [
        [(bench, settings) for settings in settings_for_all(bench.declaration)]
        for bench in lesson.benches.values()
    ]
    tried = set()
    for index, row in enumerate(zip_longest(*plans)):
        lang = LANGUAGES[(first + index) % len(LANGUAGES)]
        due = Due({"lang": lang}, {})
        for bench, settings in filter(None, row):
            named = dict(controls(bench.declaration))
            due.link |= {f"{bench.prefix}.{k}": encoded(v) for k, v in settings.items()}
            for name in sliders_with(bench.declaration, settings):
                label = LessonWords(slug, Text(lang)).control(name)[0]
                due.sliders[f"{bench.prefix}.{name}"] = named[name], label
        due.sliders = {key: due.sliders[key] for key in due.sliders if key not in tried}
        tried |= set(due.sliders)
        yield lang, due


def nameless(line: Any, labels: Sequence[str]) -> list[str]:
    """What on the page has no name for a screen reader, and labels without a slider and a value."""
    nodes = [
        item for item in line.send("Accessibility.getFullAXTree")["nodes"] if not item["ignored"]
    ]
    messages = [(node["role"]["value"], node.get("name", {}).get("value", "").strip(),
             str(node.get("value", {}).get("value", ""))) for node in nodes]  # fmt: skip
    sliders = {name: value for role, name, value in messages if role == "slider"}
    empty = [f"a {role} has no name" for role, name, _ in messages if role in NAMED and not name]
    return empty + [f"{label}: no slider says its value" for label in labels
                    if not sliders.get(label)]  # fmt: skip


def finger(line: Any, lesson: LessonPage, key: str) -> None:
    """Hold a slider in its middle and bring it to the half where it is not."""
    slider = lesson.page.locator(slider_input(key))
    slider.evaluate("(e) => e.scrollIntoView({block: 'end'})")
    part = slider.evaluate("(e) => e.style.getPropertyValue('--part')")
    there = 0.1 if float(part) > 0.5 else 0.9
    for kind, share in (("Start", 0.5), ("Move", 0.5 + (there - 0.5) / 2), ("Move", there)):
        x, y = lesson.at(key, share)
        points = [{"x": x, "y": y}]
        line.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    line.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def moved(lesson: LessonPage, key: str, control: Control, by: Callable[[], None]) -> bool:
    """Whether it moves a slider, and the page has heard of it."""
    slider = lesson.page.locator(slider_input(key))
    before = slider.evaluate(TEXT)
    by()
    after = slider.evaluate(TEXT)
    lesson.page.wait_for_function(IN_THE_LINK, arg=[key, after, encoded(control.default)])
    return after != before


def try_all(lesson: LessonPage, line: Any, due: Due, more: str) -> list[str]:
    """What is wrong with the sliders that are in sight; they are due no more."""
    page = lesson.page
    for box in page.get_by_text(more, exact=True).all():
        if box.is_visible():
            box.evaluate("(summary) => summary.click()")
    lesson.rest()
    here = [key for key in due.sliders if page.locator(slider_input(key)).is_visible()]
    wrong = nameless(line, [due.sliders[key][1] for key in here])
    for key in here:
        control, _ = due.sliders.pop(key)
        slider = page.locator(slider_input(key))
        last = float(slider.input_value()) >= float(slider.get_attribute("max") or 0)
        by = {
            "a key": lambda s=slider, k=last: s.press("ArrowLeft" if k else "ArrowRight"),
            "a finger": lambda k=key: finger(line, lesson, k),
        }
        for how, act in by.items():
            if not moved(lesson, key, control, act):
                wrong.append(f"{key}: {how}")
            lesson.rest()
    return wrong


@pytest.mark.nightly
@pytest.mark.parametrize(
    "place", range(len(catalog.LESSONS)), ids=lambda k: catalog.LESSONS[k].slug
)
def test_slider_responds_to_key_and_touch_and_has_accessible_name(visit, place, minilm_on_disk):
    slug = catalog.LESSONS[place].slug
    answers: list[int] = []
    for lang, due in visits(slug, place):
        lesson = visit(slug, due.link, color_scheme=THEMES[lang], **PHONE)
        line = lesson.page.context.new_cdp_session(lesson.page)
        lesson.page.on(
            "response", lambda item: "/live/" in item.url and answers.append(item.status)
        )
        lesson.whole()
        lesson.page.add_style_tag(content=LAID_OUT)
        wrong = []
        for tab in lesson.page.locator(PARTS).all() or [None]:
            if tab:
                tab.click()
            wrong += try_all(lesson, line, due, Text(lang)("frame.more"))
        assert not wrong, "; ".join(wrong)
        # One whose end is its beginning, as a place in a text of one token, is not drawn.
        assert [
            key for key, (slider, _) in due.sliders.items() if not getattr(slider, "within", None)
        ] == []
        assert set(answers) <= {200, 204}
        lesson.page.close()
