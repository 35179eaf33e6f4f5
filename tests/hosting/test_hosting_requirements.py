"""What an installation brings along: pyproject.toml, the pinned files and the imports agree."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from seqviz.core.paths import ROOT
from tools import constraints, supply_chain_audit

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def declared(*extras: str) -> dict[str, Requirement]:
    """What these extras need besides what everybody needs, by its name."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    result = {supply_chain_audit.normal(item.name): item for item in map(Requirement, lines)}
    return {name: item for name, item in result.items() if name != "seqviz"}


def pins(name: str) -> dict[str, Requirement]:
    return {
        supply_chain_audit.normal(item.name): item for item in constraints.required(ROOT / name)
    }


@pytest.mark.parametrize(
    ("name", "extras"),
    [("requirements.txt", ("models", "app")), ("requirements-dev.txt", ("models", "app", "dev"))],
)
def test_pins_satisfy_declared_ranges(name, extras):
    existing = declared(*extras)
    for package, pinned in pins(name).items():
        (version,) = pinned.specifier
        assert existing[package].specifier.contains(version.version), (
            f"{pinned}: {existing[package]}"
        )
        assert str(existing[package].marker) == str(pinned.marker), package


def test_declared_dependencies_are_all_pinned():
    assert declared("models", "app").keys() == pins("requirements.txt").keys()
    every = pins("requirements.txt") | pins("requirements-dev.txt")
    assert declared(*EXTRAS).keys() == every.keys()


def test_declared_ranges_have_lower_bound():
    for name, item in declared(*EXTRAS).items():
        assert ">=" in str(item.specifier), name


def test_extras_include_their_base_extras():
    assert "seqviz[models]" in EXTRAS["app"]
    assert "seqviz[app]" in EXTRAS["dev"]


def test_plain_install_covers_compute_and_figure_imports():
    used = supply_chain_audit.imported(ROOT, ("seqviz/compute", "seqviz/figures", "seqviz/data"))
    assert used
    assert used <= declared().keys()


def test_models_extra_covers_all_imports_except_ui():
    above = {"ui", "__main__.py"}
    parts = [path for path in (ROOT / "seqviz").iterdir() if path.name not in above]
    parts = [path for path in parts if path.is_dir() or path.suffix == ".py"]
    used = supply_chain_audit.imported(ROOT, [str(path.relative_to(ROOT)) for path in parts])
    assert "transformers" in used
    assert used - {*supply_chain_audit.BROUGHT} <= declared("models").keys()
    assert "streamlit" not in declared("models")


def test_readme_lists_every_install_command():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert {*re.findall(r"^pip install (\S+)", readme, re.M)} == {
        "-r", ".", "'.[models]'", "'.[app]'",
    }  # fmt: skip
    assert "pip install -r requirements.txt && streamlit run app.py" in readme
    assert "pip install -r requirements-dev.txt && pytest" in readme
