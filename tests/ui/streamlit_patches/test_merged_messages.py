"""Messages of one reader that come while the server draws are merged; nothing they ask for is lost.

A slider that moves, benches that come near and settings that have come to rest speak for
themselves. Two such messages make one run, and the callback of one must not replace it.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from seqviz.content import catalog
from seqviz.lessons.framework.controls import encoded
from seqviz.ui.page import components, lazy_loading
from seqviz.ui.streamlit_patches import fragment_reruns

ROOT = Path(__file__).resolve().parents[3]


class Reader:
    """One reader of a lesson, whose messages come together.

    figures: by their benches, as they were drawn last, when there was something to draw.
    """

    def __init__(self, slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lazy_loading.LAZY, "on", True)
        self.patch = monkeypatch
        self.code = catalog.lesson(slug).code
        self.app = AppTest.from_file(str(ROOT / "pages" / f"{slug}.py"), default_timeout=120)
        self.app.run()
        self.components: dict[str, BidiComponent] = {}
        self._see()

    def _see(self) -> None:
        assert not self.app.exception
        payloads = [item.proto for item in self.app.get("bidi_component")]
        self.components |= {item.id.split("-", 2)[-1]: item for item in payloads}

    @property
    def figures(self) -> dict[str, bytes]:
        charts = {
            key: component.bytes
            for key, component in self.components.items()
            if key.endswith(".chart")
        }
        return {key.removesuffix(".chart"): chart for key, chart in charts.items()}

    def ids(self, *keys: str) -> list[str]:
        return self.app._fragment_storage.resolve_target(keys)

    def slider(self, key: str, value: float) -> tuple[WidgetState, str]:
        """A hand has left a slider."""
        widget_state = self._says(f"{key}.slider", "value", encoded(value))
        return widget_state, self.ids(key.rpartition(".")[0])[0]

    def near(self, *names: str) -> tuple[WidgetState, str]:
        """The reader comes near benches."""
        key = f"{self.code}.lazy"
        return self._says(key, "visible", names), self.ids(key)[0]

    def rests(self, bench: str, *names: str) -> tuple[WidgetState, str]:
        """The settings of a bench have come to rest, and these that build on it are near."""
        return self._says(f"{bench}.debounce", "commit", names), self.ids(f"{bench}.commit")[0]

    def _says(self, key: str, event: str, value: object) -> WidgetState:
        name = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{self.components[key].id}__events"
        message = json.dumps([{"event": event, "value": value}])
        return WidgetState(id=name, json_trigger_value=message)

    def send(
        self,
        *messages: tuple[WidgetState, str],
        after: tuple[str, ...] = (),
        full: bool = False,
    ) -> None:
        """Messages that the server finds together.

        after: benches that were to be drawn already. full: the whole page was.
        """
        request = LocalScriptRunner.request_rerun

        def together(runner: LocalScriptRunner, page: RerunData) -> None:
            runner._requests = ScriptRequests()  # AppTest has asked for the whole page already
            page = replace(page, widget_states=None)
            if after or full:
                request(runner, replace(page, fragment_id_queue=self.ids(*after) if after else []))
            settings: list[WidgetState] = []
            for state, fragment in messages:
                states = WidgetStates(widgets=[*settings, state])
                request(runner, replace(page, widget_states=states, fragment_id=fragment))
                if state.WhichOneof("value") != "json_trigger_value":
                    settings.append(state)  # the browser tells all that is set each time

        with self.patch.context() as patch:
            patch.setattr(LocalScriptRunner, "request_rerun", together)
            self.app._run()
        self._see()


@pytest.fixture
def reader(monkeypatch):
    monkeypatch.setattr(fragment_reruns, "_rerun", fragment_reruns._rerun)  # is put back
    fragment_reruns.apply()
    return lambda slug: Reader(slug, monkeypatch)


def test_visible_message_draws_bench(reader):
    page = reader("vanishing_gradients")
    assert page.figures.keys() == {"vg.race"}
    page.send(page.near("pairs"))
    assert page.figures.keys() == {"vg.race", "vg.pairs"}


def reaching(reader) -> Reader:
    """The lesson whose bench "reach" has others that build on it, with that bench drawn."""
    page = reader("vanishing_gradients")
    page.send(page.near("reach"))
    return page


@pytest.mark.parametrize("asks", ["near", "rests"])
def test_requesting_fragment_redraws_itself(reader, monkeypatch, asks):
    """A run throws away what its fragments have drawn and nobody has sent yet.

    With it went what hears of benches that come near, and the rest of the page stayed grey.
    """
    page = reaching(reader)
    if asks == "rests":
        page.send(page.near("pairs"))
        page.send(page.slider("vg.reach.gain", 0.8))  # from now on it knows who builds on it
    name = {"near": "lazy_load", "rests": "debounce"}[asks]
    rendered, draw = [], getattr(components, name)
    monkeypatch.setattr(
        components, name, lambda *payload: rendered.append(payload[0]) or draw(*payload)
    )
    page.send(page.near("pairs") if asks == "near" else page.rests("vg.reach", "pairs"))
    assert rendered == [{"near": "vg.lazy", "rests": "vg.reach"}[asks]]
    assert "vg.pairs" in page.figures


def test_visible_message_redraws_undelivered_bench_after_delay(reader, monkeypatch):
    page = reaching(reader)
    page.send(page.near("pairs"))
    del page.components["vg.pairs.chart"]  # the line was bad
    page.send(page.near("pairs"))
    assert "vg.pairs" not in page.figures  # it may still be under way
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 10)
    page.send(page.near("pairs"))
    assert "vg.pairs" in page.figures


def test_merged_messages_keep_slider_change_with_visible_bench(reader):
    page = reaching(reader)
    before = page.figures["vg.reach"]
    page.send(page.slider("vg.reach.gain", 0.5), page.near("pairs"))
    assert page.figures.keys() == {"vg.race", "vg.reach", "vg.pairs"}
    assert page.figures["vg.reach"] != before


def test_merged_messages_keep_queued_bench_with_visible_bench(reader):
    """Else a bench is asked for, taken for being on its way, and stays grey."""
    page = reaching(reader)
    page.app.session_state[lazy_loading.KEY] = (
        "vanishing_gradients",
        frozenset({"race", "reach", "pairs"}),
    )
    page.send(page.near("paths", "cut"), after=("vg.pairs",))
    assert page.figures.keys() == {"vg.race", "vg.reach", "vg.pairs", "vg.paths", "vg.cut"}


def test_merged_messages_keep_slider_change_with_commit(reader):
    page = reaching(reader)
    page.send(page.near("pairs", "back", "cut"))
    page.send(page.slider("vg.reach.gain", 0.5))
    before = page.figures
    page.send(page.slider("vg.pairs.later", 30), page.rests("vg.reach", "cut"))
    changed = {bench for bench, figure in page.figures.items() if figure != before[bench]}
    assert changed == {"vg.pairs", "vg.cut"}


@pytest.mark.parametrize("first", ["press", "rest"])
def test_merged_messages_keep_slider_change_during_own_commit(reader, first):
    page = reaching(reader)
    page.send(page.near("pairs"))
    page.send(page.slider("vg.reach.gain", 0.8))  # from now on it knows who builds on it
    before = page.figures
    both = page.slider("vg.reach.gain", 0.5), page.rests("vg.reach", "pairs")
    page.send(*(both if first == "press" else reversed(both)))
    assert page.figures["vg.reach"] != before["vg.reach"]
    page.send(page.rests("vg.reach", "pairs"))  # as the browser says when it sees the new settings
    assert page.figures["vg.pairs"] != before["vg.pairs"]


def test_merged_messages_keep_full_page_run(reader):
    """The end of a training runs the page again: a bench that comes near then is part of it."""
    page = reaching(reader)
    before = dict(page.components)
    page.app.session_state["lang"] = "zh"
    page.send(page.near("pairs"), full=True)
    assert page.figures.keys() == {"vg.race", "vg.reach", "vg.pairs"}
    assert page.components["vg.reach.chart"].bytes != before["vg.reach.chart"].bytes


def test_visible_bench_keeps_navigation_that_comes_in_its_callback(reader, monkeypatch):
    """Else the address names another page than the one on screen: *Next* was lost, or a setting."""
    page = reaching(reader)
    before, rerun = page.figures["vg.reach"], fragment_reruns._rerun

    def navigated(keys):
        context = get_script_run_ctx()
        to = {"query_string": "vg.reach.gain=0.5", "page_script_hash": context.page_script_hash}
        context.script_requests.request_rerun(RerunData(**to, is_history_navigation=True))
        rerun(keys)

    monkeypatch.setattr(fragment_reruns, "_rerun", navigated)
    page.send(page.near("pairs"))
    assert page.figures["vg.reach"] != before
    assert page.figures.keys() == {"vg.race", "vg.reach", "vg.pairs"}
