"""Lessons: the benches of each as functions that run without page, session or browser.

from seqviz import lessons
lessons.vanishing_gradients.reach(gain=0.9)

The call returns the figure, the read-outs and the notes of the page at these settings.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from seqviz.content import catalog


def __getattr__(slug: str) -> Any:
    """Return the module of a lesson, imported on first access.

    Raises:
        AttributeError: unknown slug.
    """
    if slug.startswith("_") or slug not in {record.slug for record in catalog.LESSONS}:
        raise AttributeError(f"there is no lesson {slug!r}")
    return import_module(f"{__name__}.{slug}")
