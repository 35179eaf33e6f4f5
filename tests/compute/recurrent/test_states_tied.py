"""Perplexity of one table and of two, from bits of sentences."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.recurrent.states.tying import TrainedTied, tables
from seqviz.experiments.recurrent.states import tied_words


def result(gap: float, noise: float = 0.0) -> TrainedTied:
    """Return bits of 40 sentences of 10 words: 6 per word, and `gap` more with one table."""
    random = np.random.RandomState(0)
    words = np.full(40, 10)
    bits = np.repeat(60 + random.normal(size=(1, 1, 1, 40)), 3, 2)
    more = 10 * gap + noise * random.normal(size=bits.shape)
    return TrainedTied(100, np.array([32]), np.concatenate([bits, bits + more]), words)


@pytest.mark.parametrize(
    ("gap", "noise", "verdict"), [(0.5, 0.1, "more"), (-0.5, 0.1, "less"), (0.0, 5.0, "null")]
)
def test_compared_tied_needs_both_intervals(gap, noise, verdict):
    trained = result(gap, noise)
    facts = trained.compared(32)
    assert facts.variant == verdict
    assert facts["sentences"].mean == pytest.approx(facts["seeds"].mean)
    assert np.log2(facts["single"] / facts["double"]) == pytest.approx(facts["sentences"].mean)
    assert trained.perplexity(False, 32) == pytest.approx(
        2 ** (trained.bits[0, 0].mean(0).sum() / 400)
    )


def test_sentences_have_ids_and_end_marks():
    train, held, symbols = tied_words.sentences()
    assert (len(train), len(held)) == (15_006, 789)
    for sentence in held[:50]:
        assert sentence[0] == sentence[-1] == symbols - 1
        assert sentence[1:-1].max(initial=0) < symbols - 1
    batches = tied_words._batches(train[:500], np.random.default_rng(0))
    assert sum(batch.shape[1] for batch in batches) == 500


def test_tied_network_has_one_table(monkeypatch):
    """Counted in the network that is trained, at few updates; it is that of the figure."""
    import torch

    counted = []
    real = torch.nn.ModuleList

    def modules(parts):
        network = real(parts)
        counted.append(sum(weight.numel() for weight in network.parameters()))
        return network

    monkeypatch.setattr(torch.nn, "ModuleList", modules)
    train, held, symbols = tied_words.sentences()
    monkeypatch.setattr(tied_words, "sentences", lambda: (train[:8], held[:3], symbols))
    bits = [tied_words._train(32, tied, 1, "cpu", lambda share: None) for tied in (True, False)]
    counts = tables(symbols, 32, 32)
    assert counted == [counts.all_tied, counts.all_untied]
    assert [len(item) for item in bits] == [3, 3]
