"""What a network costs, made of seeded numbers, and every figure drawn of it."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.costs.counting import NetworkSizes, bill, shapes
from seqviz.compute.recurrent.costs.terms import AnswerTerms
from seqviz.compute.recurrent.costs.timing import StepTimes
from seqviz.figures.recurrent.costs.measured import terms_of_loss, time_by_length, timed_so_far
from seqviz.figures.recurrent.costs.parameters import matrices, parameters_by_length
from testing.figure_examples import Example


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    result = bill(NetworkSizes(), 100)
    deep = bill(NetworkSizes(8, 4, 3, 2, "one", 0), 7)
    timed, terms = timed_of(), terms_of()
    return (
        Example("bill", parameters_by_length, (result,), 100),
        Example("bill, deep", parameters_by_length, (deep,), 7),
        Example("bill, shapes", matrices, (shapes("lstm", NetworkSizes()),), 128),
        Example("bill, flat shapes", matrices, (shapes("rnn", NetworkSizes(512, 1, biases="none")),
            ),
                512),
        Example("bill, time", time_by_length, (timed, 1, 64), timed.ratio(1, 64)),
        Example("bill, so far", timed_so_far, ((0.2, 0.4),), 40),
        Example("bill, terms", terms_of_loss, (terms, "before", "ty"), terms.bits("before")),
        Example("bill, terms to Tx", terms_of_loss, (terms, "same", "tx"),
                terms.bits("same", "tx")),
    )  # fmt: skip


def timed_of() -> StepTimes:
    """Steps that take as long as they are many, and a product that does not."""
    lengths = 2 ** np.arange(7)
    noise = 1 + 0.1 * np.random.RandomState(0).rand(2, 2, 3, len(lengths))
    each = np.array([lengths * 2e-5, 2e-5 + lengths * 1e-6])
    return StepTimes(16, (1, 32), lengths, each[:, None, None] * noise)


def terms_of() -> AnswerTerms:
    """An answer of nine characters behind a text of five."""
    bits = np.random.RandomState(1).gamma(2, 1, (2, 9))
    return AnswerTerms(5, tuple("is <full>"), bits[0], bits[1] + 4, np.zeros(9, bool))
