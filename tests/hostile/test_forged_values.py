"""A forged state of a widget is cleaned or not heard, and the next good one is heard as ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from seqviz import lessons
from seqviz.core.i18n import ASSETS
from seqviz.lessons.framework.controls import SelectSlider, Slider, encoded
from testing.protocol import ProtocolClient, run_async
from testing.server import Server
from tests.hostile.forged_messages import EVENTS, HUGE, RAW, Room, event, forged, key_of, patched
from tests.hostile.input_declarations import SLUGS, fits, keys

EACH, MOST = 5, 120  # which of the nonsense a real server is told
WIDEST = 24  # characters of a number in a link
room = cache(Room)
pytestmark = pytest.mark.usefixtures("as_served")


def tried(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def as_served():
    with patched():
        yield


def check(page: Room) -> None:
    """Every parameter is one that its control has, and short in a link."""
    for key, (control, value) in page.values().items():
        assert fits(control, value), (key, value)
        if isinstance(value, int | float):
            assert len(encoded(value)) <= WIDEST, (key, value)


def check_it_hears(page: Room) -> None:
    """Each slider that is there goes to where a hand puts it."""
    ids = page.ids
    sliders = {
        f"{key}.slider{EVENTS}": (key, control)
        for key, control in keys(page.slug).items()
        if isinstance(control, Slider | SelectSlider) and f"{key}.slider" in ids
    }
    assert sliders
    for end in (0, 1):
        good = {name: control.bounds()[end] for name, (_, control) in sliders.items()}
        page.hear({ids[name]: event("value", encoded(value)) for name, value in good.items()})
        for name, (key, _) in sliders.items():
            assert page.state[key] == good[name], key


def test_page_registers_every_declared_widget():
    for slug in SLUGS:
        received = {key_of(id) for id in room(slug).kinds}
        for key, control in keys(slug).items():
            applies = control.when is None and not control.client and not control.course
            assert not applies or received & {key, f"{key}.slider"}, key
        assert {"lang", "present", "share", "about", "theme"} <= received
        for name in getattr(lessons, slug).lesson.exercises:
            assert any(f".exercise.{name}." in key for key in received), name
        assert any(".quiz.0.0." in key for key in received)
        for name in getattr(lessons, slug).lesson.sketches:
            assert any(f".sketch.{name}.drawing" in key for key in received), name
        assert any(key.startswith("predict.") for key in received)


def hostile(slug: str, kind: str) -> list[dict[str, object]]:
    """One state of each kind, and of the widget's own what is no JSON."""
    states: list[dict[str, object]] = [
        {"trigger_value": True}, {"bool_value": True}, {"double_value": float("nan")},
        {"double_value": 1e308}, {"double_value": -0.0}, {"int_value": -(2**63)},
        {"string_value": "__proto__"}, {"string_value": "x" * 5_000},
        {"double_array_value": {"data": [0.5]}}, {"int_array_value": {"data": [99, -99]}},
        {"string_array_value": {"data": ["__class__"] * 3}}, {"bytes_value": b"\xff"},
        {"string_trigger_value": {"data": "x"}}, {"chat_input_value": {"data": "x"}},
        {"file_uploader_state_value": {"uploaded_file_info": [{"file_id": "x", "name": "a.exe"}]}},
        {"json_value": '{"pick": {"x": 1, "y": 1}, "value": "0.5"}'},
    ]  # fmt: skip
    payloads = [{}, [1, 2], "x", HUGE, True, None, {"x": HUGE, "y": True}, {"x": 1e308, "y": 1e308},
            {"x": 1}, ["near"] * 3, "nan", "-0.0", "\ud800"]  # fmt: skip
    if kind.startswith("json"):
        states += [{kind: raw} for raw in RAW]
        events = ("pick", "value", "commit", "visible", "answered", "settings", "theme")
        states += [event(name, value) for name in events for value in payloads]
        names = {key.rpartition(".")[2] for key in keys(slug)}
        states += [event("settings", dict.fromkeys(names, value)) for value in (HUGE, None, "nan")]
        states += [event("settings", {name: [[]] for name in names})]
    return states


@pytest.mark.parametrize("slug", SLUGS)
def test_widgets_survive_every_kind_of_forged_state(slug, record_property):
    page, count = room(slug), 0
    payload = {id: hostile(slug, kind) for id, kind in page.kinds.items()}
    for number in range(max(map(len, payload.values()))):
        states = {id: these[number] for id, these in payload.items() if number < len(these)}
        page.hear(states)
        count += len(states)
        check(page)
    record_property("tried", count)
    page.run({})
    check_it_hears(page)


def forge(data: st.DataObject, page: Room, maximum: int) -> dict[str, dict[str, object]]:
    parameters = tuple(sorted({key.rpartition(".")[2] for key in keys(page.slug)}))
    kinds = page.at_first
    ids = data.draw(st.lists(st.sampled_from(sorted(kinds)), max_size=maximum, unique=True))
    return {id: data.draw(forged(kinds[id], parameters)) for id in ids}


