"""What the lesson on gate activations shows: its words, its link, its colored text."""

from __future__ import annotations

from html.parser import HTMLParser

from seqviz.lessons.bench import controls
from seqviz.lessons.bench.output import Output, Passage
from seqviz.lessons.bench.words import Words
from seqviz.lessons.gates import lesson
from seqviz.text import Text

SAY = {lang: Words(lesson.slug, Text(lang)) for lang in ("en", "zh")}


def opened(visit, lang: str, **settings: object):
    """The page with some settings in its link, "watch__kind" for one."""
    link = {f"ga__{name}": controls.encoded(value) for name, value in settings.items()}
    return visit(lesson.slug, lang, **link)


class Colored(HTMLParser):
    """The colored text under a figure: its letters, and the attributes of each piece."""

    def __init__(self, output: Output) -> None:
        super().__init__()
        (passage,) = output.of(Passage)
        self.text = ""
        self.spans: list[dict[str, str | None]] = []
        self.feed(passage.html)

    def handle_starttag(self, tag, attrs):
        if tag == "span":
            self.spans.append(dict(attrs))

    def handle_data(self, data):
        self.text += data

    def with_look(self, word: str) -> list[bool]:
        return [word in (span["style"] or "") for span in self.spans]
