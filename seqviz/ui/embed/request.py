"""Parsing of the URL of an embedded bench; invalid settings get their defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core import content_hash, settings
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.controls import TextInput
from seqviz.lessons.framework.lesson import Bench
from seqviz.plotting.style import Style
from seqviz.ui.render import html

THEMES = ("light", "dark")
ANSWERED = "answered"  # query parameter


@dataclass(frozen=True)
class EmbedRequest:
    """A bench at some settings.

    Attributes:
        bench: to be shown.
        params: by bench prefix, its parameters and those of the benches that it depends on.
        link: the same as query parameters.
        typed: texts that the reader has written, by parameter; they replace the link's and are in
            no URL.
        lang: language code.
        present: presenter mode.
        theme: one of THEMES, or "" for the browser's preference.
        dark: rendered for a dark page.
        answered: the chosen option of the bench's question, or "skip"; None before an answer.
    """

    bench: Bench
    params: Mapping[str, Any]
    link: Mapping[str, str]
    typed: Mapping[str, str]
    lang: str
    present: bool = False
    theme: str = ""
    dark: bool = False
    answered: str | None = None

    @property
    def is_veiled(self) -> bool:
        """True where the bench's question is not answered."""
        return bool(
            settings.value("SEQVIZ_GUIDED") and self.bench.veiled_by and self.answered is None
        )

    @property
    def style(self) -> Style:
        """Figure style."""
        return html.style(self.lang, self.present)

    @property
    def shared(self) -> Mapping[str, str]:
        """Settings for others, without the reader's texts."""
        return {key: value for key, value in self.link.items() if key not in self.typed}

    @property
    def view_parameters(self) -> Mapping[str, str]:
        """Query parameters besides the settings."""
        present = {"present": "true"} if self.present else {}
        theme = {"theme": self.theme} if self.theme else {}
        answered = {} if self.answered is None else {ANSWERED: self.answered}
        return {"lang": self.lang, **present, **theme, **answered}

    @property
    def key(self) -> bytes:
        """Hash that equal requests share."""
        view = (self.lang, self.present, self.theme, self.dark, self.answered)
        return content_hash.hash_value(
            ("embed", self.bench.prefix, sorted(self.link.items()), view)
        )

    @property
    def bench_parameters(self) -> Any:
        """Parameters of the bench itself."""
        return self.params[self.bench.prefix]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Provide these parameters to benches that read those of another one."""
        prefix = self.bench.lesson.prefix
        with self.bench.lesson.read_by(lambda name: self.params[prefix(name)]):
            yield


def bench_of(slug: str, name: str) -> Bench | None:
    """Return the bench with these names, if it exists."""
    if slug not in {record.slug for record in catalog.LESSONS}:
        return None
    benches: Mapping[str, Bench] = getattr(lessons, slug).lesson.benches
    return benches.get(name)


def parse_request(
    bench: Bench, query: Mapping[str, str], typed: Mapping[str, str], lang: str, dark: bool = False
) -> EmbedRequest:
    """Return the request of a query.

    Args:
        bench: to be shown.
        query: of the URL; invalid values get their defaults.
        typed: texts that the reader has written; they override the query.
        lang: language code.
        dark: the browser prefers a dark theme.
    """
    params = _params(bench, {**query, **typed}, lang)
    link: dict[str, str] = {}
    for prefix, values in params.items():
        link |= controls.permalink(prefix, values, lang)
    theme = query.get("theme", "")
    theme = theme if theme in THEMES else ""
    return EmbedRequest(
        bench, params, link, {key: text for key, text in typed.items() if key in _texts(params)},
        lang, query.get("present") == "true", theme, theme == "dark" or (not theme and dark),
        query.get(ANSWERED),
    )  # fmt: skip


def _params(bench: Bench, given: Mapping[str, str], lang: str) -> dict[str, Any]:
    """Return parameters by prefix, in the order of dependency."""
    lesson = bench.lesson
    result: dict[str, Any] = {}
    for name in (*bench.after, bench.name):
        start = f"{lesson.prefix(name)}."
        part = {
            key.removeprefix(start): text for key, text in given.items() if key.startswith(start)
        }
        with lesson.read_by(partial(_already, result, bench)):
            declaration = lesson.benches[name].declaration
            result[lesson.prefix(name)] = controls.parse_params(declaration, part, True, lang)
    return result


def _already(result: Mapping[str, Any], bench: Bench, name: str) -> Any:
    """Return the parameters of another bench, or its defaults."""
    return result.get(bench.lesson.prefix(name)) or bench.lesson.benches[name].declaration()


def _texts(params: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the text parameters."""
    return frozenset(
        f"{prefix}.{name}"
        for prefix, values in params.items()
        for name, control in controls.controls(type(values))
        if isinstance(control, TextInput)
    )
