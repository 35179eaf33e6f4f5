"""A bench under a moving hand in another process (`ui.server.workers`): what goes along, what not.

The route keeps what belongs to a visitor: token, account, place in the line. What a bench needs
besides its values stays there too: a pretrained model, so that it is in memory once; the result of
a training; a file. Where a bench asks for one of these it is answered by the route's own process,
and so is from then on whatever differs from it only in what a hand moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from seqviz.lessons.bench.host import Found
from seqviz.models.texts import read_by, tokens_read
from seqviz.ui.bench.moving_hand import MovingHand
from seqviz.ui.server import metrics, run_context
from seqviz.ui.server.accounts import Account
from seqviz.ui.server.run_context import Session
from seqviz.ui.shared import limits


class OnlyThere(Exception):
    """What is needed is in the process that asks."""


@dataclass
class DistantHand(MovingHand):
    """The host of a bench in a worker."""

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> Found[Any]:
        """As at home, but what a pretrained model reads."""
        if any(reader.count is tokens_read for reader in read_by(function).values()):
            raise OnlyThere
        return super().call(function, args, keywords)

    def model(self, *_: Any) -> str:
        """Raises OnlyThere, as what follows."""
        raise OnlyThere

    def trained(self, *_: Any) -> None:
        """A job, or what came with the app."""
        raise OnlyThere

    def upload(self, name: str) -> bytes | None:
        """A file of the student's own."""
        raise OnlyThere

    def pick(self, *_: Any) -> str:
        """A choice in it."""
        raise OnlyThere


@dataclass(frozen=True)
class Question:
    """What is asked for, with what the visitor has: texts (in use), arrays, an account."""

    slug: str
    bench: str
    query: Mapping[str, str]
    texts: Mapping[str, dict[str, str]]
    has: Set[str]
    account: Account

    def visitor(self) -> Session:
        """As far as the answer needs one."""
        return Session("", 0.0, texts=dict(self.texts), account=self.account)


@dataclass(frozen=True)
class Reply:
    """status: None where the answer is not to be had there. account: as it is now. counted: for the
    figures of the server.
    """

    status: int | None
    body: bytes
    account: Account
    counted: Sequence[tuple[str, tuple[Any, ...]]]

    def settle(self, session: Session, slug: str) -> None:
        """Charge and count it, where it was asked for."""
        limits.charge(session.account, self.account)
        with run_context.answering(session, slug, ""):
            metrics.recount(self.counted)
