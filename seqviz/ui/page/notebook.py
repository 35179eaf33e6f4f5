"""A lesson as a notebook: the code of every bench with the reader's settings, without Streamlit."""

from __future__ import annotations

from collections.abc import Mapping

from seqviz.core.i18n import Text, sections


def build(slug: str, text: Text, recipes: Mapping[str, str]) -> bytes:
    """An .ipynb: title and goal, how to run it, then prose and code bench by bench.

    `recipes` maps a bench's name to its Python source (`Recipe.source`). The notebook needs the
    `seqviz` folder on its path: its first cell says so.
    """
    import nbformat.v4 as nb  # slow to import; nobody waits for it but who asks for a notebook

    from seqviz.export.room_report import written

    cells = [
        nb.new_markdown_cell(f"# {text(f'{slug}.title')}\n\n{text(f'{slug}.goal')}"),
        nb.new_markdown_cell(text("frame.notebook_setup")),
    ]
    prose = sections(slug, text.lang)
    for name, source in recipes.items():
        if not source.strip():  # a bench that has not drawn anything yet
            continue
        title = text.first(f"{slug}.bench.{name}", f"{slug}.title")
        note = prose.get(name, "")
        cells.append(nb.new_markdown_cell(f"## {title}\n\n{note}".strip()))
        cells.append(nb.new_code_cell(source.strip()))
    return written(cells)
