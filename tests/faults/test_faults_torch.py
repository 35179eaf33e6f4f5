"""PyTorch is not installed: the app starts, says so, and goes on with all that needs none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.models import store
from testing.protocol import ProtocolClient, run_async
from testing.server import serve
from tests.faults import without_torch
from tests.tiers import first_only

SCRIPT = Path(without_torch.__file__)
# Benches and exercises that need it, of each page; those of SmolLM2, which may not be here, do not
# count.
NEED_IT = {
    "recurrent": 1, "transformer": 4, "vanishing_gradients": 2, "ar_fitting": 0, "text": 1,
    "gates": 0, "attention": 2, "positions": 1, "language_models": 0, "bert_accuracy": 1, "gpt": 0,
}  # fmt: skip


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=without_torch.ROOT, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(without_torch.ROOT)},
        timeout=200,
    )  # fmt: skip


@pytest.mark.usefixtures("minilm_on_disk")
@pytest.mark.parametrize("page", first_only([*NEED_IT], retained=2))
def test_page_without_torch_warns_and_draws_remaining_charts(page):
    done = run(str(SCRIPT), page)
    assert done.returncode == 0, done.stderr[-3000:]
    payload = json.loads(done.stdout)[page]
    assert set(payload) == set(LANGUAGES)
    for lang, visible in payload.items():
        assert visible["exceptions"] == visible["errors"] == []
        assert {*visible["warnings"]} <= {Text(lang)("problem.no_torch")}
        assert len(visible["warnings"]) >= NEED_IT[page]
        assert visible["charts"] >= 1
    assert payload["en"]["charts"] == payload["zh"]["charts"]
    assert "Traceback" not in done.stderr


def test_pages_without_torch_cover_every_lesson():
    assert {*NEED_IT} == {lesson.slug for lesson in catalog.LESSONS}


@pytest.mark.usefixtures("minilm_on_disk")
@pytest.mark.nightly
def test_server_without_torch_logs_one_line_at_startup():
    environment = {"SEQVIZ_PRELOAD": "minilm", "HF_HUB_OFFLINE": "1"}
    with serve(environment=environment, before=without_torch.HIDE) as server:

        async def visit() -> list[str]:
            async with ProtocolClient(server.url, "recurrent") as student:
                await student.open()
                return student.errors

        assert not run_async(visit())
        log = server.log.read_text("utf-8")
    assert log.count("PyTorch is not installed") == 1
    assert "preloaded=none" in log
    assert "no_torch" in log  # of the model that was to be preloaded


COMMAND = f"""{without_torch.HIDE}
import os, sys
from seqviz.__main__ import main
from seqviz.experiments import bake

bake.OTHERS = ()
os.chdir(sys.argv[1])
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    "words", [["draw", "vanishing_gradients", "paths", "-o", "a.svg"], ["bake"]]
)
@pytest.mark.usefixtures("minilm_on_disk")
def test_command_without_torch_exits_with_one_sentence(words, tmp_path, monkeypatch):
    monkeypatch.setenv("SEQVIZ_MODELS", "minilm")
    for folder in store.cache().iterdir():  # but for the vectors, which are to be made
        if folder.name != "features":
            (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path))
    done = run("-c", COMMAND, str(tmp_path), *words)
    assert done.returncode == 1
    message = "PyTorch is not installed, and this needs it: pip install torch."
    assert done.stderr.splitlines()[-1:] == [message]
    assert "Traceback" not in done.stderr
