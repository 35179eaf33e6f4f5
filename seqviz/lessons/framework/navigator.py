"""Small picture of a lesson's map at its other benches, with the parts that each of them shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from seqviz.core.i18n import Text


@dataclass(frozen=True)
class Navigator:
    """The parts of a map, and which of them a bench shows.

    Attributes:
        bench: name of the bench with the map.
        parts: parts in the order of the data flow; one may stand at several places.
        parts_by_bench: parts by bench. A bench without an entry shows no part.
        letters: the letter of each part on the map; empty where the map has none.
    """

    bench: str
    parts: Sequence[str]
    parts_by_bench: Mapping[str, Sequence[str]]
    letters: Mapping[str, str] = field(default_factory=dict)

    def html(self, bench: str, text: Text, slug: str) -> str | None:
        """Return the picture as a link to the map; None for a bench that shows no part.

        Args:
            bench: name of the bench.
            text: texts of the page.
            slug: of the lesson, whose texts `part.<name>` are the names of the parts.
        """
        parts = self.parts_by_bench.get(bench)
        if not parts:
            return None
        names = text("home.joined").join(text(f"{slug}.part.{name}") for name in parts)
        lit = ' class="lit"'
        label = escape(text("frame.on_the_map", parts=names), quote=True)
        boxes = "".join(
            f"<i{lit if name in parts else ''}{self._letter(name)}></i>" for name in self.parts
        )
        return (
            f'<a class="seqviz-navigator" href="#bench-{self.bench}" title="{label}" '
            f'aria-label="{label}">{boxes}</a>'
        )

    def _letter(self, name: str) -> str:
        """Return the letter of a part as an attribute, which the style sheet writes in its box."""
        letter = self.letters.get(name, "")
        return f' data-letter="{escape(letter, quote=True)}"' if letter else ""
