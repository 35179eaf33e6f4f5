"""How fast the lesson on vanishing gradients computes, on one thread; and all pairs on a GPU.

A tanh RNN of 64 units over 100 steps, unless a line says otherwise.

All pairs: `bptt.pair_norms` (rms, every step) against autograd pair by pair. For each of the 4950
pairs t < tau, PyTorch builds the graph of the steps from h_t to h_tau and `torch.func.jacrev` pulls
the 64 unit vectors back through it together (of PyTorch's ways to get one Jacobian the fastest
here); its Frobenius norm over sqrt(d) is the entry. Both in float32, both with everything they need
from the weights on; all pairs are computed, none is extrapolated. Beside it, the smartest way we
know to ask autograd for the same table: one graph, and for each later step one batched call that
returns the Jacobians with respect to all earlier states. Every entry of ours is compared with that
computed in float64.

The norm series: one run of the kernel, the loss and `bptt.log_norms`, against forward and backward
of `torch.nn.RNN` (LSTM, GRU) with the same weights, inputs and loss. PyTorch's side also gives the
gradients of the weights, which a series does not need; ours gives the norm at every step.

Growth: the same series for 50 to 400 steps; the slope of log time against log T.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy: one core, as in a shared classroom
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import json
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.timing import timed
from seqviz.compute.recurrent import run
from seqviz.compute.vanishing_gradients import (
    GradientExperiment,
    LogNorms,
    Unrolled,
    log_norms,
    pair_norms,
    unroll,
)

STEPS, WIDTH = 100, 64
RNN = GradientExperiment("rnn", STEPS, WIDTH)
PAIR_RUNS, SERIES_RUNS = 3, 41
LENGTHS = (50, 75, 100, 150, 200, 300, 400)
GPU = GradientExperiment("rnn", 500, 256)
MODULES: dict[str, Callable[..., nn.Module]] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
GOALS = {
    "pairs_speedup": (50.0, ">="),
    "series_ratio": (1.5, "<="),
    "exponent": (1.15, "<="),
    "max_relative_error": (1e-3, "<="),
}


@dataclass(frozen=True)
class PairTimes:
    """Median seconds for the whole table, and the largest relative error of ours."""

    ours: float
    pair_by_pair: float
    one_graph: float
    largest_error: float


@dataclass(frozen=True)
class SeriesTimes:
    """Median seconds of one series and of PyTorch's forward and backward, float32 and float64."""

    ours: float
    torch32: float
    torch64: float


def pairs() -> PairTimes:
    net = unroll(RNN)
    exact = _one_graph(net, torch.float64)
    result = 10.0 ** pair_norms(RNN, stride=1).log10
    below = np.tri(STEPS, k=-1, dtype=bool)
    error = float(np.abs(result / exact - 1)[below].max())
    if not float(np.abs(_pair_by_pair(net) / exact - 1)[below].max()) < 1e-3:
        raise SystemExit("Autograd pair by pair does not compute the same table.")
    runs = [
        (
            statistics.median(timed(lambda: pair_norms(RNN, stride=1)) for _ in range(5)),
            timed(lambda: _pair_by_pair(net)),
            timed(lambda: _one_graph(net, torch.float32)),
        )
        for _ in range(PAIR_RUNS)  # alternating: a change of clock or load meets all of them
    ]
    ours, pair_by_pair, one_graph = (statistics.median(s) for s in zip(*runs, strict=True))
    return PairTimes(ours, pair_by_pair, one_graph, error)


def series(cell: str) -> SeriesTimes:
    net = unroll(GradientExperiment(cell, STEPS, WIDTH))
    single, double = (_torch_step(net, cell, dtype) for dtype in (torch.float32, torch.float64))
    if not math.isclose(double(), net.loss, rel_tol=1e-10):
        raise SystemExit(f"The {cell} of PyTorch does not compute the same loss.")
    single()
    _series(net)
    runs = [(timed(lambda: _series(net)), timed(single), timed(double)) for _ in range(SERIES_RUNS)]
    return SeriesTimes(*(statistics.median(seconds) for seconds in zip(*runs, strict=True)))


def growth() -> tuple[list[float], float]:
    """Median seconds of a series for each of `LENGTHS`, and the exponent of T."""
    nets = [unroll(GradientExperiment("rnn", steps, WIDTH)) for steps in LENGTHS]
    for net in nets:
        _series(net)
    runs = [[timed(partial(_series, net)) for net in nets] for _ in range(SERIES_RUNS)]
    medians = [statistics.median(seconds) for seconds in zip(*runs, strict=True)]
    return medians, float(np.polyfit(np.log(LENGTHS), np.log(medians), 1)[0])


