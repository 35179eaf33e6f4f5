"""What an address of a bench in a page of its own asks for, cleaned as a link is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core import content_hash
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.controls import TextInput
from seqviz.lessons.framework.lesson import Bench
from seqviz.plotting.style import Style
from seqviz.ui.render import html

THEMES = ("light", "dark")


@dataclass(frozen=True)
class EmbedRequest:
    """A bench at some settings.

    params: by prefix, of it and of the benches that it builds on. link: the same as it stands in an
    address. typed: what a reader has written in place of it, by parameter, in no address. theme:
    one of THEMES, or "", where the reader's own preference counts. dark: whether it is drawn for a
    dark page.
    """

    bench: Bench
    params: Mapping[str, Any]
    link: Mapping[str, str]
    typed: Mapping[str, str]
    lang: str
    present: bool = False
    theme: str = ""
    dark: bool = False

    @property
    def style(self) -> Style:
        """How its figure looks."""
        return html.style(self.lang, self.present)

    @property
    def shared(self) -> Mapping[str, str]:
        """Its settings for somebody else: nothing of what a reader has written."""
        return {key: value for key, value in self.link.items() if key not in self.typed}

    @property
    def view_parameters(self) -> Mapping[str, str]:
        """What stands in its address beside the settings."""
        present = {"present": "true"} if self.present else {}
        return {"lang": self.lang, **present, **({"theme": self.theme} if self.theme else {})}

    @property
    def key(self) -> bytes:
        """The same for all who ask for the same."""
        view = (self.lang, self.present, self.theme, self.dark)
        return content_hash.hash_value(
            ("embed", self.bench.prefix, sorted(self.link.items()), view)
        )

    @property
    def bench_parameters(self) -> Any:
        """The parameters of the bench itself."""
        return self.params[self.bench.prefix]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within: a bench that reads another one's parameters gets these."""
        prefix = self.bench.lesson.prefix
        with self.bench.lesson.read_by(lambda name: self.params[prefix(name)]):
            yield


def bench_of(slug: str, name: str) -> Bench | None:
    """The bench of these names, if there is one."""
    if slug not in {record.slug for record in catalog.LESSONS}:
        return None
    benches: Mapping[str, Bench] = getattr(lessons, slug).lesson.benches
    return benches.get(name)


def parse_request(
    bench: Bench, query: Mapping[str, str], typed: Mapping[str, str], lang: str, dark: bool = False
) -> EmbedRequest:
    """What is asked for. query: of the address; what is not possible in it has its default.

    typed: texts that a reader has written, which count before those of the address.
    """
    params = _params(bench, {**query, **typed})
    link: dict[str, str] = {}
    for prefix, values in params.items():
        link |= controls.permalink(prefix, values)
    theme = query.get("theme", "")
    theme = theme if theme in THEMES else ""
    return EmbedRequest(
        bench, params, link, {key: text for key, text in typed.items() if key in _texts(params)},
        lang, query.get("present") == "true", theme, theme == "dark" or (not theme and dark),
    )  # fmt: skip


def _params(bench: Bench, given: Mapping[str, str]) -> dict[str, Any]:
    """By prefix, in the order in which one builds on another."""
    lesson = bench.lesson
    result: dict[str, Any] = {}
    for name in (*bench.after, bench.name):
        start = f"{lesson.prefix(name)}."
        part = {
            key.removeprefix(start): text for key, text in given.items() if key.startswith(start)
        }
        with lesson.read_by(partial(_already, result, bench)):
            declaration = lesson.benches[name].declaration
            result[lesson.prefix(name)] = controls.parse_params(declaration, part, link=True)
    return result


def _already(result: Mapping[str, Any], bench: Bench, name: str) -> Any:
    """The parameters of another bench; its defaults where nothing is known of it."""
    return result.get(bench.lesson.prefix(name)) or bench.lesson.benches[name].declaration()


def _texts(params: Mapping[str, Any]) -> frozenset[str]:
    """The parameters in which somebody writes."""
    return frozenset(
        f"{prefix}.{name}"
        for prefix, values in params.items()
        for name, control in controls.controls(type(values))
        if isinstance(control, TextInput)
    )
