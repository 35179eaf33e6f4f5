"""Benches in notebooks without the server: live where anywidget is, else standing still."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import ipywidgets.embed
import nbformat
import orjson
import pytest
from nbclient import NotebookClient

from seqviz import lessons
from seqviz.core.paths import ROOT, STATIC
from seqviz.export import notebook_widget
from seqviz.export.notebook_widget import LiveBench
from seqviz.lessons.framework import markdown
from seqviz.lessons.framework.output import Note, Output
from tests.tiers import first_only

TEXT = "It is never dull."
EXAMPLES = ROOT / "examples"
HERE = {**os.environ, "PYTHONPATH": str(ROOT)}


WIDGET = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


def ran(*cells: str, **environment: str) -> nbformat.NotebookNode:
    """A notebook of these cells, run and as it would be saved."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(book, timeout=200, resources={"metadata": {"path": str(ROOT)}})
    client.execute(env={**HERE, **environment})
    return book


def shown(cell: nbformat.NotebookNode) -> list[dict]:
    return [out.data for out in cell.outputs if "data" in out]


def asked(live: LiveBench, **values: str) -> dict:
    """What the browser gets when it asks for other values."""
    before = live.asked
    number = live.shown["number"] + 1
    live.asked = {"values": {**before["values"], **values}, "number": number}
    assert live.shown["number"] == number
    return live.shown


def test_bench_text_sets_active_sentence_control():
    assert lessons.gates.watch(text=TEXT).source.values == {"characters": TEXT}
    judged = lessons.gates.watch(kind="sentiment", text="A fine film.")
    assert judged.source.values == {"kind": "sentiment", "sentiment": "A fine film."}
    with pytest.raises(ValueError, match="There is no text"):
        lessons.gates.size(text=TEXT)


def test_widget_recomputes_after_control_change():
    live = lessons.gates.watch(text=TEXT, step=3).live()
    first = live.shown["figure"]
    visible = asked(live, step="5", view="unit")
    again = lessons.gates.watch(text=TEXT, step=5, view="unit")
    assert live.output.readouts == again.readouts
    assert visible["figure"] != first
    assert orjson.loads(visible["figure"])["data"]
    assert again.readouts["value"].value in visible["readouts"]


def test_widget_italicizes_option_letters_and_escapes_html():
    payload = lessons.gates.watch(text=TEXT).live().shown["controls"]
    (letters,) = [item["options"] for item in payload if item["key"] == "lstm"]
    assert [letter["html"] for letter in letters][:2] == ["<em>i</em>", "<em>f</em>"]
    assert markdown.inline("<b>*x*") == "&lt;b&gt;<em>x</em>"


def test_widget_shows_only_applicable_controls():
    live = lessons.gates.force().live()
    names = [item["key"] for item in asked(live, gates_lstm="i+f")["controls"]]
    assert "i" in names
    assert "z" not in names
    (f,) = (item for item in live.shown["controls"] if item["key"] == "f")
    assert f["slider"] | {"low": 0.0, "high": 1.0, "value": "0.9"} == f["slider"]


def test_widget_keeps_upstream_settings():
    live = lessons.gates.force(**{"watch.characters": TEXT}).live()
    asked(live, f="1")
    assert (
        live.output.readouts == lessons.gates.force(**{"f": 1.0, "watch.characters": TEXT}).readouts
    )


def test_widget_reports_invalid_value_and_keeps_figure():
    live = lessons.gates.watch(text=TEXT).live()
    figure = live.shown["figure"]
    for raw in ({"characters": ""}, {"step": "x"}, {"no_such": "1"}):
        live.asked = {"values": raw, "number": live.shown["number"] + 1}
        assert live.shown["problem"]
        assert live.shown["figure"] == figure
    assert not asked(live, characters=TEXT).get("problem") or live.asked["values"].get("no_such")


def test_widget_script_loads_no_remote_resource():
    live = lessons.gates.size().live()
    script = gzip.decompress(base64.b64decode(live.script.packed)).decode()
    for module in (live._esm, script):
        assert re.findall(r"^(?:import|export) .*", module, re.MULTILINE) == [
            "export default { render };"
        ]
        assert not re.search(r"\bimport\(\s*[\"'`]", module)  # only of what is there already
    assert not re.search(r"https?://", (STATIC / "embed/notebook.css").read_text("utf-8"))


