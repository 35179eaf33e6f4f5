"""Compute time of the lesson on vanishing gradients, on one thread; all pairs on a GPU too.

A tanh RNN of 64 units over 100 steps, unless stated otherwise.

All pairs: `bptt.pair_norms` (rms, every step) against autograd pair by pair. For each of the 4950
pairs t < tau, PyTorch builds the graph of the steps from h_t to h_tau and `torch.func.jacrev` pulls
the 64 unit vectors back through it together (the fastest PyTorch method for one Jacobian here); its
Frobenius norm over sqrt(d) is the entry. Both in float32, both with everything they need from the
weights on; all pairs are computed, none is extrapolated. A third column is the best use of autograd
that we know for the same table: one graph, and for each later step one batched call that returns
the Jacobians with respect to all earlier states. Every entry of SeqViz is compared with that
computed in float64.

The norm series: one run of the kernel, the loss and `bptt.log_norms`, against forward and backward
of `torch.nn.RNN` (LSTM, GRU) with the same weights, inputs and loss. PyTorch also computes the
gradients of the weights, which a series does not need; SeqViz computes the norm at every step.

Growth: the same series for 50 to 400 steps; the slope of log time against log T.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy: one core, as in a shared classroom
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.report import Report, medians, options
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
AT_LEAST = {"pairs_speedup": 50.0}
AT_MOST = {"series_ratio": 1.5, "exponent": 1.15, "max_relative_error": 1e-3}


def pairs(report: Report) -> None:
    """Compute the table in three ways; report the largest relative error of SeqViz's."""
    net = unroll(RNN)
    exact = _one_graph(net, torch.float64)
    below = np.tri(STEPS, k=-1, dtype=bool)

    def error(norms: np.ndarray) -> float:
        return float(np.abs(norms / exact - 1)[below].max())

    if not error(_pair_by_pair(net)) < 1e-3:
        raise SystemExit("Autograd pair by pair does not compute the same table.")
    print(f"all {STEPS * (STEPS - 1) // 2} pairs, d = {WIDTH}, seconds, median of {PAIR_RUNS} runs")
    autograd = partial(_pair_by_pair, net), partial(_one_graph, net, torch.float32)
    rounds = [
        [*medians(5, partial(pair_norms, RNN, stride=1)), *medians(1, *autograd)]
        for _ in range(PAIR_RUNS)
    ]
    ours, by_pair, one_graph = np.median(rounds, axis=0)
    report.row("seconds", pair_norms=ours, pair_by_pair=by_pair, one_graph_batched=one_graph)
    report.values["pairs_speedup"] = round(float(by_pair / ours), 1)
    largest = error(10.0 ** pair_norms(RNN, stride=1).log10)
    report.values["max_relative_error"] = float(f"{largest:.2g}")


def series(cell: str, report: Report) -> float:
    """Time one series against PyTorch's forward and backward; return the float32 ratio.

    PyTorch is timed in float32 and float64.
    """
    net = unroll(GradientExperiment(cell, STEPS, WIDTH))
    single, double = (_torch_step(net, cell, dtype) for dtype in (torch.float32, torch.float64))
    if not math.isclose(double(), net.loss, rel_tol=1e-10):
        raise SystemExit(f"The {cell} of PyTorch does not compute the same loss.")
    single()
    _series(net)
    ours, torch32, torch64 = medians(SERIES_RUNS, partial(_series, net), single, double)
    report.row(
        cell, ours_ms=1e3 * ours, torch32_ms=1e3 * torch32, torch64_ms=1e3 * torch64,
        ratio32=ours / torch32, ratio64=ours / torch64,
    )  # fmt: skip
    return ours / torch32


def growth(report: Report) -> float:
    """Time a series for each of `LENGTHS`; return the exponent of T."""
    nets = [unroll(GradientExperiment("rnn", steps, WIDTH)) for steps in LENGTHS]
    for net in nets:
        _series(net)
    seconds = medians(SERIES_RUNS, *(partial(_series, net) for net in nets))
    report.row("ms by steps", **{f"{n}": 1e3 * s for n, s in zip(LENGTHS, seconds, strict=True)})
    return float(np.polyfit(np.log(LENGTHS), np.log(seconds), 1)[0])


