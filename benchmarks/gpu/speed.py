"""Time of the app's most expensive calls on the device and on the CPU, by size.

Each call is the function that a lesson calls. `ROWS` gives a call for each size; the crossover is
the smallest size from which on the device was faster at every size that both have completed. The
CPU runs the sizes that are expected to take less than a second; longer ones are extrapolated from
them by a power law, and the row says so. CPU threads: as in the app (`SEQVIZ_THREADS`, 1 by
default). PyTorch's switches are those of the app, except for the epochs, which name their
precision.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.accuracy_lab import pick
from benchmarks.gpu.machine import (
    CPU,
    NO_TIME,
    Machine,
    SkipRowError,
    described,
    ids,
    median,
    model,
    precision,
    synchronize,
)
from benchmarks.report import timed
from seqviz.compute.ar_fitting import replicate, replicate_paths
from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import fit_network
from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.bert_accuracy.results import TuneSettings
from seqviz.compute.gates.tiny import TinySettings, train_tiny
from seqviz.compute.positions.tiny import OrderSettings, train
from seqviz.compute.vanishing_gradients import GradientExperiment, pair_norms
from seqviz.compute.vanishing_gradients.recall import RecallSettings, compare, find_longest_delay
from seqviz.experiments.bert_accuracy import features
from seqviz.experiments.bert_accuracy.encoding import SentenceBatch, hidden
from seqviz.experiments.bert_accuracy.training import (
    ClassifierTraining,
    Data,
    Progress,
    batches,
    share_of_rate,
    steps_of,
)
from seqviz.models import attention_hook, forward_cache, placement
from seqviz.models.kv_tree import ROOT, KVCacheTree

LENGTH = 32  # tokens of a text or prompt in a batch
LONG = 512  # tokens that the textbook pads to
GOAL = 0.86  # test accuracy
_CPU_LIMIT = 1.0  # seconds; the CPU is not measured at sizes that take longer
_PROPORTIONAL, _STEEPEST = 1.0, 3.0  # exponents: of one measured size, and the largest plausible
_WRITTEN, _WRITTEN_CPU = 16, 4  # tokens written per text
_EPOCHS = 3  # maximum number of epochs to reach the goal


class Row(NamedTuple):
    """One row of the table.

    Attributes:
        unit: what a size counts.
        small: sizes without a GPU.
        full: sizes with a GPU.
        what: description of the work, for small and for full sizes.
        make: returns a call for (size, device, small).
        numpy: True where the function would not use a device.
        cpu_part: share of the work that a call on the CPU does, where the whole takes too long even
            at the smallest size; its seconds are divided by this share.
    """

    unit: str
    small: tuple[int, ...]
    full: tuple[int, ...]
    what: tuple[str, str]
    make: Callable[[int, str, bool], Callable[[], object]]
    numpy: bool = False
    cpu_part: float = 1.0


@dataclass
class Times:
    """Median seconds by size, and the size at which a device failed.

    Attributes:
        extrapolated: seconds of the CPU at sizes that were not, or only partly, measured.
        crossover: None where the device is never faster, or is the CPU.
        stopped: sizes without a measurement, and why.
    """

    unit: str
    what: str
    cpu: dict[int, float] = field(default_factory=dict)
    device: dict[int, float] = field(default_factory=dict)
    extrapolated: dict[int, float] = field(default_factory=dict)
    crossover: int | None = None
    stopped: dict[str, str] = field(default_factory=dict)


def extrapolate(seconds: dict[int, float], size: int) -> float:
    """Return the expected seconds at a larger size; 0 without a measurement.

    A power law through the two largest measured sizes; one alone counts as proportional.
    """
    sizes = sorted(seconds)[-2:]
    if not sizes:
        return 0.0
    exponent = _PROPORTIONAL
    if len(sizes) == 2:
        low, high = sizes
        exponent = math.log(seconds[high] / seconds[low]) / math.log(high / low)
    return seconds[sizes[-1]] * (size / sizes[-1]) ** min(max(exponent, 0.0), _STEEPEST)


def measure(row: Row, machine: Machine) -> Times:
    """Measure one row until the time is over; an error of the first call is raised."""
    times = Times(row.unit, row.what[0 if machine.small else 1])
    # Without a GPU, both keys are equal.
    positions = {} if row.numpy else {machine.place: times.device}
    positions[CPU] = times.cpu
    for position, seconds in positions.items():
        part = 1.0 if position != CPU or machine.small else row.cpu_part
        measured = times.extrapolated if part < 1 else seconds
        for size in machine.sizes(row.small, row.full):
            expected = extrapolate(seconds or times.extrapolated, size)
            if position == CPU and part * expected > _CPU_LIMIT:
                times.extrapolated[size] = expected
                continue
            if machine.over():
                times.stopped[f"{position} {size}"] = f"skipped: {NO_TIME}"
                continue
            try:
                measured[size] = median(row.make(size, position, machine.small), position) / part
            except Exception as error:  # of any kind, mostly memory; smaller sizes remain valid
                if not times.cpu and not times.device:
                    raise
                times.stopped[f"{position} {size}"] = described(error)
                break
    times.crossover = placement.crossover(times.cpu | times.extrapolated, times.device)
    return times


def tasks(machine: Machine) -> dict[str, Callable[[], Times | dict[str, Any]]]:
    """Return the measurement of each row by name, those that a goal names first."""
    first = "texts in one batch", "one text, weights noted", "all pairs of Jacobians"
    tables = {name: partial(measure, row, machine) for name, row in ROWS.items()}
    return {
        **{name: tables[name] for name in first},
        **{name: partial(epoch, machine, *recipe) for name, recipe in EPOCHS.items()},
        f"seconds to {GOAL}": partial(to_goal, machine),
        "writing: one text": partial(written, machine, 1),
        "writing: 32 texts at once": partial(written, machine, 32),
        **{name: work for name, work in tables.items() if name not in first},
        "a small LSTM's step": partial(captured, machine),
    }


def _text(size: int, location: str, small: bool) -> Callable[[], object]:
    item = model("minilm", location)
    nothing = np.zeros(size, int)
    row = ids(item.network, 1, size)[0].numpy()
    tokens = Tokens(("",) * size, row, nothing, nothing > 0, nothing == 0, 0)
    return lambda: forward_cache.forward(item, tokens)


def _texts(size: int, location: str, small: bool) -> Callable[[], object]:
    item = model("minilm", location)
    rows = ids(item.network, size, LENGTH).numpy()
    batch = SentenceBatch(rows, np.ones_like(rows, bool))

    def work(network: Any, where: str) -> Any:
        return hidden(network, where, batch)[0].mean(1).float().cpu().numpy()

    return lambda: item.run(work)


@cache
def smollm2_shape(location: str, layers: int) -> Any:
    """Return a network of SmolLM2-135M's shape with random weights, in evaluation mode, float32."""
    from transformers import LlamaConfig, LlamaForCausalLM

    attention_hook.register()
    config = LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=layers,
        num_attention_heads=9, num_key_value_heads=3, max_position_embeddings=8192,
        tie_word_embeddings=True, attn_implementation=attention_hook.NAME,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval().requires_grad_(False).to(location)


