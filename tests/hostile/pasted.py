"""Hostile texts in every text field: `python -m tests.hostile.pasted --count 2000`.

A page is opened by a link that sets all text fields of a lesson to the text, under settings that
show it in every way there is (`SCENES`), and is compared with the page that has the usual text.
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
from functools import cache

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from seqviz.ui.controls import Sentence
from tests.hostile import links, markup, strange
from tests.hostile.declared import keys
from tests.hostile.page import Visit, opened, warm

ENCODER = {"at.real.model": "minilm"}
DECODER = {"at.real.model": "smollm2"}
SCENES: tuple[tuple[str, dict[str, str]], ...] = (
    ("vanishing_gradients", {"vg.reach.signal": "sentence"}),
    ("gates", {"ga.watch.kind": "characters"}),
    ("gates", {"ga.watch.kind": "characters", "ga.watch.view": "unit", "lang": "zh"}),
    ("gates", {"ga.watch.kind": "sentiment", "ga.watch.view": "cell", "ga.watch.cell": "gru"}),
    ("gates", {"ga.watch.kind": "latch", "ga.watch.view": "saturation"}),
    ("gates", {"ga.watch.kind": "count", "ga.watch.view": "unit"}),
    ("gates", {"ga.watch.kind": "parity"}),
    ("gates", {"ga.watch.kind": "adding", "ga.watch.view": "cell"}),
    ("attention", {**ENCODER, "at.bertviz.picture": "head", "at.apart.view": "chain"}),
    ("attention", {**ENCODER, "at.real.view": "head", "at.masks.kind": "causal"}),
    ("attention", {**ENCODER, "at.real.view": "rollout", "at.bertviz.picture": "model"}),
    ("attention", {**DECODER, "at.real.view": "head", "at.ablate.off": "1.1", "lang": "zh"}),
    ("attention", {**DECODER, "at.real.view": "mean", "at.bertviz.picture": "head"}),
    ("positions", {"po.effect.view": "moved", "po.encoder.view": "maps"}),
    ("positions", {"po.effect.view": "maps", "po.effect.how": "shuffled"}),
    ("bert_accuracy", {"ba.knife.view": "own", "ba.padding.view": "own", "ba.looks.view": "own"}),
    ("bert_accuracy", {"ba.knife.view": "own", "ba.padding.view": "tokens", "lang": "zh"}),
)
# Fields whose text is a list of places: a text there is refused, and the figure is gone with it.
PLACES = ("at.masks.cells", "at.ablate.off")
# The start of a text decides whether a bench can draw anything: some words before the strange ones.
BEFORE = st.sampled_from(("", "", "one two ", "a "))


@dataclass
class Findings:
    """failures: (link, what is wrong); seconds, processor: of all of it."""

    count: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    failures: list[tuple[links.Link, str]] = field(default_factory=list)


def link(scene: int, text: str) -> links.Link:
    """A page with this text in all its text fields."""
    slug, others = SCENES[scene]
    texts = {
        key: text
        for key, control in keys(slug).items()
        if isinstance(control, Sentence) and key not in others and key not in PLACES
    }
    return slug, tuple({**texts, **others}.items())


@cache
def usual(scene: int) -> Visit:
    """The page of a scene with the texts that it comes with, and words where it has none."""
    slug, others = SCENES[scene]
    known = keys(slug)
    pairs = dict(link(scene, "one two")[1])
    empty = {k: text for k, text in pairs.items() if k in known and known[k].default == ""}
    return opened(slug, tuple({**empty, **others}.items()))


def try_text(scene: int, text: str) -> list[str]:
    """What a text does to the page that it should not."""
    page = opened(*link(scene, text))
    return page.faults() + sorted(markup.added(page.app, usual(scene).app))


def search(
    count: int,
    start: int,
    within: float = float("inf"),
    tell: Callable[[Findings], None] = lambda _: None,
) -> Findings:
    """Try `count` texts, or as many as fit in `within` seconds of processor time."""
    findings = Findings()
    begun, spent = time.monotonic(), time.process_time()

    def look(scene: int, text: str) -> None:
        if time.process_time() - spent > within:
            return
        try:
            faults = try_text(scene, text)
        except Exception:
            faults = [traceback.format_exc()[-600:]]
        findings.count += 1
        findings.failures += [(link(scene, text), fault) for fault in faults]
        findings.seconds = time.monotonic() - begun
        findings.processor = time.process_time() - spent
        tell(findings)

    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, len(SCENES) - 1), BEFORE, strange.raw_texts)
    def one(scene: int, before: str, text: str) -> None:
        look(scene, before + text)

    one()
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=float("inf"), help="of processor time")
    arguments = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    print(f"seed {arguments.seed}", flush=True)
    said = 0

    def tell(so_far: Findings) -> None:
        nonlocal said
        for where, why in so_far.failures[said:]:
            print(f"FAILED {why}\n  {links.address(where)}", flush=True)
        said = len(so_far.failures)
        if so_far.count % 50 == 0:
            print(
                f"{so_far.count} texts, {so_far.seconds:.0f} s, "
                f"{so_far.processor:.0f} s of processor time, {said} failures",
                flush=True,
            )

    warm()
    found = search(arguments.count, arguments.seed, 60 * arguments.minutes, tell)
    print(
        json.dumps(
            {
                "name": "pasted",
                "seed": arguments.seed,
                "texts": found.count,
                "seconds": round(found.seconds),
                "processor_s": round(found.processor),
                "failures": len(found.failures),
            }
        )
    )
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
