"""One next token through filters, and many draws of it, made of seeded numbers."""

from __future__ import annotations

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt.continuation import NextToken
from seqviz.compute.gpt.draw import order
from seqviz.compute.gpt.filtered import Filtered, filtered, first_words
from seqviz.compute.gpt.filters import Chain
from seqviz.figures.gpt.draws import many_first_words
from seqviz.figures.gpt.labels import label_bars
from seqviz.figures.gpt.scores import next_token_bars
from testing.figure_examples import Example

LABELS = ("<i>4", "<i>59")


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    plain, cut = filtered_of(Chain()), filtered_of(Chain(temperature=1.5, top_p=0.6, penalty=1.5))
    many = first_words(cut, 3)
    share = 100 * float(many.counts(40)[0]) / 40
    names = tuple(f"<b>{token}" for token in many.ids.tolist())
    return (
        Example(
            "scores, no filter", next_token_bars, (plain,), 100 * float(plain.found.chances[0])
        ),
        Example("scores", next_token_bars, (cut,), 100 * float(cut.found.chances[0])),
        Example("labels", label_bars, (plain.found, LABELS), 100 * float(plain.found.chances[0])),
        Example("first words", many_first_words, (many, names, 40), share),
    )


def filtered_of(chain: Chain, vocabulary: int = 60) -> Filtered:
    """Seeded scores of a small vocabulary behind a chain."""
    none = np.zeros(2, bool)
    prompt = Tokens(("a", "b"), np.array([0, 1]), none.astype(int), none, ~none, 0)
    scores = np.random.RandomState(3).normal(0, 2, vocabulary)
    ids = order(scores)
    return filtered(NextToken(prompt, (), scores, ids, tuple(f"<i>{k}" for k in ids)), chain)
