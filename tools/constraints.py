"""Write constraints.txt: the version of everything that requirements.txt brings along, as here.

`python -m tools.constraints`, in an environment in which the tests have passed. An image installed
next year then has the same libraries. What one platform lacks there, another ignores.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
HEADER = (
    "# Made by `python -m tools.constraints`: all that requirements.txt brings along, exactly.\n"
)


def required(path: Path) -> list[Requirement]:
    """The lines of a requirements file that name a package."""
    lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def closure(wanted: list[Requirement]) -> dict[str, str]:
    """Name and version of the installed packages that these need, and those need, and so on."""
    found: dict[str, str] = {}
    todo = [(one, extra) for one in wanted for extra in ("", *one.extras)]
    seen: set[tuple[str, str]] = set()
    while todo:
        one, extra = todo.pop()
        name = canonicalize_name(one.name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            package = distribution(name)
        except PackageNotFoundError:  # of another platform
            continue
        found[name] = package.version.split("+")[0]  # torch's build is the installer's choice
        for line in package.requires or ():
            more = Requirement(line)
            if more.marker is None or more.marker.evaluate({"extra": extra}):
                todo += [(more, name) for name in ("", *more.extras)]
    return found


def content(found: dict[str, str]) -> str:
    """The file for these packages."""
    return HEADER + "".join(f"{name}=={found[name]}\n" for name in sorted(found))


def main() -> None:
    found = closure(required(ROOT / "requirements.txt"))
    (ROOT / "constraints.txt").write_text(content(found), "utf-8")
    print(f"{len(found)} packages")


if __name__ == "__main__":
    main()
