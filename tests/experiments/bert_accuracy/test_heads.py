"""Heads on vectors that are there: our optimizer is torch's, and the issue's figures come out."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from seqviz.compute.bert_accuracy import searching
from seqviz.compute.bert_accuracy.results import SearchSettings, TuneSettings
from seqviz.data.reviews import Labeled
from seqviz.experiments.bert_accuracy import features, heads, search
from seqviz.experiments.bert_accuracy.encoding import Vectors
from seqviz.experiments.bert_accuracy.features import Features
from seqviz.stats import proportions

WIDTH = 6


def cloud(count: int, seed: int):
    """Two overlapping clouds of vectors, as good as logistic regression can have it."""
    random = np.random.RandomState(seed)
    positive = random.rand(count) < 0.5
    vectors = random.normal(size=(count, WIDTH)) + 0.6 * np.where(positive, 1, -1)[:, None]
    return vectors.astype(np.float32), positive


TRAIN, VALID = cloud(203, 0), cloud(50, 1)  # 203 = 6 batches of 32 and one of 11


def fit(**settings):
    return heads.fit(*TRAIN, *VALID, **{"epochs": 3, "rate": 0.02, "batch": 32, **settings})


def by_torch(seed: int, epochs: int, rate: float, batch: int):
    """The same training in the words of torch: (weight, bias, mean loss of each epoch)."""
    data, label = torch.tensor(TRAIN[0]), torch.tensor(TRAIN[1]).long()
    start = heads.new_head(WIDTH, seed)
    weight = torch.nn.Parameter(torch.tensor(start.weight))
    bias = torch.nn.Parameter(torch.tensor(start.bias))
    groups = [{"params": [weight]}, {"params": [bias], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate, weight_decay=0.01)
    random, losses = np.random.RandomState(seed), []
    for epoch in range(epochs):
        order, total = random.permutation(len(data)), 0.0
        for first in range(0, len(data), batch):
            for group in optimizer.param_groups:
                group["lr"] = rate * (1 - (epoch + first / len(data)) / epochs)
            indices = order[first : first + batch]
            logits = data[indices] @ weight.T + bias
            loss = torch.nn.functional.cross_entropy(logits, label[indices])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(indices) / len(data)
        losses.append(total)
    return weight.detach().numpy(), bias.detach().numpy(), losses


@pytest.mark.parametrize("seed", [0, 3])
def test_fit_matches_torch_adamw(seed):
    result = fit(seeds=(seed,))
    weight, bias, losses = by_torch(seed, 3, 0.02, 32)
    np.testing.assert_allclose(result.heads[0].weight, weight, atol=1e-5)  # float32, 21 steps
    np.testing.assert_allclose(result.heads[0].bias, bias, atol=1e-5)
    np.testing.assert_allclose(result.loss[0, 1:], losses, atol=1e-5)


def test_fit_of_several_seeds_matches_single_runs():
    together = fit(seeds=(0, 1, 2))
    for run in range(3):
        alone = fit(seeds=(run,))
        np.testing.assert_allclose(together.heads[run].weight, alone.heads[0].weight, atol=1e-5)
        np.testing.assert_allclose(together.validation[run], alone.validation[0])
    assert np.abs(together.heads[0].weight - together.heads[1].weight).max() > 1e-3


def test_fit_with_zero_epochs_returns_new_head():
    observed = []
    result = fit(epochs=0, each=lambda so_far, epoch: observed.append(epoch))
    head = heads.new_head(WIDTH, 0)
    np.testing.assert_array_equal(result.heads[0].weight, head.weight)
    probability = heads.apply(head, TRAIN[0])
    truth = np.where(TRAIN[1], probability, 1 - probability)
    assert result.loss.shape == (1, 1)
    assert observed == [0]
    np.testing.assert_allclose(result.loss[0, 0], -np.log(truth).mean(), rtol=1e-5)
    np.testing.assert_allclose(result.accuracy[0, 0], (truth > 0.5).mean())
    assert 0.018 < heads.new_head(2000, 0).weight.std() < 0.022  # BERT's 0.02


def test_apply_returns_softmax_of_two_logits():
    head = heads.LinearHead(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([0.5, 0.0]))
    item, other = np.exp(3 + 0.5), np.exp(2 * 1.5)
    np.testing.assert_allclose(heads.apply(head, np.array([[3, 1.5]])), other / (item + other))


# --------------------------------------------------------------------------------- the real vectors
# From the disk; where they are not there they are computed, which takes a minute and a half.
@pytest.fixture(scope="module")
def real(vectors):
    return {part: features.features("minilm", part) for part in features.SPLITS}


def interval(probability: np.ndarray):
    return proportions.proportion((probability > 0.5) == features.parts()["test"].positive)


def test_train_head_matches_logistic_regression_accuracy(real):
    from sklearn.linear_model import LogisticRegression

    parts = features.parts()
    other = LogisticRegression(C=1, max_iter=200)
    other.fit(real["train"].vectors.mean, parts["train"].positive)
    result = heads.train_head(TuneSettings(head_rate=1e-2))
    share = interval(result.probability[0])
    assert share.low < other.score(real["test"].vectors.mean, parts["test"].positive) < share.high
    assert (result.trainable, result.total) == (2 * 384 + 2, 22_713_216 + 770)


def test_train_head_finishes_within_one_second(real):
    start = time.process_time()  # of this process: the machine may be busy
    heads.train_head(TuneSettings(epochs=5))
    item = time.process_time() - start
    heads.train_head(TuneSettings(epochs=5, runs=5))
    assert item < 1
    assert time.process_time() - start - item < 2


# --------------------------------------------------------------------------------------- the search
@pytest.fixture
def clouds(monkeypatch):
    """The clouds in place of the sentences' vectors."""
    sets = {"train": TRAIN, "validation": VALID, "test": cloud(60, 2)}
    labels = {part: Labeled(("",) * len(y), y) for part, (_, y) in sets.items()}
    result = {p: Features(Vectors(x, x, x), 0.0, "disk") for p, (x, _) in sets.items()}
    monkeypatch.setattr(features, "parts", lambda: labels)
    for module in (features, heads):
        monkeypatch.setattr(module, "features", lambda model, part, report=None: result[part])
    monkeypatch.setattr(features, "ready", lambda model: True)
    monkeypatch.setattr(heads, "check", lambda pretrained, feature: None)
    monkeypatch.setattr(heads, "load", lambda model: None)
    return sets


