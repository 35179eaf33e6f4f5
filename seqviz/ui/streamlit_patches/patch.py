"""`Patch`: a change of Streamlit's private code, applied only to the version in `TESTED`.

A patch is also left out where a name that it needs does not exist.

Each module of this package replaces or uses private names, and its `PATCH` says which and why. No
module imports them before its patch is applied, so a renamed one breaks nothing: a patch that is
left out costs speed or safety, and every lesson works
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

TESTED = "1.67.0"  # private names may change in any other version
log = logging.getLogger(__name__)
_applied: set[str] = set()


@dataclass(frozen=True)
class Patch:
    """A patch of Streamlit.

    Attributes:
        name: name of the module with this patch; the log lists it where it is not applied.
        needs: private names that it uses, as "module:name" or "module:Class.name".
        apply: a function that imports all it uses before it replaces anything; or a mapping from
            each name to replace, written as in `needs`, to its new value. These names have to exist
            like those in `needs`.
        why: consequence of running without the patch, for operators.
    """

    name: str
    needs: tuple[str, ...]
    apply: Callable[[], None] | Mapping[str, Any]
    why: str

    def missing(self) -> list[str]:
        """Return the needed names that Streamlit does not have."""
        replaced = () if callable(self.apply) else self.apply
        return [need for need in (*self.needs, *replaced) if not _is_there(need)]

    def put(self) -> None:
        """Apply the patch."""
        if callable(self.apply):
            self.apply()
            return
        for position, new in self.apply.items():
            module, _, names = position.partition(":")
            *outer, last = names.split(".")
            setattr(reduce(getattr, outer, import_module(module)), last, new)


def install(patches: Iterable[Patch]) -> None:
    """Apply each patch once per process; one warning lists those that cannot be applied."""
    if not settings.value("SEQVIZ_STREAMLIT_PATCHES"):
        log.info("patches: runs unpatched (SEQVIZ_STREAMLIT_PATCHES)")
        return
    hindered = {patch.name: _hindered(patch) for patch in patches if patch.name not in _applied}
    _applied.update(name for name, reason in hindered.items() if not reason)
    if left := {name: reason for name, reason in hindered.items() if reason}:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left.items())
        log.warning("patches: runs unpatched: %s", ", ".join(left), extra={"reasons": reasons})


def _hindered(patch: Patch) -> str:
    """Apply a patch; return the reason if that failed, else ""."""
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
    except Exception:  # importing a module may raise anything
        return False
    return True


def _inner(outer: Any, name: str) -> Any:
    """Return an attribute; for a class, also one that only its instances have."""
    if name in getattr(outer, "__annotations__", ()):
        return getattr(outer, name, None)
    return getattr(outer, name)
