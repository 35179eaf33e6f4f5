"""Notebooks that version 0.1 exported run with the library of today, each name with a warning.

`tests/fixtures/notebooks_0_1` has what that version exported of each lesson at its defaults.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import nbformat
import pytest

from seqviz.compute.ar_fitting.estimation import OneStep
from seqviz.compute.bert_accuracy.results import Padding, UserTextPadding
from seqviz.compute.gates.tiny import Longer
from seqviz.compute.gpt.continuation import Continuation
from seqviz.compute.gpt.filtered import Filtered
from seqviz.compute.gpt.futures import DecodingComparison
from seqviz.compute.gpt.surprise import Repeated
from seqviz.compute.text.vectors.plane import Placed
from seqviz.compute.transformer.interpretability.account import LogitAttribution
from seqviz.compute.transformer.interpretability.lens import Lens
from seqviz.compute.transformer.interpretability.removal import Ablation
from seqviz.content import catalog
from seqviz.core import deprecated
from tests.shared_fixtures import MODELS, models_of

FOLDER = Path(__file__).parents[1] / "fixtures" / "notebooks_0_1"
# Later lessons have none.
SLUGS = [record.slug for record in catalog.LESSONS if (FOLDER / f"{record.slug}.ipynb").exists()]


def cells(slug: str) -> list[str]:
    book = nbformat.read(FOLDER / f"{slug}.ipynb", as_version=4)
    return [cell.source for cell in book.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("slug", SLUGS)
def test_old_notebook_imports_resolve(slug):
    """Without running them: modules and names are there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for source in cells(slug):
            lines = source.split("\n\n")[0].splitlines()
            imports = [line for line in lines if line.startswith(("from ", "import "))]
            exec("\n".join(imports), {})


@pytest.mark.parametrize(
    "slug",
    [pytest.param(slug, marks=[pytest.mark.nightly] if slug in MODELS else []) for slug in SLUGS],
)
def test_old_notebook_renders_its_figures(slug, request):
    models_of(slug, request)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for source in cells(slug):
            space: dict[str, Any] = {}
            exec(compile(source, f"<old notebook of {slug}>", "exec"), space)
            assert space.get("figure") is not None or "figure" not in source


def test_deprecated_module_warns_with_new_name():
    sys.modules.pop("seqviz.compute.bptt", None)
    with pytest.warns(
        DeprecationWarning, match=r"bptt is now seqviz\.compute\.vanishing_gradients"
    ):
        module = importlib.import_module("seqviz.compute.bptt")
    assert module.reach is importlib.import_module("seqviz.compute.vanishing_gradients").reach
    with pytest.raises(AttributeError):
        module.never_there  # noqa: B018


def test_deprecated_function_warns_with_new_name():
    module = importlib.import_module("seqviz.compute.positions.sinusoidal")
    with pytest.warns(DeprecationWarning, match="found_rotation is now fit_rotation"):
        assert module.found_rotation is module.fit_rotation
    with pytest.raises(AttributeError):
        module.never_there  # noqa: B018


# Names that benches of version 0.1 wrote into their code, and what a result calls them now.
@pytest.mark.parametrize(
    ("result_type", "old", "new"),
    [
        (DecodingComparison, "best_chance", "best_probability"),
        (DecodingComparison, "greedy_chance", "greedy_probability"),
        (DecodingComparison, "beam_chance", "beam_probability"),
        (Repeated, "chance", "probability"),
        (Continuation, "chance", "probability"),
        (Filtered, "found", "next_token"),
        (Filtered, "kept", "n_kept"),
        (Placed, "kept", "neighbors_preserved"),
        (LogitAttribution, "most", "largest_value"),
        (Ablation, "most", "largest_shift"),
        (Lens, "median_settled", "median_settled_layer"),
        (UserTextPadding, "plain", "unpadded"),
        (Padding, "plain", "unpadded"),
        (Longer, "whole", "exact_match"),
        (OneStep, "least", "training_mse"),
    ],
)
def test_deprecated_attribute_warns_and_forwards(result_type, old, new):
    assert new in {*dir(result_type), *result_type.__dataclass_fields__}
    stand_in = type("StandIn", (), {old: vars(result_type)[old], new: 0.5})()
    with pytest.warns(DeprecationWarning, match=f"is now {new}"):
        assert getattr(stand_in, old) == 0.5


def test_import_raises_on_unknown_module():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("seqviz.compute.bptt.never_there")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("seqviz.never_there")


def test_deprecated_names_resolve():
    for new in {*deprecated.MODULES.values(), *deprecated.NAMES}:
        assert importlib.util.find_spec(new) is not None, new
    for new in deprecated.NAMES:
        importlib.import_module(new)
    for module, names in deprecated.NAMES.items():
        for name in names.values():
            assert hasattr(sys.modules[module], name), (module, name)


def test_deprecated_command_runs_new_one():
    """`python -m seqviz.engine` deploys models on a cluster; without Ray it says what it lacks."""
    done = subprocess.run(
        [sys.executable, "-m", "seqviz.engine", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "minilm" in done.stdout or "No module named 'ray'" in done.stderr
