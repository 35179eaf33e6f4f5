"""Replayed trainings equal eager ones to the bit; what happens where a capture fails.

There is no GPU here: only `capture` is replaced, by one whose replay computes the same function
eagerly with what lies in the graph's inputs.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM

from benchmarks.gpu import agreement
from seqviz.compute.ar_fitting import networks, replicate_paths
from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import fit_network
from seqviz.compute.bert_accuracy.results import TuneSettings
from seqviz.compute.gates import tiny
from seqviz.compute.gates.tiny import TinySettings, train_tiny
from seqviz.compute.positions.tiny import OrderSettings, train
from seqviz.compute.positions.tiny.settings import ENCODINGS
from seqviz.compute.training import loop
from seqviz.compute.training import step as steps
from seqviz.compute.transformer.learning import StackSettings
from seqviz.compute.transformer.pair import PairSettings
from seqviz.compute.transformer.pair_training import train_pair
from seqviz.compute.transformer.stack_training import train_stacks
from seqviz.compute.vanishing_gradients.recall import RecallSettings, compare
from seqviz.compute.vanishing_gradients.recall.runners import CellTrainer
from seqviz.compute.vanishing_gradients.recall.tasks import draw
from seqviz.experiments.bert_accuracy.training import (
    ClassifierTraining,
    Data,
    Progress,
    Sentences,
)
from seqviz.experiments.recurrent.tagging import letters
from seqviz.jobs import JobQueue
from seqviz.models import (
    attention_hook,
    cuda_graphs,
    device,
    forward_cache,
    placement,
    pretrained,
    texts,
)
from seqviz.models.cuda_graphs import CapturedCall, CapturedGraph, CapturedUpdate, GraphPool
from seqviz.models.kv_tree import ROOT, KVCacheTree, one_step

CPU = torch.device("cpu")
SERIES = replicate_paths(0.8, 120, 2)[0]
FULL = "CUDA out of memory. Tried to allocate 20.00 MiB."
GONE = "CUDA error: an illegal memory access was encountered"


def pretended(calls: list, n_bytes: int = 1):
    def capture(work, inputs) -> CapturedGraph:
        calls.append(inputs)
        return CapturedGraph(inputs, lambda: work(*inputs), n_bytes)

    return capture


@pytest.fixture
def captures(monkeypatch):
    """The captured inputs; trainings on the CPU are captured as those of a GPU."""
    calls: list = []
    pool = GraphPool(max_bytes=1000)
    monkeypatch.setattr(cuda_graphs, "capture", pretended(calls))
    monkeypatch.setattr(CapturedCall.__init__, "__defaults__", (pool,))
    monkeypatch.setattr(steps, "capture_hook", CapturedUpdate)
    return calls


TRAININGS = {
    "ar lstm": partial(fit_network, SERIES, NetworkSettings("lstm", hidden=4, epochs=6)),
    "ar mlp, sgd": partial(
        fit_network, SERIES, NetworkSettings("mlp", hidden=4, epochs=6, optimizer="sgd")
    ),
    "recall": partial(compare, RecallSettings(hidden=4, updates=6, delay=3)),
    "gates": partial(train_tiny, TinySettings(hidden=4, updates=6)),
    "order": partial(
        train, OrderSettings(length=6, updates=6, runs=2, encodings=("learned", "rotary"))
    ),
    "stacks": partial(train_stacks, StackSettings(blocks=1, updates=6, runs=2)),
    "pair": partial(train_pair, PairSettings(updates=6)),
    "taggers": lambda: letters._learn("words", "bi", 0, "cpu", lambda *_: None, updates=12).losses,
}


@pytest.mark.parametrize("name", TRAININGS)
def test_replayed_training_equals_eager_to_the_bit(name, captures, monkeypatch):
    capturable = pytest.MonkeyPatch()
    capturable.setattr(cuda_graphs, "WARM_UP", 10**9)  # the same update, never captured
    expected = TRAININGS[name]()
    assert not captures
    capturable.undo()
    if name == "taggers":  # nearly each batch has another length
        monkeypatch.setattr(cuda_graphs, "WARM_UP", 0)
    result = TRAININGS[name]()
    assert captures
    for (a, _), (b, _) in zip(agreement.leaves(result), agreement.leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)
    monkeypatch.setattr(steps, "capture_hook", None)
    plain = agreement.difference(TRAININGS[name](), expected)
    assert not plain.largest > 1e-5


class Uncapturable(TorchDispatchMode):
    """Raises where a captured update would wait for the device or copy from the CPU."""

    WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "unique")

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = function.name().partition("::")[2].partition(".")[0]
        if name in self.WAITS:
            raise AssertionError(f"{name} waits for the device")
        tensors = [item for item in args if isinstance(item, torch.Tensor)]
        is_here = [item.device.type == "cpu" and item.ndim > 0 for item in tensors]
        target = kwargs.get("device")
        if name in ("copy_", "_to_copy", "to") and (
            (target is not None and torch.device(target).type == "meta" and any(is_here))
            or (name == "copy_" and len(is_here) > 1 and is_here[1] and not is_here[0])
        ):
            raise AssertionError("copies from the CPU")
        if name in ("index", "index_put", "index_put_"):
            kinds = [item.dtype for item in args[1] if item is not None]
            if torch.bool in kinds:
                raise AssertionError("a mask as index waits for the device")
        return function(*args, **kwargs)


class CheckedError(Exception):
    """The update was checked."""


def checked(optimizer, place):
    """A hook: run the second update of a training as a capture would, then end the training.

    Without the optimizer's step, which PyTorch documents as capturable, and not for such a device.
    """
    n_calls, optimizer.step = 0, lambda: None

    def call(work, *inputs, rate=None):
        nonlocal n_calls
        n_calls += 1
        there = [item.to(place) for item in inputs]
        if n_calls == 1:
            return work(*there)  # constants are made
        with Uncapturable():
            work(*there)
        raise CheckedError

    return call


def twice(update, *_, **__):
    """A training loop without measurements."""
    for number in range(2):
        update(number)


@pytest.fixture
def no_values(monkeypatch):
    """Trainings on the device without storage end at their second update."""
    monkeypatch.setattr(steps, "capture_hook", checked)
    monkeypatch.setattr(loop, "run", twice)
    monkeypatch.setattr(tiny, "run", twice)
    monkeypatch.setattr(torch.Tensor, "tolist", lambda _: [0.0, 0.0])  # losses of an epoch
    monkeypatch.setattr(networks, "_array", lambda tensor: np.zeros(tensor.shape))  # a map


@pytest.mark.parametrize("name", ["ar lstm", "ar mlp, sgd", "gates", "order", "stacks", "pair"])
def test_updates_of_trainings_can_be_captured(name, no_values):
    with pytest.raises(CheckedError):
        TRAININGS[name](device="meta")


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_updates_of_recall_can_be_captured(cell, no_values):
    settings = RecallSettings(hidden=4, delay=3)
    trainer = CellTrainer(cell, settings, "meta")
    batch = draw(settings.task, settings.delay, settings.batch, np.random.RandomState(0))
    trainer.step(batch.inputs, batch.targets)
    with pytest.raises(CheckedError):
        trainer.step(batch.inputs, batch.targets)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_updates_with_each_encoding_can_be_captured(encoding, no_values):
    settings = OrderSettings(length=6, updates=6, runs=1, encodings=(encoding,), causal=True)
    with pytest.raises(CheckedError):
        train(settings, device="meta")


def test_uncapturable_update_is_detected(monkeypatch):
    """The check of the tests above finds what it looks for."""
    monkeypatch.setattr(steps, "capture_hook", checked)
    weights = torch.ones(3, device="meta", requires_grad=True)
    for loss, why in (
        (lambda: weights[weights > 0].sum(), "mask as index"),
        (lambda: (weights * torch.arange(3.0).to(weights)).sum(), "copies"),
    ):
        step = steps.TrainingStep(torch.optim.SGD([weights], 0.1), loss)
        with pytest.raises(AssertionError, match=why), Uncapturable():
            step()


# --- passes of pretrained models ------------------------------------------------------------------


@pytest.fixture
def replays(captures, monkeypatch):
    """Passes on the CPU are replayed as those of a GPU."""
    monkeypatch.setattr(
        placement, "captured_pass", lambda network, kind: cuda_graphs.call_of(network, CPU)
    )
    yield captures
    cuda_graphs._calls.clear()


def grown(steps: int) -> list[torch.Tensor]:
    """Logits of a tree whose nodes branch at different depths."""
    with torch.inference_mode():
        tree = KVCacheTree(llama("cpu"), "cpu", np.arange(5, 16))
        nodes, logits = tree.extend([ROOT] * 3, [7, 8, 9])
        results = [logits]
        for step in range(steps):
            nodes, logits = tree.extend([nodes[0], nodes[0], nodes[2]], [11 + step, 12, 13])
            results.append(logits)
        nodes, logits = tree.extend([ROOT, *nodes], [1, 2, 3, 4])
        return [*results, logits]


@cache
def llama(place: str) -> torch.nn.Module:
    config = LlamaConfig(
        vocab_size=50, hidden_size=24, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=3, num_key_value_heads=1, attn_implementation=attention_hook.NAME,
    )  # fmt: skip
    return on(place, LlamaForCausalLM, config)


def bert(place: str) -> torch.nn.Module:
    config = BertConfig(
        vocab_size=50, hidden_size=24, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=3, attn_implementation=attention_hook.NAME,
    )  # fmt: skip
    return on(place, BertModel, config)


def on(place: str, kind, config) -> torch.nn.Module:
    attention_hook.register()
    torch.manual_seed(0)
    return kind(config).eval().requires_grad_(False).to(place)


def test_replayed_writing_equals_eager(replays, monkeypatch):
    results = grown(20)
    # Depths up to 16 and up to 32, each with 4 rows.
    assert len(replays) == 2
    monkeypatch.setattr(placement, "captured_pass", lambda *_: None)
    for result, expected in zip(results, grown(20), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_replayed_forward_passes_equal_eager(name, replays, monkeypatch):
    model = pretrained.load(name)
    typed = ("The cat sat.", "Music is what feelings sound like.", "So")
    requests = [(texts.tokens(model, text), forward_cache.OWN) for text in typed]
    for _ in range(3):
        results = forward_cache.forwards(model, requests)
    alone = [forward_cache.forward(model, *request) for request in requests]
    assert len(replays) == 2  # four rows, and one
    monkeypatch.setattr(placement, "captured_pass", lambda *_: None)
    for request, *both in zip(requests, results, alone, strict=True):
        expected = forward_cache.forward(model, *request)
        for result in both:
            for field in ("weights", "norms", "vectors", "following"):
                np.testing.assert_allclose(
                    getattr(result, field), getattr(expected, field), rtol=2e-4, atol=2e-5
                )
            assert not result.weights.flags.writeable


def test_pass_that_returns_too_much_is_not_captured(replays, monkeypatch):
    monkeypatch.setattr(forward_cache, "MAX_REPLAYED_NUMBERS", 1)
    model = pretrained.load("minilm")
    requests = [(texts.tokens(model, "So"), forward_cache.OWN)]
    for _ in range(4):
        forward_cache.forwards(model, requests)
    assert not replays


def test_passes_of_pretrained_models_can_be_captured():
    """Nothing in them waits for the device or copies from main memory."""
    ids = torch.zeros(2, 16, dtype=torch.long, device="meta")
    allowed = torch.ones(2, 16, 16, dtype=torch.bool, device="meta")
    tokenizer = SimpleNamespace(model_input_names=["input_ids", "token_type_ids"])
    for network, kind in ((bert("meta"), "encoder"), (llama("meta"), "decoder")):
        if kind == "decoder":
            tokenizer.model_input_names.remove("token_type_ids")
        model = SimpleNamespace(tokenizer=tokenizer, card=SimpleNamespace(kind=kind))
        with torch.inference_mode(), Uncapturable():
            outputs = forward_cache.noted_pass(network, model, ids, ids, allowed)
        assert outputs[0].shape == (2, 2, 3, 16, 16)
    prompt = torch.zeros(2, 2, 1, 32, 8, device="meta")
    between = torch.zeros(2, 2, 4, 1, 16, 8, device="meta")
    mask = torch.zeros(4, 1, 1, 49, device="meta")
    with torch.inference_mode(), Uncapturable():
        logits, new = one_step(llama("meta"), prompt, between, mask, ids[:1, :4].T, ids[:1, :4].T)
    assert (logits.shape, new.shape) == ((4, 50), (2, 2, 4, 1, 8))


def test_threads_share_a_captured_call(captures, monkeypatch):
    """No thread's inputs are overwritten before its result is copied."""

    def slow(work, inputs) -> CapturedGraph:
        def replay():
            time.sleep(0.002)
            return work(*inputs)

        return CapturedGraph(inputs, replay, 1)

    monkeypatch.setattr(cuda_graphs, "capture", slow)
    call = CapturedCall(CPU)
    for _ in range(3):
        call(torch.neg, torch.zeros(1))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda k: call(torch.neg, torch.full((1,), float(k))), range(40)))
    assert [result.item() for result in results] == [-float(k) for k in range(40)]


