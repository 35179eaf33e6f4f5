"""A text in a notebook is a text: the file is a notebook, and its code holds no other statement."""

from __future__ import annotations

import ast
import json

import nbformat
from hypothesis import HealthCheck, given, settings

from seqviz import lessons
from seqviz.core.i18n import Text
from seqviz.ui.page import notebook
from tests.hostile import adversarial_inputs


def shape(code: str) -> list[str]:
    """The statements of a script, with what they call but not the texts in them."""

    class Blank(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.Constant:
            return ast.Constant("" if isinstance(node.value, str) else node.value)

    return [ast.dump(Blank().visit(statement)) for statement in ast.parse(code).body]


def built(text: str) -> tuple[list[str], str]:
    """The code of a bench with this text, cell by cell, and the file."""
    bench = lessons.positions.lesson.benches["effect"]
    code = bench(first=text).code
    file = notebook.build("positions", Text("en"), {"effect": code}).decode("utf-8")
    book = nbformat.reads(file, as_version=4)
    nbformat.validate(book)
    return [cell.source for cell in book.cells if cell.cell_type == "code"], file


@settings(
    max_examples=40,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(adversarial_inputs.texts)
def test_notebook_keeps_text_as_literal(text):
    text = f"one two {text}"[:400]
    try:
        cells, file = built(text)
    except ValueError:  # more words than the bench takes: it says so
        return
    usual, _ = built("one two three")
    assert [shape(cell) for cell in cells] == [shape(cell) for cell in usual]
    messages = [n.value for n in ast.walk(ast.parse(cells[-1])) if isinstance(n, ast.Constant)]
    assert text in messages
    assert set(json.loads(file)) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert all("attachments" not in cell for cell in json.loads(file)["cells"])
