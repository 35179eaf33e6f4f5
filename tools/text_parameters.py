"""List the parameters of links whose values are texts: `python -m tools.text_parameters`.

A page that shows the app in a frame is not told them (`components/parent_guard.js`). The list
stands in every page before a lesson has been imported, so it is a file; a test compares it with
what the lessons declare.
"""

from __future__ import annotations

from seqviz import lessons
from seqviz.content import catalog
from seqviz.lessons.framework.controls import TextInput, controls
from seqviz.ui.server.index_page import TEXTS


def declared() -> list[str]:
    """The names of all of them, in the order of the lessons."""
    return [
        f"{bench.prefix}.{name}"
        for record in catalog.LESSONS
        for bench in getattr(lessons, record.slug).lesson.benches.values()
        for name, control in controls(bench.declaration)
        if isinstance(control, TextInput)
    ]


if __name__ == "__main__":
    TEXTS.write_text("".join(f"{name}\n" for name in declared()), "utf-8")
