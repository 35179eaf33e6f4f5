"""Every lesson works with Streamlit as it is: what is patched is faster, and is not needed."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from seqviz.content import catalog
from seqviz.core.i18n import ASSETS, Text
from testing.protocol import SLIDER, ProtocolClient, run_async
from testing.server import serve

SLUGS = [lesson.slug for lesson in catalog.LESSONS]


@pytest.fixture(scope="module")
def server():
    with serve(environment={"SEQVIZ_PATCHES": "0", "HF_HUB_OFFLINE": "1"}) as running:
        yield running


def test_unpatched_server_logs_setting_and_deprecation(server):
    """By the former name of the setting, of which the log says once what to set instead."""
    log = server.log.read_text("utf-8")
    assert "patches: runs unpatched (SEQVIZ_STREAMLIT_PATCHES)" in log
    assert log.count("SEQVIZ_PATCHES is deprecated, set SEQVIZ_STREAMLIT_PATCHES") == 1
    assert log.count("deprecated, set") == 1


TRAINED = "vg.race."  # other settings show nothing before they are trained


def sliders(student: ProtocolClient) -> list[dict[str, Any]]:
    payloads = [
        widget.told
        for key, widget in student.widgets.items()
        if key.endswith(SLIDER) and not key.startswith(TRAINED)
    ]
    return [item for item in payloads if "high" in item.get("options", ())]  # not the seed


@pytest.mark.parametrize("slug", SLUGS)
def test_unpatched_server_draws_lesson_and_handles_slider_move(server, slug):
    """The first of them is the first visitor of a fresh server, who follows a link to a lesson."""

    def runs() -> dict[str, float]:
        return {kind: server.counter("seqviz_run_seconds_count", kind=kind, lesson=slug)
                for kind in ("page", "bench")}  # fmt: skip

    async def visit() -> tuple[ProtocolClient, dict[str, float]]:
        async with ProtocolClient(server.url, slug) as student:
            await student.open()
            # The first bench may be drawn in the browser, wait for its model or have no slider.
            while not (student.charts and (result := sliders(student))):
                if student.polls:
                    await student.poll()
                else:
                    assert await student.scroll(), "no chart with a slider"
            slider = result[0]
            before = runs()
            await student.move(slider["key"], slider["options"]["high"])
            return student, before

    student, before = run_async(visit())
    assert student.errors == []
    assert student.charts
    assert before["page"] >= 1
    assert runs() == {"page": before["page"], "bench": before["bench"] + 1}
    assert "Traceback" not in server.log.read_text("utf-8")


def test_app_test_opens_lesson_without_server():
    app = AppTest.from_file(str(ASSETS.parent / "app.py"), default_timeout=60).run()
    app.switch_page("pages/gates.py").run()
    assert not app.exception
    assert not app.error
    assert app.title[0].value == Text("en")("gates.title")
