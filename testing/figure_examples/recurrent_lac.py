"""A small tagger of seeded numbers on a sentence, and every figure drawn of it."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.tagging.lac import (
    CRF,
    DECODERS,
    SIDES,
    WAYS,
    TagChanges,
    TagSequence,
    softmax,
)
from seqviz.figures.recurrent.lac.tagger import (
    changes_counted,
    counted_so_far,
    sides_of_characters,
    tags_of_characters,
)
from testing.figure_examples import Example

TEXT, LONG = "研究<b>的起源", "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术"
TAGS = ("n-B", "n-I", "v-B", "v-I", "u-B", "LOC-B", "LOC-I", "O")


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    result, long, many = tagged(TEXT, 0), tagged(LONG, 1), counted()
    alone = int((result[2].path != result[0].path).sum())
    changed = int(result[0].changed(tagged(TEXT, 3)[0]).sum())
    return (
        Example("LAC's tags", tags_of_characters, (result, "emission"), alone),
        Example("LAC's tags, marginal", tags_of_characters, (long, "marginal"), len(LONG)),
        Example(
            "LAC's sides", sides_of_characters, (result[0], tagged(TEXT, 3)[0], "right", 2), changed
        ),
        Example("LAC counted", changes_counted, (many, "mean"), many.unlawful("emission")),
        Example("LAC so far", counted_so_far, ((0.2, 0.4),), 40),
    )


def tagged(text: str, seed: int) -> tuple[TagSequence, ...]:
    """A text with tags by each decoder."""
    random = np.random.RandomState(seed)
    emissions = random.normal(0, 2, (len(text), len(TAGS)))
    crf = CRF(random.normal(size=8), random.normal(size=8), random.normal(size=(8, 8)))
    shares = np.stack([softmax(emissions), crf.marginals(emissions)])
    states = np.tanh(random.normal(size=(2, len(text), 32)))
    paths = (crf.viterbi(emissions), shares[1].argmax(-1), shares[0].argmax(-1))
    return tuple(TagSequence(text, TAGS, states, emissions, shares, path, 1) for path in paths)


def counted() -> TagChanges:
    """Changes of ten sentences."""
    random = np.random.RandomState(2)
    lengths = random.randint(5, 30, 10)
    share = np.array([[0.3, 0.4], [0.9, 0.95], [0.9, 0.9]])[..., None]
    cut = random.binomial(lengths, np.broadcast_to(share, (len(WAYS), len(SIDES), 10)))
    decoded = random.binomial(lengths, np.array([[0.0], [0.05], [0.5]]))
    broken = np.minimum(decoded, np.arange(len(DECODERS))[:, None])
    return TagChanges(lengths, cut, decoded, broken, random.binomial(lengths, 0.85), "v-B")
