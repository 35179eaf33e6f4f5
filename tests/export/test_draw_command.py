"""`seqviz draw`: a figure as a file, and what is said where there is none."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from seqviz import lessons
from seqviz.__main__ import main
from seqviz.lessons.framework.lesson import Bench


def drawn(capsys, *words: str) -> str:
    main(["draw", *words])
    return capsys.readouterr().out


def test_draw_writes_figure_and_readouts_of_bench(tmp_path, capsys):
    out = tmp_path / "reach.json"
    message = drawn(capsys, "vanishing_gradients", "reach", "--gain", "0.8", "--cells", "rnn+lstm",
                 "-o", str(out))  # fmt: skip
    visible = lessons.vanishing_gradients.reach(gain=0.8, cells=("rnn", "lstm"))
    written = json.loads(out.read_text("utf-8"))
    assert written["data"] == json.loads(visible.figure.to_json())["data"]
    assert written["layout"]["paper_bgcolor"] == "#FFFFFF"  # a file has a background of its own
    for readout in visible.readouts.values():
        assert f"{readout.label}: {readout.value}" in message


@pytest.mark.parametrize("language", ["zh", "zh-CN", "ZH_Hans"])
def test_draw_accepts_upstream_settings_and_language(tmp_path, capsys, language):
    out = tmp_path / "f.json"
    message = drawn(capsys, "gates", "force", "--watch.kind", "latch", "--language", language,
                 "-o", str(out))  # fmt: skip
    visible = lessons.gates.force.run({"watch.kind": "latch"}, language="zh")
    assert json.loads(out.read_text("utf-8"))["layout"]["meta"]["alt"] == visible.figure.alt
    assert all(readout.label in message for readout in visible.readouts.values())


def test_draw_writes_standalone_html(tmp_path, capsys):
    out = tmp_path / "p.html"
    drawn(capsys, "ar_fitting", "process", "--dark", "-o", str(out))
    page = out.read_text("utf-8")
    assert "Plotly.newPlot" in page
    assert "#11161D" in page


@pytest.mark.browser
def test_draw_writes_svg(tmp_path, capsys):
    pytest.importorskip("kaleido")
    if shutil.which("chromium") is None:
        pytest.skip("No Chromium on this machine")
    out = tmp_path / "p.svg"
    drawn(capsys, "ar_fitting", "process", "-o", str(out))
    assert out.read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no", "reach", "-o", "x.html"], "There is no lesson 'no'"),
        (["gates", "no", "-o", "x.html"], "gates has no bench 'no'; it has one, watch"),
        (["gates", "watch", "-o", "x.gif"], "one of .html, .svg, .json"),
        (
            ["gates", "watch", "--no", "1", "-o", "x.html"],
            "There is no setting --no; there are view",
        ),
        (["gates", "watch", "--kind", "x", "-o", "x.html"], "--kind cannot be 'x'."),
        (["gates", "watch", "--kind", "-o", "x.html"], "pairs such as --gain 0.9"),
    ],
    ids=["lesson", "bench", "file", "setting", "value", "pair"],
)
def test_draw_reports_invalid_arguments_without_output(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as refused:
        main(["draw", *words])
    assert said in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("nosuch/dir/a.json", "There is no folder nosuch/dir"),
        ("file/a.html", "There is no folder file"),
        ("folder.json", "folder.json is a folder"),
        ("folder.svg", "folder.svg is a folder"),
        ("plain", "plain is a folder"),
    ],
)
def test_draw_rejects_invalid_path_before_computing(out, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Bench, "run", lambda *_, **__: pytest.fail("it was computed"))
    for name in ("folder.json", "folder.svg", "plain"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as refused:
        main(["draw", "ar_fitting", "process", "-o", out])
    assert str(refused.value).startswith(said)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "Permission denied"),
        (errno.EROFS, "Read-only file system"),
        (errno.ENAMETOOLONG, "File name too long"),
    ],
)
def test_draw_reports_unwritable_folder(number, said, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number), str(tmp_path / ".unfinished-x"))

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    out = tmp_path / "a.json"
    with pytest.raises(SystemExit) as refused:
        main(["draw", "ar_fitting", "process", "-o", str(out)])
    assert str(refused.value) == f"{out} cannot be written: {said}."


@pytest.mark.parametrize("ending", ["json", "html"])
def test_draw_reports_full_disk_without_partial_file(ending, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / f"a.{ending}"
    with pytest.raises(SystemExit) as refused:
        main(["draw", "ar_fitting", "process", "-o", str(out)])
    assert str(refused.value) == f"{out} cannot be written: No space left on device."
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="No /proc on this machine")
def test_draw_rejects_system_folder(capsys):
    with pytest.raises(SystemExit) as refused:
        main(["draw", "ar_fitting", "process", "-o", "/proc/x.json"])
    assert str(refused.value).startswith("/proc/x.json cannot be written: ")


@pytest.mark.parametrize("ending", ["JSON", "Json", "HTML"])
def test_draw_accepts_uppercase_extension(ending, tmp_path, capsys):
    out = tmp_path / f"a.{ending}"
    drawn(capsys, "ar_fitting", "process", "-o", str(out))
    plain = tmp_path / f"b.{ending.lower()}"
    drawn(capsys, "ar_fitting", "process", "-o", str(plain))
    assert len(out.read_text("utf-8")) == len(plain.read_text("utf-8"))


@pytest.mark.parametrize("ending", ["HTML", "json", "Svg"])
def test_draw_accepts_uppercase_extension_without_plotly(ending, tmp_path, capsys):
    out = tmp_path / f"a.{ending}"
    drawn(capsys, "ar_fitting", "by_hand", "--view", "runs", "-o", str(out))
    assert {"html": "<!DOCTYPE html>", "json": "{", "svg": "<svg"}[ending.lower()] in (
        out.read_text("utf-8")[:200]
    )
