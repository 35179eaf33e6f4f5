"""The code shown to a student runs, and gives what the page showed."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import LearnedMap
from seqviz.core.code_trace import CodeTrace
from seqviz.figures.ar_fitting.estimation import estimates_beside_truth
from seqviz.figures.ar_fitting.series import lag_plot, series_and_correlations
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import Style


def run(recipe: CodeTrace, function, *args: Any, name: str, **keywords: Any):
    """Call and record, as a bench does."""
    result = function(*args, **keywords)
    recipe.record(function, args, keywords, result, name)
    return result


def executed(recipe: CodeTrace) -> dict[str, Any]:
    """The variables after the recorded source has run in an empty namespace."""
    space: dict[str, Any] = {}
    exec(compile(recipe.source(), "<recipe>", "exec"), space)
    return space


# Functions that a recipe can import: module-level, with the kinds of arguments that pages use.


def echo(value, again=None):
    return value if again is None else (value, again)


def total(values, scale: float = 1.0, offset: int = 0):
    return float(np.sum(np.asarray(values)) * scale + offset)


@dataclass(frozen=True)
class Pair:
    first: float
    second: int = 3
    names: tuple[str, ...] = ("a",)
    derived: float = field(init=False, default=0.0)


@dataclass(frozen=True)
class Held:
    values: np.ndarray
    inner: Pair


@dataclass(frozen=True)
class Learned:
    map: LearnedMap


def learned() -> Learned:
    return Learned(LearnedMap(*np.arange(12.0).reshape(4, 3)))


def hold(n: int = 3) -> Held:
    return Held(np.arange(float(n)) / 7, Pair(1.5))


def call(recipe: CodeTrace) -> ast.Call:
    """The last recorded call as syntax."""
    statement = ast.parse(recipe.source(show=False)).body[-1]
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.value, ast.Call)
    return statement.value


def first(recipe: CodeTrace) -> str:
    """The first argument of the last recorded call as code."""
    return ast.unparse(call(recipe).args[0])


def test_code_trace_reproduces_results():
    recipe = CodeTrace()
    path = run(recipe, ar.simulate, (0.6, -0.3), 1.5, n=120, seed=7, noise="laplace", name="path")
    result = run(recipe, ar.correlogram, path.values, 12, path.coefficients, name="found")
    line = run(recipe, ar.fit, path.values, 2, "exact_ml", True, name="line")
    fan = run(
        recipe, ar.forecast_recursive, path.values, line.coefficients, line.sigma, 5,
        line.intercept, name="fan",
    )  # fmt: skip
    space = executed(recipe)
    np.testing.assert_array_equal(space["path"].values, path.values)
    np.testing.assert_array_equal(space["found"].pacf, result.pacf)
    np.testing.assert_array_equal(space["found"].theory_acf, result.theory_acf)
    assert space["line"].coefficients.tolist() == line.coefficients.tolist()
    np.testing.assert_array_equal(space["fan"].upper, fan.upper)


def test_code_trace_reproduces_figure_and_shows_it_last():
    recipe = CodeTrace()
    path = run(recipe, ar.simulate, (0.8,), n=100, name="path")
    result = run(recipe, ar.correlogram, path.values, 10, (0.8,), name="found")
    chart = run(recipe, series_and_correlations, path.values, result, name="figure")
    assert recipe.source().rstrip().splitlines()[-1] == "figure"
    assert recipe.source(show=False).rstrip().splitlines()[-1] != "figure"
    again = executed(recipe)["figure"]
    assert isinstance(again, Figure)
    assert again.to_json() == chart.to_json()


def test_code_trace_references_earlier_results_by_name():
    """Arrays of earlier results are not written out, so the code stays short."""
    recipe = CodeTrace()
    path = run(recipe, ar.simulate, (0.8,), n=500, name="path")
    run(recipe, ar.fit, path.values, 1, "ols", name="line")
    assert first(recipe) == "path.values"
    assert len(recipe.source()) < 400


def test_code_trace_references_complete_result_by_name():
    recipe = CodeTrace()
    path = run(recipe, ar.simulate, (0.8,), n=50, name="path")
    values = run(recipe, ar.shuffled, path.values, 3, name="values")
    run(recipe, echo, values, name="found")
    assert first(recipe) == "values"


def test_code_trace_references_nested_field():
    recipe = CodeTrace()
    done = run(recipe, learned, name="done")
    run(recipe, echo, done.map.inputs, name="again")
    assert "echo(done.map.inputs" in recipe.source()


def test_code_trace_references_results_in_list():
    recipe = CodeTrace()
    path = run(recipe, ar.simulate, (0.8,), n=60, name="path")
    fits = [run(recipe, ar.fit, path.values, 1, m, name=m) for m in ("ols", "yule_walker")]
    run(recipe, estimates_beside_truth, fits, (0.8,), name="figure")
    assert first(recipe) == "[ols, yule_walker]"
    assert ast.unparse(call(recipe).args[1]) == "(0.8,)"
    again = executed(recipe)["figure"]
    assert again.to_json() == estimates_beside_truth(fits, (0.8,)).to_json()


@pytest.mark.parametrize(
    ("part", "named"),
    [(slice(None, -20), True), (slice(-20, None), True), (slice(5, 10), True),
     (slice(0, 1), True), (slice(None), True),
     (slice(None, None, -1), False), (slice(None, None, 2), False), (slice(3, 3), False),
     ([4, 2], False)],
    ids=["start", "end", "middle", "one value", "all", "backward", "every other", "nothing",
         "chosen"],
)  # fmt: skip
def test_code_trace_writes_contiguous_part_as_slice(part, named):
    """Any other selection of an earlier result is written out."""
    recipe = CodeTrace()
    path = run(recipe, ar.simulate, (0.8,), n=40, name="path")
    run(recipe, echo, path.values[part], name="found")
    assert first(recipe).startswith("path.values") or not named
    np.testing.assert_array_equal(executed(recipe)["found"], path.values[part])


def test_code_trace_reproduces_matrix_rows_and_columns():
    """A row of a matrix is not mistaken for a slice of it."""
    recipe = CodeTrace()
    matrix = run(recipe, echo, np.arange(12.0).reshape(3, 4), name="matrix")
    run(recipe, echo, matrix[1], name="row")
    run(recipe, echo, matrix[:, 1], name="column")
    space = executed(recipe)
    np.testing.assert_array_equal(space["row"], matrix[1])
    np.testing.assert_array_equal(space["column"], matrix[:, 1])


def test_code_trace_reads_uploaded_file_from_disk(tmp_path, monkeypatch):
    """The bytes of an upload do not go into the code: the reader has the file."""
    recipe = CodeTrace()
    content = b"x\n" + b"\n".join(b"%d" % k for k in range(40))
    (tmp_path / "mine.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    recipe.define("content", 'Path("mine.csv").read_bytes()', content)
    run(recipe, echo, content, name="found")
    assert first(recipe) == "content"
    assert "from pathlib import Path" in recipe.source()
    assert executed(recipe)["found"] == content


def test_code_trace_matches_results_by_identity():
    """Identity, not equality: a copy is another array, which somebody may have changed."""
    recipe = CodeTrace()
    held = run(recipe, hold, name="held")
    run(recipe, echo, held.values.copy(), name="copied")
    assert "held" not in ast.unparse(call(recipe))
    run(recipe, echo, held.inner.first, name="number")
    assert first(recipe) == "1.5"


def test_code_trace_numbers_duplicate_names():
    """Else the first would be written out: thousands of digits under a figure."""
    recipe = CodeTrace()
    former = run(recipe, hold, 3, name="held")
    second = run(recipe, hold, 4, name="held")
    run(recipe, echo, second.values, name="found")
    assert first(recipe) == "held_2.values"
    np.testing.assert_array_equal(executed(recipe)["found"], second.values)
    run(recipe, echo, former.values, name="found")
    assert first(recipe) == "held.values"
    np.testing.assert_array_equal(executed(recipe)["found_2"], former.values)


def test_code_trace_avoids_shadowing_functions():
    recipe = CodeTrace()
    held = run(recipe, hold, 3, name="result")
    run(recipe, total, held.values, name="total")
    run(recipe, total, held.values, name="again")
    assert executed(recipe)["total_value"] == executed(recipe)["again"] == total(held.values)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (Pair(0.5, names=("x", "y")), "Pair(first=0.5, names=('x', 'y'))"),
        (Style(lang="zh"), "Style(lang='zh')"),  # of the library: imported
        (NetworkSettings("gru", hidden=8, seed=3),
         "NetworkSettings(cell='gru', hidden=8, seed=3)"),
    ],
)  # fmt: skip
def test_code_trace_writes_dataclasses_with_non_default_fields(value, code):
    recipe = CodeTrace()
    run(recipe, echo, value, name="found")
    assert first(recipe) == code
    assert executed(recipe)["found"] == value


def test_code_trace_writes_every_keyword():
    """Defaults too: the reader sees which knobs there are."""
    recipe = CodeTrace()
    run(recipe, total, [1.0, 2.0], scale=1.0, offset=5, name="sum")
    assert [keyword.arg for keyword in call(recipe).keywords] == ["scale", "offset"]
    assert executed(recipe)["sum"] == 8.0


def test_code_trace_writes_default_equal_values_of_other_type():
    """1.0 is not 1, and True is not 1: leaving it out could change the result."""
    recipe = CodeTrace()
    run(recipe, total, [1.0], offset=0.0, scale=1, name="sum")
    assert {keyword.arg for keyword in call(recipe).keywords} == {"offset", "scale"}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (np.float64(0.25), "0.25"),
        (np.int64(7), "7"),
        (np.bool_(True), "True"),
        (np.str_("ols"), "'ols'"),
        ((np.float64(0.8),), "(0.8,)"),
        ((1,), "(1,)"),
        ((), "()"),
        ([], "[]"),
        ([1, 2], "[1, 2]"),
        (None, "None"),
        (True, "True"),
        ("it's", '"it\'s"'),
        (b"a,b\n1,2", "b'a,b\\n1,2'"),
    ],
)
def test_code_trace_writes_literals(value, code):
    recipe = CodeTrace()
    run(recipe, echo, value, name="found")
    assert recipe.source(show=False).splitlines()[-1] == f"found = echo({code})"
    assert executed(recipe)["found"] == value


@pytest.mark.parametrize(
    "value",
    [
        np.array([0.1, 1 / 3, 1e-300]), np.array([1, 2, 3]), np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([True, False]), np.array([1 + 2j, -0.5j]), np.array([], dtype=float),
        np.array(["1700", "1701"]),
        # `nan` is no name in Python: a fan of a series that is not stationary has no mean to draw.
        float("nan"), float("inf"), float("-inf"), np.float64("nan"), (0.5, float("nan")),
        np.array([0.5, np.nan, np.inf, -np.inf]),
    ],
    ids=["floats", "integers", "matrix", "booleans", "complex", "empty", "labels", "nan", "inf",
         "minus inf", "numpy nan", "in a tuple", "in an array"],
)  # fmt: skip
def test_code_trace_writes_arrays_and_non_finite_values_exactly(value):
    recipe = CodeTrace()
    run(recipe, echo, value, name="found")
    again = executed(recipe)["found"]
    np.testing.assert_array_equal(again, value)
    assert np.asarray(again).dtype.kind == np.asarray(value).dtype.kind


def test_code_trace_references_series_labels_by_name():
    """A tuple of five hundred dates is a field of an earlier result too."""
    from seqviz.data import series

    recipe = CodeTrace()
    chosen = run(recipe, series.bundled, "nile", name="chosen")
    run(recipe, echo, chosen.labels, name="index")
    assert first(recipe) == "chosen.labels"


def test_code_trace_wraps_long_calls():
    recipe = CodeTrace()
    run(recipe, echo, "a" * 60, again="b" * 60, name="found")
    lines = recipe.source(show=False).splitlines()[-4:]
    assert lines[0] == "found = echo("
    assert lines[-1] == ")"
    assert max(map(len, lines)) < 88
    assert executed(recipe)["found"] == ("a" * 60, "b" * 60)


def test_code_trace_imports_from_public_package():
    recipe = CodeTrace()
    run(recipe, ar.simulate, (0.5,), n=10, name="path")
    line = ar.fit(np.array([0.0, 1.0, 0.5, 2.0, -1.0]), 1, "ols")
    run(recipe, lag_plot, np.arange(5.0), line, name="figure")
    lines = recipe.source().splitlines()
    assert "from seqviz.compute.ar_fitting import ARFit, simulate" in lines
    assert "from seqviz.figures.ar_fitting.series import lag_plot" in lines
    assert lines.index("import numpy as np") == 0


def test_code_trace_imports_unexported_function_from_module():
    from seqviz.compute.ar_fitting.process import psi_weights

    recipe = CodeTrace()
    run(recipe, psi_weights, (0.5,), 3, name="weights")
    lines = recipe.source().splitlines()
    assert "from seqviz.compute.ar_fitting.process import psi_weights" in lines
    assert executed(recipe)["weights"].tolist() == [1.0, 0.5, 0.25]


def test_code_trace_returns_empty_script_without_calls():
    assert CodeTrace().source().strip() == ""


def test_code_trace_imports_numpy_only_when_used():
    recipe = CodeTrace()
    run(recipe, ar.simulate, (0.5,), n=10, name="path")
    assert "numpy" not in recipe.source()
