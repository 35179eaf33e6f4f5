"""Training settings with declared limits, and their validation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from seqviz.core.errors import UserError


class Limit(Protocol):
    """Constraint on a setting."""

    def check(self, setting: str, value: Any) -> None:
        """Raise ValueError, with a sentence, for a value that is not allowed.

        Args:
            setting: name of the setting.
            value: its value.
        """


@dataclass(frozen=True)
class Range:
    """Constraint: a number from `smallest` to `largest`.

    Attributes:
        name: name in the error message; empty for that of the setting.
    """

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
    """Constraint: a finite number above zero.

    Attributes:
        name: name in the error message.
        optional: True to allow None.
    """

    name: str
    optional: bool = False

    def check(self, setting: str, value: Any) -> None:
        if not (self.optional and value is None) and not (math.isfinite(value) and value > 0):
            raise ValueError(f"{self.name} must be positive, not {value}.")


@dataclass(frozen=True)
class Choices:
    """Constraint: one of the options.

    Attributes:
        name: name in the error message.
    """

    options: tuple[str, ...]
    name: str

    def check(self, setting: str, value: Any) -> None:
        if value not in self.options:
            raise ValueError(
                f"{self.name} must be one of {', '.join(self.options)}, not {value!r}."
            )


@dataclass(frozen=True)
class Several:
    """Constraint: at least one of the options, none of them twice.

    Attributes:
        name: name of one option in the error message.
        none: code and message of the UserError for an empty selection.
    """

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
    """Base class of frozen dataclasses of settings, validated when created.

    Attributes:
        limits: constraint on each setting.

    Raises:
        ValueError: if a setting is not within its limits.
    """

    limits: ClassVar[Mapping[str, Limit]] = {}

    def __post_init__(self) -> None:
        for setting, limit in self.limits.items():
            limit.check(setting, getattr(self, setting))
