"""README's editable install: scripts and notebooks of any folder import the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from seqviz.core.paths import ROOT

PACKAGES = ("benchmarks", "seqviz", "testing", "tools")
COMMAND = "pip install --no-deps --no-build-isolation -e ."


def test_editable_install_imports_repository_from_other_folder(tmp_path):
    """In an environment of its own, which has the packages of this one, and without PYTHONPATH."""
    assert f"`{COMMAND}`" in (ROOT / "README.md").read_text("utf-8")
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    ignored = shutil.ignore_patterns("__pycache__", "results")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, project / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*command: str, folder: Path) -> str:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    elsewhere.mkdir()
    run(sys.executable, "-m", "venv", "--without-pip", "venv", folder=tmp_path)
    base = {"base": str(tmp_path / "venv"), "platbase": str(tmp_path / "venv")}
    packages = Path(sysconfig.get_path("purelib", "venv", base))
    (packages / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    python = str(Path(sysconfig.get_path("scripts", "venv", base)) / "python")
    run(python, "-m", *COMMAND.split(), folder=project)
    script = elsewhere / "script.py"
    script.write_text(
        f"import {', '.join(PACKAGES)}\n"
        f"print(*(one.__file__ for one in ({', '.join(PACKAGES)})), sep='\\n')\n",
        "utf-8",
    )
    result = run(python, str(script), folder=elsewhere).split()
    assert result == [str(project / name / "__init__.py") for name in PACKAGES]
