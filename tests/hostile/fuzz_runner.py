"""Try thousands of cases, keep what went wrong, and tell on the way: what the commands share."""

from __future__ import annotations

import argparse
import json
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.hostile import links
from tests.hostile.app_page import Visit, warm

BATCH = 50
SLOW = 5.0  # seconds of processor time in one run of a script
MOST = 20  # of the dearest links, listed at the end


@dataclass
class Findings:
    """failures: (link, what is wrong); costs: (seconds of the dearest run, link), of each opened.

    seconds, processor: of all of it.
    """

    count: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    failures: list[tuple[links.Link, str]] = field(default_factory=list)
    costs: list[tuple[float, links.Link]] = field(default_factory=list)

    def slowest(self) -> list[tuple[float, links.Link]]:
        return sorted(self.costs, key=lambda cost: -cost[0])[:MOST]


@dataclass(frozen=True)
class Hunt:
    """cases: what is drawn; link: the page that a case asks for; judge: opens it, lists faults."""

    cases: st.SearchStrategy[Any]
    link: Callable[[Any], links.Link]
    judge: Callable[[Any], tuple[Visit, list[str]]]

    def attempt(self, case: Any, findings: Findings) -> None:
        """Open one and note what is wrong with it."""
        link = self.link(case)
        try:
            visit, faults = self.judge(case)
            findings.costs.append((max(visit.seconds), link))
        except Exception:  # a page that did not end in time, or that AppTest could not read
            faults = [traceback.format_exc()[-600:]]
        findings.count += 1
        findings.failures += [(link, fault) for fault in faults]

    def search(
        self,
        count: int,
        start: int,
        within: float = float("inf"),
        minimum: int = 0,
        notify: Callable[[Findings], None] = lambda _: None,
    ) -> Findings:
        """Try `count` cases, or as many as fit in `within` seconds of processor time.

        minimum: so many are tried however long they take.
        """
        findings = Findings()
        begun, spent = time.monotonic(), time.process_time()

        def over() -> bool:
            return findings.count >= minimum and time.process_time() - spent > within

        def look(case: Any) -> None:
            if over():
                return
            self.attempt(case, findings)
            findings.seconds = time.monotonic() - begun
            findings.processor = time.process_time() - spent
            notify(findings)

        # In batches, as hypothesis varies within one what it has drawn before.
        for batch in range(-(-count // BATCH)):
            if over():
                break
            self._draw(look, min(BATCH, count - BATCH * batch), start + batch)
        return findings

    def _draw(self, view: Callable[[Any], None], count: int, number: int) -> None:
        @seed(number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(self.cases)
        def one(case: Any) -> None:
            view(case)

        one()


class Teller:
    """Prints failures and dear pages as they come, and a line for every hundred cases."""

    def __init__(self) -> None:
        self.failures = 0
        self.costs = 0

    def __call__(self, findings: Findings) -> None:
        for link, why in findings.failures[self.failures :]:
            print(f"FAILED {links.address(link)}\n  {why}", flush=True)
        for seconds, link in findings.costs[self.costs :]:
            if seconds > SLOW:
                print(f"SLOW {seconds:.1f} s {links.address(link)[:3000]}", flush=True)
        self.failures, self.costs = len(findings.failures), len(findings.costs)
        if findings.count % 100 == 0:
            print(
                f"{findings.count} pages, {findings.seconds:.0f} s, "
                f"{findings.processor:.0f} s of processor time, {self.failures} failures",
                flush=True,
            )


def command(
    name: str,
    about: str | None,
    usual: int,
    hunting: Callable[[argparse.Namespace], Hunt],
    parser: argparse.ArgumentParser | None = None,
) -> int:
    """The command `name`: tries `--count` cases, `usual` unless told; 1 where one failed."""
    parser = parser or argparse.ArgumentParser()
    parser.description = about
    parser.add_argument("--count", type=int, default=usual)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=float("inf"), help="of processor time")
    request = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    print(f"seed {request.seed}", flush=True)
    warm()
    result = hunting(request).search(
        request.count, request.seed, 60 * request.minutes, notify=Teller()
    )
    for seconds, link in result.slowest():
        print(f"{seconds:.2f} s {links.address(link)[:2000]}")
    line = {
        "name": name,
        "seed": request.seed,
        "pages": result.count,
        "seconds": round(result.seconds),
        "processor_s": round(result.processor),
        "failures": len(result.failures),
        "slowest_s": round(max((c for c, _ in result.costs), default=0.0), 2),
    }
    print(json.dumps(line))
    return 1 if result.failures else 0
