"""Controls that Streamlit draws, one of each kind: a hand changes it and the page hears of it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.tiers import first_only


def types(position: Locator) -> None:
    """A whole number."""
    field = position.locator("input")
    field.fill("7")
    field.press("Enter")


def steps(position: Locator) -> None:
    position.get_by_role("button", name="Increment").click()


def switches(position: Locator) -> None:
    position.locator("label").first.click()


def chooses(name: str) -> Callable[[Locator], None]:
    """In a menu."""

    def choose(position: Locator) -> None:
        position.get_by_role("combobox").click()
        position.page.get_by_role("option", name=name).click()

    return choose


def presses(kind: str, name: str) -> Callable[[Locator], None]:
    return lambda position: position.get_by_role(kind, name=name, exact=True).click()


CONTROLS = {
    "ar_fitting": [
        ("ar.process.seed.slider", types, "7"),
        ("ar.process.seed.slider", steps, "8"),
        ("ar.process.shuffle", switches, "true"),
        ("ar.process.view", presses("radio", "Roots"), "roots"),
    ],
    "gates": [("ga.one.task", chooses("Parity"), "parity")],
    "vanishing_gradients": [("vg.reach.cells", presses("button", "GRU"), "linear%2Brnn%2Blstm")],
}


@pytest.mark.parametrize("slug", first_only(list(CONTROLS)))
def test_control_change_updates_link_and_figure(visit, slug):
    view = {"ga.one.view": "mask"} if slug == "gates" else {}  # the first view has no marks
    lesson = visit(slug, {"lang": "en", **view})
    for control, act, received in CONTROLS[slug]:
        key = control.removesuffix(".slider")
        bench = key.rpartition(".")[0]
        before = lesson.geometry(bench)
        act(lesson.by_key(control))
        expect(lesson.page).to_have_url(re.compile(re.escape(f"{key}={received}")))
        assert lesson.changed(bench, before)
    if slug == "ar_fitting":  # a number that is an answer is judged
        control = lesson.by_key("ar.exercise.memory.0.field")
        control.locator("input").fill("4,0")  # 0.5 ** 3 = 0.125, 0.5 ** 4 = 0.0625
        control.locator("input").press("Enter")
        expect(lesson.by_key("ar.exercise.memory.done")).to_contain_text("Right.")
