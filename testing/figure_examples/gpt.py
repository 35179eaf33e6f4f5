"""Texts of a decoder, made of seeded numbers, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt.continuation import Continuation
from seqviz.compute.gpt.cost import CacheTimes
from seqviz.compute.gpt.futures import Beams, ContinuationTree, Hypothesis
from seqviz.compute.gpt.losses import Scored
from seqviz.compute.gpt.methods import METHODS, ByMethod
from seqviz.compute.gpt.shots import CONDITIONS, FewShotAccuracy
from seqviz.compute.gpt.surprise import Repeated, Surprise
from seqviz.compute.gpt.ways import DecodingComparison
from seqviz.compute.transformer.cost import COST_PARTS, GROUPS, Architecture
from seqviz.figures.gpt.cost import token_times
from seqviz.figures.gpt.futures import all_futures, futures_so_far
from seqviz.figures.gpt.losses import token_losses
from seqviz.figures.gpt.methods import surprise_by_method
from seqviz.figures.gpt.repeated import repetition
from seqviz.figures.gpt.shots import shots_by_amount
from seqviz.figures.gpt.sizes import model_sizes
from seqviz.figures.gpt.steps import RANKS, text_steps
from seqviz.figures.gpt.written import written_bits
from testing.figure_examples import Example

WORDS = ("␣a", "␣<b>", "␣far", ",", "⏎")
STEPS = 4


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    paths, text, times = ways_of(), continuation_of((0, 1, 2, 3)), times_of()
    other = continuation_of((0, 3, 2, 1))
    plain, punished, methods, shots = repeated_of(1.0), repeated_of(1.3), methods_of(), shots_of()
    return (
        Example("futures", all_futures, (paths, 6), 100 * paths.best_probability),
        Example("futures so far", futures_so_far, (paths.tree, 6), paths.tree.passes),
        Example("written", written_bits, (text,), float(text.entropy.mean())),
        Example("steps", text_steps, (text, None, 2, 0), text.mean_bits),
        Example("steps, replaced", text_steps, (other, text, 2, 3), other.mean_bits),
        Example("pre-training loss", token_losses, (scored_of(1),), scored_of(1).loss),
        Example("loss of a summary", token_losses, (scored_of(3),), scored_of(3).loss),
        Example("sizes", model_sizes, (sizes_of(),), sizes_of()[-1].total),
        Example("repetition", repetition, (plain,), plain.copies),
        Example("repetition, penalty", repetition, (punished,), punished.copies),
        Example("methods", surprise_by_method, (methods,), methods.mean("human")),
        Example("shots", shots_by_amount, (shots,), shots.questions),
        Example("token times", token_times, (times, 5, 20), 290),
    )


def prompt_of() -> Tokens:
    """A prompt that no tokenizer has read."""
    none = np.zeros(len(WORDS), bool)
    return Tokens(WORDS, np.arange(len(WORDS)), none.astype(int), none, ~none, 0)


def continuation_of(ids: tuple[int, ...]) -> Continuation:
    """A text of these tokens, each of which has cost as many bits as drawn."""
    count, draws = len(ids), np.random.RandomState(sum(ids))
    first = np.tile(np.arange(RANKS) % len(WORDS), (count, 1))
    return Continuation(
        prompt_of(), ids, tuple(WORDS[item] for item in ids), "".join(WORDS[item] for item in ids),
        draws.exponential(2, count), np.ones(count), draws.uniform(1, 4, count),
        draws.randint(1, 9, count), first, np.full(first.shape, 0.1),
        (tuple(WORDS[k] for k in first[0]),) * count, False,
    )  # fmt: skip


def tree_of() -> ContinuationTree:
    """Two tokens behind each node of the likelier branch, four deep."""
    parent, token, depth, log = [], [], [], []
    above = [(-1, 0, 0.0)]
    for _ in range(2 * STEPS):
        node, deep, so_far = above.pop(0)
        if deep == STEPS:
            break
        for index, probability in enumerate((0.6, 0.25)):
            parent.append(node)
            token.append(index + deep)
            depth.append(deep + 1)
            log.append(so_far + float(np.log(probability)))
            if not index:
                above.append((len(parent) - 1, deep + 1, log[-1]))
    tokens = np.array(token)
    expanded = np.isin(np.arange(len(parent)), parent)
    return ContinuationTree(
        prompt_of(), np.array(parent), tokens, tuple(WORDS[token] for token in tokens),
        np.array(depth), np.array(log), expanded, np.zeros(len(parent), bool), STEPS, 2, 7,
    )  # fmt: skip


def ways_of() -> DecodingComparison:
    """Greedy decoding finds the best of that tree, the beam another, draws leave it."""
    tree = tree_of()
    best = tuple(int(tree.token[node]) for node in tree.path_to(tree.best))
    other = (*best[:-1], best[-1] + 1)
    hypothesis = Hypothesis(other, tuple(WORDS[item] for item in other), "␣a", -2.9, -0.7, False)
    beams = Beams(prompt_of(), (hypothesis,), np.zeros((1, 1), int), np.zeros((1, 1), int),
                  (("␣a",),), np.zeros((1, 1)), 1.0)  # fmt: skip
    return DecodingComparison(tree, continuation_of(best), beams, (continuation_of(other),))


def scored_of(first: int) -> Scored:
    """Bits of a text whose tokens from `first` on carry loss."""
    bits = np.random.RandomState(5).exponential(3, len(WORDS) - 1)
    return Scored(Surprise(prompt_of(), bits, bits, np.ones(len(bits), int), WORDS[1:]), first)


def sizes_of() -> tuple[Architecture, ...]:
    """Two models whose parameters are all in one part."""
    counts = np.zeros((len(GROUPS), len(COST_PARTS)), int)
    sizes = (("gpt1", 48), ("gpt3", 960))
    return tuple(
        Architecture(name, counts + size // counts.size, 12, 12, 768, 12, 12, 64, size, True)
        for name, size in sizes
    )


def repeated_of(penalty: float) -> Repeated:
    """Bits that fall from copy to copy."""
    fall = np.random.RandomState(1).uniform(4, 9, len(WORDS)) / np.arange(1, 7)[:, None] ** 2
    fall[0, 0] = np.nan
    return Repeated(WORDS, fall, fall + (penalty - 1), penalty)


def methods_of() -> ByMethod:
    """Six texts of seven tokens, each method dearer than the one before."""
    draws = np.random.RandomState(2)
    bits = draws.exponential(1, (len(METHODS), 6, 7)) + np.arange(len(METHODS))[:, None, None]
    pieces = (WORDS,) * len(METHODS)
    return ByMethod(bits.astype(np.float16), draws.uniform(3, 5, bits.shape[::2]), WORDS, pieces)


def shots_of() -> FewShotAccuracy:
    """Answers to twenty questions behind none, one and four examples, five draws."""
    draws = np.random.RandomState(3)
    shape = (len(CONDITIONS), 3, 5, 20)
    right = draws.uniform(size=shape) < 0.75
    right[:, 0] = right[0, 0, 0]
    message = draws.uniform(size=shape) < 0.5
    return FewShotAccuracy(
        np.array([0, 1, 4]), right, message, right | message, draws.uniform(size=shape[:3])
    )


def times_of() -> CacheTimes:
    """A token that takes 50 ms with the cache, and longer with each token before without."""
    tokens = np.array([8, 64, 512])
    item = np.stack([0.002 * tokens, np.full(3, 0.05), 0.05 + 0.002 * tokens])
    noise = np.random.RandomState(4).uniform(1, 1.1, (3, 4, 3))
    return CacheTimes(tokens, item[:, None] * noise, np.full(3, 1e-5), np.ones(3, int))
