"""A live bench in a browser, as marimo shows it: drawn, and drawn again as a slider moves."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request

import pytest

from seqviz import lessons
from seqviz.core.paths import ROOT
from testing.server import free_port

PATIENCE = 60_000
# As Jupyter's widgets hand a model to its module; `others` are the models of other widgets.
RENDER = """async ([esm, state, others]) => {
  const el = document.querySelector("#bench"), heard = [];
  const model = {
    get: (name) => state[name], set() {}, save_changes() {}, off() {},
    on: (name, callback) => name === "msg:custom" && heard.push(callback),
    send: (asked) => {
      window.asked = asked;
      setTimeout(() => heard.forEach((one) => one({packed: window.packed})));
    },
    widget_manager: {get_model: async (id) => {
      if (!others) throw new Error("no such model");
      return {get: (name) => others[id][name]};
    }},
  };
  const module = await import(URL.createObjectURL(new Blob([esm], {type: "text/javascript"})));
  window.leave = await module.default.render({model, el});
}"""


@pytest.fixture
def notebook():
    port = free_port()
    command = [sys.executable, "-m", "marimo", "run", "examples/marimo_reach.py", "--headless",
               "--no-token", "--port", str(port)]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
    url = f"http://localhost:{port}"
    for _ in range(60):
        try:
            urllib.request.urlopen(url, timeout=1).close()
            break
        except OSError:
            assert process.poll() is None
            subprocess.run(["sleep", "0.5"], check=True)
    yield url
    process.terminate()
    process.wait(10)


@pytest.mark.parametrize("alone", [False, True], ids=["its model", "a message"])
def test_live_bench_gets_script_and_hides_still_picture(browser, alone):
    live = lessons.gates.size().live()
    state = {key: value for key, value in live.get_state().items() if key not in ("layout", "_esm")}
    others = {live.script.model_id: {"packed": live.script.packed}}
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(
        f'<div id="bench"></div><div class="{live.mark}">picture</div>'
        '<div class="seqviz-still-other">another bench, saved only</div>'
    )
    page.evaluate("(packed) => { window.packed = packed; }", live.script.packed)
    page.evaluate(RENDER, [live._esm, state, None if alone else others])
    page.locator(".seqviz-bench .main-svg").first.wait_for(timeout=PATIENCE)
    assert "4,480" in page.locator(".seqviz-bench .words").inner_text()
    assert page.evaluate("window.asked ?? null") == ({"wants": "script"} if alone else None)
    assert page.get_by_text("picture").is_hidden()
    assert page.get_by_text("another bench").is_visible()
    page.evaluate("window.leave()")
    assert page.get_by_text("picture").is_visible()
    assert not errors
    page.close()


def test_live_bench_kernel_sends_script_only_on_request(monkeypatch):
    live, sent = lessons.gates.size().live(), []
    monkeypatch.setattr(live, "send", sent.append)
    for request in ({"wants": "x"}, "script", {"wants": "script"}):
        live._handle_custom_msg(request, [])
    assert sent == [{"packed": live.script.packed}]


@pytest.mark.nightly
def test_live_bench_redraws_on_slider_move(browser, notebook):
    page = browser.new_page()
    errors, elsewhere = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: elsewhere.append(request.url)
            if not request.url.startswith((notebook, "data:", "blob:", "ws://localhost")) else None
            )  # fmt: skip
    page.goto(notebook)
    page.locator(".seqviz-bench .main-svg").first.wait_for(timeout=PATIENCE)
    words = page.locator(".seqviz-bench .words")
    assert "0.945" in words.inner_text()
    gain = page.get_by_role("slider", name="Gain")
    before = page.locator(".seqviz-bench [role=img]").get_attribute("aria-label")
    gain.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    page.get_by_text("explodes").wait_for(timeout=PATIENCE)
    assert gain.get_attribute("aria-valuetext") == "1.2"
    assert page.locator(".seqviz-bench [role=img]").get_attribute("aria-label") != before
    assert not errors
    assert not [url for url in elsewhere if "seqviz" in url or "plotly" in url]
    page.close()
