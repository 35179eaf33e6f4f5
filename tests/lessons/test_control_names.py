"""Names of controls beside the other keys of a bench on its page."""

from __future__ import annotations

import re
from pathlib import Path

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.paths import PACKAGE
from seqviz.lessons.framework import controls

KEY = re.compile(r'key=f"\{(?:view\.|self\.)?prefix\}\.([a-z_]+)"')


def test_no_control_has_the_key_of_another_element_of_its_bench():
    """Streamlit draws no second widget of a key: the bench would fail when both are there."""
    pages: list[Path] = list((PACKAGE / "ui" / "page").glob("*.py"))
    keys = {key for path in pages for key in KEY.findall(path.read_text("utf-8"))}
    assert {"start", "bookmark", "pin", "restore"} <= keys
    names = {
        name: bench.prefix
        for record in catalog.LESSONS
        for bench in getattr(lessons, record.slug).lesson.benches.values()
        for name, _ in controls.controls(bench.declaration)
    }
    dialogs = {"picture"}  # a menu of the export dialog, of figures; `bertviz` has none
    assert not {name: where for name, where in names.items() if name in keys - dialogs}
