"""Controls that follow others: steppers, sliders within a slider, sentences, hidden controls."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pytest
from streamlit.testing.v1 import AppTest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.controls import (
    Slider,
    TextInput,
    choice,
    controls,
    slider,
    step_slider,
    text_input,
)
from tests.sliders import sliders
from tests.ui.page import widget_page
from tests.ui.page.widget_page import links

LIMIT = 40


@dataclass(frozen=True)
class Walk:
    """A place within a length, a text, and what applies only beside it."""

    length: int = slider(2, 6, 4)
    place: int = step_slider(0, 6, 1, within="length")
    free: int = step_slider(-1, 2, 0)
    share: float = slider(0.0, 9.0, 0.5, 0.5, within="length")
    end: int = step_slider(2, 6, 2, within="length")
    source: str = choice(("numbers", "words"), "numbers")
    words: str = text_input("one two three", when=lambda v: v["source"] == "words")
    short: str = text_input("", LIMIT)
    gain: float = slider(0.0, 2.0, 1.0, 0.25, when=lambda v: v["source"] == "numbers")
    look: int = step_slider(1, 6, 0, within="length", opens=lambda v: v["length"] - 1)


PAGE = """
import streamlit as st
from tests.ui.page.test_dependent_widgets import Walk
from seqviz.core.i18n import Text
from seqviz.ui.page import widgets

