"""Build the notebooks of the teaching pages (`docs/teaching`), or one page for printing.

    python -m tools.build_teaching                 build the notebooks
    python -m tools.build_teaching gates zh --address http://10.0.0.5:8501 -o gates.html
                                             one page to print, its links on that server

A teaching page makes checkable claims. A number in **bold** after a link appears in the metrics,
sentences or description of the linked bench at the linked settings. A number that no bench shows is
followed by its formula, `**6.58**<!--= log(0.5) / log(0.9) -->`. A link names the bench as its
fragment: `/gates?ga.force.f=1&lang=en#bench-force`. `tests/teaching` checks all claims.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from seqviz.content import catalog
from seqviz.core import atomic_write
from seqviz.core.i18n import LANGUAGES
from seqviz.core.units import plainly_spaced, unbroken
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Bench

PAGES = Path(__file__).parents[1] / "docs" / "teaching"
NOTEBOOKS = PAGES / "notebooks"
SOURCES = NOTEBOOKS / "source"
SLUGS = tuple(record.slug for record in catalog.LESSONS)

_TOKEN = re.compile(r"\]\((?P<link>[^)\s]+)\)|\*\*(?P<bold>[^*]+)\*\*(?:<!--=(?P<formula>.+?)-->)?")
# Parts of a line whose numbers need no check; bold numbers are checked as promises.
_EXEMPT = re.compile(r"\$[^$]*\$|`[^`]*`|<!--.*?-->|\]\([^)]*\)|\*\*[^*]+\*\*")
_PRINTED = """
body { max-width: 46em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 system-ui, sans-serif; }
@media print { body { font-size: 10.5pt; margin: 0; } li { break-inside: avoid; } }
@media print { h2, h3 { break-after: avoid; } }
"""
_NUMBER = re.compile(r"(?<![\w.])−?\d[\d,]*\.\d+|\d+(?=\s?%)|\d{1,3}(?:,\d{3})+")


@dataclass(frozen=True)
class Promise:
    """Checkable number of a page.

    Attributes:
        line: 1-based line of the page.
        number: the number as written.
        link: link to the bench that shows it.
        formula: formula that gives it; "" where the bench shows it.
    """

    line: int
    number: str
    link: str
    formula: str


def promises(page: str) -> Iterator[Promise]:
    """Yield every bold number with the preceding link of its line."""
    for line, words in enumerate(page.splitlines(), 1):
        link = ""
        for match in _TOKEN.finditer(words):
            if match["link"]:
                link = match["link"] if match["link"].startswith("/") else link
            elif re.search(r"\d", match["bold"]):
                yield Promise(line, match["bold"], link, (match["formula"] or "").strip())


def unpromised(page: str) -> list[str]:
    """Return decimal numbers, percentages and thousands without a check.

    A line may repeat settings of the benches that it links to.
    """
    loose = []
    for line, words in enumerate(page.splitlines(), 1):
        named = {text for link in links(words) for text in _settings(link)}
        result = _NUMBER.findall(_EXEMPT.sub(" ", words))
        loose += [
            f"line {line}: {number}"
            for number in result
            if number.replace(",", "").replace("−", "-") not in named
        ]
    return loose


def _settings(link: str) -> Iterator[str]:
    """Yield the values of all controls of a linked bench, as in a permalink."""
    bench, values, language = setting(link)
    for position in (*bench.after, bench.name):
        declaration = bench.lesson.benches[position].declaration
        start = "" if position == bench.name else f"{position}."
        own = {
            key.removeprefix(start): item for key, item in values.items() if key.startswith(start)
        }
        relative = controls.defaults_language(declaration, own, language)
        for name, control in controls.controls(declaration, relative):
            key = f"{start}{name}"
            yield controls.encoded(values.get(key, control.default))


COURSE = "&view=course"  # end of a link to the notes for the Chinese course


def links(page: str) -> list[str]:
    """Return the links to figures of lessons: all but those to the notes for the Chinese course."""
    found = [match["link"] or "" for match in _TOKEN.finditer(page)]
    return [link for link in found if link[:1] == "/" and not link.endswith(COURSE)]


def setting(link: str) -> tuple[Bench, dict[str, Any], str]:
    """Return the bench of a link, its values as `Bench.run` takes them, and the language.

    Raises:
        ValueError: a lesson, bench or parameter does not exist, or a value is rejected, changed or
            without effect.
    """
    parts = urlsplit(link)
    slug = parts.path.strip("/")
    if slug not in SLUGS:
        raise ValueError(f"{link}: there is no lesson {slug!r}.")
    lesson = import_module(f"seqviz.lessons.{slug}").lesson
    given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    language = given.pop("lang", "")
    position, _, name = parts.fragment.partition("-")
    if language not in LANGUAGES or position != "bench" or name not in lesson.benches:
        raise ValueError(f"{link}: a link names its language and, as its fragment, a bench.")
    bench = lesson.benches[name]
    values: dict[str, dict[str, Any]] = {}
    for key, raw in given.items():
        code, _, rest = key.partition(".")
        position, _, name = rest.partition(".")
        if code != lesson.record.code or position not in (bench.name, *bench.after):
            raise ValueError(f"{link}: {key} is not of this bench, or one that it builds on.")
        values.setdefault(position, {})[name] = _clean(lesson.benches[position], name, raw, link)
    for position, request in values.items():
        visible = controls.parse_params(lesson.benches[position].declaration, request)
        for name, value in request.items():
            if name != controls.DEFAULTS and getattr(visible, name) != value:
                raise ValueError(f"{link}: {name} = {value} does not apply here.")
    own = values.pop(bench.name, {})
    others = {f"{value}.{name}": v for value, query in values.items() for name, v in query.items()}
    return bench, own | others, language


def _clean(bench: Bench, name: str, raw: str, link: str) -> Any:
    """Return a value of a link, which its control must accept unchanged and which is no default."""
    if name == controls.DEFAULTS and raw in controls.languages(bench.declaration):
        return raw
    declared = dict(controls.controls(bench.declaration))
    try:
        value = declared[name].parse(raw)
    except (KeyError, ValueError):
        raise ValueError(f"{link}: {name} cannot be {raw!r}.") from None
    if controls.encoded(value) != raw or value == declared[name].default:
        raise ValueError(f"{link}: {name} = {raw} is changed, or is the default.")
    return value


def shows(number: str, message: str) -> bool:
    """Return True where a message contains the number, not as a part of another one."""
    plain = plainly_spaced(message)
    return bool(re.search(rf"(?<![\w.,−]){re.escape(number)}(?![\w]|[.,]\d)", plain))


def value(formula: str) -> float:
    """Return the value of a formula: a number, or a number to a power (`0.8**50`)."""
    base, _, power = formula.partition("**")
    return float(base) ** float(power or 1)


# ---------------------------------------------------------------------------------- the notebooks


def cells(source: str) -> list[tuple[str, str, str]]:
    """Return the cells of a source: kind, language or "", text.

    Kinds are "markdown", "code", "task" and "solution". A source is a script in the percent format
    of editors: `# %%`, `# %% [markdown] zh`, `# %% task`.
    """
    results = []
    for part in re.split(r"^# %%", source, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        kind, *language = head.replace("[markdown]", "markdown").split() or ["code"]
        if kind == "markdown":
            body = re.sub(r"^# ?", "", body, flags=re.MULTILINE)
        results.append((kind, language[0] if language else "", body.strip()))
    return results


def notebook(source: str, language: str, solved: bool = False) -> str:
    """Return the .ipynb of a source.

    Args:
        source: text of the source.
        language: language of its cells.
        solved: include the solutions in place of the tasks.
    """
    import nbformat.v4 as nb
    from nbformat import writes

    built = []
    for kind, spoken, body in cells(source):
        if spoken not in ("", language) or kind == ("task" if solved else "solution"):
            continue
        new = nb.new_markdown_cell if kind == "markdown" else nb.new_code_cell
        built.append(new(body, id=f"cell-{len(built)}"))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = nb.new_notebook(
        cells=built, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}
    )
    return str(writes(book)) + "\n"


def built() -> dict[Path, str]:
    """Return every notebook of the folder with its content."""
    return {
        NOTEBOOKS / f"{source.stem}.{language}.ipynb": notebook(source.read_text("utf-8"), language)
        for source in sorted(SOURCES.glob("*.py"))
        for language in LANGUAGES
    }


# --------------------------------------------------------------------------------- a page to print


def printable(slug: str, language: str, address: str) -> str:
    """Return a page as HTML for printing.

    Args:
        slug: the lesson.
        language: language of the page.
        address: URL of the server to which its links lead.
    """
    from markdown_it import MarkdownIt

    page = unbroken((PAGES / f"{slug}.{language}.md").read_text("utf-8"))
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    body = body.replace('href="/', f'href="{address.rstrip("/")}/')
    title = page.splitlines()[0].removeprefix("# ")
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
        f"<style>{_PRINTED}</style>\n{body}</html>\n"
    )


def main(argv: list[str] | None = None) -> None:
    """Build the notebooks, or one page for printing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("slug", nargs="?", choices=SLUGS)
    parser.add_argument("language", nargs="?", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument("--address", default="http://localhost:8501", help="URL of the server")
    parser.add_argument("-o", "--out", type=Path, help="file for the page; default: stdout")
    request = parser.parse_args(argv)
    if request.slug is None:
        for path, content in built().items():
            path.write_text(content, "utf-8")
            print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
        return
    page = printable(request.slug, request.language, request.address)
    if request.out is None:
        sys.stdout.write(page)
    else:
        with atomic_write.or_exit(request.out):
            request.out.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
