"""Findings about a model taken apart, made of seeded numbers, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.transformer.interpretability.account import LogitAttribution, Split, foremost
from seqviz.compute.transformer.interpretability.fitted_lens import TunedLens
from seqviz.compute.transformer.interpretability.induction import Induction
from seqviz.compute.transformer.interpretability.lens import Lens
from seqviz.compute.transformer.interpretability.removal import (
    CHANGES,
    Ablation,
    AblationSweep,
    of_change,
)
from seqviz.figures.transformer.interpretability.account import logit_account
from seqviz.figures.transformer.interpretability.induction import induction_lines
from seqviz.figures.transformer.interpretability.lens import lens_distance, lens_table
from seqviz.figures.transformer.interpretability.removal import (
    removal_bars,
    removal_of_many,
    removal_so_far,
)
from testing.figure_examples import Example

WORDS = ("The", "␣capital", "␣of", "<b>", "␣is")


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    return (*_of_accounts(), *_of_removals(), *_of_lenses(), *_of_copies())


def tokens_of(words: tuple[str, ...] = WORDS) -> Tokens:
    """Tokens of a text that no tokenizer has read."""
    none = np.zeros(len(words), bool)
    return Tokens(words, np.arange(len(words)), none.astype(int), none, ~none, 0)


def account_of(layers: int = 6, against: str = "") -> LogitAttribution:
    """An account whose parts are drawn at random."""
    parts = np.random.RandomState(layers).normal(0.4, 1, 2 * layers + 1)
    logit = float(parts.sum())
    return LogitAttribution(tokens_of(), "␣Paris", against, parts, logit, 0.77, 1, 0.03)


def split_of(logit_attribution: LogitAttribution, part: int) -> Split:
    """A split of one of its parts: five heads, or four of forty neurons."""
    value, rng = float(logit_attribution.parts[part]), np.random.RandomState(part)
    if part == 0:
        return Split(0, "embedding", np.zeros(1, int), np.array([value]), 0.0, 0)
    units = rng.normal(0, 1, 5 if part % 2 else 40)
    units += (value - units.sum()) / len(units)
    if part % 2:
        return Split(part, "attention", np.arange(5), units, 0.0, 0)
    numbers, retained, rest = foremost(units, 4)
    return Split(part, "mlp", numbers, retained, rest, 36)


def _of_accounts() -> tuple[Example, ...]:
    result, other = account_of(), account_of(11, "␣<i>")
    largest = float(result.parts[result.largest])
    return (
        Example("account", logit_account, (result, split_of(result, 3)), largest),
        Example("account, MLP", logit_account, (result, split_of(result, 4)), largest),
        Example("account, embedding", logit_account, (result, split_of(result, 0)), largest),
        Example("account of a difference", logit_account, (other, split_of(other, 5)),
                float(other.parts[other.largest])),
    )  # fmt: skip


def removals_of(layers: int = 8, n_known: int = 8) -> tuple[Ablation, ...]:
    """Changes of a text, of whose layers the last `n_known` are known."""
    rng = np.random.RandomState(layers)
    words = np.where(rng.uniform(size=layers) < 0.7, "␣Paris", "<b>").tolist()
    bits = rng.exponential(2, (len(CHANGES), layers))
    bits[:, : layers - n_known] = np.nan
    words[: layers - n_known] = [""] * (layers - n_known)
    return tuple(
        Ablation(change, row, "␣Paris", tuple(words))
        for change, row in zip(CHANGES, bits, strict=True)
    )


def many_of(layers: int = 8, count: int = 20) -> AblationSweep:
    """Changes of many texts; nothing is known of a swap of the last layer."""
    rng = np.random.RandomState(count)
    bits = rng.exponential(2, (len(CHANGES), count, layers))
    bits[CHANGES.index("swap"), :, -1] = np.nan
    return AblationSweep(bits, rng.uniform(size=bits.shape) < 0.6, count, 12)


def _of_removals() -> tuple[Example, ...]:
    result, some, many = removals_of(), removals_of(n_known=3), many_of()
    return (
        Example(
            "removals", removal_bars, (result, "skip"), of_change(result, "skip").largest_shift
        ),
        Example(
            "removals so far", removal_so_far, ([some], "mlp"), of_change(some, "mlp").largest_shift
        ),
        Example(
            "removals, many",
            removal_of_many,
            (many, "swap"),
            many.mean_of("swap", many.largest("swap")),
        ),
    )


def lens_of(rows: int = 7, count: int = 5) -> Lens:
    """A lens whose layers come closer to the last one."""
    rng = np.random.RandomState(rows)
    likeliest = tuple(tuple(rng.choice(WORDS, count).tolist()) for _ in range(rows))
    probability = rng.uniform(0.2, 0.9, (rows, count))
    bits = np.linspace(20, 0, rows)[:, None] * rng.uniform(0.5, 1, count)
    pieces = tuple((WORDS * 3)[:count])
    return Lens(tokens_of(pieces), pieces, likeliest, probability, probability / 2, bits, True)


def _of_lenses() -> tuple[Example, ...]:
    few, deep = lens_of(), lens_of(31, 12)
    rng = np.random.RandomState(5)
    bits = rng.uniform(2, 4, (2, 20, 6)) * np.array(
        [[[20, 5, 6, 4, 2, 1]], [[5, 1, 1, 1, 0.5, 0.2]]]
    )
    maps = TunedLens(
        np.zeros((6, 4, 2)), np.zeros((6, 2, 4)), np.zeros((6, 4)), bits, bits[0, :, 2], 500
    )
    return (
        Example("lens, fitted", lens_table, (few, 2, lens_of()), float(few.chance[-1, -2])),
        Example("lens, both", lens_distance, (maps,), maps.plain_most),
        Example("lens", lens_table, (few, 1), float(few.chance[-1, -1])),
        Example("lens, deep", lens_table, (deep, 7), float(deep.chance[-1, 5])),
    )


def copies_of(sequences: int, length: int = 6, maximum: int = 5) -> Induction:
    """Sequences whose second copy is cheap until the heads that copy are off."""
    rng = np.random.RandomState(sequences)
    losses = rng.uniform(14, 22, (2, maximum + 1, sequences, 2 * length - 1))
    losses[..., length:] -= 12 - 2 * np.arange(maximum + 1)[:, None, None]
    maps = rng.dirichlet(np.full(2 * length, 0.3), (maximum, 2 * length))
    diagonal = np.linspace(0.9, 0.1, maximum) * rng.uniform(0.8, 1, (sequences, maximum))
    heads = rng.randint(0, 30, (maximum, 2))
    pieces = (WORDS * 3)[: 2 * length] if sequences == 1 else ()
    return Induction(heads, diagonal, maps, losses, 0.1, 270, 49_152, pieces)


def _of_copies() -> tuple[Example, ...]:
    many, item = copies_of(8), copies_of(1)
    return (
        Example("copies", induction_lines, (many, 3), many.gain("best", 3)),
        Example("copies, all heads on", induction_lines, (many, 0), many.gain("best", 0)),
        Example("copies, one sequence", induction_lines, (item, 5), item.gain("random", 5)),
    )
