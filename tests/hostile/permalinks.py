"""Open random permalinks: `python -m tests.hostile.permalinks --count 10000`.

Each is a whole page, run as on the server. Prints progress, the seed (`--seed` repeats it), every
failure as a link to click, and the links that cost the most.
"""

from __future__ import annotations

import argparse
import sys

from tests.hostile import fuzz_runner, links
from tests.hostile.app_page import Visit, opened
from tests.hostile.input_declarations import SLUGS, keys


def judge(link: links.Link) -> tuple[Visit, list[str]]:
    """The page of a link, and what is wrong with it."""
    slug, pairs = link
    visit = opened(slug, pairs)
    control = keys(slug)
    texts = any(hasattr(control.get(key), "limit") for key, _ in pairs)
    numbers = [] if texts else [f"no number: {number}" for number in visit.numbers()]
    return visit, visit.faults() + numbers


def hunting(slugs: tuple[str, ...] = SLUGS) -> fuzz_runner.Hunt:
    """Links to these lessons."""
    return fuzz_runner.Hunt(links.links(slugs), lambda link: link, judge)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lesson", choices=SLUGS, action="append", help="only this one")
    return fuzz_runner.command(
        "permalinks",
        __doc__,
        10_000,
        lambda request: hunting(tuple(request.lesson or SLUGS)),
        parser,
    )


if __name__ == "__main__":
    sys.exit(main())
