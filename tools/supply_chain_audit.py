"""What the app is made of: pinned, used, licensed, and without a known hole.

    python -m tools.supply_chain_audit [--strict] [--sbom FILE]

Without a network it checks that every requirement is pinned, that the requirements are what the
code imports, neither less nor more, and lists the licenses of what is installed. With one,
`pip-audit` asks the vulnerability service about every package, those that others bring included.
--sbom writes what the image is made of (the locks of tools/constraints.py) as CycloneDX, in JSON.
Exit code 1: something was found. 2, with --strict: the service could not be asked.
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
# Needed by a package of ours, which does not bring them along.
NOT_IMPORTED = {
    "accelerate": "transformers loads models with it",
    "gguf": "transformers reads GGUF files with it",
    "httptools": "streamlit's server reads requests with it",
    "uvloop": "streamlit's server sends its messages with it",
    "vl-convert-python": "altair writes pages that run alone with it",
}
# Imported by us, but always in the version that another package asks for.
BROUGHT = {
    "anywidget": "the extra [notebook], asked for by who wants live benches there",
    "brotli": "the extras [app] and [notebook], which send and unpack a script that lies packed",
    "httpx2": "huggingface_hub's client, whose errors are caught",
    "ipython": "a notebook, which shows what a bench gives",
    "ipywidgets": "anywidget's",
    "marimo": "a notebook, which shows what a bench gives",
    "packaging": "pip's and pytest's versions",
    "pluggy": "pytest's",
    "protobuf": "the messages between streamlit and the browser",
    "pyyaml": "huggingface_hub's, which reads a file of this kind as well",
    "ray": "requirements-ray.txt, for who sets SEQVIZ_ENGINE=ray",
    "redis": "requirements-ray.txt, for who sets SEQVIZ_REDIS_URL",
    "starlette": "streamlit's server",
    "tokenizers": "transformers' own, of which one is put together for a package's model",
    "traitlets": "anywidget's",
    "uvicorn": "what speaks HTTP for it",
}
# Not to be had for a program that is given away under the MIT license.
CLOSED = re.compile(r"\b(AGPL|Affero|SSPL|Commons Clause|Non-?Commercial|Proprietary)\b", re.I)
_PINNED = re.compile(r"([A-Za-z0-9._-]+)(\[[^\]]*\])?==[^\s*,;]+( *;.*)?")
SECONDS = 180.0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tools.supply_chain_audit")
    parser.add_argument("--strict", action="store_true", help="fail where nothing can be asked")
    parser.add_argument("--sbom", type=Path, metavar="FILE", help="write the bill of materials")
    request = parser.parse_args(arguments)
    results = [*loose(ROOT), *mismatches(ROOT)]
    if request.sbom:
        with atomic_write.or_exit(request.sbom):
            parts = bill_of_materials(ROOT, request.sbom)["components"]
        print(f"{len(parts)} parts in {request.sbom}")
    licenses = {name(d): license_of(d) for d in distributions()}
    for package, license_ in sorted(licenses.items()):
        print(f"  {package}: {license_}")
        if CLOSED.search(license_):
            results.append(f"{package} has the license {license_}.")
    answer = vulnerabilities(ROOT)
    results += answer.holes
    for sentence in results:
        print(sentence)
    print(f"{len(licenses)} packages are installed; {len(results)} things to mend.")
    checked = f"{len(answer.holes)} in {answer.asked} packages." if answer.asked else "not checked."
    print(f"Known vulnerabilities: {checked} {answer.unasked}".rstrip())
    return 1 if results else 2 if answer.unasked and request.strict else 0


def loose(root: Path) -> list[str]:
    """A sentence for each requirement that is not pinned to one version."""
    return [
        f"{path.name}: {line} is not pinned with ==."
        for path in requirements(root)
        for line in _lines(path)
        if not line.startswith(("-r ", "-c ")) and not _PINNED.fullmatch(line)
    ]


def mismatches(root: Path) -> list[str]:
    """A sentence for each import without a requirement, and each requirement without an import."""
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
    """The requirements files: the app's, the workshop's, and of those it is measured against."""
    return sorted([*root.glob("requirements*.txt"), *root.glob("benchmarks/*/requirements.txt")])


def required(path: Path) -> set[str]:
    """The packages that a requirements file names."""
    return {normal(re.split(r"[=\[;<>~! ]", line)[0]) for line in _lines(path) if line[0] != "-"}


def imported(root: Path, parts: Iterable[str]) -> set[str]:
    """The packages that are imported anywhere in these files, inside functions too."""
    # Not all that lies below: an environment of the same name as a package may be among it.
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
    """What the vulnerability service says, of how many packages; unasked: what it does not say."""

    holes: tuple[str, ...] = ()
    asked: int = 0
    unasked: str = ""


def vulnerabilities(root: Path, *options: str) -> Answer:
    """Ask about every pinned package of the app: constraints.txt has those that others bring."""
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
    """What pip-audit printed, where it printed an answer at all."""
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
    if not request:  # pip-audit itself then says that there are no known vulnerabilities
        return Answer(unasked="pip-audit could not reach the vulnerability service.")
    unasked = f"The service does not know {', '.join(skipped)}." if skipped else ""
    return Answer(holes, request, unasked)


def bill_of_materials(root: Path, path: Path) -> dict[str, Any]:
    """Write every package of the locks with the sums of its files; returns what is written."""
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
    """The license that a package states, in one line."""
    about = distribution.metadata
    kinds = [k.rpartition(" :: ")[2] for k in about.get_all("Classifier", []) if "License" in k]
    stated = about.get("License-Expression") or ", ".join(kinds) or about.get("License") or ""
    return stated.strip().partition("\n")[0][:80] or "not stated"


def name(distribution: Distribution) -> str:
    """The package's name as requirements write it."""
    return normal(distribution.metadata["Name"])


def normal(package: str) -> str:
    """One spelling of a package's name."""
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
