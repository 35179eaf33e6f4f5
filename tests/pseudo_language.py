"""A language made of English: every letter of every word is another one. What is still English on a
page that is read in it was written into the code."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

from seqviz.core.i18n import _flatten
from seqviz.core.paths import ROOT

LANG = "qq"
NAME = "Ṕŝéüđö"
WORDS = ("locale", "lessons", "glossary")
LETTERS = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "àḃçđéƒĝĥîĵķļṁñöṗɋŕšţûṽŵẋýžÀḂÇĐÉƑĜĤÎĴĶĻṀÑÖṖɊŔŠŢÛṼŴẊÝŽ",
)
# What is no word: formulas, code, placeholders, links' addresses, tags, icons, entities, sections.
KEPT = re.compile(
    r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|\{[^{}]*\}|(?<=\])\([^)]*\)|<[^>]*>|:material/\w+:|&\w+;",
    re.DOTALL,
)


def pseudo(sentence: str) -> str:
    """The same sentence in letters that no English word has."""
    retained = KEPT.findall(sentence)
    words = [part.translate(LETTERS) for part in KEPT.split(sentence)]
    return "".join(
        word + (retained[at] if at < len(retained) else "") for at, word in enumerate(words)
    )


def in_pseudo(value: Any) -> Any:
    """All sentences of a value of the catalogue."""
    if isinstance(value, list):
        return [in_pseudo(item) for item in value]
    return pseudo(value) if isinstance(value, str) else value


def _written(words: dict[str, Any]) -> str:
    lines = []
    for key, value in words.items():
        name = ".".join(json.dumps(part) for part in key.split("."))
        lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}\n")
    return "".join(lines)


def _glossary(folder: Path) -> str:
    letters = tomllib.loads((folder / "letters.toml").read_text("utf-8"))
    terms = tomllib.loads((folder / "terms.toml").read_text("utf-8"))["term"]
    parts = {
        "meaning": {name: letter["en"] for name, letter in letters["meaning"].items()},
        "remark": {name: letter["en"] for name, letter in letters["remark"].items()},
        "term": {term["en"]: term["en"] for term in terms},
    }
    return "".join(
        f"[{part}]\n"
        + "".join(
            f"{json.dumps(name, ensure_ascii=False)} = "
            f"{json.dumps(pseudo(word), ensure_ascii=False)}\n"
            for name, word in words.items()
        )
        for part, words in parts.items()
    )


def project(folder: Path) -> Path:
    """A copy of the project with the language in it: files in `assets`, nothing else."""
    for name in ("app.py", "pages", "seqviz", ".streamlit"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    (folder / "static").symlink_to("assets/static")
    assets = folder / "assets"
    assets.mkdir()
    for source in (ROOT / "assets").iterdir():
        if source.name in WORDS:
            shutil.copytree(source, assets / source.name)
        else:
            (assets / source.name).symlink_to(source)
    for path in [*assets.rglob("en.toml")]:
        payload = _flatten(tomllib.loads(path.read_text("utf-8")))
        words = {key: in_pseudo(message) for key, message in payload.items()}
        if path.parent.name == "locale":
            words |= {"frame.language_name": NAME, "frame.language_tag": "en-x-pseudo"}
        path.with_name(f"{LANG}.toml").write_text(_written(words), "utf-8")
    for path in [*assets.rglob("en.md")]:
        path.with_name(f"{LANG}.md").write_text(pseudo(path.read_text("utf-8")), "utf-8")
    (assets / "glossary" / f"{LANG}.toml").write_text(_glossary(assets / "glossary"), "utf-8")
    return folder
