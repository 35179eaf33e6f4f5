"""Examples of figures of decoding."""

from __future__ import annotations

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt.continuation import Continuation, NextToken
from seqviz.compute.gpt.draw import order
from seqviz.compute.gpt.filtered import Filtered, filtered, first_words
from seqviz.compute.gpt.filters import Chain
from seqviz.compute.gpt.futures import Beams, ContinuationTree, DecodingComparison, Hypothesis
from seqviz.compute.gpt.methods import METHODS
from seqviz.compute.gpt.surprise import Repeated, Surprise
from seqviz.compute.transformer.cost import Architecture
from seqviz.figures.gpt import (
    cost,
    draws,
    futures,
    methods,
    scores,
    shots,
    steps,
    surprise,
    vectors,
)
from testing.fake import fake
from testing.figure_examples import Example, fake_example

WORDS = ("␣a", "␣<b>", "␣far", ",", "⏎")
STEPS = 4


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    paths, text, other = comparison_of(), continuation_of((0, 1, 2, 3)), continuation_of((0, 3, 2))
    read = fake(Surprise, token=4, answer=4, tokens=fake(Tokens, piece=5, token=5))
    models = [fake(Architecture, n, name=name) for n, name in enumerate(("gpt1", "gpt3"))]
    plain, cut = filtered_of(Chain()), filtered_of(Chain(temperature=1.5, top_p=0.6, penalty=1.5))
    free, punished = (fake(Repeated, piece=6, token=6, penalty=penalty) for penalty in (1.0, 1.3))
    free.bits[0, 0] = punished.penalized[0, 0] = np.nan  # nothing predicts the first token
    many, likeliest = first_words(cut, 3), 100 * plain.next_token.chances[0]
    names = tuple(f"<b>{token}" for token in many.ids.tolist())
    return (
        Example("futures", futures.all_futures, (paths, 6), 100 * paths.best_probability),
        Example("futures so far", futures.futures_so_far, (paths.tree, 6), paths.tree.passes),
        Example("written", steps.written_bits, (text,), text.entropy.mean()),
        Example("steps", steps.text_steps, (text, None, 2, 0), text.mean_bits),
        Example("steps, replaced", steps.text_steps, (other, text, 2, 3), other.mean_bits),
        fake_example("pre-training loss", surprise.token_losses, "loss", read=read, first=1),
        fake_example("loss of a summary", surprise.token_losses, "loss", read=read, first=3),
        fake_example("vectors", vectors.vector_map, len(WORDS),
                     tokens=fake(Tokens, pieces=WORDS, token=len(WORDS)), token=len(WORDS)),
        Example("sizes", cost.model_sizes, (models,), int(models[-1].total)),
        Example("repetition", surprise.repetition, (free,), free.copies),
        Example("repetition, penalty", surprise.repetition, (punished,), punished.copies),
        fake_example(
            "methods", methods.surprise_by_method, lambda result: result.mean("human").mean,
            method=len(METHODS), text=6,
        ),
        fake_example("shots", shots.shots_by_amount, "questions", condition=3),
        fake_example("shots, labels by a coin", shots.shots_by_amount, "questions", "random",
                     condition=3),
        fake_example("token times", cost.token_times, 290, 5, 20, kind=3),
        Example("scores, no filter", scores.next_token_bars, (plain,), likeliest),
        Example("scores", scores.next_token_bars, (cut,), 100 * cut.next_token.chances[0]),
        Example("labels", scores.label_bars, (plain.next_token, ("<i>4", "<i>59")), likeliest),
        Example("first words", draws.many_first_words, (many, names, 40),
                100 * many.counts(40)[0] / 40),
    )  # fmt: skip


def continuation_of(ids: tuple[int, ...]) -> Continuation:
    """Return a text of these tokens, which are among the candidates of each step."""
    count, pieces = len(ids), tuple(WORDS[item] for item in ids)
    return fake(
        Continuation, sum(ids), ids=ids, pieces=pieces, text="".join(pieces), step=count,
        candidates=np.tile(np.arange(steps.RANKS), (count, 1)), candidate=steps.RANKS,
        names=(WORDS,) * count, ended=False,
    )  # fmt: skip


def comparison_of() -> DecodingComparison:
    """Return a tree with two children per level, in which beam search misses the best text."""
    level = np.arange(STEPS).repeat(2)
    token = level + np.tile([0, 1], STEPS)
    parent = np.where(level > 0, 2 * level - 2, -1)
    tree = fake(
        ContinuationTree, parent=parent, token=token, depth=level + 1, steps=STEPS,
        pieces=tuple(WORDS[item] for item in token), expanded=np.isin(np.arange(2 * STEPS), parent),
        log=level * np.log(0.6) + np.tile(np.log([0.6, 0.25]), STEPS), ended=np.zeros(8, bool),
    )  # fmt: skip
    best = tuple(int(tree.token[node]) for node in tree.path_to(tree.best))
    other = (*best[:-1], best[-1] + 1)
    beams = fake(Beams, hypotheses=(fake(Hypothesis, ids=other, log=-2.9),))
    return DecodingComparison(tree, continuation_of(best), beams, (continuation_of(other),))


def filtered_of(chain: Chain, vocabulary: int = 60) -> Filtered:
    """Seeded scores of a small vocabulary behind a chain."""
    logits = np.random.RandomState(3).normal(0, 2, vocabulary)
    ids = order(logits)
    pieces = tuple(f"<i>{item}" for item in ids)
    return filtered(fake(NextToken, scores=logits, ids=ids, pieces=pieces, after=()), chain)
