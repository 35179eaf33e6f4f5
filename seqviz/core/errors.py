"""Errors caused by user input, with a code for translation: `UserError`."""

from __future__ import annotations

from pathlib import Path


class UserError(ValueError):
    """Input error with an English sentence as `str()` and a code for its translation.

    A page shows the translation under the key `problem.<code>`, filled in with `details`.

    Args:
        code: noun or predicate that identifies the problem.
        sentence: the English sentence.
        **details: values of the fields of the translation.

    Attributes:
        code: as given.
        details: as given.
    """

    def __init__(self, code: str, sentence: str, **details: object) -> None:
        super().__init__(sentence)
        self.code = code
        self.details = details

    def __reduce__(self) -> tuple[object, ...]:
        """Return a pickle recipe with `code` and `details`, which the default one leaves out."""
        return _rebuild, (self.code, str(self), self.details)


class MessageError(UserError):
    """Input error of a bench, with a code only; its sentence is among the lesson's translations."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code, code, **details)


def damaged(path: Path) -> UserError:
    """Return the UserError("damaged") for a bundled file that is missing or has been altered."""
    return UserError(
        "damaged", f"{path.name} is missing or damaged; install the app again.", file=path.name
    )


def _rebuild(code: str, sentence: str, details: dict[str, object]) -> UserError:
    return UserError(code, sentence, **details)
