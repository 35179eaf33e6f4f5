"""Libraries that are imported when somebody needs them."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def whole(name: str, *below: str) -> Any:
    """A library; where an import of it was broken off in the middle, from the beginning once more.

    Python takes a package that fails out of `sys.modules`, but not its parts that were there by
    then; the next import takes these as they are and does not put them into the new package, which
    stays without them as long as the process lives. below: packages that it imports itself.
    """
    try:
        return importlib.import_module(name)
    except (AttributeError, ImportError):
        tops = {name.partition(".")[0], *below}
        for known in [*sys.modules]:
            if known.partition(".")[0] in tops:
                del sys.modules[known]
        return importlib.import_module(name)