def forged_at_once(examples: int, maximum: int, is_drawn: bool) -> Callable[[], None]:
    """A test: up to so many forged states together. is_drawn: the page is drawn with them."""

    @tried(examples)
    @given(st.sampled_from(SLUGS), st.data())
    def test(slug, data):
        page = room(slug)
        (page.run if is_drawn else page.hear)(forge(data, page, maximum))
        check(page)
        if is_drawn:
            check_it_hears(page)

    return test


test_page_ignores_or_cleans_random_forged_states = forged_at_once(40, 15, is_drawn=False)
test_page_draws_with_forged_states_and_accepts_next_valid = forged_at_once(6, 40, is_drawn=True)
test_page_ignores_or_cleans_many_random_forged_states = pytest.mark.nightly(
    forged_at_once(1_500, 15, is_drawn=False)
)
test_page_draws_with_many_forged_states_and_accepts_next_valid = pytest.mark.nightly(
    forged_at_once(150, 60, is_drawn=True)
)


def test_widget_forged_before_first_draw_starts_at_default():
    """A browser that comes back tells a new session all at once."""
    ids = room("gates").kinds
    page = Room("gates", before={id: {"json_value": "{"} for id in ids})
    check(page)
    check_it_hears(page)


def test_widget_forged_persistent_state_does_not_block_later_events():
    page = Room("vanishing_gradients")
    key = "vg.reach.gain.slider"
    page.hear({page.ids[key]: {"json_value": json.dumps({"value": "0.1"})}})
    check_it_hears(page)


ADDRESSES = {
    "http://localhost:8501/gates": "http://",
    "https://lab-seqviz.hf.space/gates": "https://lab-seqviz.hf.space/gates?lang=en",
    "http://[bad": "?lang=en",
    "http://host:99999/gates": "?lang=en",
    "http://host:x/gates": "?lang=en",
    "javascript:alert(1)": "?lang=en",
    "http://host/\u202egates": "?lang=en",
    "http://host/" + "x" * 100_000: "?lang=en",
    "": "?lang=en",
}


@pytest.mark.parametrize("url", ADDRESSES, ids=lambda url: url[:30])
def test_share_returns_valid_address_or_settings_only(url):
    page = Room("gates", {"url": url, "locale": "\u202e" * 100})
    page.run({page.ids["share"]: {"bool_value": True}})
    assert page.app.code[0].value.startswith(ADDRESSES[url])
    assert len(page.app.code[0].value) < 2_100


def test_page_opens_one_of_two_panels_requested_together():
    page = AppTest.from_file(str(ASSETS.parent / "pages" / "gates.py"), default_timeout=120).run()
    for keys_pressed in (
        ("ga.force.data", "ga.force.code", "ga.watch.code"), ("glossary.open", "ga.watch.code")
    ):  # fmt: skip
        for key in keys_pressed:
            page.button(key=key).click()
        page.run()
        assert not page.exception
        assert not page.error
        assert len(page.code) == 1


def figures(student: ProtocolClient) -> dict[str, bytes]:
    """The charts of a page by their keys, without what is around them."""
    return {
        key: widget.message.bytes.partition(b"\n")[2]
        for key, widget in student.widgets.items()
        if key.endswith(".chart") and key.count(".") == 2
    }


async def poisoned(server: Server, slug: str, first: int) -> None:
    """Nonsense to all widgets of a page; then it looks as its link says, and a slider moves it."""
    async with ProtocolClient(server.url, slug, patience=120.0) as student:
        await student.open()
        await student.whole()
        for number in range(first, MOST, EACH):
            payload = {}
            for key, widget in student.widgets.items():
                if key.startswith("go.") or key.endswith(".start"):  # another page, a training
                    continue
                for id, kind in ((widget.id, ""), (widget.events, "json_trigger_value")):
                    states = hostile(slug, kind)
                    payload[id] = states[number % len(states)]
            student.errors.clear()
            await student.say(payload)
            assert student.errors == [], number
        await student.whole()
        await student.ask()
        async with ProtocolClient(server.url, slug, student._query, patience=120.0) as other:
            await other.open()
            await other.whole()
            observed, expected = figures(student), figures(other)
            both = observed.keys() & expected.keys()
            assert both
            wrong = [key for key in both if observed[key] != expected[key]]
            assert not wrong, student._query
        key = next(k for k, c in keys(slug).items() if isinstance(c, Slider | SelectSlider)
                   and student.slider(k))  # fmt: skip
        for end in keys(slug)[key].bounds():
            await student.move(key, end)
            assert student.slider(key)["value"] == encoded(end)
            assert student.errors == []


@pytest.mark.nightly
@pytest.mark.parametrize("slug", SLUGS)
def test_server_logs_no_error_for_forged_states(server, slug):
    before = len(server.log.read_bytes())
    run_async(poisoned(server, slug, SLUGS.index(slug) % EACH))
    new = server.log.read_bytes()[before:].decode("utf-8")
    assert "Traceback" not in new, new[-3000:]
    assert " ERROR " not in new, new[-3000:]
