"""Training on a shared model: it learns, by the seed alone, and the shared model never notices."""

from __future__ import annotations

import copy
import itertools
import threading

import numpy as np
import pytest
import torch

from seqviz.compute.bert_accuracy import counting
from seqviz.compute.bert_accuracy.results import TuneSettings
from seqviz.core.errors import UserError
from seqviz.data.reviews import Labeled
from seqviz.experiments.bert_accuracy import (
    encoding,
    features,
    heads,
    trainable_copy,
    training,
    tuning,
)
from seqviz.experiments.bert_accuracy.training import ClassifierTraining, Data, Progress, Sentences
from seqviz.jobs import CancelledError, no_progress
from seqviz.models import pretrained

LETTERS = "abcdefghij"
FLOAT = 1e-5  # float32, summed in another order


@pytest.fixture
def tiny(put):
    put()
    return pretrained.load("tiny")


def sentences(model, count: int, seed: int) -> Sentences:
    """Texts of letters of many lengths; positive are those with more a-e than f-j."""
    random = np.random.RandomState(seed)
    words = [random.choice(list(LETTERS), random.randint(1, 30)) for _ in range(count)]
    positive = np.array([(row < "f").mean() > 0.5 for row in words])
    return Sentences(encoding.tokenize(model, [" ".join(row) for row in words]), positive)


def data(model, count: int = 40) -> Data:
    return Data(*(sentences(model, n, seed) for seed, n in enumerate((count, 12, 12))))


def settings(**changes) -> TuneSettings:
    given = {"model": "tiny", "regime": "all", "epochs": 2, "layers": 1, "rank": 2, "batch": 8}
    return TuneSettings(**{**given, "rate": 1e-3, "head_rate": 1e-2, **changes})


def tensors(network) -> list[torch.Tensor]:
    return [item.clone() for item in (*network.parameters(), *network.buffers())]


# ------------------------------------------------------------------------------- trainable copies
@pytest.mark.parametrize("regime", ["head", "top", "lora", "all"])
@pytest.mark.parametrize("feature", ["mean", "pooler"])
def test_trainable_copy_parameter_count_matches_config(minilm, regime, feature):
    with trainable_copy.DropoutGenerator(0, "cpu").installed():
        created = trainable_copy.make_trainable(minilm, regime, layers=2, rank=4, feature=feature)
    counted = counting.count(counting.MINILM, regime, 2, 4, feature)
    head = 2 * 384 + 2
    assert (created.total, created.trainable) == (counted.total - head, counted.trainable - head)


@pytest.mark.parametrize("regime", ["head", "top", "lora", "all"])
def test_trainable_copy_shares_frozen_weights_and_matches_output(tiny, regime):
    with trainable_copy.DropoutGenerator(0, "cpu").installed():
        created = trainable_copy.make_trainable(tiny, regime, layers=1, rank=2)
    shared = {parameter.data_ptr() for parameter in tiny.network.parameters()}
    for name, item in created.network.named_parameters():
        assert (item.data_ptr() in shared) == (not item.requires_grad), name
    assert not any(parameter.requires_grad for parameter in tiny.network.parameters())
    assert not any(name.startswith("pooler.") for name, p in _trained(created.network))
    batch = encoding.pad(sentences(tiny, 5, 0).ids, 0)
    with torch.no_grad():  # an adapter starts as nothing: its second matrix is 0
        mine, its = (encoding.hidden(n, "cpu", batch)[0] for n in (created.network, tiny.network))
    real = torch.from_numpy(batch.real)
    torch.testing.assert_close(mine[real], its[real], atol=FLOAT, rtol=0)
    assert tiny.network.config._attn_implementation == "seqviz"


def _trained(network):
    return [pair for pair in network.named_parameters() if pair[1].requires_grad]


def test_trainable_copy_top_trains_last_layer_and_pooler(tiny):
    created = trainable_copy.make_trainable(tiny, "top", layers=1, feature="pooler")
    names = [name for name, _ in _trained(created.network)]
    assert names
    assert all(name.startswith(("encoder.layer.1.", "pooler.")) for name in names)
    assert any(name.startswith("pooler.") for name in names)


def test_dropout_generator_depends_only_on_seed():
    outside = torch.get_rng_state()
    alone = trainable_copy.DropoutGenerator(3, "cpu")
    with alone.installed():
        full = torch.rand(6)
    mine, other = (
        trainable_copy.DropoutGenerator(3, "cpu"),
        trainable_copy.DropoutGenerator(4, "cpu"),
    )
    parts = []
    for _ in range(2):
        with mine.installed():
            parts.append(torch.rand(3))
        with other.installed():
            torch.rand(5)
    assert torch.equal(torch.cat(parts), full)
    assert torch.equal(torch.get_rng_state(), outside)


