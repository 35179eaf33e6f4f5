"""A patch of Streamlit: applied where everything that it needs is there, else the app runs without.

Each module of this room replaces or uses private names, and says in its `PATCH` which and why. No
module imports them before its patch is applied, so a name that has moved stops neither the start
nor anything else: what is left out is slower, or less well kept, and every lesson works
(tests/ui/streamlit_patches/test_unpatched.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import Any

import streamlit as st

from seqviz.core import settings

TESTED = "1.67.0"  # private names may move in any other
log = logging.getLogger(__name__)
_applied: set[str] = set()


@dataclass(frozen=True)
class Patch:
    """needs: private names, as "module:name" or "module:Class.name". apply: puts it in force, and
    imports what it uses before it replaces anything; or what each of further such names is from now
    on, in this process. why: what the app would be without.
    """

    name: str
    needs: tuple[str, ...]
    apply: Callable[[], None] | Mapping[str, Any]
    why: str

    def missing(self) -> list[str]:
        """What it needs and Streamlit does not have."""
        replaced = () if callable(self.apply) else self.apply
        return [need for need in (*self.needs, *replaced) if not _is_there(need)]

    def put(self) -> None:
        """Put it in force."""
        if callable(self.apply):
            self.apply()
            return
        for position, new in self.apply.items():
            module, _, names = position.partition(":")
            *outer, last = names.split(".")
            setattr(reduce(getattr, outer, import_module(module)), last, new)


def install(patches: Iterable[Patch]) -> None:
    """Apply each once in this process; those that cannot be are named in one warning."""
    if not settings.value("SEQVIZ_STREAMLIT_PATCHES"):
        log.info("runs unpatched, as SEQVIZ_STREAMLIT_PATCHES says")
        return
    hindered = {patch.name: _hindered(patch) for patch in patches if patch.name not in _applied}
    _applied.update(name for name, reason in hindered.items() if not reason)
    if left := {name: reason for name, reason in hindered.items() if reason}:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left.items())
        log.warning("runs unpatched: %s", ", ".join(left), extra={"reasons": reasons})


def _hindered(patch: Patch) -> str:
    """Apply it; why it could not be, or nothing."""
    if st.__version__ != TESTED:
        return f"Streamlit is {st.__version__}, tested is {TESTED}"
    if missing := patch.missing():
        return f"no {', '.join(missing)}"
    try:
        patch.put()
    except Exception as error:
        return f"{type(error).__name__} while it was applied"
    return ""


def _is_there(need: str) -> bool:
    module, _, names = need.partition(":")
    try:
        reduce(_inner, names.split("."), import_module(module))
    except Exception:  # a module that cannot be imported may raise anything
        return False
    return True


def _inner(outer: Any, name: str) -> Any:
    """An attribute; of a class also one that only its instances have."""
    if name in getattr(outer, "__annotations__", ()):
        return getattr(outer, name, None)
    return getattr(outer, name)
