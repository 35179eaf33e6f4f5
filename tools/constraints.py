"""Write constraints.txt and the lock files from the installed versions.

`python -m tools.constraints`, in an environment in which the tests have passed, pins every package
that requirements.txt needs, directly or indirectly. An image built next year then has the same
libraries. Packages that a platform lacks are ignored there.

The lock files have the same versions with the SHA-256 of all their files in the package index
(`uv pip compile`); the Dockerfile installs from them. There are three, as PyTorch has its own index
for builds without CUDA, and its default build depends on CUDA libraries.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
HEADER = (
    "# Made by `python -m tools.constraints`: all that requirements.txt brings along, exactly.\n"
)
PYTHON = "3.11"  # version in the image
# Pattern of the package names in each lock; the first match decides.
LOCKS = {
    "requirements-torch.lock": r"torch",
    "requirements-cuda.lock": r"(cuda|nvidia)-.*|triton",
    "requirements.lock": r".*",
}
# SHA-256 of PyTorch's CPU build for Linux, x86-64 and this Python (`pip hash`), by version.
TORCH_CPU = {"2.13.0": "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"}


def required(path: Path) -> list[Requirement]:
    """Return the requirements of a file."""
    lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def closure(requested: list[Requirement]) -> dict[str, str]:
    """Return name and version of the installed packages that these need, recursively."""
    result: dict[str, str] = {}
    todo = [(item, extra) for item in requested for extra in ("", *item.extras)]
    observed: set[tuple[str, str]] = set()
    while todo:
        entry, extra = todo.pop()
        name = canonicalize_name(entry.name)
        if (name, extra) in observed:
            continue
        observed.add((name, extra))
        try:
            package = distribution(name)
        except PackageNotFoundError:  # required on other platforms only
            continue
        result[name] = package.version.split("+")[0]  # without torch's local build label
        for line in package.requires or ():
            more = Requirement(line)
            if more.marker is None or more.marker.evaluate({"extra": extra}):
                todo += [(more, name) for name in ("", *more.extras)]
    return result


def content(result: dict[str, str]) -> str:
    """Return the text of constraints.txt."""
    return HEADER + "".join(f"{name}=={result[name]}\n" for name in sorted(result))


def resolved() -> str:
    """Return all requirements on any platform, with the hashes of their files."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "requirements.txt"]
    command += ["--constraint", "constraints.txt", "--universal", "--python-version", PYTHON]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--no-config", "--quiet"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def locks(text: str, torch: str) -> dict[str, str]:
    """Return the text of each lock file.

    Args:
        text: result of `resolved`.
        torch: version of PyTorch.
    """
    if torch not in TORCH_CPU:
        sys.exit(f"constraints: TORCH_CPU lacks the SHA-256 of PyTorch's CPU build {torch}.")
    header = HEADER.replace("exactly", "with the SHA-256 of its files")
    result = dict.fromkeys(LOCKS, header)
    for package in re.findall(r"^[^\s#].*\n(?:[ \t]+.*\n)*", text, re.M):
        name = package.partition("==")[0]
        if name == "torch":
            package = f"{package.rstrip()} \\\n    --hash=sha256:{TORCH_CPU[torch]}\n"
        result[next(lock for lock, names in LOCKS.items() if re.fullmatch(names, name))] += package
    return result


def main() -> None:
    result = closure(required(ROOT / "requirements.txt"))
    (ROOT / "constraints.txt").write_text(content(result), "utf-8")
    print(f"{len(result)} packages")
    for name, text in locks(resolved(), result["torch"]).items():
        (ROOT / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
