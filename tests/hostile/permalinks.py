"""Open random permalinks: `python -m tests.hostile.permalinks --count 10000`.

Each is a whole page, run as on the server. Prints progress, the seed (`--seed` repeats it), every
failure as a link to click, and the links that cost the most.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.hostile import links
from tests.hostile.declared import SLUGS, keys
from tests.hostile.page import opened, warm

BATCH = 50
SLOW = 5.0  # seconds of processor time in one run of a script


@dataclass
class Findings:
    """failures: (link, why); costs: (seconds of the dearest run, link), of each that was opened.

    seconds, processor: of all of it.
    """

    count: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    failures: list[tuple[links.Link, str]] = field(default_factory=list)
    costs: list[tuple[float, links.Link]] = field(default_factory=list)

    def slowest(self, most: int = 20) -> list[tuple[float, links.Link]]:
        return sorted(self.costs, key=lambda cost: -cost[0])[:most]


def try_link(link: links.Link, findings: Findings) -> None:
    """Open one and note what is wrong with it."""
    slug, pairs = link
    try:
        visit = opened(slug, pairs)
        faults = visit.faults()
        control = keys(slug)
        texts = any(hasattr(control.get(key), "limit") for key, _ in pairs)
        faults += [] if texts else [f"no number: {one}" for one in visit.numbers()]
        findings.costs.append((max(visit.seconds), link))
    except Exception:  # a page that did not end in time, or that AppTest could not read
        faults = [traceback.format_exc()[-600:]]
    findings.count += 1
    findings.failures += [(link, fault) for fault in faults]


def search(
    count: int,
    start: int,
    within: float = float("inf"),
    slugs: tuple[str, ...] = SLUGS,
    tell: Callable[[Findings], None] = lambda _: None,
) -> Findings:
    """Try up to `count` links, or as many as fit in `within` seconds of processor time."""
    findings = Findings()
    begun, spent = time.monotonic(), time.process_time()

    def look(link: links.Link) -> None:
        if time.process_time() - spent > within:
            return
        try_link(link, findings)
        findings.seconds = time.monotonic() - begun
        findings.processor = time.process_time() - spent
        tell(findings)

    # In batches, as hypothesis varies within one what it has drawn before.
    for batch in range(-(-count // BATCH)):
        if time.process_time() - spent > within:
            break
        _examples(look, min(BATCH, count - BATCH * batch), start + batch, slugs)
    return findings


def _examples(
    look: Callable[[links.Link], None], count: int, number: int, slugs: tuple[str, ...]
) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(slugs).flatmap(links.of))
    def one(link: links.Link) -> None:
        look(link)

    one()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=float("inf"), help="of processor time")
    parser.add_argument("--lesson", choices=SLUGS, action="append", help="only this one")
    arguments = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    print(f"seed {arguments.seed}", flush=True)
    said = 0

    def tell(so_far: Findings) -> None:
        nonlocal said
        for link, why in so_far.failures[said:]:
            print(f"FAILED {links.address(link)}\n  {why}", flush=True)
        said = len(so_far.failures)
        if so_far.costs and so_far.costs[-1][0] > SLOW and so_far.costs[-1][1]:
            seconds, link = so_far.costs[-1]
            print(f"SLOW {seconds:.1f} s {links.address(link)[:3000]}", flush=True)
        if so_far.count % 100 == 0:
            print(
                f"{so_far.count} links, {so_far.seconds:.0f} s, "
                f"{so_far.processor:.0f} s of processor time, {said} failures",
                flush=True,
            )

    slugs = tuple(arguments.lesson or SLUGS)
    warm()
    found = search(arguments.count, arguments.seed, 60 * arguments.minutes, slugs, tell)
    for seconds, link in found.slowest():
        print(f"{seconds:.2f} s {links.address(link)[:2000]}")
    print(
        json.dumps(
            {
                "name": "permalinks",
                "seed": arguments.seed,
                "links": found.count,
                "seconds": round(found.seconds),
                "processor_s": round(found.processor),
                "failures": len(found.failures),
                "slowest_s": round(max((c for c, _ in found.costs), default=0.0), 2),
            }
        )
    )
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
