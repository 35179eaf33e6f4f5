"""`seqviz draw`: a figure as a file, and what is said where there is none."""

from __future__ import annotations

import json
import shutil

import pytest

from seqviz import lessons
from seqviz.__main__ import main


def drawn(capsys, *words: str) -> str:
    main(["draw", *words])
    return capsys.readouterr().out


def test_a_figure_is_that_of_the_bench(tmp_path, capsys):
    out = tmp_path / "reach.json"
    said = drawn(capsys, "vanishing_gradients", "reach", "--gain", "0.8", "--cells", "rnn+lstm",
                 "-o", str(out))  # fmt: skip
    shown = lessons.vanishing_gradients.reach(gain=0.8, cells=("rnn", "lstm"))
    written = json.loads(out.read_text("utf-8"))
    assert written["data"] == json.loads(shown.figure.to_json())["data"]
    assert written["layout"]["paper_bgcolor"] == "#FFFFFF"  # a file has a background of its own
    for one in shown.readouts.values():
        assert f"{one.label}: {one.value}" in said


@pytest.mark.parametrize("language", ["zh", "zh-CN", "ZH_Hans"])
def test_settings_of_the_bench_above_and_another_language(tmp_path, capsys, language):
    out = tmp_path / "f.json"
    said = drawn(capsys, "gates", "force", "--watch.kind", "latch", "--language", language,
                 "-o", str(out))  # fmt: skip
    shown = lessons.gates.force.run({"watch.kind": "latch"}, language="zh")
    assert json.loads(out.read_text("utf-8"))["layout"]["meta"]["alt"] == shown.figure.alt
    assert all(one.label in said for one in shown.readouts.values())


def test_a_page_of_its_own(tmp_path, capsys):
    out = tmp_path / "p.html"
    drawn(capsys, "ar_fitting", "process", "--dark", "-o", str(out))
    page = out.read_text("utf-8")
    assert "Plotly.newPlot" in page
    assert "#11161D" in page


@pytest.mark.browser
def test_an_svg(tmp_path, capsys):
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
def test_what_cannot_be_drawn_is_said_in_one_sentence(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as refused:
        main(["draw", *words])
    assert said in str(refused.value)
    assert not list(tmp_path.iterdir())