# ----------------------------------------------------------------------------------------- training
def test_batches_contain_each_sentence_once_with_similar_lengths():
    lengths = np.random.RandomState(0).randint(3, 60, 700)
    result = training.batches(lengths, 32, np.random.RandomState(1))
    assert sorted(np.concatenate(result)) == list(range(700))
    assert len(result) == 22  # 700 = 21 * 32 + 28
    padding = sum(int(lengths[item].max() * len(item) - lengths[item].sum()) for item in result)
    assert padding < 0.15 * lengths.sum()  # at random it is 0.9 of it
    again = training.batches(lengths, 32, np.random.RandomState(2))
    assert not all(np.array_equal(a, b) for a, b in zip(result, again, strict=True))


def test_share_of_rate_warms_up_and_decays_linearly():
    shares = [training.share_of_rate(step, 100) for step in range(100)]
    np.testing.assert_allclose(shares[:10], np.arange(1, 11) / 10)
    np.testing.assert_allclose(shares[10:], np.arange(90, 0, -1) / 90)
    assert training.share_of_rate(0, 1) == 1


def test_training_matches_plain_torch_loop(tiny, monkeypatch):
    """Without dropout: all weights, AdamW, clipping, portions that add up to the batch."""
    monkeypatch.setattr(training, "_CPU", 40)
    given, chosen = data(tiny), settings(epochs=1)
    run = ClassifierTraining(tiny, chosen, 0)
    for part in run.network.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    run.dropout = 0.0
    network, head = copy.deepcopy(tiny.network), heads.new_head(16, 0)
    network.set_attn_implementation("eager")
    weight, bias = (torch.nn.Parameter(torch.tensor(item)) for item in (head.weight, head.bias))
    encoder = [p.requires_grad_() for n, p in network.named_parameters() if "pooler" not in n]
    groups = [{"params": encoder, "lr": 1e-3}, {"params": [weight, bias], "lr": 1e-2}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = training.steps_of(chosen, 40)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: training.share_of_rate(min(step, steps - 1), steps)
    )
    lengths = np.array([len(item) for item in given.train.ids])
    losses = []
    for indices in training.batches(lengths, 8, np.random.RandomState(0)):
        batch = encoding.pad([given.train.ids[i] for i in indices], 0)
        real = torch.from_numpy(batch.real)
        hidden = network(torch.tensor(batch.ids), attention_mask=real.long()).last_hidden_state
        mean = torch.stack(
            [row[retained].mean(0) for row, retained in zip(hidden, real, strict=True)]
        )
        truth = torch.tensor(given.train.positive[indices]).long()
        loss = torch.nn.functional.cross_entropy(mean @ weight.T + bias, truth)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*encoder, weight, bias], 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    records = []
    result = run.go(given, Progress(lambda r, f: records.append(r), chosen, given))
    mine = {r.step: r.loss for r in records if r.step}
    np.testing.assert_allclose([mine[i + 1] for i in range(steps)], losses, atol=1e-4)
    assert result.loss[1] == pytest.approx(np.mean(losses), abs=1e-4)
    torch.testing.assert_close(run.weight, weight, atol=1e-4, rtol=0)


@pytest.mark.parametrize("regime", ["top", "lora", "all"])
def test_train_leaves_shared_model_unchanged_for_readers(tiny, regime):
    before, ids = tensors(tiny.network), sentences(tiny, 10, 5).ids
    expected, done, observed = encoding.vectors(tiny, ids).mean, threading.Event(), []

    def read():
        while not done.is_set():
            observed.append(encoding.vectors(tiny, ids).mean)

    reader = threading.Thread(target=read)
    reader.start()
    result = tuning.train(tiny, settings(regime=regime), data(tiny), no_progress)
    done.set()
    reader.join()
    for item, now in zip(before, tensors(tiny.network), strict=True):
        assert torch.equal(item, now)
    assert not any(part.training for part in tiny.network.modules())
    assert len(observed) > 1
    assert all(np.array_equal(entry, expected) for entry in observed)
    assert result.loss.shape == result.validation.shape == (1, 3)
    assert result.loss[0, 2] < result.loss[0, 0]


def test_train_is_reproducible_beside_other_random_draws(tiny):
    given = data(tiny)
    alone = tuning.train(tiny, settings(runs=2), given, no_progress)
    other, done = trainable_copy.DropoutGenerator(9, "cpu"), threading.Event()

    def throw():
        while not done.is_set():
            with other.installed():
                torch.rand(7)

    thread = threading.Thread(target=throw)
    thread.start()
    again = tuning.train(tiny, settings(runs=2), given, no_progress)
    done.set()
    thread.join()
    np.testing.assert_array_equal(alone.loss, again.loss)
    np.testing.assert_array_equal(alone.probability, again.probability)
    assert np.abs(alone.probability[0] - alone.probability[1]).max() > 1e-3


def test_train_reports_progress(tiny):
    records, given = [], data(tiny)
    chosen = settings(runs=2)
    tuning.train(tiny, chosen, given, lambda record, share: records.append((record, share)))
    shares = [share for _, share in records]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    steps = [(record.run, record.step) for record, _ in records]
    assert [key for key, _ in itertools.groupby(steps)] == [
        (run, step) for run in range(2) for step in range(11)
    ]
    assert all(record.steps == 10 for record, _ in records)
    finite = {(r.run, r.step) for r, _ in records if not np.isnan(r.validation)}
    assert finite == {(run, step) for run in range(2) for step in (0, 5, 10)}