def test_round_up_gives_few_shapes():
    assert [placement.round_up(n) for n in (1, 2, 3, 5, 16, 17)] == [1, 2, 4, 8, 16, 32]
    assert [placement.round_up(n, 16) for n in (1, 16, 17)] == [16, 16, 32]


# --- calls ----------------------------------------------------------------------------------------


def doubled(calls):
    def work(x):
        calls.append(x)
        return 2 * x

    return work


def test_captured_call_captures_a_shape_at_its_third_call(captures):
    call, eager = CapturedCall(CPU), []
    work = doubled(eager)
    for k in range(5):
        assert call(work, torch.full((2,), float(k))).tolist() == [2.0 * k, 2.0 * k]
        assert len(captures) == (k >= 2)
    assert len(eager) == 5  # one effect a call
    assert call(work, torch.ones(3)).tolist() == [2.0] * 3  # a shape never seen is eager
    assert len(captures) == 1
    first = call(work, torch.ones(2))
    call(work, torch.zeros(2))
    assert first.tolist() == [2.0, 2.0]  # not overwritten by the next replay


def test_graph_pool_releases_least_recently_used():
    def graph(n_bytes: int = 10) -> CapturedGraph:
        return CapturedGraph((), lambda: torch.zeros(()), n_bytes)

    pool = GraphPool(max_graphs=2, max_bytes=25)
    pool.put(1, "a", graph())
    pool.put(1, "b", graph())
    assert pool.get(1, "a")
    pool.put(2, "c", graph())
    assert pool.get(1, "b") is None
    assert (len(pool), pool.bytes) == (2, 20)
    pool.put(2, "d", graph(24))
    assert (len(pool), pool.bytes) == (1, 24)
    pool.put(2, "e", graph(1000))  # one alone may exceed the limit
    assert (len(pool), pool.bytes) == (1, 1000)
    pool.drop(2)
    assert len(pool) == 0


