"""Reset of a bench, and Ctrl+Z over the moves."""

from __future__ import annotations

import re

from playwright.sync_api import expect

PHI = "ar.process.phi"
RESET = ".st-key-ar-process-restore"


def test_reset_counts_settings_and_restores_defaults(visit):
    lesson = visit("ar_fitting", {"lang": "en"})
    lesson.geometry("ar.process")
    button = lesson.page.locator(RESET)
    expect(button).to_be_hidden()
    lesson.slider(PHI).press("PageDown")
    expect(button).to_have_attribute("data-count", "1")
    lesson.page.get_by_role("radio", name="Roots").click()
    expect(button).to_have_attribute("data-count", "2")
    label = "(one) => getComputedStyle(one, '::after').content"
    assert "2" in button.get_by_role("button").evaluate(label)
    button.get_by_role("button").click()
    expect(lesson.slider(PHI)).to_have_value("0.8")
    expect(lesson.page).not_to_have_url(re.compile(r"ar\.process"))
    expect(button).to_be_hidden()


def test_ctrl_z_takes_back_one_move_at_a_time(visit):
    lesson = visit("ar_fitting", {"lang": "en"})
    lesson.geometry("ar.process")
    lesson.slider(PHI).press("PageDown")
    expect(lesson.page).to_have_url(re.compile(r"ar\.process\.phi=0\.7"))
    lesson.page.get_by_role("radio", name="Roots").click()
    expect(lesson.page).to_have_url(re.compile(r"view=roots"))
    # At once: the second move may come before the page has looked at its address again.
    lesson.page.keyboard.press("Control+z")
    expect(lesson.page).not_to_have_url(re.compile(r"view=roots"))
    expect(lesson.slider(PHI)).to_have_value("0.7")
    lesson.page.keyboard.press("Control+z")
    expect(lesson.slider(PHI)).to_have_value("0.8")


def test_reset_does_not_count_step(visit):
    """The address names the step beside its settings."""
    page = visit("ar_fitting", {"lang": "en"}).page
    page.locator(".st-key-bench-process .seqviz-steps button").first.click()
    expect(page).to_have_url(re.compile(r"ar\.process\.step=1"))
    expect(page.locator(RESET)).to_have_attribute("data-count", "1")
