"""What a visitor of the lesson on attention sees, and what the library says it should be."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from looking import bench, figures

from seqviz.lessons.bench import controls
from seqviz.lessons.bench import output as output_kinds

SLUG = "attention"
ENCODER = "The animal did not cross the street because it was too tired."
DECODER = "When Mary and John went to the store, John gave a drink to"
MODEL_BENCHES = ("real", "apart", "masks", "ablate")  # each waits for the model


def opened(visit, lang: str = "en", **settings: object):
    """The page with some settings in its link, "real__view" for one."""
    return visit(SLUG, lang, **{f"at__{key}": controls.encoded(v) for key, v in settings.items()})


def read_by(model: str) -> str:
    """The text that a model reads when nobody has changed it."""
    return ENCODER if model == "minilm" else DECODER


def whole(page, names=MODEL_BENCHES) -> bool:
    """Whether each of these benches has its figure, and no bench complains."""
    return not page.warned() and all(len(figures(bench(page.app, name))) == 1 for name in names)


class Passage(HTMLParser):
    """The colored text under a figure: its letters, and the attributes of each piece."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.spans: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "span":
            self.spans.append(dict(attrs))

    def handle_data(self, data):
        self.text += data

    def deep(self) -> list[float]:
        """How strong the color of each piece is."""
        found = (re.search(r"rgba\(\d+,\d+,\d+,([\d.]+)\)", span["style"]) for span in self.spans)
        return [float(color[1]) for color in found]

    def outlined(self) -> list[int]:
        """The places of the outlined pieces, from 1."""
        return [n for n, span in enumerate(self.spans, 1) if "outline" in (span["style"] or "")]


def colored(output) -> list[Passage]:
    """The colored texts that a bench shows."""
    return [Passage(item.html) for item in output.of(output_kinds.Passage)]
