"""Tests of hypotheses about attention heads: all heads of a model on many sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.attention.trials import HYPOTHESES, HeadTrials
from seqviz.data.pronoun_pairs import PAIRS, PRONOUN
from seqviz.data.reviews import sentiment_split
from seqviz.jobs import Report, no_progress
from seqviz.models import forward_cache, texts
from seqviz.models.pretrained import Pretrained, load

SENTENCES = 200  # film reviews
COPIES, LENGTH = 50, 20  # sequences of random tokens, and tokens of one copy
_ORDINARY = 2000  # ids of BERT's vocabulary below are special, reserved or single characters

Trial = tuple[str, np.ndarray, np.ndarray, float]  # label, share, other, weight of an even head


def try_heads(hypothesis: str, model: str, report: Report = no_progress) -> HeadTrials:
    """Measure every head of a model on each text of a hypothesis (a job).

    Args:
        hypothesis: one of `HYPOTHESES`; see `HeadTrials`.
        model: name of the model.
        report: progress callback; receives the share done.

    Raises:
        ValueError: unknown hypothesis.
    """
    if hypothesis not in HYPOTHESES:
        raise ValueError(f"The hypothesis is one of {', '.join(HYPOTHESES)}, not {hypothesis!r}.")
    pretrained = load(model)
    decoder = pretrained.card.kind == "decoder"
    of = {"pronoun": _pronouns, "previous": _previous, "repeated": _repeated}[hypothesis]
    count = {"pronoun": len(PAIRS), "previous": SENTENCES, "repeated": COPIES}[hypothesis]
    trials: list[Trial] = []
    given: list[np.ndarray] = []
    for trial in of(pretrained, given):
        trials.append(trial)
        report(len(trials) / count, len(trials) / count)
    labels, shares, others, even = zip(*trials, strict=True)
    return HeadTrials(
        hypothesis,
        np.array(shares),
        np.array(others),
        np.mean(given, 0) if given else np.ones_like(shares[0]),
        float(np.mean(even)),
        labels,
        decoder,
        1.0,
    )


def _weights(pretrained: Pretrained, tokens: Tokens) -> Float[np.ndarray, "layer head query key"]:
    return forward_cache.forward(pretrained, tokens).weights.astype(float)


def _pronouns(pretrained: Pretrained, given: list[np.ndarray]) -> Iterator[Trial]:
    """Yield the right noun's share of the weight from "it" to both nouns, mean over a pair."""
    for pair in PAIRS:
        parts = []
        for sentence in pair.sentences:
            tokens = texts.tokens(pretrained, sentence)
            it = _places(pretrained, tokens, PRONOUN)[-1]
            weights = _weights(pretrained, tokens)[:, :, it]
            first, second = (
                weights[..., _places(pretrained, tokens, noun)].sum(-1)
                for noun in (pair.first, pair.second)
            )
            given.append(first + second)
            parts.append(first / np.maximum(first + second, np.finfo(float).tiny))
        right = (parts[0] + 1 - parts[1]) / 2
        yield f"{pair.first} / {pair.second}", right, np.array(parts), 0.5


def _previous(pretrained: Pretrained, _: list[np.ndarray]) -> Iterator[Trial]:
    """Yield the weight on the previous token, mean over all queries but the first."""
    nothing: np.ndarray
    for sentence in sentiment_split()[1].texts[:SENTENCES]:
        tokens = texts.tokens(pretrained, sentence)
        weights = _weights(pretrained, tokens)
        queries = np.arange(1, weights.shape[-1])
        nothing = np.zeros((0, *weights.shape[:2]))
        yield (
            sentence,
            weights[:, :, queries, queries - 1].mean(-1),
            nothing,
            _even(pretrained, queries, len(tokens.ids)),
        )


def _repeated(pretrained: Pretrained, _: list[np.ndarray]) -> Iterator[Trial]:
    """Yield the second copy's weight on what followed in the first, for repeated random tokens."""
    words = ordinary(pretrained)
    around = texts.tokens(pretrained, "a")
    before, after = _frame(around)
    for seed in range(COPIES):
        copy = np.random.RandomState(seed).choice(words, LENGTH, replace=False)
        ids = np.concatenate([around.ids[:before], copy, copy, around.ids[after:]])
        nothing = np.zeros(len(ids), int)
        tokens = Tokens(("",) * len(ids), ids, nothing, nothing > 0, nothing == 0, 0)
        weights = _weights(pretrained, tokens)
        # The last token of the copy was followed by the copy itself.
        queries = before + LENGTH + np.arange(LENGTH - 1)
        share, same = (weights[:, :, queries, queries - LENGTH + step].mean(-1) for step in (1, 0))
        yield str(seed), share, same[None], _even(pretrained, queries, len(ids))


def _even(pretrained: Pretrained, queries: np.ndarray, tokens: int) -> float:
    """Return the weight on one token under uniform attention, mean over the queries."""
    decoder = pretrained.card.kind == "decoder"
    return float((1 / (queries + 1)).mean()) if decoder else 1 / tokens


def _frame(tokens: Tokens) -> tuple[int, int]:
    """Return the range of the text itself between the special tokens."""
    own = np.flatnonzero(~tokens.special)
    return int(own[0]), int(own[-1]) + 1


def ordinary(pretrained: Pretrained) -> tuple[int, ...]:
    """Return the ids of whole words in the vocabulary: three or more lower-case ASCII letters."""
    names = pretrained.tokenizer.get_vocab()
    return tuple(
        sorted(i for word, i in names.items()
               if (bare := word.removeprefix("Ġ")).isascii() and bare.isalpha() and bare.islower()
               and len(bare) > 2 and i >= _ORDINARY)
    )  # fmt: skip


def _places(pretrained: Pretrained, tokens: Tokens, word: str) -> list[int]:
    """Return the positions of a word's pieces at its first occurrence after a space."""
    read = texts.tokens(pretrained, f" {word}")
    targets, ids = read.ids[~read.special].tolist(), tokens.ids.tolist()
    starts = (i for i in range(len(ids)) if ids[i : i + len(targets)] == targets)
    start = next(starts)
    return list(range(start, start + len(targets)))
