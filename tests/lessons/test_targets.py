"""Every lesson sets a target: not reached where it opens, and reached by the numbers it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from seqviz import lessons
from seqviz.content import catalog, search_index
from seqviz.core.i18n import LANGUAGES
from seqviz.core.units import unbroken
from seqviz.lessons.framework.output import Output, Target


@dataclass(frozen=True)
class Way:
    """A bench, values that reach its target, others that do not, and whether the default has it."""

    bench: str
    reached: dict[str, Any]
    missed: dict[str, Any]
    said: str  # a number of the sentence where it is reached


WAYS = {
    "text": Way("cutters", {"text": "🦥🦥🦥🦥"}, {"text": "🦥🦥🦥a"}, "3.00"),
    "recurrent": Way(
        "collapse",
        {"tanh": 100.0, "amplitude": 0.01},
        {"tanh": 100.0, "amplitude": 0.1},
        "0.024",
    ),
    "ar_fitting": Way("real", {"model": 9}, {"model": 10}, "19.0"),
    "vanishing_gradients": Way(
        "reach",
        {"init": "identity", "gain": 1.0},
        {"init": "identity", "gain": 0.9},
        unbroken("≥ 99"),
    ),
    "gates": Way("force", {"f": 0.4}, {"f": 0.7}, "0.377"),
    "attention": Way("masks", {"kind": "strided", "reach": 2}, {"kind": "window"}, "37.3%"),
    "language_models": Way(
        "product",
        {"corpus": "Dog bites man. " * 10},
        {"corpus": "Dog bites man. Man bites dog."},
        "3,039,751",
    ),
    "positions": Way("distance", {"base": 100.0}, {"base": 10.0}, "18.1%"),
    "transformer": Way("account", {"text": "We met a"}, {"text": "The"}, "7.6%"),
    "bert_accuracy": Way(
        "guess",
        {"text": "This is one of the best cows of the year."},
        {"text": "This is one of the best parts of the year."},
        "5,0",
    ),
    "gpt": Way(
        "scores",
        {"top_k": 5, "top_p": 1.0, "temperature": 3.0},
        {"top_k": 5, "top_p": 1.0, "temperature": 2.0},
        "2.25",
    ),
}


def target(output: Output) -> Target:
    (result,) = output.of(Target)
    return result


@pytest.mark.parametrize("slug", [record.slug for record in catalog.LESSONS])
def test_target_is_reached_only_by_named_values(slug):
    method, lesson = WAYS[slug], getattr(lessons, slug).lesson
    bench = lesson.benches[method.bench]
    start, missed, reached = (
        target(bench.run(values)) for values in ({}, method.missed, method.reached)
    )
    assert (start.reached, missed.reached, reached.reached) == (False, False, True)
    assert search_index.named(slug, "target") == (reached.name,)
    assert method.said in reached.sentence
    assert len({start.sentence, missed.sentence, reached.sentence}) == 3


@pytest.mark.parametrize("lang", LANGUAGES)
def test_target_sentence_marks_reached_state(lang):
    bench = lessons.positions.lesson.benches["distance"]
    missed, reached = (
        target(bench.run({"base": base}, language=lang)).sentence for base in (10_000.0, 100.0)
    )
    assert "✓" in reached
    assert "✓" not in missed


@pytest.mark.parametrize(
    ("slug", "bench", "values"),
    [
        ("ar_fitting", "real", {"source": "nile"}),
        ("ar_fitting", "real", {"difference": True}),
        ("vanishing_gradients", "reach", {"cells": ("linear",)}),
        ("vanishing_gradients", "reach", {"steps": 40}),
        ("gates", "force", {"gates_lstm": ("f", "i")}),
        ("gates", "force", {"last": 20}),
        ("gates", "force", {"watch.kind": "sentiment"}),
        ("attention", "masks", {"real.model": "smollm2"}),
    ],
)
def test_target_is_absent_where_not_applicable(slug, bench, values):
    assert not getattr(lessons, slug).lesson.benches[bench].run(values).of(Target)
