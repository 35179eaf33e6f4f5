"""`Facts`: values shared by a sentence, a text description and metrics."""

from __future__ import annotations

from typing import Any


class Facts(dict[str, Any]):
    """Values for the fields of a sentence, by name; the template decides how each is written.

    A value is a number, an `Estimate` whose parts the template names (`{gain.low:points}`), or a
    name.

    Attributes:
        variant: which of several sentences applies, such as an estimate's verdict; "" for one.
    """

    def __init__(self, variant: str = "", /, **values: Any) -> None:
        super().__init__(values)
        self.variant = variant