def _prompts(size: int, location: str, small: bool) -> Callable[[], object]:
    network = smollm2_shape(location, 1 if small else 30)
    prompts = ids(network, size, LENGTH).to(location)

    def work() -> Any:
        with torch.inference_mode():
            return network(prompts, use_cache=False).logits[:, -1].cpu()

    return work


def _step(size: int, location: str, small: bool) -> Callable[[], object]:
    some = _sentences(size)
    run, progress = _run(location, "all", some, None)
    return lambda: run.step(some, np.arange(size), 1.0, progress)


def _updates(small: bool, full: int = 100) -> int:
    return 2 if small else full


_RECALL_PART = 0.1  # of the updates on a CPU


def _recall(size: int, location: str, small: bool) -> Callable[[], object]:
    full = 100 if location != CPU else round(100 * _RECALL_PART)
    settings = RecallSettings(hidden=size, updates=_updates(small, full))
    return partial(compare, settings, device=location)


_FIT, _CELL = ("2 updates", "100 updates"), ("32 units", "256 units")
_ENCODER = ("MiniLM, float32",) * 2
ROWS: dict[str, Row] = {
    "all pairs of Jacobians": Row(
        "T", (10, 20), (50, 100, 200, 500), _CELL,
        lambda size, position, small: partial(
            pair_norms, GradientExperiment("rnn", size, 32 if small else 256), stride=1,
            device=position)),
    "AR replications": Row(
        "paths", (100, 500), (100, 500), ("n = 1000, numpy on the CPU",) * 2,
        lambda size, position, small: partial(replicate, 0.8, 1000, size), numpy=True),
    "fit: AR, LSTM": Row(
        "hidden", (8, 16), (8, 32, 128, 512), _FIT,
        lambda size, position, small: partial(
            fit_network, replicate_paths(0.8, 200, 2)[0],
            NetworkSettings("lstm", hidden=size, epochs=_updates(small)), device=position)),
    "fit: recall": Row(
        "hidden", (16,), (16, 32, 64), ("2 updates", "100 updates; on the CPU 10, times 10"),
        _recall, cpu_part=_RECALL_PART),
    "fit: longest delay": Row(
        "delay", (1,), (1, 10, 50), ("2 updates", "50 updates"),
        lambda size, position, small: partial(
            find_longest_delay, RecallSettings(delay=size, updates=_updates(small, 50)),
            device=position)),
    "fit: gates, LSTM": Row(
        "hidden", (8, 16), (8, 64, 256), _FIT,
        lambda size, position, small: partial(
            train_tiny, TinySettings(hidden=size, updates=_updates(small)), device=position)),
    "fit: order, rotary": Row(
        "runs", (1,), (1, 3, 5), _FIT,
        lambda size, position, small: partial(
            train, OrderSettings(
                length=6, encodings=("rotary",), runs=size, updates=_updates(small)),
            device=position)),
    "one text, weights noted": Row("tokens", (8, 32), (8, 32, 128, 512), _ENCODER, _text),
    "texts in one batch": Row("texts of 32 tokens", (1, 8), (1, 10, 100, 400), _ENCODER, _texts),
    "SmolLM2's shape": Row(
        "prompts of 32 tokens", (1, 2), (1, 8, 32),
        ("random weights, 1 layer of 30", "random weights, 30 layers"), _prompts),
    "a step of all weights": Row("sentences", (1, 2), (1, 8, 32), _ENCODER, _step),
}  # fmt: skip
# Regime, padding, precision, and the number of sentences on the CPU.
EPOCHS: dict[str, tuple[str, int | None, str, int]] = {
    "epoch: float32, padded to 512": ("all", LONG, "float32", 1),
    "epoch: float32, by length": ("all", None, "float32", 16),
    "epoch: bfloat16, by length": ("all", None, "bfloat16", 16),
    "epoch: LoRA, bfloat16, by length": ("lora", None, "bfloat16", 16),
}


