"""What the queue, the progress reports and the polling page cost a training run.

The textbook's run (1,000 values of an AR(1), `nn.RNN(1, 32)`, 100 epochs of Adam) twice: as the
plain PyTorch loop that the text writes, and as the page runs it, through the job queue with a
thread that reads the progress every half second. `python -m benchmarks.ar_training` prints both.
"""

from __future__ import annotations

import json
import statistics
import threading
import time
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import nn

from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import fit_network
from seqviz.jobs import JobQueue

POLL_SECONDS = 0.5


@dataclass(frozen=True)
class TrainingTimes:
    """Medians over alternating runs, in seconds, and ours over bare."""

    bare_seconds: float
    ours_seconds: float
    ratio: float


def training_overhead(runs: int = 5, epochs: int = 100) -> TrainingTimes:
    """Time both ways in turn, `runs` times each, on one thread, after one warm-up of each."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        pairs = [_pair(seed, epochs) for seed in range(runs + 1)][1:]
    finally:
        torch.set_num_threads(before)
    bare, ours = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    return TrainingTimes(bare, ours, ours / bare)


def _pair(seed: int, epochs: int) -> tuple[float, float]:
    values = _ar1(seed)
    bare_seconds, bare_mse = _bare(values, seed, epochs)
    ours_seconds, ours_mse = _ours(values, seed, epochs)
    if not np.isclose(bare_mse, ours_mse, rtol=1e-4):  # float32 rounding; else not the same work
        raise RuntimeError(f"The two loops trained different networks: {bare_mse}, {ours_mse}.")
    return bare_seconds, ours_seconds


def _ar1(seed: int, n: int = 1000, phi: float = 0.8) -> np.ndarray:
    random = np.random.RandomState(seed)
    values = np.zeros(n)
    for t in range(1, n):
        values[t] = phi * values[t - 1] + random.normal()
    return values


def _bare(values: np.ndarray, seed: int, epochs: int) -> tuple[float, float]:
    """The loop as the text writes it, with the predictions that its figure draws."""
    started = time.perf_counter()
    torch.manual_seed(seed)
    rnn, head = nn.RNN(1, 32, batch_first=True), nn.Linear(32, 1)
    series = torch.tensor(values, dtype=torch.float32)
    inputs, targets = series[:-1].view(1, -1, 1), series[1:].view(1, -1, 1)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=0.001)
    for _ in range(epochs):
        hidden, _state = rnn(inputs)
        loss = criterion(head(hidden), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        mse = criterion(head(rnn(inputs)[0]), targets).item()
    return time.perf_counter() - started, mse


def _ours(values: np.ndarray, seed: int, epochs: int) -> tuple[float, float]:
    """From pressing the button to the result, a fresh queue each time so that nothing is kept."""
    jobs = JobQueue()
    ended = threading.Event()
    started = time.perf_counter()
    settings = NetworkSettings(seed=seed, epochs=epochs)
    job = jobs.submit(fit_network, values, settings, owner="page")

    def poll() -> None:
        while not ended.wait(POLL_SECONDS):
            job.heartbeat("page")
            _seen = (job.state, job.position, job.fraction, job.trail)

    poller = threading.Thread(target=poll, daemon=True)
    poller.start()
    job.wait()
    seconds = time.perf_counter() - started
    ended.set()
    poller.join()
    jobs.close()
    return seconds, job.result.train_mse


def main() -> None:
    times = training_overhead()
    print("textbook run, 100 epochs   median seconds")
    print(f"bare PyTorch loop          {times.bare_seconds:14.3f}")
    print(f"job queue and polling page {times.ours_seconds:14.3f}")
    print(f"ratio                      {times.ratio:14.3f}")
    print(json.dumps(asdict(times)))


if __name__ == "__main__":
    main()
