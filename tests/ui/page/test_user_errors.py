"""What goes wrong on a page: one sentence in its place, in the reader's language."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting import networks
from seqviz.core.errors import MessageError
from seqviz.core.i18n import LANGUAGES, Text, duration
from seqviz.core.units import unbroken
from seqviz.data import DataError
from seqviz.lessons.framework.error_messages import to_message

PAGE = """
import streamlit as st
from seqviz.core.i18n import Text
from seqviz.ui.page.page_host import render_safely
from seqviz.core.errors import MessageError

text = Text(st.query_params["lang"])

def body():
    st.markdown("before")
    {body}
    st.markdown("after")

render_safely(body, text)
st.markdown("the rest of the page")
"""


def shown(body: str, lang: str = "en") -> AppTest:
    app = AppTest.from_string(PAGE.replace("{body}", body), default_timeout=20)
    app.query_params["lang"] = lang
    app.run()
    assert not app.exception
    return app


def said(app: AppTest) -> list[str]:
    return [element.value for element in app.markdown]


def test_render_safely_shows_no_message_on_success():
    app = shown("pass")
    assert said(app) == ["before", "after", "the rest of the page"]
    assert not app.warning
    assert not app.error


@pytest.mark.parametrize("lang", LANGUAGES)
def test_render_safely_translates_error_and_continues_page(lang):
    app = shown("raise MessageError('queue_full', waiting=3)", lang)
    assert [w.value for w in app.warning] == [Text(lang)("problem.queue_full", waiting=3)]
    assert said(app) == ["before", "the rest of the page"]


def test_render_safely_shows_message_of_plain_value_error():
    app = shown("raise ValueError('Choose another one.')")
    assert [w.value for w in app.warning] == ["Choose another one."]
    assert not app.error


def test_render_safely_shows_message_of_untranslated_code():
    """Such as a table of a teacher's own model that is too long: a sentence, not a stack trace."""
    app = shown(
        "from seqviz.core.errors import UserError; raise UserError('of_mars', 'Too far.', far=1)",
        "zh",
    )
    assert [w.value for w in app.warning] == ["Too far."]
    assert not app.error
    assert said(app)[-1] == "the rest of the page"


@pytest.mark.parametrize("error", ["KeyError('x')", "ZeroDivisionError()", "TypeError('secret')"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_render_safely_hides_details_of_unexpected_error(error, lang, caplog):
    app = shown(f"raise {error}", lang)
    assert [e.value for e in app.error] == [Text(lang)("frame.failed")]
    assert said(app)[-1] == "the rest of the page"
    assert "secret" not in app.error[0].value
    assert "a bench failed" in caplog.text  # and the log has the traceback


def test_render_safely_passes_stop_and_rerun_through():
    app = shown("st.session_state.setdefault('runs', 0); st.session_state.runs += 1\n"
                "    st.session_state.runs < 2 and st.rerun()")  # fmt: skip
    assert app.session_state["runs"] == 2
    assert not app.error
    stopped = shown("st.stop()")
    assert said(stopped) == ["before"]
    assert not stopped.error


@pytest.mark.parametrize("lang", LANGUAGES)
def test_to_message_translates_data_error(lang):
    problem = DataError("not_a_number", row=4, column="temp", text="warm")
    words = to_message(problem, Text(lang))
    assert words == Text(lang)("problem.not_a_number", row=4, column="temp", text="warm")
    assert "warm" in words
    assert "4" in words


REACHED = {
    "replications that explode": lambda: ar.replicate(1.2, n=5000),
    "an explosion in the burn-in": lambda: ar.simulate((1.2,), burn_in=1000),
    "too few values for the order": lambda: ar.fit(ar.simulate((0.5,), n=5).values, 4, "ols"),
    "too few values for the horizon": lambda: ar.forecast_direct(np.arange(20.0) % 7, 5, 10),
    "too few values for all orders": lambda: ar.select_order(np.arange(12.0) % 5, 10),
    "a line without noise": lambda: ar.fit(np.arange(60.0), 3, "ols"),
    "values beyond float32": lambda: networks.fit_network(
        1e30 * ar.simulate((0.5,), n=60).values, networks.NetworkSettings(epochs=1)
    ),
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("case", REACHED)
def test_to_message_translates_compute_errors(case, lang):
    """What a student can reach with sliders and a file, met as the page meets it."""
    with pytest.raises(ValueError, match=r"\w") as caught:
        REACHED[case]()
    words = to_message(caught.value, Text(lang))
    assert "{" not in words
    assert any("\u4e00" <= letter <= "\u9fff" for letter in words) == (lang == "zh"), words


def test_message_error_is_value_error_with_code():
    problem = MessageError("exploded", steps=12)
    assert isinstance(problem, ValueError)
    assert (problem.code, problem.details) == ("exploded", {"steps": 12})


def test_message_error_keeps_code_when_pickled():
    with pytest.raises(ValueError, match=r"\w") as caught:
        ar.replicate(1.2, n=5000)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, again.details) == (caught.value.code, caught.value.details)
    assert str(again) == str(caught.value)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "< 1 ms"), (0.0009, "< 1 ms"), (0.001, "1 ms"), (0.1204, "120 ms"), (2.44, "2.4 s"),
     (0.9994, "999 ms"), (0.9999, "1.0 s"), (75, "75.0 s"), (99.96, "2 min"),
     (815, "14 min")],
)  # fmt: skip
def test_duration_formats_seconds_with_unit(seconds, words):
    assert duration(seconds) == unbroken(words)
