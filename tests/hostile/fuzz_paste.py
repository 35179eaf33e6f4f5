"""Hostile texts in every text field: `python -m tests.hostile.fuzz_paste --count 2000`.

A page is opened by a link that sets all text fields of a lesson to the text, under settings that
show it in every way there is (`SCENES`), and is compared with the page that has the usual text.
"""

from __future__ import annotations

import sys
from functools import cache

from hypothesis import strategies as st

from seqviz.lessons.framework.controls import TextInput
from tests.hostile import adversarial_inputs, fuzz_runner, links, markup
from tests.hostile.app_page import Visit, opened
from tests.hostile.input_declarations import keys

Case = tuple[int, str]  # the number of a scene, a text
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


def link(case: Case) -> links.Link:
    """A page with a text in all its text fields."""
    scene, text = case
    slug, others = SCENES[scene]
    texts = {
        key: text
        for key, control in keys(slug).items()
        if isinstance(control, TextInput) and key not in others and key not in PLACES
    }
    return slug, tuple({**texts, **others}.items())


@cache
def usual(scene: int) -> Visit:
    """The page of a scene with the texts that it comes with, and words where it has none."""
    slug, others = SCENES[scene]
    existing = keys(slug)
    pairs = dict(link((scene, "one two"))[1])
    empty = {k: text for k, text in pairs.items() if k in existing and existing[k].default == ""}
    return opened(slug, tuple({**empty, **others}.items()))


def judge(case: Case) -> tuple[Visit, list[str]]:
    """The page with a text, and what the text does to it that it should not."""
    scene, _ = case
    page = opened(*link(case))
    return page, page.faults() + sorted(markup.added(page.app, usual(scene).app))


def hunting() -> fuzz_runner.Hunt:
    """Random texts, in every scene."""
    texts = st.builds(str.__add__, BEFORE, adversarial_inputs.raw_texts)
    return fuzz_runner.Hunt(st.tuples(st.integers(0, len(SCENES) - 1), texts), link, judge)


if __name__ == "__main__":
    sys.exit(fuzz_runner.command("pasted", __doc__, 2_000, lambda _: hunting()))