def epoch(
    machine: Machine, regime: str, length: int | None, mode: str, n_few: int
) -> dict[str, Any]:
    """Return sentences per second of an epoch.

    All 7,272 sentences on the device, `n_few` on the CPU, an eighth of them if small.
    """
    result: dict[str, Any] = {"unit": "sentences/s"}
    for key, position in (("cpu", CPU), ("device", machine.place)):
        if key == "device" and machine.small:
            break  # it is the CPU itself
        count = max(1, n_few // 8) if machine.small else n_few if position == CPU else 0
        some = _sentences(count)
        with precision(mode, position):
            if position != CPU:
                _epoch(position, regime, _sentences(32), length)  # warm-up
            seconds = _epoch(position, regime, some, length)
        result[key] = len(some.ids) / seconds
        result[f"{key}_sentences"] = len(some.ids)
    return result


def written(machine: Machine, texts: int) -> dict[str, Any]:
    """Return tokens per second after a prompt of `LENGTH`, for concurrent texts with a KV cache.

    The prefill is not counted. The network has SmolLM2's shape and random weights, so that no text
    ends.
    """
    layers = 1 if machine.small else 30
    result: dict[str, Any] = {"unit": "tokens/s", "texts": texts, "layers": layers}
    for key, position in (("cpu", CPU), ("device", machine.place)):
        if key == "device" and machine.small:
            break  # it is the CPU itself
        steps = result[f"{key}_tokens"] = _WRITTEN_CPU if position == CPU else _WRITTEN
        network = smollm2_shape(position, layers)
        prompt = ids(network, 1, LENGTH)[0].numpy()
        seconds = []
        for _ in range(2 if position == CPU else 3):  # the first is warm-up
            with torch.inference_mode():
                tree = KVCacheTree(network, position, prompt, texts)
                synchronize(position)
                seconds.append(timed(partial(_write, tree, texts, steps)))
        result[key] = texts * steps / min(seconds[1:])
    return result


def _write(tree: KVCacheTree, texts: int, steps: int) -> None:
    """Write `steps` tokens of each text: the most likely ones, after different first tokens."""
    nodes, tokens = [ROOT] * texts, tree.logits.topk(texts).indices.tolist()
    for _ in range(steps):
        nodes, logits = tree.extend(nodes, tokens)
        tokens = logits.argmax(-1).tolist()


def to_goal(machine: Machine) -> dict[str, Any]:
    """Return the seconds of full bfloat16 training until an epoch ends at accuracy `GOAL`.

    Tests are not counted. Adam's learning rates decay over `_EPOCHS` epochs, as in the lesson.
    """
    if machine.small:
        raise SkipRowError("minutes on a CPU")
    existing, test = _sentences(0), _sentences(0, "test")
    run, progress = _run(machine.place, "all", existing, None)
    lengths, random = np.array([len(item) for item in existing.ids]), np.random.RandomState(0)
    step, steps = 0, _EPOCHS * steps_of(run.settings, len(lengths))
    seconds = 0.0
    right: list[float] = []
    with precision("bfloat16", machine.place):
        while len(right) < _EPOCHS and max(right, default=0.0) < GOAL:
            run.network.train()
            started = time.perf_counter()
            for indices in batches(lengths, run.settings.batch, random):
                run.step(existing, indices, share_of_rate(step, steps), progress)
                step += 1
            synchronize(machine.place)
            seconds += time.perf_counter() - started
            right.append(run.judge(test, progress)[1])
    return {"unit": "s", "device": seconds, "accuracy": right, "reached": max(right) >= GOAL}


def captured(machine: Machine) -> dict[str, Any]:
    """Return the seconds of a training step, kernel by kernel and as one captured CUDA graph.

    64 sequences of 50 steps, 32 units, Adam: the size of the lessons' trainings. The fixed shapes
    that a graph requires are worthwhile only if it is much faster.
    """
    inputs = torch.randn(64, 50, 1).to(machine.place)
    layer = torch.nn.LSTM(1, 32, batch_first=True).to(machine.place)
    graphed = machine.place == "cuda"
    optimizer = torch.optim.Adam(layer.parameters(), 1e-3, capturable=graphed)

    def step() -> None:
        optimizer.zero_grad()
        layer(inputs)[0].square().mean().backward()
        optimizer.step()

    result: dict[str, Any] = {"unit": "s", "device": median(step, machine.place)}
    if not graphed:
        return {**result, "captured": "skipped: a graph of kernels needs CUDA"}
    beside, present = torch.cuda.Stream(), torch.cuda.current_stream()
    beside.wait_stream(present)
    with torch.cuda.stream(beside):  # PyTorch requires a warm-up on a side stream
        for _ in range(3):
            step()
    present.wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    result["captured"] = median(graph.replay, machine.place)
    return {**result, "times": result["device"] / result["captured"]}


def _sentences(count: int, part: str = "train") -> Any:
    """Draw sentences with lengths distributed as in the whole split; 0 for all of them."""
    model("minilm", CPU)
    return pick(part, count or len(features.parts()[part].texts))


def _run(location: str, regime: str, subset: Any, length: int | None) -> tuple[Any, Any]:
    """Return a classifier to train on a device, and a progress callback that does nothing."""
    settings = TuneSettings("minilm", regime, "mean", epochs=1)
    progress = Progress(lambda *_: None, settings, Data(subset, subset, subset))
    return ClassifierTraining(model("minilm", location), settings, 0, length), progress


def _epoch(location: str, regime: str, subset: Any, length: int | None) -> float:
    """Return the seconds of one epoch, with the lesson's batches."""
    run, progress = _run(location, regime, subset, length)
    run.network.train()
    lengths = np.array([len(item) for item in subset.ids])
    order = batches(lengths, run.settings.batch, np.random.RandomState(0))

    def work() -> None:
        for positions in order:
            run.step(subset, positions, 1.0, progress)
        synchronize(location)

    return timed(work)
