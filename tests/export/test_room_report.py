"""What is left of a class as a notebook: it runs, says what was voted, and names nobody."""

from __future__ import annotations

import ast
import json

import nbformat
import pytest
from nbclient import NotebookClient

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.paths import ROOT
from seqviz.export import room_report
from seqviz.lessons.framework import controls
from tests.tiers import first_only

ADDRESS = "http://10.0.0.5:8501/"
HOSTILE = "\"'''\\\n<img src=x> **b** ]( $x$ {0} \u202e"
LEFT = {
    "seats": 12,
    "questions": [{"key": "ar.predict.decay", "options": 3, "counts": [[2, 9, 1], [0, 12, 0]],
                   "flow": [[0, 2, 0], [0, 9, 0], [0, 1, 0]]},
                  {"key": "xx.predict.none", "options": 2, "counts": [[0, 0]], "flow": None}],
    "sent": [{"lesson": "ar_fitting", "bench": "process", "values": {"ar.process.phi": "-0.8"}},
             {"lesson": "ar_fitting", "bench": "fit", "values": {"ar.process.phi": "0.5",
              "ar.fit.nothing": "1", "ar.process.n": "many", "at.real.model": "x"}},
             {"lesson": "", "bench": "", "values": {}}],
    "texts": [{"number": 1, "lesson": "gates", "bench": "watch", "values": {},
               "key": "ga.watch.characters", "text": HOSTILE}],
    "runs": [{"lesson": "ar_fitting", "bench": "process", "values": {}, "seeds": [1, 2, 3],
              "found": [0.7, 0.8, None]},
             {"lesson": "vanishing_gradients", "bench": "race", "values": {}, "seeds": [1, 2],
              "found": [[20.0, 90.0], [30.0, 100.0]]}],
    "sketches": [{"key": "ar.sketch.waves", "kind": "bar", "most": [1000, 1000],
                  "drawn": [[1, 2], [3, 4], [3, 9], [5, 5], [6, 1], [7, 8]]}],
    "goals": {"gates/constant_gate": 2},
}  # fmt: skip


@pytest.mark.parametrize("lang", first_only(LANGUAGES[::-1]))
def test_room_report_runs_and_states_votes(lang):
    text = Text(lang)
    built = room_report.build(LEFT, text, ADDRESS)
    assert built == room_report.build(LEFT, text, ADDRESS)
    book = nbformat.reads(built.decode("utf-8"), as_version=4)
    nbformat.validate(book)
    message = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    assert text("ar_fitting.predict.decay.question") in message
    assert "9 / 12: 75.0% (46.8% … 91.1%)" in message  # Wilson, by hand
    assert text("gates.target.constant_gate.task") in message
    assert f"]({ADDRESS}ar_fitting?ar.process.phi=-0.8&lang={lang}#bench-process)" in message
    NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(item.outputs for item in code[1:])
    assert "mean 0.75" in str(code[-5].outputs)
    assert all(f"mean {mean} ± 6" in str(code[-3].outputs) for mean in (25, 95))
    assert "4." in str(code[-2].outputs)
    assert "[[1, 1]" in str(code[-1].outputs).replace("\\n", "")  # of six, the ends


def test_room_report_escapes_student_text():
    book = json.loads(room_report.build(LEFT, Text("en"), ADDRESS))
    cells = ["".join(item["source"]) for item in book["cells"] if item["cell_type"] == "code"]
    (call,) = [cell for cell in cells if "gates.watch" in cell]
    (statement,) = ast.parse(call).body
    assert [ast.literal_eval(keyword.value) for keyword in statement.value.keywords] == [HOSTILE]
    message = "".join("".join(item["source"]) for item in book["cells"])
    assert "<img" not in message.replace(call, "").replace("\\<img", "")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_room_report_call_reproduces_every_bench(lang):
    """That which gives the values of the link, and no others."""
    for record in catalog.LESSONS:
        for name, bench in getattr(lessons, record.slug).lesson.benches.items():
            given = {
                key: control.bounds()[-1] for key, control in controls.controls(bench.declaration)
            }
            values = {f"{bench.prefix}.{key}": controls.encoded(v) for key, v in given.items()}
            code = room_report.call({"lesson": record.slug, "bench": name, "values": values}, lang)
            (call,) = ast.parse(code).body
            result = {
                keyword.arg: ast.literal_eval(keyword.value) for keyword in call.value.keywords
            }
            if call.value.args:
                result = ast.literal_eval(call.value.args[0])
            assert result == given, code
            assert eval(ast.unparse(call.value.func), {"lessons": lessons}) is not None
