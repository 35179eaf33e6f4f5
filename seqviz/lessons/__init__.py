"""The lessons: the benches of each, which run without a page, a session or a browser.

    from seqviz import lessons
    lessons.vanishing_gradients.reach(gain=0.9)

gives the figure, the read-outs and the notes that a page shows at these settings.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from seqviz.content import catalog


def __getattr__(slug: str) -> Any:
    """The module of a lesson, imported when it is asked for."""
    if slug.startswith("_") or slug not in {record.slug for record in catalog.LESSONS}:
        raise AttributeError(f"there is no lesson {slug!r}")
    return import_module(f"{__name__}.{slug}")
