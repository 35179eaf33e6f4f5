"""A link's text becomes a value that the widget takes, or none, whatever it says."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqviz.core.i18n import escape_markdown
from seqviz.lessons.framework.controls import Slider, encoded
from tests.hostile import adversarial_inputs, links, markup
from tests.hostile.input_declarations import SLUGS, fits, keys, text_fields

CONTROLS = [(key, control) for slug in SLUGS for key, control in keys(slug).items()]
FLOATS = [(key, c) for key, c in CONTROLS if isinstance(c, Slider) and isinstance(c.default, float)]
QUICK = settings(
    max_examples=300,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@QUICK
@given(adversarial_inputs.junk)
def test_control_parse_returns_valid_value_or_raises(raw):
    """300 texts for each of some 280 controls."""
    for key, control in CONTROLS:
        try:
            value = control.parse(raw)
        except (ValueError, KeyError):  # what widgets._value falls back on
            continue
        assert fits(control, value), (key, raw, value)


@QUICK
@given(st.sampled_from(SLUGS).flatmap(links.extreme))
def test_control_link_value_round_trips(link):
    """300 links with every control of a lesson: more than 10,000 values."""
    slug, pairs = link
    for key, raw in pairs:
        control = keys(slug).get(key)
        if control is None:  # language, presenter mode
            continue
        value = control.parse(raw)
        assert fits(control, value), (key, raw, value)
        again = control.parse(encoded(value))
        # Between the steps of a slider there are values that a link writes with fewer digits.
        assert again == (pytest.approx(value, rel=1e-5) if isinstance(value, float) else value)
        assert control.parse(encoded(again)) == again


def test_slider_steps_round_trip():
    """Every step of a slider comes back exactly."""
    for key, control in FLOATS:
        steps = round((control.high - control.low) / control.step)
        for step in range(0, steps + 1, max(1, steps // 2000)):
            value = round(control.low + step * control.step, 10)
            assert control.parse(encoded(value)) == pytest.approx(value, rel=1e-9), key


@QUICK
@given(adversarial_inputs.raw_texts)
def test_escape_markdown_neutralizes_text(text):
    message = f"Read: {escape_markdown(text[:300])} (1)."
    assert markup._markdown(message) == set()


def test_text_fields_exist_in_every_lesson_except_ar_fitting():
    assert {slug for slug, _, _ in text_fields()} == set(SLUGS) - {"ar_fitting"}
