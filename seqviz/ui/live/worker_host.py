"""Fast-path rendering in the worker pool (`ui.runtime.workers`): request, response and host.

Token, quota and queue position stay in the main process. So does everything that a bench needs
besides its values: a pretrained model, which is loaded once; the result of a training; a file. A
bench that asks for one of these is answered by the main process, and so are all later requests that
differ only in live values.
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
    """A request that needs a model, job or file of the main process."""


@dataclass
class WorkerHost(LiveHost):
    """Host of a bench in a worker."""

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> Computed[Any]:
        """Run a function; raises NeedsMainProcessError if a model reads a text."""
        if any(reader.count is tokens_read for reader in read_by(function).values()):
            raise NeedsMainProcessError
        return super().call(function, args, keywords)

    def model(self, *_: Any) -> str:
        """Raise NeedsMainProcessError: models are in the main process."""
        raise NeedsMainProcessError

    def training_result(self, *_: Any) -> None:
        """Raise NeedsMainProcessError: jobs and shipped results are in the main process."""
        raise NeedsMainProcessError

    def upload(self, name: str) -> bytes | None:
        """Raise NeedsMainProcessError: files are in the main process."""
        raise NeedsMainProcessError

    def pick(self, *_: Any) -> str:
        """Raise NeedsMainProcessError: choices belong to a file."""
        raise NeedsMainProcessError


@dataclass(frozen=True)
class RenderRequest:
    """A request to a worker.

    Attributes:
        slug: of the lesson.
        bench: name of the bench.
        query: of the request.
        texts: of the session, if the query uses them.
        known_arrays: names of arrays that the browser has.
        account: leased quota.
    """

    slug: str
    bench: str
    query: Mapping[str, str]
    texts: Mapping[str, dict[str, str]]
    known_arrays: Set[str]
    account: ClientQuota

    def visitor(self) -> Session:
        """Return a session with the texts and quota of the request."""
        return Session("", 0.0, texts=dict(self.texts), account=self.account)


@dataclass(frozen=True)
class RenderResponse:
    """A response of a worker.

    Attributes:
        status: None where the main process must answer.
        body: encoded response.
        account: leased quota after the work.
        counted: recorded calls of `metrics`.
    """

    status: int | None
    body: bytes
    account: ClientQuota
    counted: Sequence[tuple[str, tuple[Any, ...]]]

    def charge(self, session: Session, slug: str) -> None:
        """Charge the usage to the session and repeat the metrics calls, in the main process."""
        charging.settle_lease(session.account, self.account)
        with run_context.acting_as(session, slug, ""):
            metrics.recount(self.counted)