@pytest.mark.nightly
def test_display_without_anywidget_shows_static_figure():
    """In an interpreter that has none: figure, numbers and sentences, and no error."""
    script = (
        "import sys; sys.modules['anywidget'] = None\n"
        "from IPython.core.formatters import DisplayFormatter\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "from IPython.utils.capture import capture_output\n"
        "from seqviz import lessons\n"
        "InteractiveShell.instance()\n"
        "with capture_output() as shown:\n"
        "    lessons.gates.size()._ipython_display_()\n"
        "kinds = {kind for one in shown.outputs for kind in one.data}\n"
        "assert 'text/markdown' in kinds, kinds\n"
        "assert kinds & {'application/vnd.plotly.v1+json', 'text/html'}, kinds\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=HERE, timeout=120)


def drawn_here() -> bool:
    return shutil.which("chromium") is not None


CELLS = (
    "from seqviz import lessons\nlessons.ar_fitting.process(phi=0.3)",
    "lessons.gates.size()",
    "lessons.vanishing_gradients.reach(gain=0.9).live()",
)


def test_saved_notebook_shows_benches_and_embeds_script_once():
    book = ran(*CELLS)
    written = nbformat.writes(book)
    assert len(written) < 1_000_000  # it was 3.55 MB
    assert "object at 0x" not in written
    state = book.metadata.widgets[STATE]["state"]
    assert sum("packed" in model["state"] for model in state.values()) == 1
    outputs = (
        lessons.ar_fitting.process(phi=0.3), lessons.gates.size(),
        lessons.vanishing_gradients.reach(gain=0.9),
    )  # fmt: skip
    for cell, output in zip(book.cells, outputs, strict=True):
        live, below = shown(cell)
        assert WIDGET in live
        message = below["text/html"]
        for readout in output.readouts.values():
            assert readout.value in live["text/plain"]
            assert readout.value in message
        assert output.figure.alt in live["text/plain"]
        assert "**" not in live["text/plain"] + message
        # A page of files takes the first kind of each output that it knows: nothing comes twice.
        assert re.fullmatch("<!--.*-->", live["text/html"])
        if drawn_here():
            assert below["image/svg+xml"].startswith("<svg")
            assert 'src="data:image/svg+xml;base64,' in message


def test_saved_notebook_without_chromium_keeps_text_and_plotly():
    book = ran("from seqviz import lessons\nlessons.gates.size()", BROWSER_PATH="/no/browser")
    live, below = shown(book.cells[0])
    assert "4,480" in live["text/plain"]
    assert "4,480" in below["text/html"]
    assert "application/vnd.plotly.v1+json" in live
    assert "application/vnd.plotly.v1+json" not in below  # it would stand beside the live one
    assert not [kind for kind in (*live, *below) if kind.startswith("image/")]


@pytest.mark.parametrize("code", first_only(["figure", "figure.show()"]))
def test_saved_notebook_figure_keeps_svg(code):
    (data,) = shown(ran(f"from seqviz import lessons\nlessons.gates.size().{code}").cells[0])
    assert "4,480" in data["text/plain"]
    assert "application/vnd.plotly.v1+json" in data
    assert not drawn_here() or data["image/svg+xml"].startswith("<svg")


def test_saved_notebook_shows_static_altair_figure_with_text():
    """Beside controls only Plotly.js draws: there was no drawing at all."""
    bench = "lessons.ar_fitting.lesson.benches['by_hand']"
    cell = ran(f"from seqviz import lessons\n{bench}(view='runs')").cells[0]
    figure, words = shown(cell)
    assert figure["image/svg+xml"].startswith("<svg")
    assert words["text/markdown"]


def test_widget_mimebundle_has_text_and_embeds_script():
    live = lessons.gates.size().live()
    data, _ = live._repr_mimebundle_()
    assert WIDGET in data
    assert "4,480" in data["text/plain"]
    assert "4,480" in data["text/html"]
    retained = ipywidgets.embed.dependency_state([live], drop_defaults=True)
    assert "packed" in json.dumps(retained)
    assert lessons.gates.watch(text=TEXT).live().script is live.script
    ipywidgets.Widget.close_all()
    assert lessons.gates.size().live().script.comm is not None


def test_static_bundle_escapes_student_text():
    output = Output([Note("**Yes.** <img src=x onerror=alert(1)> is *not* a * b * c")])
    assert output.static_bundle() == {
        "text/plain": "Yes. <img src=x onerror=alert(1)> is not a * b * c",
        "text/html": "<p><strong>Yes.</strong> &lt;img src=x onerror=alert(1)&gt; is <em>not</em> "
        "a * b * c</p>",
    }


def test_lessons_import_does_not_load_anywidget():
    script = (
        "import sys; from seqviz import lessons; lessons.gates.size()\n"
        "sys.exit('anywidget' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=HERE, timeout=120)


def test_jupyter_example_runs():
    book = nbformat.read(EXAMPLES / "jupyter_watch.ipynb", as_version=4)
    client = NotebookClient(book, timeout=120, resources={"metadata": {"path": str(ROOT)}})
    client.execute()
    visible = [out.data for cell in book.cells for out in cell.get("outputs", ()) if "data" in out]
    live = [data for data in visible if "application/vnd.jupyter.widget-view+json" in data]
    assert len(live) == 2
    assert any("1,354" in data.get("text/plain", "") for data in visible)


@pytest.mark.nightly
def test_marimo_example_runs():
    ran = subprocess.run(
        [sys.executable, EXAMPLES / "marimo_reach.py"],
        check=True, env=HERE, timeout=120, capture_output=True, text=True,
    )  # fmt: skip
    assert "0.945" in ran.stdout


def test_widget_scripts_declare_unique_names():
    """Two declarations of a name are an error of syntax, and a notebook would show no bench."""
    ours = "\n".join(
        (STATIC / name).read_text("utf-8")
        for name in notebook_widget.SCRIPTS
        if "plotly" not in name
    )
    names = re.findall(r"^(?:export )?(?:async )?(?:const|let|class|function) (\w+)", ours, re.M)
    assert len(names) > 20
    assert sorted(set(names)) == sorted(names)
    imported = set(re.findall(r'^import .* from "\./(.*)";', ours, re.M))
    assert imported <= {name.rpartition("/")[2] for name in notebook_widget.SCRIPTS}