def test_graphs_of_a_finished_training_are_released(captures):
    call = CapturedCall(CPU)
    pool = CapturedCall.__init__.__defaults__[0]
    for _ in range(3):
        call(torch.neg, torch.ones(2))
    assert len(pool) == 1
    del call
    gc.collect()
    assert len(pool) == 0


def after_memory_ended() -> RuntimeError:
    """The error of a capture's end, which hides the one in it."""
    error = torch.AcceleratorError("CUDA error: operation failed due to an error during capture")
    error.__context__ = torch.OutOfMemoryError(FULL)
    return error


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError(FULL),
        RuntimeError("CUDA error: operation not permitted when stream is capturing"),
        torch.AcceleratorError("CUDA error: operation failed due to a previous error in capture"),
        RuntimeError("Cannot copy between CPU and CUDA tensors during CUDA graph capture"),
        after_memory_ended(),
    ],
)
def test_failed_capture_stays_eager(error, captures, monkeypatch):
    """Memory that ends during a capture, or work that cannot be captured."""
    released = []
    monkeypatch.setattr(device, "release", lambda: released.append(1))

    def fails(work, inputs):
        captures.append(inputs)
        raise error

    monkeypatch.setattr(cuda_graphs, "capture", fails)
    call, eager = CapturedCall(CPU), []
    for k in range(6):
        assert call(doubled(eager), torch.full((2,), float(k))).tolist() == [2.0 * k] * 2
    assert (len(captures), len(eager)) == (1, 6)
    is_memory = isinstance(error.__context__ or error, torch.OutOfMemoryError)
    assert bool(released) == is_memory


