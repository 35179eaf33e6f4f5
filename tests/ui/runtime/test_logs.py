"""The log: one line for each event, JSON or text, and nowhere what a student wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache

import pytest

from seqviz.core.i18n import ASSETS
from tests.tiers import first_only

ROOT = ASSETS.parent
SECRET = "Qx7marker"

# Each way in which a library, a page or a thread may report an exception that quotes a text.
WAYS = f"""
import asyncio, logging, sys, threading, warnings
import streamlit.logger
from seqviz.core.errors import UserError
from seqviz.ui import streamlit_patches
from seqviz.ui.runtime import logs

early = streamlit.logger.get_logger("streamlit.early")
foreign = logging.getLogger("foreign")
foreign.addHandler(logging.StreamHandler())
foreign.propagate = False
logs.begin("info", sys.argv[1])
streamlit_patches.install()
late = streamlit.logger.get_logger("streamlit.late")
secret = "{SECRET}"

def fails():
    held = secret
    float(held)

def chained():
    try:
        fails()
    except ValueError as error:
        raise RuntimeError(f"cannot read {{secret}}") from error

def reported(log):
    try:
        chained()
    except RuntimeError as error:
        log.exception("it failed")
        log.error("it failed again: %s", error)
        log.error(error)

for log in (early, foreign, late, logging.getLogger("never.seen")):
    reported(log)
try:
    raise UserError("model_broken", f"no {{secret}}", name=secret)
except UserError:
    late.exception("refused")
thread = threading.Thread(target=fails)
thread.start()
thread.join()
warnings.warn(f"about {{secret}}", UserWarning)

async def forgotten():
    task = asyncio.ensure_future(asyncio.sleep(0))
    asyncio.get_running_loop().call_exception_handler(
        {{"message": "task failed", "exception": RuntimeError(secret)}})
    await task

asyncio.run(forgotten())
late.info("an event", extra={{"lesson": "gates", "seconds": 1.5, "note": "two words"}})
chained()
"""

# A page with hostile texts in it: three lessons as they are, then benches that fail with the text.
PAGES = f'''
import sys
from streamlit.testing.v1 import AppTest
from seqviz.ui.runtime import logs

logs.begin("info", "text")
SECRET = "{SECRET} <b>%s{{x}}"

def visited(page, key, value):
    app = AppTest.from_file("app.py", default_timeout=120)
    app.query_params[key] = value
    app.run()
    app.switch_page(f"pages/{{page}}.py").run()
    assert not app.exception, page
    return app

visited("attention", "at.real.encoder", SECRET)
visited("gates", "ga.sentence.text", SECRET)
visited("ar_fitting", "ar.process.phi", SECRET)

FAILING = """
import streamlit as st
from seqviz.core.i18n import Text
from seqviz.ui.page.page_host import render_safely

text = st.text_input("text", key="text")

def bench():
    raise KeyError(f"no such word: {{text}}")

def page():
    raise RuntimeError(f"the page cannot do {{text}}")

render_safely(bench, Text("en"))
page()
"""
app = AppTest.from_string(FAILING).run()
app.text_input(key="text").set_value(SECRET).run()
assert app.error and app.exception
'''


@cache
def run(script: str, *arguments: str) -> str:
    """What the script has written on both streams."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize("form", first_only(["text", "json"]))
def test_logs_omit_exception_messages_of_every_logger(form):
    printed = run(WAYS, form)
    assert SECRET not in printed
    # Frames and types are there: of every logger, of the thread, and of what ended the process.
    assert printed.count("in chained") >= 5
    assert printed.count("in fails") >= 6
    assert "RuntimeError" in printed
    assert "ValueError" in printed
    assert "UserError[model_broken]" in printed
    assert "UserWarning at" in printed
    assert "task failed" in printed


def test_json_line_contains_event_fields():
    lines = [json.loads(line) for line in run(WAYS, "json").splitlines()]
    (event,) = [line for line in lines if line["message"] == "an event"]
    assert event["level"] == "INFO"
    assert event["logger"] == "streamlit.late"
    assert (event["lesson"], event["seconds"], event["note"]) == ("gates", 1.5, "two words")
    assert "T" in event["time"]
    failed = [line for line in lines if line["message"] == "it failed"]
    assert len(failed) == 4
    assert all("in chained" in line["exc_info"] for line in failed)


def test_text_line_contains_event_fields():
    (line,) = [line for line in run(WAYS, "text").splitlines() if "an event" in line]
    assert line.endswith('streamlit.late: an event lesson=gates seconds=1.5 note="two words"')


def test_logs_omit_user_text_of_pages():
    printed = run(PAGES)
    assert SECRET not in printed
    assert "KeyError" in printed
    assert "in bench" in printed
    assert "RuntimeError" in printed
    assert "in page" in printed
    assert "AssertionError" not in printed
