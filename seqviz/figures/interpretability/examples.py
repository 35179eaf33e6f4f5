"""Findings about a model taken apart, made of seeded numbers, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.interpretability.account import Account, Split, foremost
from seqviz.figures.grammar.example import Example
from seqviz.figures.interpretability.account import logit_account

WORDS = ("The", "␣capital", "␣of", "<b>", "␣is")


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    return _of_accounts()


def tokens_of(words: tuple[str, ...] = WORDS) -> Tokens:
    """Tokens of a text that no tokenizer has read."""
    none = np.zeros(len(words), bool)
    return Tokens(words, np.arange(len(words)), none.astype(int), none, ~none, 0)


def account_of(layers: int = 6, against: str = "") -> Account:
    """An account whose parts are drawn at random."""
    parts = np.random.RandomState(layers).normal(0.4, 1, 2 * layers + 1)
    logit = float(parts.sum())
    return Account(tokens_of(), "␣Paris", against, parts, logit, 0.77, 1, 0.03)


def split_of(found: Account, part: int) -> Split:
    """A split of one of its parts: five heads, or four of forty neurons."""
    value, rng = float(found.parts[part]), np.random.RandomState(part)
    if part == 0:
        return Split(0, "embedding", np.zeros(1, int), np.array([value]), 0.0, 0)
    units = rng.normal(0, 1, 5 if part % 2 else 40)
    units += (value - units.sum()) / len(units)
    if part % 2:
        return Split(part, "attention", np.arange(5), units, 0.0, 0)
    numbers, kept, rest = foremost(units, 4)
    return Split(part, "mlp", numbers, kept, rest, 36)


def _of_accounts() -> tuple[Example, ...]:
    found, other = account_of(), account_of(11, "␣<i>")
    largest = float(found.parts[found.largest])
    return (
        Example("account", logit_account, (found, split_of(found, 3)), largest),
        Example("account, MLP", logit_account, (found, split_of(found, 4)), largest),
        Example("account, embedding", logit_account, (found, split_of(found, 0)), largest),
        Example("account of a difference", logit_account, (other, split_of(other, 5)),
                float(other.parts[other.largest])),
    )  # fmt: skip
