"""Build the documentation site with MkDocs: README, `docs/` and docstrings of the library.

    pip install -r docs/requirements.txt && python -m tools.docs_site

The result is `tmp/site`, which opens from a folder and loads nothing from other servers. Pages keep
their relative locations, so links work both on the site and in the repository; a broken link fails
the build. Links of teaching pages to benches lead to `--address`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.units import unbroken

ROOT = Path(__file__).parents[1]
ROOMS = ("lessons", "experiments", "figures", "plotting", "compute", "stats", "models", "data")
_RUN = ["operations", "faults", "scheduler", "threats"]
_CHANGE = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/add-a-bench.md", "docs/add-a-lesson.md",
           "benchmarks/README.md", "CHANGELOG.md"]  # fmt: skip


def lay_out(pages: Path, address: str) -> None:
    """Copy every page to its repository path, and write one page per package of the library.

    Args:
        pages: target folder, which is replaced.
        address: URL of the server to which teaching pages link.
    """
    shutil.rmtree(pages, ignore_errors=True)
    results = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
    linked = ("CITATION.cff", "docs/**/*.ipynb", "docs/**/*.py", "docs/*.png", "deploy/*")
    for source in [*results, *(path for item in linked for path in ROOT.glob(item))]:
        target = pages / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for page in (pages / "docs" / "teaching").glob("*.md"):
        words = unbroken(page.read_text("utf-8"))
        page.write_text(words.replace("](/", f"]({address}/"), "utf-8")
    for package in packages():
        target = pages / "library" / f"{package}.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text("\n\n".join(f"::: {name}" for name in modules(package)) + "\n", "utf-8")


def packages() -> list[str]:
    """Return the packages of the library, each with one page."""
    folders = (path for room in ROOMS for path in (ROOT / "seqviz" / room).rglob("__init__.py"))
    return sorted(".".join(path.parent.relative_to(ROOT).parts) for path in folders)


def modules(package: str) -> list[str]:
    """Return a package and its public modules."""
    folder = ROOT / Path(*package.split("."))
    stems = sorted(path.stem for path in folder.glob("[!_]*.py"))
    return [package, *(f"{package}.{stem}" for stem in stems)]


def navigation() -> list[object]:
    """Return the navigation by the reader's tasks: teach, run, change, use the library."""
    taught = [
        {Text(lang)(f"{record.slug}.title"): f"docs/teaching/{record.slug}.{lang}.md"}
        for lang in LANGUAGES
        for record in catalog.LESSONS
    ]
    return [
        {"SeqViz": "README.md"},
        {"Teach": ["docs/teaching/README.md", *taught]},
        {"Run it": [*(f"docs/{name}.md" for name in _RUN), "SECURITY.md"]},
        {"Change it": _CHANGE},
        {"Library": [{name: f"library/{name}.md"} for name in packages()]},
    ]


def build(out: Path, address: str) -> int:
    """Build the site and return the exit status of MkDocs.

    Args:
        out: target folder.
        address: URL of the server to which teaching pages link.
    """
    room = ROOT / "tmp"
    lay_out(room / "docs", address)
    config = room / "mkdocs.yml"  # JSON is YAML
    config.write_text(json.dumps({
        "INHERIT": str(ROOT / "docs" / "mkdocs.yml"), "docs_dir": str(room / "docs"),
        "site_dir": str(out), "nav": navigation(),
    }), "utf-8")  # fmt: skip
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "-f", config]).returncode


def main() -> None:
    """Build the site into a folder."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--out", type=Path, default=ROOT / "tmp" / "site")
    parser.add_argument("--address", default="http://localhost:8501", help="URL of a running app")
    request = parser.parse_args()
    sys.exit(build(request.out.resolve(), request.address.rstrip("/")))


if __name__ == "__main__":
    main()
