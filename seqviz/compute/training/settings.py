"""What a training is run with: each setting declares its limits, and one place checks them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from seqviz.core.errors import UserError


class Limit(Protocol):
    """What a setting may be."""

    def check(self, setting: str, value: Any) -> None:
        """Raise ValueError, with a sentence, for a value that is not allowed."""


@dataclass(frozen=True)
class Range:
    """A number from smallest to largest. name: in the sentence, where it is not the setting's
    own."""

    smallest: int | float
    largest: int | float = math.inf
    name: str = ""

    def check(self, setting: str, value: Any) -> None:
        if not self.smallest <= value <= self.largest:
            largest = f"between {self.smallest} and {self.largest}"
            bounds = f"at least {self.smallest}" if self.largest == math.inf else largest
            raise ValueError(f"{self.name or setting} must be {bounds}, not {value}.")


@dataclass(frozen=True)
class Positive:
    """A finite number above zero. optional: or None."""

    name: str
    optional: bool = False

    def check(self, setting: str, value: Any) -> None:
        if not (self.optional and value is None) and not (math.isfinite(value) and value > 0):
            raise ValueError(f"{self.name} must be positive, not {value}.")


@dataclass(frozen=True)
class Choices:
    """One of a few."""

    options: tuple[str, ...]
    name: str

    def check(self, setting: str, value: Any) -> None:
        if value not in self.options:
            raise ValueError(
                f"{self.name} must be one of {', '.join(self.options)}, not {value!r}."
            )


@dataclass(frozen=True)
class Several:
    """Some of a few, none of them twice. name: of one. none: the refusal where there is none."""

    options: tuple[str, ...]
    name: str
    none: tuple[str, str]

    def check(self, setting: str, value: Any) -> None:
        if not value:
            raise UserError(*self.none)
        for item in value:
            Choices(self.options, self.name).check(setting, item)
        if len(set(value)) < len(value):
            raise ValueError(f"{self.name} is chosen once, not as in {', '.join(value)}.")


RATE = Positive("The learning rate")
SEED = Range(0, 2**32 - 1)


class Settings:
    """A frozen dataclass of settings. Raises ValueError for one that is not within its limits."""

    limits: ClassVar[Mapping[str, Limit]] = {}

    def __post_init__(self) -> None:
        for setting, limit in self.limits.items():
            limit.check(setting, getattr(self, setting))