def test_train_cancels_at_any_report(tiny):
    for last in (1, 7, 30):
        count = itertools.count(1)

        def report(record, share=None, count=count, last=last):
            if next(count) == last:
                raise CancelledError

        with pytest.raises(CancelledError):
            tuning.train(tiny, settings(), data(tiny), report)
        assert next(count) == last + 1
    assert not any(part.training for part in tiny.network.modules())


# ------------------------------------------------------------------------------------ all regimes
@pytest.fixture
def few(tiny, monkeypatch):
    """The job on few sentences of letters."""
    random = np.random.RandomState(0)
    parts = {
        part: Labeled(tuple(" ".join(random.choice(list(LETTERS), 9)) for _ in range(n)), y)
        for part, n in (("train", 50), ("validation", 10), ("test", 12))
        for y in (random.rand(n) < 0.5,)
    }
    for module in (features, heads):
        monkeypatch.setattr(module, "parts", lambda: parts)
    features.ids.cache_clear()
    yield parts
    features.ids.cache_clear()
    features._kept.clear()


@pytest.mark.parametrize("feature", ["mean", "cls", "pooler"])
def test_tune_trains_every_regime_on_every_feature(few, feature):
    """All begin with the same head on the same vectors, so they agree about what was before."""
    frozen = None
    for regime in ("random", "head", "top", "lora", "all"):
        records = []
        chosen = settings(regime=regime, feature=feature, sentences=20, epochs=1)
        result = tuning.tune(
            chosen, lambda record, _, retained=records: retained.append(record), "cpu"
        )
        frozen = frozen or result
        assert result.probability.shape == (1, 12)
        assert np.isfinite(result.loss).all()
        np.testing.assert_allclose(result.loss[:, 0], frozen.loss[:, 0], atol=FLOAT)
        np.testing.assert_allclose(result.validation[:, 0], frozen.validation[:, 0])
        assert (result.trainable == 0) == (regime == "random")
        assert records[-1].fraction == pytest.approx(1)


def test_tune_again_matches_run_of_same_seed(few, tiny):
    """Seed 1 alone is the second of two runs: seeds can be added one by one."""
    two = tuning.tune(settings(runs=2, epochs=1), no_progress, "cpu")
    item = tuning.tune_again(settings(epochs=1), 1, no_progress, "cpu")
    np.testing.assert_array_equal(item.probability[0], two.probability[1])
    np.testing.assert_array_equal(item.loss[0], two.loss[1])
    assert np.abs(two.probability[0] - two.probability[1]).max() > 1e-4


def test_tune_rejects_invalid_regime_feature_and_missing_pooler(few, tiny, monkeypatch):
    with pytest.raises(ValueError, match="regime"):
        tuning.tune(settings(regime="some"), no_progress, "cpu")
    with pytest.raises(ValueError, match="feature"):
        tuning.tune(settings(feature="max"), no_progress, "cpu")
    monkeypatch.setattr(tiny.network, "pooler", None)
    with pytest.raises(UserError) as refused:
        tuning.tune(settings(feature="pooler"), no_progress, "cpu")
    assert refused.value.code == "no_pooler"
    assert tuning.tune(settings(epochs=1), no_progress, "cpu").probability.shape == (1, 12)


def test_training_step_splits_batch_on_oom_with_same_result(tiny, monkeypatch):
    existing, tested = sentences(tiny, 8, 0), sentences(tiny, 12, 1)
    given, positions = settings(batch=8), np.arange(8)
    progress = Progress(no_progress, given, Data(existing, tested, tested))
    runs = [ClassifierTraining(tiny, given, 0) for _ in range(2)]
    for run in runs:
        run.network.eval()  # dropout would differ: it is drawn in the order of the parts
        run.dropout = 0.0
    sizes, real = [], runs[1].logits

    def full(ids, training):
        sizes.append(len(ids))
        if len(ids) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        return real(ids, training)

    monkeypatch.setattr(runs[1], "logits", full)
    steps = [run.step(existing, positions, 1.0, progress) for run in runs]
    assert sizes == [8, 4, 2, 2, 2, 2]
    assert steps[1] == pytest.approx(steps[0], rel=FLOAT)
    for item, other in zip(*(run.parameters for run in runs), strict=True):
        assert torch.allclose(item, other, atol=FLOAT)
    judged = [run.judge(tested, progress) for run in runs]
    assert np.allclose(judged[0][2], judged[1][2], atol=FLOAT)
    assert max(sizes[6:]) == 2  # it begins with what had room
    monkeypatch.setattr(runs[1], "logits", lambda *_, **__: full([0] * 4, False))
    with pytest.raises(torch.OutOfMemoryError):
        runs[1].step(existing, positions, 1.0, progress)
