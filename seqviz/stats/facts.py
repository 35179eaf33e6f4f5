"""Values that a sentence, a description and read-outs share: `Facts`."""

from __future__ import annotations

from typing import Any


class Facts(dict[str, Any]):
    """Values of a sentence by the names of its fields; the words say how each is written.

    A value is a number, an `Estimate` whose parts the words name (`{gain.low:points}`), or a name.

    Attributes:
        variant: which of several sentences holds, such as the verdict of an estimate; "" for one.
    """

    def __init__(self, variant: str = "", /, **values: Any) -> None:
        super().__init__(values)
        self.variant = variant
