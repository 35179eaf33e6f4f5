"""The drivers of Firefox and WebKitGTK, as far as they need neither."""

from __future__ import annotations

import pytest

from testing import engines


@pytest.mark.parametrize("name", engines.ENGINES)
def test_missing_engine_says_what_to_install(name, monkeypatch):
    monkeypatch.setattr(engines.shutil, "which", lambda _: None)
    with (
        pytest.raises(engines.NoEngineError, match="apt-get install firefox-esr webkit2gtk"),
        engines.ENGINES[name](),
    ):
        pass


def said(method: str, **params) -> list[str]:
    """What is kept of an event."""
    line = object.__new__(engines.BiDi)
    line.errors = {}
    line._hear({"method": method, "params": {"context": "one"} | params})
    return line.errors.get("one", [])


def test_log_keeps_errors_and_failed_requests():
    request = {"url": "http://127.0.0.1/none"}
    where = {"context": None, "source": {"context": "one"}}
    assert said("log.entryAdded", level="error", text="no", **where) == ["no"]
    assert said("log.entryAdded", level="warn", text="no", **where) == []
    failed = {"request": request, "response": {"status": 404}}
    assert said("network.responseCompleted", **failed) == ["404 http://127.0.0.1/none"]
    assert said("network.responseCompleted", request=request, response={"status": 200}) == []
    refused = said("network.fetchError", request=request, errorText="NS_ERROR_REFUSED")
    assert refused == ["NS_ERROR_REFUSED http://127.0.0.1/none"]
    assert said("network.fetchError", request=request, errorText="NS_BINDING_ABORTED") == []


def test_actions_name_their_source():
    down = {"type": "pointerDown", "button": 0}
    (mouse,) = engines.EnginePage.sources("pointer", [down])
    assert mouse["parameters"] == {"pointerType": "mouse"}
    assert mouse["actions"] == [down]
    (keys,) = engines.EnginePage.sources("key", [])
    assert "parameters" not in keys
