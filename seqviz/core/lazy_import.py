"""Libraries that are imported when somebody needs them."""

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
    """A library; where an import of it was broken off in the middle, from the beginning once more.

    Python takes a package that fails out of `sys.modules`, but not its parts that were there by
    then; the next import takes these as they are and does not put them into the new package, which
    stays without them as long as the process lives. below: packages that it imports itself.
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
    """Return the refusal that says that torch is not installed; any other error as it is."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if (name or "").partition(".")[0] != "torch":
        return error
    return UserError("no_torch", "PyTorch is not installed, and this needs it: pip install torch.")


def refusing(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function: where torch is missing for it, it raises UserError("no_torch")."""

    @wraps(function)
    def called(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*args, **keywords)
        except ModuleNotFoundError as error:
            if (refusal := refusal_of(error)) is not error:
                raise refusal from error
            raise

    return called