def test_device_lost_during_replay_ends_on_the_cpu(captures, monkeypatch):
    """The job is run again on the CPU, without graphs."""
    monkeypatch.setattr(device, "_lost", threading.Event())
    monkeypatch.setattr(device, "release", lambda: None)
    real = TinySettings(hidden=4, updates=8)

    def broken(work, inputs) -> CapturedGraph:
        def replay():
            raise RuntimeError(GONE)

        return CapturedGraph(inputs, replay, 1)

    monkeypatch.setattr(cuda_graphs, "capture", broken)

    def hook(optimizer, place):
        return None if device._lost.is_set() else CapturedUpdate(optimizer, place)

    monkeypatch.setattr(steps, "capture_hook", hook)
    queue = JobQueue()
    try:
        job = queue.submit(pretend_gpu, settings=real, device="cuda", owner="test")
        job.wait(60)
    finally:
        queue.close()
        device.choose.cache_clear()
    assert job.state == "done"
    assert job.note == device.NOTES["lost"]
    np.testing.assert_array_equal(job.result.network.head, train_tiny(real).network.head)
    assert len(CapturedCall.__init__.__defaults__[0]) == 0


def pretend_gpu(settings, report=None, device="cpu"):
    return train_tiny(settings, report)


def test_replayed_training_is_cancelled_within_half_a_second(captures):
    class Cancelled(Exception):
        pass

    times = []

    def report(record):
        if times:
            raise Cancelled
        times.append(time.monotonic())

    with pytest.raises(Cancelled):
        train_tiny(TinySettings(hidden=8, updates=4000), report)
    assert time.monotonic() - times[0] < 0.5


