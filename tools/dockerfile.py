"""Parser for the parts of Dockerfile and .dockerignore syntax that this repository uses."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Step:
    """Dockerfile instruction.

    Attributes:
        name: name in capitals.
        flags: flags such as `--chown=user`.
        text: remaining text.
    """

    name: str
    flags: tuple[str, ...]
    text: str


def steps(source: str) -> tuple[Step, ...]:
    """Return the instructions without comments, with continued lines joined."""
    lines = [line for line in source.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    results = []
    for line in filter(str.strip, joined.splitlines()):
        name, _, rest = line.strip().partition(" ")
        words = rest.split()
        flags = []
        while words and words[0].startswith("--"):
            flags.append(words.pop(0))
        text = rest.strip() if not flags else rest.split(flags[-1], 1)[1].strip()
        results.append(Step(name.upper(), tuple(flags), text))
    return tuple(results)


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Return text with $NAME and ${NAME} expanded; unknown names are empty, as in Docker."""
    names = re.findall(r"\$\{?(\w+)\}?", text)
    return string.Template(text).substitute({name: variables.get(name, "") for name in names})


def context(root: Path, ignore: str) -> tuple[Path, ...]:
    """Return the files of the build context as sorted paths relative to `root`.

    Args:
        root: top folder.
        ignore: text of .dockerignore; the last pattern that matches a file or one of its folders
            decides, and `!` includes again.
    """
    rules = [
        (not line.startswith("!"), _pattern(line.removeprefix("!")))
        for line in map(str.strip, ignore.splitlines())
        if line and not line.startswith("#")
    ]

    # True where a `!` rule may include files of an excluded folder.
    kept_inside = re.search(r"(?m)^\s*!/?[^/\n]+/.*\S", ignore) is not None

    def left_out(path: Path) -> bool:
        positions = ["/".join(path.parts[:count]) for count in range(1, len(path.parts) + 1)]
        verdict = False
        for out, pattern in rules:
            if any(pattern.fullmatch(position) for position in positions):
                verdict = out
        return verdict

    results = []
    for folder, folders, files in os.walk(root):
        here = Path(folder).relative_to(root)
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        skip = {*links, ".git"}
        if not kept_inside:
            skip |= {name for name in folders if left_out(here / name)}
        folders[:] = [name for name in folders if name not in skip]
        results += [path for path in (here / name for name in files + links) if not left_out(path)]
    return tuple(sorted(results))


def _pattern(line: str) -> re.Pattern[str]:
    """Return the regex of a pattern (Go's `filepath.Match` and `**`).

    A star stays within a folder, two stars cross folders.
    """
    parts = re.split(r"(\*\*/|\*|\?)", line.strip("/"))
    existing = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(existing.get(part, re.escape(part)) for part in parts))
