"""Audit dependencies: pinned, used, licensed, and without known vulnerabilities.

    python -m tools.supply_chain_audit [--strict] [--sbom FILE]

Offline, it checks that every requirement is pinned and that requirements and imports match, and
lists the licenses of installed packages. Online, `pip-audit` queries the vulnerability service for
all packages, indirect dependencies included. --sbom writes the components of the image (the locks
of tools/constraints.py) as CycloneDX JSON. Exit status 1: there are findings. 2, with --strict:
the service was not available.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions, packages_distributions
from pathlib import Path
from typing import Any

from seqviz.core import atomic_write
from tools.constraints import LOCKS

ROOT = Path(__file__).resolve().parents[1]
SERVED = ("app.py", "seqviz", "pages")
WORKSHOP = ("tools", "testing", "benchmarks", "tests")
# Optional dependencies of requirements, not imported by the app itself.
NOT_IMPORTED = {
    "accelerate": "transformers loads models with it",
    "gguf": "transformers reads GGUF files with it",
    "httptools": "streamlit's server reads requests with it",
    "uvloop": "streamlit's server sends its messages with it",
    "vl-convert-python": "altair writes pages that run alone with it",
}
# Imported packages whose version is determined by another package.
BROUGHT = {
    "anywidget": "the extra [notebook], for live benches in notebooks",
    "brotli": "the extras [app] and [notebook], which send and decompress a compressed script",
    "httpx2": "huggingface_hub's client, whose errors are caught",
    "ipython": "notebooks, which display results",
    "ipywidgets": "anywidget's",
    "marimo": "notebooks, which display results",
    "packaging": "pip's and pytest's versions",
    "pluggy": "pytest's",
    "protobuf": "the messages between streamlit and the browser",
    "pyyaml": "huggingface_hub's, which reads YAML, too",
    "ray": "requirements-ray.txt, for SEQVIZ_ENGINE=ray",
    "redis": "requirements-ray.txt, for SEQVIZ_REDIS_URL",
    "starlette": "streamlit's server",
    "tokenizers": "transformers', used directly for a packaged model",
    "traitlets": "anywidget's",
    "uvicorn": "streamlit's HTTP server",
}
# Licenses that do not fit a program under the MIT license.
CLOSED = re.compile(r"\b(AGPL|Affero|SSPL|Commons Clause|Non-?Commercial|Proprietary)\b", re.I)
_PINNED = re.compile(r"([A-Za-z0-9._-]+)(\[[^\]]*\])?==[^\s*,;]+( *;.*)?")
SECONDS = 180.0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tools.supply_chain_audit")
    parser.add_argument("--strict", action="store_true", help="fail without the online service")
    parser.add_argument("--sbom", type=Path, metavar="FILE", help="write the bill of materials")
    request = parser.parse_args(arguments)
    results = [*loose(ROOT), *mismatches(ROOT)]
    if request.sbom:
        with atomic_write.or_exit(request.sbom):
            parts = bill_of_materials(ROOT, request.sbom)["components"]
        print(f"{len(parts)} components in {request.sbom}")
    licenses = {name(d): license_of(d) for d in distributions()}
    for package, license_ in sorted(licenses.items()):
        print(f"  {package}: {license_}")
        if CLOSED.search(license_):
            results.append(f"{package} has the license {license_}.")
    answer = vulnerabilities(ROOT)
    results += answer.holes
    for sentence in results:
        print(sentence)
    print(f"{len(licenses)} packages are installed; {len(results)} findings.")
    checked = f"{len(answer.holes)} in {answer.asked} packages." if answer.asked else "not checked."
    print(f"Known vulnerabilities: {checked} {answer.unasked}".rstrip())
    return 1 if results else 2 if answer.unasked and request.strict else 0


def loose(root: Path) -> list[str]:
    """Return a sentence for each requirement that is not pinned to one version."""
    return [
        f"{path.name}: {line} is not pinned with ==."
        for path in requirements(root)
        for line in _lines(path)
        if not line.startswith(("-r ", "-c ")) and not _PINNED.fullmatch(line)
    ]


def mismatches(root: Path) -> list[str]:
    """Return a sentence for each import without a requirement and vice versa."""
    served = required(root / "requirements.txt")
    both = {package for path in requirements(root) for package in required(path)}
    of_app, of_workshop = imported(root, SERVED), imported(root, WORKSHOP)
    missing = [
        f"{package} is imported by the app and is not in requirements.txt."
        for package in sorted(of_app - served - set(BROUGHT))
    ]
    missing += [
        f"{package} is imported by {' or '.join(WORKSHOP)} and is in no requirements file."
        for package in sorted(of_workshop - of_app - both - set(BROUGHT))
    ]
    return missing + [
        f"{package} is in requirements.txt and the app does not import it."
        for package in sorted(served - of_app - set(NOT_IMPORTED))
    ]


def requirements(root: Path) -> list[Path]:
    """Return the requirements files of the app, the development tools and the compared peers."""
    return sorted([*root.glob("requirements*.txt"), *root.glob("benchmarks/*/requirements.txt")])


def required(path: Path) -> set[str]:
    """Return the packages that a requirements file names."""
    return {normal(re.split(r"[=\[;<>~! ]", line)[0]) for line in _lines(path) if line[0] != "-"}


def imported(root: Path, parts: Iterable[str]) -> set[str]:
    """Return the packages imported in these files, also inside functions."""
    # Top-level names only: an environment below may have the name of a package.
    own = {path.name for path in root.iterdir()}
    own |= {path.stem for path in root.glob("*.py")}
    for part in (*SERVED[1:], *WORKSHOP):
        own |= {path.stem for path in (root / part).rglob("*.py")}
    modules: set[str] = set()
    for part in parts:
        path = root / part
        for file in [path] if path.is_file() else path.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    modules |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    modules.add(node.module.partition(".")[0])
                elif (
                    isinstance(node, ast.Call)
                    and ast.unparse(node.func) == "lazy_import.import_or_retry"
                ):
                    modules.add(ast.literal_eval(node.args[0]))
    return {_distribution(m) for m in modules - own - set(sys.stdlib_module_names)}


@dataclass(frozen=True)
class Answer:
    """Result of the vulnerability service.

    Attributes:
        holes: sentence for each known vulnerability.
        asked: number of checked packages.
        unasked: sentence on packages that were not checked; "" for none.
    """

    holes: tuple[str, ...] = ()
    asked: int = 0
    unasked: str = ""


def vulnerabilities(root: Path, *options: str) -> Answer:
    """Query every pinned package of the app, indirect dependencies included (constraints.txt).

    Args:
        root: top of the repository.
        *options: further options of pip-audit.
    """
    full = root / "constraints.txt"
    path = full if full.exists() else root / "requirements.txt"
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(path), "--format", "json",
               "--no-deps", "--disable-pip", "--progress-spinner", "off", *options]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Answer(unasked=f"The service did not answer within {SECONDS:.0f} s.")
    return read_answer(done.stdout, done.stderr)


def read_answer(output: str, errors: str) -> Answer:
    """Return the result in the output of pip-audit.

    Args:
        output: standard output.
        errors: standard error.
    """
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        if "No module named" in errors:
            return Answer(unasked="pip-audit is not installed.")
        return Answer(unasked="pip-audit could not reach the vulnerability service.")
    holes = tuple(
        f"{package['name']} {package['version']} has {hole['id']}; "
        f"mended in {', '.join(hole['fix_versions']) or 'no version yet'}."
        for package in packages
        for hole in package.get("vulns", ())
    )
    skipped = [package["name"] for package in packages if "vulns" not in package]
    request = len(packages) - len(skipped)
    if not request:  # pip-audit reports "no known vulnerabilities" in this case
        return Answer(unasked="pip-audit could not reach the vulnerability service.")
    unasked = f"The service does not know {', '.join(skipped)}." if skipped else ""
    return Answer(holes, request, unasked)


def bill_of_materials(root: Path, path: Path) -> dict[str, Any]:
    """Write every package of the locks with its file hashes; return the written content."""
    parts = "".join((root / name).read_text("utf-8") for name in LOCKS)
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", "--output-reproducible"]
    command += ["--pyproject", "pyproject.toml", "-"]
    path.parent.mkdir(parents=True, exist_ok=True)
    created = subprocess.run(
        command, cwd=root, input=parts, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    path.write_text(created, "utf-8")
    result: dict[str, Any] = json.loads(created)
    return result


def license_of(distribution: Distribution) -> str:
    """Return the license that a package states, in one line."""
    about = distribution.metadata
    kinds = [k.rpartition(" :: ")[2] for k in about.get_all("Classifier", []) if "License" in k]
    stated = about.get("License-Expression") or ", ".join(kinds) or about.get("License") or ""
    return stated.strip().partition("\n")[0][:80] or "not stated"


def name(distribution: Distribution) -> str:
    """Return the normalized name of a distribution."""
    return normal(distribution.metadata["Name"])


def normal(package: str) -> str:
    """Return the normalized name of a package."""
    return re.sub(r"[-_.]+", "-", package).lower()


@cache
def _owners() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _distribution(module: str) -> str:
    return normal(_owners().get(module, [module])[0])


def _lines(path: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line]


if __name__ == "__main__":
    sys.exit(main())
