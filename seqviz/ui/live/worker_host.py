"""A bench under a moving hand in another process (`ui.runtime.workers`): what goes along, what not.

The route keeps what belongs to a visitor: token, account, place in the line. What a bench needs
besides its values stays there too: a pretrained model, so that it is in memory once; the result of
a training; a file. Where a bench asks for one of these it is answered by the route's own process,
and so is from then on whatever differs from it only in what a hand moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from seqviz.lessons.framework.host import Computed
from seqviz.models.texts import read_by, tokens_read
from seqviz.ui.live.live_host import LiveHost
from seqviz.ui.quota import charging
from seqviz.ui.runtime import metrics, run_context
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.run_context import Session


class NeedsMainProcessError(Exception):
    """What is needed is in the process that asks."""


@dataclass
class WorkerHost(LiveHost):
    """The host of a bench in a worker."""

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> Computed[Any]:
        """As at home, but what a pretrained model reads."""
        if any(reader.count is tokens_read for reader in read_by(function).values()):
            raise NeedsMainProcessError
        return super().call(function, args, keywords)

    def model(self, *_: Any) -> str:
        """Raises NeedsMainProcessError, as what follows."""
        raise NeedsMainProcessError

    def training_result(self, *_: Any) -> None:
        """A job, or what came with the app."""
        raise NeedsMainProcessError

    def upload(self, name: str) -> bytes | None:
        """A file of the student's own."""
        raise NeedsMainProcessError

    def pick(self, *_: Any) -> str:
        """A choice in it."""
        raise NeedsMainProcessError


@dataclass(frozen=True)
class RenderRequest:
    """What is asked for, with what the visitor has: texts (in use), arrays, an account."""

    slug: str
    bench: str
    query: Mapping[str, str]
    texts: Mapping[str, dict[str, str]]
    known_arrays: Set[str]
    account: ClientQuota

    def visitor(self) -> Session:
        """As far as the answer needs one."""
        return Session("", 0.0, texts=dict(self.texts), account=self.account)


@dataclass(frozen=True)
class RenderResponse:
    """status: None where the answer is not to be had there. account: as it is now. counted: for the
    figures of the server.
    """

    status: int | None
    body: bytes
    account: ClientQuota
    counted: Sequence[tuple[str, tuple[Any, ...]]]

    def charge(self, session: Session, slug: str) -> None:
        """Charge and count it, where it was asked for."""
        charging.settle_lease(session.account, self.account)
        with run_context.acting_as(session, slug, ""):
            metrics.recount(self.counted)
