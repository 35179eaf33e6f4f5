"""The code under a figure: a result has its own name, which no function and no other result has."""

from __future__ import annotations

import ast

import pytest

from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Bench
from seqviz.lessons.gates.lesson import lesson as gates
from seqviz.lessons.vanishing_gradients.lesson import lesson as gradients


def views(bench: Bench) -> tuple[str, ...]:
    """The views of a bench but the one that it opens with."""
    view = dict(controls.controls(bench.declaration)).get("view")
    return () if view is None else tuple(bound for bound in view.bounds() if bound != view.default)


RUNS = [
    (bench, values)
    for lesson in (gates, gradients)
    for bench in lesson.benches.values()
    for values in ({}, *({"view": view} for view in views(bench)))
]


@pytest.mark.parametrize(
    ("bench", "values"), RUNS, ids=[f"{b.lesson.slug} {b.name} {v}" for b, v in RUNS]
)
def test_no_name_is_given_twice(bench, values):
    tree = ast.parse(bench.run(values).code)
    names = [a.asname or a.name for node in tree.body if isinstance(node, ast.ImportFrom)
             for a in node.names]  # fmt: skip
    names += [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)]
    assert sorted(names) == sorted(set(names))