def main() -> None:
    torch.set_num_threads(1)
    times = pairs()
    print(f"all {STEPS * (STEPS - 1) // 2} pairs, d = {WIDTH}, median of {PAIR_RUNS} runs")
    print(f"{'':34}{'seconds':>10}{'ratio':>9}")
    print(f"{'pair_norms':34}{times.ours:10.4f}{1:9.1f}")
    for label, seconds in (
        ("autograd, pair by pair", times.pair_by_pair),
        ("autograd, one graph, batched", times.one_graph),
    ):
        print(f"{label:34}{seconds:10.4f}{seconds / times.ours:9.1f}")
    print(f"largest relative error of a norm: {times.largest_error:.1e}")

    print(f"\nnorms of all {STEPS} steps, d = {WIDTH}, milliseconds, median of {SERIES_RUNS} runs")
    print(f"{'':8}{'ours':>8}{'torch32':>10}{'torch64':>10}{'ratio32':>9}{'ratio64':>9}")
    ratios = {}
    for cell in MODULES:
        steps = series(cell)
        ratios[cell] = steps.ours / steps.torch32
        print(
            f"{cell:8}{1e3 * steps.ours:8.2f}{1e3 * steps.torch32:10.2f}{1e3 * steps.torch64:10.2f}"
            f"{ratios[cell]:9.2f}{steps.ours / steps.torch64:9.2f}"
        )

    medians, exponent = growth()
    print("\nsteps       " + "".join(f"{steps:8d}" for steps in LENGTHS))
    print("milliseconds" + "".join(f"{1e3 * seconds:8.2f}" for seconds in medians))
    print(f"time grows like T^{exponent:.2f}")

    line: dict[str, str | float] = {
        "name": "bptt",
        "pairs_speedup": round(times.pair_by_pair / times.ours, 1),
        "series_ratio": round(ratios["rnn"], 3),
        "exponent": round(exponent, 3),
        "max_relative_error": float(f"{times.largest_error:.2g}"),
    }
    if torch.cuda.is_available():
        line["gpu_pairs_s"] = round(_on_the_gpu(), 3)
        print(
            f"\nall pairs of T = {GPU.steps}, d = {GPU.width} on {torch.cuda.get_device_name()}: "
            f"{line['gpu_pairs_s']} s"
        )
    print("\ngoals")
    for name, (goal, sense) in GOALS.items():
        value = float(line[name])
        met = value >= goal if sense == ">=" else value <= goal
        print(f"  {name} {sense} {goal:g}: {value:g}, {'met' if met else 'missed'}")
    print(json.dumps(line))


def _series(net: Unrolled) -> LogNorms:
    """Forward, the loss of the last step, and the norm at every step."""
    trace = run(net.cell, net.weights, net.signal.inputs)
    misses = trace.hidden[-1] @ net.readout.T - net.signal.targets[-1]
    float((misses**2).sum())
    errors = np.zeros_like(trace.hidden[1:])
    errors[-1] = 2 * misses @ net.readout
    return log_norms(net.cell, net.weights, trace, errors)


def _torch_step(net: Unrolled, cell: str, dtype: torch.dtype) -> Callable[[], float]:
    """Forward and backward of PyTorch's module with the same weights, inputs and loss."""
    module = MODULES[cell](net.signal.inputs.shape[1], WIDTH).to(dtype)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    parts = (
        net.weights.input_hidden, net.weights.hidden_hidden, net.weights.input_bias,
        net.weights.hidden_bias,
    )  # fmt: skip
    with torch.no_grad():
        for name, part in zip(names, parts, strict=True):
            getattr(module, name).copy_(torch.tensor(part))
    inputs, target, readout = (
        torch.tensor(part, dtype=dtype)
        for part in (net.signal.inputs, net.signal.targets[-1], net.readout)
    )

    def step() -> float:
        module.zero_grad()
        loss = ((module(inputs)[0][-1] @ readout.T - target) ** 2).sum()
        loss.backward()
        return float(loss.detach())

    return step


def _tensors(net: Unrolled, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """What each step adds to U h, and U."""
    added = net.signal.inputs @ net.weights.input_hidden.T + net.weights.input_bias
    return torch.tensor(added, dtype=dtype), torch.tensor(net.weights.hidden_hidden, dtype=dtype)


def _pair_by_pair(net: Unrolled) -> np.ndarray:
    """rms of dh_tau/dh_t, [tau, t]: a graph from h_t to h_tau and a Jacobian for every pair."""
    added, U = _tensors(net, torch.float32)
    states = [torch.zeros(WIDTH)]
    for x in added:
        states.append(torch.tanh(x + U @ states[-1]))
    is_found = np.full((STEPS, STEPS), np.nan)

    def jacobian(earlier: int, later: int) -> Tensor:
        def way(h: Tensor) -> Tensor:
            for t in range(earlier, later):
                h = torch.tanh(added[t] + U @ h)
            return h

        return torch.func.jacrev(way)(states[earlier])

    for later in range(1, STEPS + 1):
        for earlier in range(1, later):
            size = float(jacobian(earlier, later).norm())
            is_found[later - 1, earlier - 1] = size / math.sqrt(WIDTH)
    return is_found


def _one_graph(net: Unrolled, dtype: torch.dtype) -> np.ndarray:
    """The same table: one graph; each later step asks for all earlier ones in one batched call."""
    added, U = _tensors(net, dtype)
    h = torch.zeros(WIDTH, dtype=dtype, requires_grad=True)
    states: list[Tensor] = []
    for x in added:
        h = torch.tanh(x + U @ h)
        states.append(h)
    unit = torch.eye(WIDTH, dtype=dtype)
    is_found = np.full((STEPS, STEPS), np.nan)
    for later in range(1, STEPS):
        jacobians = torch.autograd.grad(
            states[later], states[:later], unit, retain_graph=True, is_grads_batched=True
        )
        sizes = torch.stack([jacobian.norm() for jacobian in jacobians])
        is_found[later, :later] = sizes.numpy() / math.sqrt(WIDTH)
    return is_found


def _on_the_gpu() -> float:
    pair_norms(GPU, stride=1, device="cuda")  # the first call also starts the device
    return statistics.median(
        timed(lambda: pair_norms(GPU, stride=1, device="cuda")) for _ in range(PAIR_RUNS)
    )


if __name__ == "__main__":
    main()
