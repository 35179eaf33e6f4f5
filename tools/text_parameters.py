"""List the URL parameters that hold text: `python -m tools.text_parameters`.

They are not reported to a page that embeds the app in a frame (`components/parent_guard.js`). The
list is part of every page before any lesson is imported, so it is a file; a test compares it with
the declarations of the lessons.
"""

from __future__ import annotations

from seqviz import lessons
from seqviz.content import catalog
from seqviz.lessons.framework.controls import TextInput, controls
from seqviz.ui.server.index_page import TEXTS


def declared() -> list[str]:
    """Return the names of all text parameters, in the order of the lessons."""
    return [
        f"{bench.prefix}.{name}"
        for record in catalog.LESSONS
        for bench in getattr(lessons, record.slug).lesson.benches.values()
        for name, control in controls(bench.declaration)
        if isinstance(control, TextInput)
    ]


if __name__ == "__main__":
    TEXTS.write_text("".join(f"{name}\n" for name in declared()), "utf-8")
