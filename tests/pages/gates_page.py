"""What the lesson on gate activations shows, and what the library says it should be."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np

from seqviz.compute.gates import tasks
from seqviz.compute.gates.observation import Observation
from seqviz.lessons.bench import controls
from seqviz.lessons.bench.output import Output, Passage
from seqviz.lessons.bench.words import Words
from seqviz.lessons.gates import lesson
from seqviz.text import Text, number

SAY = {lang: Words(lesson.slug, Text(lang)) for lang in ("en", "zh")}


def opened(visit, lang: str, **settings: object):
    """The page with some settings in its link, "watch__kind" for one."""
    link = {f"ga__{name}": controls.encoded(value) for name, value in settings.items()}
    return visit(lesson.slug, lang, **link)


def settings(bench: str, values: dict):
    """The parameters of a bench with these values."""
    return controls.filled(lesson.benches[bench].declaration, values)


def shown(output: Output | None) -> dict[str, tuple[str, str]]:
    """The read-outs by name: the value and what stands beside it."""
    assert output is not None
    return {name: (one.value, one.beside or "") for name, one in output.readouts.items()}


def answer(say: Words, seen: Observation) -> tuple[str, str]:
    """The answer at the end of the text and how sure the network is, from the observation."""
    if seen.kind == "characters":
        bits = -np.log2(seen.probability).sum() / len(seen.pieces)
        return number(bits), say("metric.answer.bits")
    if seen.kind == "sentiment":
        p = float(seen.probability[-1])
        verdict = say("metric.answer.positive" if p > 0.5 else "metric.answer.negative")
        return verdict, f"P = {number(p)}"
    return tasks.ANSWERS[seen.kind][seen.answer[-1]], say("metric.answer.at_end")


class Colored(HTMLParser):
    """The colored text under a figure: its letters, and the attributes of each piece."""

    def __init__(self, output: Output) -> None:
        super().__init__()
        (passage,) = output.of(Passage)
        self.source = passage.html
        self.text = ""
        self.spans: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.feed(self.source)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "span":
            self.spans.append(dict(attrs))

    def handle_data(self, data):
        self.text += data

    def with_look(self, word: str) -> list[bool]:
        return [word in (span["style"] or "") for span in self.spans]
