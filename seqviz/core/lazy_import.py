"""Imports of optional and heavy libraries at first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from seqviz.core.errors import UserError

P = ParamSpec("P")
R = TypeVar("R")


def import_or_retry(name: str, *below: str) -> Any:
    """Import a library, with a clean second attempt after an interrupted import.

    Python removes a package that failed to import from `sys.modules` but keeps its submodules. The
    next import reuses these without binding them in the new package, so they are missing from it
    for the lifetime of the process.

    Args:
        name: the library.
        *below: packages that it imports; their modules are removed, too.
    """
    try:
        return importlib.import_module(name)
    except (AttributeError, ImportError):
        tops = {name.partition(".")[0], *below}
        for existing in [*sys.modules]:
            if existing.partition(".")[0] in tops:
                del sys.modules[existing]
        return importlib.import_module(name)


def refusal_of(error: BaseException) -> BaseException:
    """Return UserError("no_torch") for a missing torch; any other error unchanged."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if (name or "").partition(".")[0] != "torch":
        return error
    return UserError("no_torch", "PyTorch is not installed, and this needs it: pip install torch.")


def refusing(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to raise UserError("no_torch") where torch is missing for it."""

    @wraps(function)
    def called(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*args, **keywords)
        except ModuleNotFoundError as error:
            if (refusal := refusal_of(error)) is not error:
                raise refusal from error
            raise

    return called