st.session_state["before"] = widgets.current("t.b", Walk)
st.session_state["drawn"] = widgets.draw(
    "t.b", Walk, Text("LANG"), lambda name: (name, None), lambda name, option: option,
    st.container(), st.container(),
)
st.session_state["after"] = widgets.current("t.b", Walk)
"""


def opened(lang: str = "en", **link: str) -> AppTest:
    return widget_page.opened(PAGE.replace("LANG", lang), link)


def move(app: AppTest, **values: object) -> AppTest:
    plain = dict(controls(Walk))
    for name, value in values.items():
        if isinstance(plain[name], Slider):
            app.session_state[f"t.b.{name}"] = value
        else:
            widget(app, name).set_value(value)
    app.run()
    assert not app.exception
    return app


def shown(app: AppTest, name: str) -> tuple[float, float]:
    """What a slider is told: its value and its upper end."""
    options = sliders(app)[f"t.b.{name}"]
    return float(options["value"]), options["high"]


def widget(app: AppTest, name: str):
    return app.get_by_key(f"t.b.{name}")


def drawn(app: AppTest) -> Walk:
    return Walk(**widget_page.drawn(app))


# --------------------------------------------------------------------------------------- stepper
@pytest.mark.parametrize("lang", LANGUAGES)
def test_stepper_has_two_localized_buttons(lang):
    payload = sliders(opened(lang))
    named = {name: payload[f"t.b.{name}"]["words"] for name, c in controls(Walk)
             if isinstance(c, Slider)}  # fmt: skip
    steppers = {name for name, words in named.items() if "back" in words}
    assert steppers == {"place", "free", "end", "look"}
    words = Text(lang)
    for name in steppers:
        assert named[name]["back"] == words("frame.earlier")
        assert named[name]["forward"] == words("frame.later")


# ---------------------------------------------------------------------------------------- within
@pytest.mark.parametrize(
    ("length", "place", "value"),
    [(None, "6", 4), ("2", "3", 2), ("6", "6", 6), ("3", "0", 0), ("2", "7", 1), ("2", "-1", 1)],
)
def test_within_slider_clamps_link_value_to_limit(length, place, value):
    """What the length does not bear ends there; what no length bears (7, -1) is the default."""
    app = opened(place=place, **({} if length is None else {"length": length}))
    assert drawn(app).place == value
    assert shown(app, "place") == (value, int(length or 4))
    assert links(app).get("place", "1") == str(value)


@pytest.mark.parametrize("length", [2, 3])
def test_within_slider_clamps_when_limit_decreases(length):
    app = move(opened(), place=4, share=3.5)
    move(app, length=length)
    result = drawn(app)
    assert (result.place, result.share) == (length, min(3.5, length))
    assert type(result.share) is float
    assert [shown(app, name)[1] for name in ("place", "share")] == [length, length]
    assert links(app) == {
        "length": str(length), "place": str(length), "share": f"{min(3.5, length):g}",
    }  # fmt: skip


def test_within_slider_hides_with_single_value():
    """As the place of a token in a text of one token."""
    app = opened(length="2", end="5")
    assert drawn(app).end == 2
    assert "t.b.end" not in sliders(app)
    assert "end" not in links(app)
    assert drawn(move(move(app, length=5), end=4)).end == shown(app, "end")[0] == 4
    assert drawn(move(app, length=2)).end == 2
    assert "end" not in links(app)


def test_within_slider_keeps_own_maximum_when_smaller():
    control = dict(controls(Walk))["share"]
    assert control.top({"length": 6}) == 6
    assert dataclasses.replace(control, high=5.0).top({"length": 6}) == 5
    assert Slider(1, low=0, high=3).top({}) == 3


def test_within_slider_extends_range_when_limit_increases():
    app = move(move(opened(), place=4), length=2)
    move(app, length=6)
    result = drawn(app)
    assert 0 <= result.place <= result.length == 6
    assert shown(app, "place")[1] == 6
    assert links(app).get("place", "1") == str(result.place)  # the link says what is shown
    assert drawn(move(app, place=6)).place == 6


# ----------------------------------------------------------------------------------------- opens
def test_opens_slider_falls_back_to_own_range_on_user_error():
    """The bench says why not; the page, its other benches and this text box stay."""

    def refuses(_values):
        raise UserError("no_text", "There is nothing to read. Type a text.")

    slider = Slider(0, low=1, high=9, within=refuses, opens=refuses)
    assert (slider.display_value(0, {}), slider.top({})) == (1, 9)


def test_opens_slider_follows_computed_start_until_moved():
    """And is in no link; where a hand has put it, it stays."""
    app = opened()
    assert (drawn(app).look, shown(app, "look")) == (0, (3, 4))
    assert float(sliders(app)["t.b.look"]["start"]) == 3
    move(app, length=6)
    assert (drawn(app).look, shown(app, "look")) == (0, (5, 6))
    assert "look" not in links(app)
    move(app, look=2)
    move(app, length=5)
    assert (drawn(app).look, shown(app, "look"), links(app)["look"]) == (2, (2, 5), "2")
    assert shown(opened(view="0"), "look") == (3, 4)
    assert shown(opened(view="-1"), "look") == (3, 4)


# -------------------------------------------------------------------------------------- sentence
TEXTS = [
    "two  spaces", " ends ", "我们 学习", "a&b=c+d%20#e?f", "𝛼 é ß", "'\"\\n", "<b>bold</b>", "{x}",
    "$x$ :red[no] **no**", "0", "none",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_text_input_round_trips_through_link(text):
    app = move(opened(source="words"), words=text)
    assert drawn(app).words == text
    assert links(app) == {"source": "words", "words": text}
    again = opened(**links(app))
    assert drawn(again) == drawn(app)
    assert widget(again, "words").value == text


def test_text_input_omits_default_from_link():
    app = move(opened(source="words"), words="other")
    move(app, words="one two three")
    assert links(app) == {"source": "words"}
    assert drawn(app) == dataclasses.replace(Walk(), source="words")


def test_text_input_keeps_empty_text():
    """It is not the lack of one: the default must not come back."""
    app = move(opened(source="words"), words="")
    assert drawn(app).words == ""
    assert links(app) == {"source": "words", "words": ""}
    assert drawn(opened(**links(app))).words == ""
    assert drawn(app.run()).words == ""


@pytest.mark.parametrize(("name", "limit"), [("words", 500), ("short", LIMIT)])
def test_text_input_truncates_to_limit(name, limit):
    text = "".join(chr(0x4E00 + k % 5000) for k in range(10_000))
    assert dict(controls(Walk))[name].limit == limit
    app = opened(source="words", **{name: text})
    assert getattr(drawn(app), name) == text[:limit]
    assert links(app)[name] == text[:limit]
    assert widget(app, name).proto.max_chars == limit
    full = Text("en")("frame.text_full", limit=limit)
    assert full in [caption.value for caption in app.caption]
    assert full not in [caption.value for caption in opened(source="words").caption]
    # and from a browser that does not keep to the limit of its field
    assert getattr(drawn(move(opened(source="words"), **{name: text})), name) == text[:limit]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>"])
def test_text_input_shows_markup_as_text(text):
    app = opened(source="words", words=text)
    assert widget(app, "words").value == drawn(app).words == text
    assert widget(app, "words").label == "words"
    for kind in ("markdown", "html", "caption", "code", "text"):
        assert not [element for element in app.get(kind) if text[:5] in str(element.value)]
    assert not any(getattr(element.proto, "allow_html", False) for element in app.markdown)


def test_text_input_bounds_are_empty_and_longest_text():
    control = dict(controls(Walk))["short"]
    assert isinstance(control, TextInput)
    assert control.bounds() == ("", LIMIT * "x")
    assert [control.parse(text) for text in control.bounds()] == ["", LIMIT * "x"]


@pytest.mark.parametrize(("place", "before", "after"), [(2, 4, 5), (2, 4, 6), (2, 6, 4), (1, 4, 6)])
def test_within_slider_keeps_value_that_still_fits(place, before, after):
    app = move(opened(place=str(place), length=str(before)), length=after)
    assert (drawn(app).length, drawn(app).place) == (after, place)
    assert (drawn(app.run()).length, drawn(app).place) == (after, place)


# ------------------------------------------------------------------------ what does not apply
def test_hidden_control_leaves_link_and_keeps_value():
    app = move(opened(source="words"), words="mine alone")
    assert links(app) == {"source": "words", "words": "mine alone"}
    move(app, source="numbers")
    assert drawn(app) == Walk()  # the bench gets the default
    assert links(app) == {}
    assert not [field for field in app.text_input if field.key == "t.b.words"]
    move(app, gain=1.75)
    app.run()
    assert links(app) == {"gain": "1.75"}
    move(app, source="words")
    assert drawn(app) == dataclasses.replace(Walk(), source="words", words="mine alone")
    assert links(app) == {"source": "words", "words": "mine alone"}
    move(app, source="numbers")
    assert drawn(app) == dataclasses.replace(Walk(), gain=1.75)
    assert links(app) == {"gain": "1.75"}


def test_hidden_control_restores_link_value_when_shown():
    """Both are in the link; the one that does not apply is taken out and comes back later."""
    app = opened(words="from the link", gain="0.25")
    assert drawn(app) == dataclasses.replace(Walk(), gain=0.25)
    assert links(app) == {"gain": "0.25"}
    move(app, source="words")
    assert drawn(app).words == "from the link"
    assert drawn(app).gain == Walk().gain
    assert links(app) == {"source": "words", "words": "from the link"}
    move(app, source="numbers")
    assert drawn(app).gain == 0.25