def test_captured_update_sets_rates_in_tensors_or_in_the_key(captures):
    weights = torch.ones(2, requires_grad=True)
    adam = torch.optim.Adam([weights], lr=0.1)
    update = CapturedUpdate(adam, CPU)
    for rate in (0.5, 0.25, 0.125, 0.0625):
        update(torch.neg, torch.ones(2), rate=rate)
        assert adam.param_groups[0]["lr"].item() == rate
    assert len(captures) == 1
    plain = torch.optim.SGD([weights], lr=0.1)
    update = CapturedUpdate(plain, CPU)
    for rate in (0.5, 0.25, 0.125, 0.0625):
        update(torch.neg, torch.ones(2), rate=rate)
    assert len(captures) == 1  # each rate would be another graph
    for _ in range(3):
        update(torch.neg, torch.ones(2))
    assert len(captures) == 2


@pytest.mark.parametrize("regime", ["head", "lora", "all"])
def test_replayed_tuning_equals_eager_to_the_bit(regime, minilm, captures, monkeypatch):
    """Batches of two lengths, of which only the padded one is captured, with dropout."""
    random = np.random.default_rng(0)
    ids = [random.integers(1000, 30000, 5 + k % 9) for k in range(32)]
    data = Sentences(ids, np.arange(32) % 2 == 0)
    settings = TuneSettings("minilm", regime, "mean", epochs=1, batch=4)
    progress = Progress(lambda *_: None, settings, Data(data, data, data))

    def trained(hook, warm_up: int) -> tuple[ClassifierTraining, list]:
        monkeypatch.setattr(placement, "captured_update", hook)
        monkeypatch.setattr(cuda_graphs, "WARM_UP", warm_up)
        run = ClassifierTraining(minilm, settings, 0)
        run.network.train()
        batches = np.arange(32).reshape(-1, 4)
        return run, [run.step(data, some, 0.5, progress) for some in batches]

    eager, expected = trained(CapturedUpdate, 10**9)
    replayed, result = trained(CapturedUpdate, 2)
    assert len(captures) == 1
    assert result == expected
    for a, b in zip(replayed.parameters, eager.parameters, strict=True):
        assert torch.equal(a, b)
    _, plain = trained(lambda *_: None, 2)  # other padding, so other dropout after the first layer
    assert len(plain) == len(result)
    assert plain != result


def test_tuning_without_memory_for_replay_goes_on_in_halves(minilm, captures, monkeypatch):
    monkeypatch.setattr(device, "release", lambda: None)
    monkeypatch.setattr(placement, "captured_update", CapturedUpdate)
    data = Sentences([np.arange(1000, 1006)] * 4, np.arange(4) % 2 == 0)
    settings = TuneSettings("minilm", "head", "mean", epochs=1, batch=4)
    progress = Progress(lambda *_: None, settings, Data(data, data, data))
    run = ClassifierTraining(minilm, settings, 0)
    run.dropout = 0.0

    def fails(*_, **__):
        raise torch.OutOfMemoryError(FULL)

    run.replayed = fails
    loss, _ = run.step(data, np.arange(4), 1.0, progress)
    assert run.replayed is None
    other = ClassifierTraining(minilm, settings, 0)
    other.replayed, other.dropout = None, 0.0
    assert loss == other.step(data, np.arange(4), 1.0, progress)[0]


def test_placement_captures_on_cuda_only(monkeypatch):
    weights = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.Adam([weights])
    monkeypatch.delitem(sys.modules, "seqviz.models.cuda_graphs")
    for kind in ("cpu", "mps"):
        assert placement.captured_update(optimizer, torch.device(kind)) is None
    monkeypatch.setenv("SEQVIZ_CUDA_GRAPHS", "0")
    assert placement.captured_update(optimizer, torch.device("cuda")) is None
    assert "seqviz.models.cuda_graphs" not in sys.modules
    assert steps.capture_hook is placement.captured_update


def test_gates_loss_on_a_device_equals_that_of_a_cpu():
    """Marked steps instead of chosen ones: the same mean within rounding."""
    settings = TinySettings(hidden=4, updates=20)
    here, there = train_tiny(settings), train_tiny(settings, device="cpu:0")
    assert agreement.difference(there, here).largest < 1e-5
