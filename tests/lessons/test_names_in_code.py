"""The code under a figure: a result has its own name, which no function and no other result has."""

from __future__ import annotations

import ast
from importlib import import_module

import pytest

from seqviz.content import catalog
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Bench
from tests.shared_fixtures import models_of

SLUGS = [record.slug for record in catalog.LESSONS]


def views(bench: Bench) -> tuple[str, ...]:
    """The views of a bench but the one that it opens with."""
    view = dict(controls.controls(bench.declaration)).get("view")
    return () if view is None else tuple(bound for bound in view.bounds() if bound != view.default)


# Views by night, but for two lessons.
BY_DAY = ("gates", "vanishing_gradients")
RUNS = [
    pytest.param(
        slug, name, values, id=f"{slug} {name} {values}",
        marks=[pytest.mark.nightly] if values and slug not in BY_DAY else [],
    )
    for slug in SLUGS
    for name, bench in import_module(f"seqviz.lessons.{slug}").lesson.benches.items()
    for values in ({}, *({"view": view} for view in views(bench)))
]  # fmt: skip


@pytest.mark.parametrize(("slug", "name", "values"), RUNS)
def test_bench_code_uses_each_name_once(slug, name, values, request):
    models_of(slug, request)
    code = import_module(f"seqviz.lessons.{slug}").lesson.benches[name].run(values).code
    tree = ast.parse(code)
    names = [a.asname or a.name for node in tree.body if isinstance(node, ast.ImportFrom)
             for a in node.names]  # fmt: skip
    names += [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)]
    assert sorted(names) == sorted(set(names))
    # a result without a name would be written out
    assert max(map(len, code.splitlines()), default=0) < 1000
