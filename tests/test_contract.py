"""The house: which way imports point, what is imported when, and the platform's settings."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from seqviz.core.i18n import ASSETS

ROOT = ASSETS.parent
HEAVY = ("torch", "transformers", "statsmodels")

BLOCK = """
    import sys
    from importlib.abc import MetaPathFinder

    class Refuse(MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in {names!r}:
                raise ModuleNotFoundError(f"{{name}} is refused", name=name)

    sys.meta_path.insert(0, Refuse())
"""


def run(script: str, *refused: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter in the project's folder in which some packages cannot be imported."""
    code = textwrap.dedent(BLOCK).format(names=refused) + textwrap.dedent(script)
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def modules(*packages: str) -> list[str]:
    paths = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(paths)]
    return [name.removesuffix(".__init__") for name in names]


def linted(folder: Path) -> subprocess.CompletedProcess[str]:
    """import-linter by itself, as CI runs it; in our process it would reset the logging."""
    script = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )  # fmt: skip


def test_import_contracts_hold():
    done = linted(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


VIOLATIONS = {
    "Arrows point down": ("seqviz.compute", "seqviz.lessons"),
    "The folders of the interface stand one above the other":
        ("seqviz.ui.server", "seqviz.ui.page"),
    "The benchmarks of a GPU stand one above the other":
        ("benchmarks.gpu.machine", "benchmarks.gpu.agreement"),
    "No arrow from one subject of figures to another":
        ("seqviz.figures.gates", "seqviz.figures.attention"),
    "Only seqviz.ui knows Streamlit": ("seqviz.data", "streamlit"),
    "Figures take arrays, never models": ("seqviz.figures.bert_accuracy", "torch"),
    "Mathematics draws nothing": ("seqviz.jobs", "plotly"),
    "Only seqviz.integrations.ray knows Ray, and the app only its client":
        ("seqviz.classroom", "ray"),
    "Only seqviz.ui.quota.redis_sync knows Redis": ("seqviz.lessons", "redis"),
}  # fmt: skip


def test_import_contracts_cover_every_package():
    """What is new keeps them too: a subject of figures, and what stands beside the interface."""
    payload = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    contracts = {item["name"]: item for item in payload["contracts"]}
    subjects = {module for module in modules("seqviz/figures") if module.count(".") == 2}
    apart = contracts["No arrow from one subject of figures to another"]
    assert set(apart["modules"]) == subjects
    layers = contracts["Arrows point down"]["layers"]
    placed = {part for layer in layers for part in layer.split(" | ")} - {"pages"}
    folders = {module for module in modules("seqviz/ui") if module.count(".") == 2}
    stairs = contracts["The folders of the interface stand one above the other"]["layers"]
    assert set(stairs) == folders
    packages = {".".join(module.split(".")[:2]) for module in modules("seqviz")} - {"seqviz"}
    assert placed == packages
    served = {"seqviz.ui", "seqviz.__main__"}
    assert set(contracts["Only seqviz.ui knows Streamlit"]["source_modules"]) == packages - served


def test_import_contracts_detect_forbidden_import(tmp_path):
    """The import is added to each of these in a copy: in a module of its own to a package."""
    copied = [
        path for name in ("seqviz", "pages", "benchmarks") for path in (ROOT / name).rglob("*.py")
    ]
    for path in (*copied, ROOT / "pyproject.toml"):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    assert [contract["name"] for contract in contracts["contracts"]] == list(VIOLATIONS)
    for importer, imported in VIOLATIONS.values():
        position = tmp_path.joinpath(*importer.split("."))
        module = position / "violation.py" if position.is_dir() else position.with_suffix(".py")
        with module.open("a", encoding="utf-8") as file:
            file.write(f"\nimport {imported}\n")
    done = linted(tmp_path)
    assert done.returncode == 1, done.stderr
    payload = done.stdout.partition("Broken contracts")[2]
    for name, (importer, imported) in VIOLATIONS.items():
        section = payload.partition(f"\n{name}\n---")[2].partition("\n---")[0]
        assert re.search(rf"{importer}(\.violation)? -> {imported}\b", section), (name, payload)


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports anywhere, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


# import-linter sees of other packages their first name alone, so this is told here.
PRIVATE = (
    "streamlit.runtime", "streamlit.config", "streamlit.proto", "streamlit.logger", "streamlit.web",
    "streamlit.net_util", "streamlit.url_util", "streamlit.cli_util",
    "streamlit.components.v2.bidi_component",
)  # fmt: skip
COMMAND = {"ui/app/command.py"}  # `streamlit run`, by the name that its own command calls


def private(path: Path) -> set[str]:
    """Streamlit's private modules that a file imports, by whichever form."""
    result = set(imported(path))
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            result |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in result if f"{name}.".startswith(tuple(f"{item}." for item in PRIVATE))}


