"""`python -m seqviz.models`, and what the pages say when a model cannot be had."""

from __future__ import annotations

import string
import subprocess
import sys

import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.error_messages import to_message
from seqviz.models import registry, store
from seqviz.models.__main__ import main
from tests.models.hub import REPO, record


@pytest.fixture
def said(capsys):
    """Run one command: its exit status, what it printed and what it complained of."""

    def run(*arguments):
        status = main([*arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_fetch_prints_progress_and_folder(cache, hub, said):
    status, out, err = said("fetch", "tiny")
    result = store.verify("tiny")
    assert status == 0
    assert out == f"Tiny BERT: 0 MB in {result.folder}, from the hub\n"
    assert "Tiny BERT: " in err
    assert "100%" in err
    assert said("fetch", "tiny")[0] == 0
    assert hub.downloads() == 1


def test_fetch_without_names_uses_default_models(cache, hub, said, monkeypatch):
    names = registry.DEFAULTS.values()
    monkeypatch.setattr(registry, "MODELS", tuple(record(name) for name in names))
    assert said("fetch")[0] == 0
    assert all(store.verify(name) for name in names)


def test_fetch_again_replaces_model_or_keeps_it_on_failure(cache, hub, said):
    said("fetch", "tiny")
    assert said("fetch", "--again", "tiny")[0] == 0
    assert hub.downloads() == 2
    hub.faults.status = 503
    status, _, err = said("fetch", "tiny", "--again")
    assert status == 1
    assert "cannot be fetched now" in err
    store.verify("tiny")


def test_fetch_reports_failure_in_one_line_and_continues(cache, hub, said, monkeypatch):
    lost = record("lost", hub="tiny/lost", title="Lost")
    monkeypatch.setattr(registry, "MODELS", (lost, record()))
    status, out, err = said("fetch", "lost", "tiny")
    assert status == 1
    assert out.startswith("Tiny BERT: ")
    (line,) = [line for line in err.splitlines() if line.startswith("Lost is not")]
    assert "fetch lost" in line


def test_list_prints_model_status(cache, hub, said, monkeypatch):
    monkeypatch.setenv("SEQVIZ_MODELS", "tiny, decoder:some/thing")
    status, out, _ = said("list")
    tiny, other, *tables, folder = out.splitlines()
    assert status == 0
    assert (tiny.split()[0], tiny.split()[-2:]) == ("tiny", ["not", "here"])
    assert "6,832 parameters" in tiny
    assert other.split()[0] == "some_thing"
    assert "size unknown" in other
    assert [table.split()[0] for table in tables] == [item.name for item in registry.OTHERS]
    assert folder == f"folder: {cache / 'models'}"
    store.fetch("tiny")
    assert "here, 0 MB, from the hub (0123" in said("list")[1].splitlines()[0]


def test_verify_reports_intact_and_damaged_models(cache, hub, said):
    assert said("verify") == (0, "", "")
    assert said("verify", "tiny")[0] == 1  # named, and not here
    path = store.fetch("tiny").folder / "config.json"
    assert said("verify") == (0, "Tiny BERT: 5 files as in the manifest\n", "")
    path.write_text("{}")
    status, out, err = said("verify", "tiny")
    assert (status, out) == (1, "")
    assert err.startswith("config.json of Tiny BERT was damaged")


@pytest.mark.parametrize("command", ["fetch", "verify"])
@pytest.mark.parametrize("name", ["../x", "encoder:../../etc", "google-bert/bert-base-uncased"])
def test_cli_rejects_unlisted_models(cache, said, command, name):
    status, out, err = said(command, name)
    assert (status, out) == (1, "")
    assert err == f"{name!r} is not among the models of this app: tiny.\n"
    assert not cache.exists()


def test_cli_reports_invalid_setting_without_raising(cache, said, monkeypatch):
    monkeypatch.setenv("SEQVIZ_MODELS", "../x")
    assert said("list") == (
        1,
        "",
        "SEQVIZ_MODELS: '../x' is none of tiny, and not of the form encoder:owner/name or "
        "decoder:owner/name.\n",
    )


def test_cli_runs_without_torch_and_streamlit(cache):
    script = (
        "import runpy, sys; sys.argv = ['seqviz.models', 'list'];\n"
        "try: runpy.run_module('seqviz.models', run_name='__main__')\n"
        "except SystemExit as end: print(end.code, {'torch', 'streamlit'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPO, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "0 set()", done.stderr
    assert done.stdout.startswith("minilm ")


# What the pages say

REFUSALS = {
    "not_fetched": {"model", "name"},
    "model_damaged": {"file", "model"},
    "model_damaged_kept": {"file", "model"},
    "unreachable": {"model", "name"},
    "wrong_checksum": {"file"},
    "disk_full": {"model", "needed", "free"},
    "cache_unwritable": {"reason"},
    "no_memory": {"model"},
    "model_broken": {"model", "name"},
}


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_refusal_has_sentence_in_both_languages(code, lang):
    details = {name: f"the {name}" for name in REFUSALS[code]}
    text = Text(lang)
    words = to_message(UserError(code, "", **details), text)
    fields = {name for _, name, _, _ in string.Formatter().parse(text(f"problem.{code}")) if name}
    assert fields == REFUSALS[code]
    assert all(f"the {name}" in words for name in details)
    assert words[-1] in ".。"
    assert not set("!！") & set(words)


def test_refusal_details_match_sentence_placeholders(cache, hub):
    assert set(store.no_memory(record()).details) == REFUSALS["no_memory"]
    assert set(store.broken(record()).details) == REFUSALS["model_broken"]
    with pytest.raises(UserError) as caught:
        store.verify("tiny")
    assert set(caught.value.details) == REFUSALS["not_fetched"]
    hub.faults.status = 500
    with pytest.raises(UserError) as caught:
        store.fetch("tiny")
    assert set(caught.value.details) == REFUSALS["unreachable"]
