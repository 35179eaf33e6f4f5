"""Input that cannot work, said so that a program can translate it and a person can read it."""

from __future__ import annotations

from pathlib import Path


class UserError(ValueError):
    """str() is one English sentence; `code` and `details` let a page say it in its own language.

    The page's words have the sentence under `problem.<code>`, filled in with `details`.
    """

    def __init__(self, code: str, sentence: str, **details: object) -> None:
        super().__init__(sentence)
        self.code = code
        self.details = details

    def __reduce__(self) -> tuple[object, ...]:
        """Exceptions are pickled by their arguments; ours has two more."""
        return _rebuild, (self.code, str(self), self.details)


class MessageError(UserError):
    """A refusal by a bench: only its code, as the sentence is among the lesson's words."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code, code, **details)


def damaged(path: Path) -> UserError:
    """What is said of a file that came with the app and is not the one that was shipped."""
    return UserError(
        "damaged", f"{path.name} is missing or damaged; install the app again.", file=path.name
    )


def _rebuild(code: str, sentence: str, details: dict[str, object]) -> UserError:
    return UserError(code, sentence, **details)