@pytest.mark.parametrize("method", ["grid", "random", "bayes"])
def test_search_records_match_single_fits(clouds, method):
    settings = SearchSettings(method=method, budget=6, epochs=2)
    observed = []
    result = search.search(settings, lambda record, share: observed.append((record, share)))
    again = [
        heads.fit(*TRAIN, *VALID, epochs=2, rate=rate, batch=batch)
        for rate, batch in zip(result.rate, result.batch, strict=True)
    ]
    np.testing.assert_array_equal(result.validation, [item.validation[0, -1] for item in again])
    assert result.best == np.argmax(result.validation)
    best = heads.apply(again[result.best].heads[0], clouds["test"][0])
    np.testing.assert_allclose(result.probability, best, atol=1e-5)  # float32
    shares = [share for _, share in observed]
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    assert max(len(record.rate) for record, _ in observed) == 5  # the last one is the result


def test_grid_search_points_match_surface(clouds):
    result = search.surface("any", epochs=2, report=lambda record, share: None)
    assert result.validation.shape == (3, 21)
    assert not np.isnan(result.validation).any()
    settings = SearchSettings(method="grid", budget=15, epochs=2)
    grid = search.search(settings, lambda record, share: None)
    for rate, batch, value in zip(grid.rate, grid.batch, grid.validation, strict=True):
        column = np.argmin(abs(np.log(result.rate / rate)))
        assert np.isclose(result.rate[column], rate)
        assert result.validation[list(searching.BATCHES).index(batch), column] == value
