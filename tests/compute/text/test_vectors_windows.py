"""Pairs of a window, PMI, its SVD and skip-gram against counting by hand, numpy and autograd."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from seqviz.compute.text.vectors import skip_gram, windows
from seqviz.compute.text.vectors.learned import (
    LearnedVectors,
    Substitutes,
    nearest,
    shared,
    substitutes_nearer,
)

TEXTS = ("a b c a", "c b", "b", "a a c b a c")
IDS = np.array(["abc".index(w) for text in TEXTS for w in text.split()])
OF = np.repeat(range(4), [len(text.split()) for text in TEXTS])


def test_training_pairs_match_enumeration():
    training_pairs = windows.training_pairs(["the", "dog", "bites"], 1, "skipgram")
    spelled = [
        (tuple(training_pairs.words[k] for k in p.given), training_pairs.words[p.target])
        for p in training_pairs.pairs
    ]
    assert spelled == [(("the",), "dog"), (("dog",), "the"), (("dog",), "bites"),
                       (("bites",), "dog")]  # fmt: skip
    bag = windows.training_pairs(["the", "dog", "bites"], 2, "cbow")
    assert bag.spelled == Counter(
        {(("bites", "dog"), "the"): 1, (("bites", "the"), "dog"): 1, (("dog", "the"), "bites"): 1}
    )
    with pytest.raises(ValueError, match="skipgram or cbow"):
        windows.training_pairs("ab", 1, "glove")


@pytest.mark.parametrize("mode", windows.MODES)
def test_training_pairs_are_same_for_reversed_text(mode):
    text = "狗咬人"  # 0-13 and D-17: a man who bites a dog is the surprising one
    for window in (1, 2, 3):
        item, other = (windows.training_pairs(t, window, mode).spelled for t in (text, text[::-1]))
        assert item == other


def test_counts_match_explicit_loops_within_texts():
    expected = np.zeros((3, 3))
    for text in TEXTS:
        words = ["abc".index(w) for w in text.split()]
        for i, word in enumerate(words):
            for j, other in enumerate(words):
                expected[word, other] += 0 < abs(i - j) <= 2
    pairs = windows.neighbors(IDS, OF, 2)
    np.testing.assert_array_equal(windows.counts(pairs, 3), expected)
    assert (
        len(windows.neighbors(np.where(IDS == 1, -1, IDS), OF, 2))
        == expected[[0, 2]][:, [0, 2]].sum()
    )


def test_positive_pmi_matches_formula_and_is_zero_without_counts():
    counted = np.array([[0.0, 4], [4, 2]])
    values = windows.positive_pmi(counted, smoothing=1.0)
    assert values[0, 1] == pytest.approx(np.log((4 / 10) / (0.4 * 0.6)))
    assert values[0, 0] == 0
    assert values[1, 1] == 0
    smooth = windows.positive_pmi(counted)
    share = 6**0.75 / (4**0.75 + 6**0.75)
    assert smooth[0, 1] == pytest.approx(np.log((4 / 4) / share))


def test_reduced_matches_numpy_svd():
    matrix = np.random.RandomState(0).uniform(size=(12, 12))
    values = windows.reduced(matrix, 5)
    u, s, _ = np.linalg.svd(matrix)
    expected = (u * np.sqrt(s))[:, :5]
    np.testing.assert_allclose(values @ values.T, expected @ expected.T, atol=1e-9)
    assert windows.reduced(matrix, 50).shape == (12, 12)


def test_skip_gram_gradients_match_autograd():
    random = torch.Generator().manual_seed(0)
    words, contexts = (torch.randn(6, 4, generator=random).double() for _ in range(2))
    batch, others = torch.tensor([[0, 1], [0, 2], [5, 1]]), torch.tensor([[3, 3], [2, 4], [0, 1]])
    loss, result = skip_gram._gradients(words, contexts, batch, others)
    for table in (words, contexts):
        table.requires_grad_()
    w, c, n = words[batch[:, 0]], contexts[batch[:, 1]], contexts[others]
    each = -torch.log(torch.sigmoid((w * c).sum(1)))
    each = each - torch.log(torch.sigmoid(-(n @ w[:, :, None])[..., 0])).sum(1)
    each.mean().backward()
    assert loss == pytest.approx(float(each.detach().sum()))
    torch.testing.assert_close(result[0], words.grad)
    torch.testing.assert_close(result[1], contexts.grad)


def test_cbow_gradients_match_autograd():
    """The input is the mean of the given words; -1 stands for none."""
    random = torch.Generator().manual_seed(0)
    words, contexts = (torch.randn(6, 4, generator=random).double() for _ in range(2))
    batch, others = torch.tensor([[0, 1, 2], [-1, 2, 3], [5, -1, 0]]), torch.tensor([[3], [4], [1]])
    loss, result = skip_gram._gradients(words, contexts, batch, others)
    for table in (words, contexts):
        table.requires_grad_()
    w = torch.stack([words[[0, 1]].mean(0), words[2], words[5]])
    c, n = contexts[batch[:, -1]], contexts[others[:, 0]]
    each = -torch.log(torch.sigmoid((w * c).sum(1))) - torch.log(torch.sigmoid(-(w * n).sum(1)))
    each.mean().backward()
    assert loss == pytest.approx(float(each.detach().sum()))
    torch.testing.assert_close(result[0], words.grad)
    torch.testing.assert_close(result[1], contexts.grad)


@pytest.mark.parametrize("window", [1, 2, 5])
def test_contexts_hold_the_pairs_of_their_windows(window):
    examples = windows.contexts(np.where(IDS == 2, -1, IDS), OF, window)
    pairs = [(word, int(row[-1])) for row in examples for word in row[:-1].tolist() if word >= 0]
    expected = windows.neighbors(np.where(IDS == 2, -1, IDS), OF, window)
    assert Counter(pairs) == Counter(map(tuple, expected.tolist()))
    assert (examples[:, -1] >= 0).all()


def test_skip_gram_aligns_words_with_same_neighbors():
    """The same seed gives the same vectors."""
    draws = np.random.RandomState(0)
    words = draws.randint(0, 4, 3000)  # 0 and 1 stand beside 4, 2 and 3 beside 5
    pairs = np.stack([words, 4 + words // 2], 1)
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    reports: list[skip_gram.VectorsReport] = []
    item = skip_gram.train(pairs, 6, 8, 8, 3, 1, reports.append)
    same = skip_gram.train(pairs, 6, 8, 8, 3, 1)
    np.testing.assert_array_equal(item.vectors, same.vectors)
    by_epoch = [report for report in reports if report.fraction * 8 % 1 == 0]
    assert [report.fraction for report in by_epoch] == [(k + 1) / 8 for k in range(8)]
    np.testing.assert_array_equal(by_epoch[-1].losses, item.losses)
    assert item.losses[-1] < item.losses[0]
    unit = item.vectors / np.linalg.norm(item.vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    assert cosines[0, 1] > cosines[0, 2]
    assert cosines[2, 3] > cosines[1, 3]


def test_skip_gram_reports_vectors_within_epochs_without_copies(monkeypatch):
    monkeypatch.setattr(skip_gram, "_PAUSE", -1.0)  # after every update
    pairs = np.stack([np.arange(5000) % 4, 4 + np.arange(5000) % 2], 1)
    seen = []

    def note(report: skip_gram.VectorsReport) -> None:
        seen.append((report, report.vectors.copy()))

    trained = skip_gram.train(pairs, 6, 8, 2, 3, 1, note)
    reports = [report for report, _ in seen]
    assert [round(report.fraction, 4) for report in reports] == [
        0.2048, 0.4096, 0.5, 0.7048, 0.9096, 1.0,
    ]  # fmt: skip
    assert [len(report.losses) for report in reports] == [1, 1, 1, 2, 2, 2]
    assert np.isfinite([report.losses[-1] for report in reports]).all()
    assert len({id(report.vectors) for report in reports}) == 1
    assert np.abs(seen[0][1] - seen[-1][1]).max() > 0
    np.testing.assert_array_equal(seen[-1][1], trained.vectors.astype(np.float32))
    with pytest.raises(ValueError, match="read-only"):
        reports[0].vectors[0] = 0


def test_nearest_and_substitutes_rank_words():
    vectors = np.array([[1.0, 0], [1, 0.2], [0, 1], [0.5, 0.5]])
    learned_vectors = LearnedVectors(tuple("abcd"), vectors, np.ones(4, int), 9, np.zeros(0))
    near = nearest(learned_vectors, "a", 2, 3)
    assert near.words == ("b", "d", "c")
    assert near.cosines[2] == 0
    assert shared(near, nearest(learned_vectors, "b", 2, 2)) == 1
    assert substitutes_nearer(learned_vectors, [("a", "b", "c"), ("a", "c", "d")]).tolist() == [
        True,
        False,
    ]
    nearer = np.array([[[[1, 1, 0]], [[1, 0, 0]]]] * 2, bool)
    lists = Substitutes((2, 10), nearer)
    assert lists.share("svd", 2).share == pytest.approx(2 / 3)
    paired = lists.compared("skipgram", 2, 10)
    assert (paired.only_first, paired.only_second, paired.p) == (1, 0, 1.0)
    assert (lists.items, lists.seeds) == (3, 1)