def test_only_streamlit_patches_uses_private_streamlit():
    paths = [*(ROOT / "seqviz").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
    inside = [path for path in paths if path.parent.name == "streamlit_patches" and private(path)]
    assert len(inside) >= 8  # it is seen where it is
    outside = {path for path in paths if private(path)} - set(inside)
    assert {path.relative_to(ROOT / "seqviz").as_posix() for path in outside} == COMMAND


def test_import_block_blocks_streamlit():
    """The two tests below would pass for nothing if the blocked package could be imported."""
    result = run("import streamlit", "streamlit")
    assert result.returncode != 0
    assert "streamlit is refused" in result.stderr


def test_library_imports_without_streamlit():
    names = modules("seqviz/compute", "seqviz/figures", "seqviz/data", "seqviz/models",
                    "seqviz/experiments")  # fmt: skip
    names += ["seqviz.core.code_trace", "seqviz.jobs", "seqviz.core.i18n", "seqviz.content.catalog"]
    assert "seqviz.compute.ar_fitting.networks" in names
    assert "seqviz.figures.ar_fitting.by_hand" in names
    result = run(f"import importlib\nfor name in {names!r}: importlib.import_module(name)",
                 "streamlit")  # fmt: skip
    assert result.returncode == 0, result.stderr


def test_figure_draws_without_streamlit_and_heavy_libraries():
    script = """
        from seqviz.compute.ar_fitting import correlogram, simulate, window_slopes
        from seqviz.figures.ar_fitting.series import series_and_correlations
        from seqviz.figures.ar_fitting.by_hand import slopes_by_window
        path = simulate((0.8,), n=100)
        found = correlogram(path.values, 20, path.coefficients)
        assert len(series_and_correlations(path.values, found).data) > 4
        assert slopes_by_window(path.values, window_slopes(path.values)).to_dict()["layer"]
    """
    result = run(script, "streamlit", *HEAVY)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("seqviz.ui.page.page_lesson", HEAVY),  # torch costs 2 s and statsmodels 1.5 s
        ("seqviz.compute.ar_fitting",
         (*HEAVY, "scipy", "pandas", "plotly")),
        ("seqviz.compute.vanishing_gradients.recall", HEAVY),
        ("seqviz.jobs", (*HEAVY, "numpy", "streamlit")),
    ],
)  # fmt: skip
def test_module_import_does_not_load_heavy_libraries(module, without):
    """The bench that needs a heavy library imports it."""
    result = run(f"import sys, {module}\nassert not {{*{without!r}}} & {{*sys.modules}}")
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def config() -> dict:
    return tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("runner", "postScriptGC", False),  # 158 ms after every run otherwise
        ("browser", "gatherUsageStats", False),  # nothing is sent anywhere
        ("server", "fileWatcherType", "none"),
        ("server", "enableXsrfProtection", False),  # a Space's iframe refuses the cookie
        ("client", "showErrorDetails", "none"),  # students never see a traceback
        ("client", "toolbarMode", "viewer"),
    ],
)
def test_config_has_platform_settings(config, section, key, value):
    assert config[section][key] == value


def test_config_upload_limit_exceeds_lesson_limit(config):
    """A file just over the lesson's limit must not be stopped by the server, which says less."""
    from seqviz.data import upload

    assert config["server"]["maxUploadSize"] * 2**20 > upload.MAX_BYTES


def test_config_has_only_known_streamlit_options(config):
    """A misspelled setting is ignored in silence; Streamlit's own list says whether it exists."""
    from streamlit import config as known

    def walk(tree: dict, prefix: str = ""):
        for key, value in tree.items():
            if isinstance(value, dict):
                yield from walk(value, f"{prefix}{key}.")
            else:
                yield prefix + key

    assert [name for name in walk(config) if name not in known._config_options_template] == []


def test_config_theme_loads_nothing_from_other_hosts(config):
    """A classroom may be offline: no font or image of the theme comes from the network."""
    assert "http" not in (ROOT / ".streamlit/config.toml").read_text("utf-8").split("[theme]")[1]


def test_functions_stay_within_80_lines_and_pages_only_declare():
    long = {
        f"{path.name}:{node.name}": node.end_lineno - node.lineno + 1
        for package in ("seqviz", "pages")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: lines for name, lines in long.items() if lines > 80} == {}
    for path in (ROOT / "pages").glob("*.py"):
        text = path.read_text("utf-8")
        assert len(text.splitlines()) <= 150, path.name
        assert not {name.partition(".")[0] for name in imported(path)} & {"numpy", "torch"}


def test_only_plotting_writes_raw_plotly_traces():
    for path in (ROOT / "seqviz").rglob("*.py"):
        if "plotting" not in path.parts:
            raw = re.findall(r'"type": "(?:scatter|bar|heatmap)"', path.read_text("utf-8"))
            assert not raw, path