def main() -> None:
    options(__doc__)
    torch.set_num_threads(1)
    report = Report("bptt")
    pairs(report)
    print(f"norms of all {STEPS} steps, d = {WIDTH}, median of {SERIES_RUNS} runs")
    ratios = {cell: series(cell, report) for cell in MODULES}
    report.values["series_ratio"] = round(ratios["rnn"], 3)
    report.values["exponent"] = round(growth(report), 3)
    if torch.cuda.is_available():
        pair_norms(GPU, stride=1, device="cuda")  # the first call also initializes the device
        (seconds,) = medians(PAIR_RUNS, partial(pair_norms, GPU, stride=1, device="cuda"))
        report.values["gpu_pairs_s"] = round(seconds, 3)
        print(f"all pairs of T = {GPU.steps}, d = {GPU.width} on {torch.cuda.get_device_name()}: "
              f"{seconds:.3f} s")  # fmt: skip
    report.finish(AT_MOST, AT_LEAST)


def _series(net: Unrolled) -> LogNorms:
    """Run forward, the loss of the last step, and the norm at every step."""
    trace = run(net.cell, net.weights, net.signal.inputs)
    misses = trace.hidden[-1] @ net.readout.T - net.signal.targets[-1]
    float((misses**2).sum())
    errors = np.zeros_like(trace.hidden[1:])
    errors[-1] = 2 * misses @ net.readout
    return log_norms(net.cell, net.weights, trace, errors)


def _torch_step(net: Unrolled, cell: str, dtype: torch.dtype) -> Callable[[], float]:
    """Run PyTorch's forward and backward with the same weights, inputs and loss."""
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
    """Return what each step adds to U h, and U."""
    added = net.signal.inputs @ net.weights.input_hidden.T + net.weights.input_bias
    return torch.tensor(added, dtype=dtype), torch.tensor(net.weights.hidden_hidden, dtype=dtype)


def _pair_by_pair(net: Unrolled) -> np.ndarray:
    """Return the rms of dh_tau/dh_t, [tau, t], with one graph and one Jacobian per pair."""
    added, U = _tensors(net, torch.float32)
    states = [torch.zeros(WIDTH)]
    for x in added:
        states.append(torch.tanh(x + U @ states[-1]))
    norms = np.full((STEPS, STEPS), np.nan)

    def jacobian(earlier: int, later: int) -> Tensor:
        def unrolled(h: Tensor) -> Tensor:
            for t in range(earlier, later):
                h = torch.tanh(added[t] + U @ h)
            return h

        return torch.func.jacrev(unrolled)(states[earlier])

    for later in range(1, STEPS + 1):
        for earlier in range(1, later):
            size = float(jacobian(earlier, later).norm())
            norms[later - 1, earlier - 1] = size / math.sqrt(WIDTH)
    return norms


def _one_graph(net: Unrolled, dtype: torch.dtype) -> np.ndarray:
    """Return the same table from one graph, with one batched call per later step."""
    added, U = _tensors(net, dtype)
    h = torch.zeros(WIDTH, dtype=dtype, requires_grad=True)
    states: list[Tensor] = []
    for x in added:
        h = torch.tanh(x + U @ h)
        states.append(h)
    unit = torch.eye(WIDTH, dtype=dtype)
    norms = np.full((STEPS, STEPS), np.nan)
    for later in range(1, STEPS):
        jacobians = torch.autograd.grad(
            states[later], states[:later], unit, retain_graph=True, is_grads_batched=True
        )
        sizes = torch.stack([jacobian.norm() for jacobian in jacobians])
        norms[later, :later] = sizes.numpy() / math.sqrt(WIDTH)
    return norms


if __name__ == "__main__":
    main()
