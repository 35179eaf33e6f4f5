"""Export of a lesson as a Jupyter notebook with the reader's settings, without Streamlit."""

from __future__ import annotations

from collections.abc import Mapping

from seqviz.core.i18n import Text, sections


def build(slug: str, text: Text, recipes: Mapping[str, str]) -> bytes:
    """Return an .ipynb: title, goal and setup, then prose and code bench by bench.

    Its first cell says that the `seqviz` folder must be on the path.

    Args:
        slug: of the lesson.
        text: translations.
        recipes: Python source of each bench (`CodeTrace.source`), by name.
    """
    import nbformat.v4 as nb  # slow to import, needed only here

    from seqviz.export.room_report import written

    opening = [f"# {text(f'{slug}.title')}", text(f"{slug}.goal")]
    if text.has(f"{slug}.about"):
        opening.append(text(f"{slug}.about"))
    cells = [
        nb.new_markdown_cell("\n\n".join(opening)),
        nb.new_markdown_cell(text("frame.notebook_setup")),
    ]
    prose = sections(slug, text.lang)
    for name, source in recipes.items():
        if not source.strip():  # a bench that has not rendered yet
            continue
        title = text.first(f"{slug}.bench.{name}", f"{slug}.title")
        note = prose.get(name, "")
        cells.append(nb.new_markdown_cell(f"## {title}\n\n{note}".strip()))
        cells.append(nb.new_code_cell(source.strip()))
    return written(cells)
