"""Truncated backpropagation: lost terms, error of the gradient, and randomized truncation.

The full gradient of the recurrent weights is a sum over pairs (tau, t): the error of step tau,
carried back to step t, times the input of the recurrent weights there. Truncation keeps some pairs
and drops the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.recurrent import LSTMTrace, State, at, backward
from seqviz.compute.vanishing_gradients.experiment import GradientExperiment, Unrolled, unroll
from seqviz.compute.vanishing_gradients.norms import LOG2, log_norms
from seqviz.core.errors import UserError
from seqviz.core.units import Degrees, Share, array_item
from seqviz.stats.facts import Facts

TRUNCATIONS = ("window", "segments")
LITTLE = (5.0, 0.1)  # largest angle in degrees and relative change of length that count as little
UNSEEN = 1e-6  # of the gradient's length; a smaller error of a truncation is rounding or nearly so
_SHOWN, _WINDOWS = 100, 40


@dataclass(frozen=True)
class Truncation:
    """Truncated gradient of the recurrent weights compared with the full one, by window k.

    Attributes:
        windows: k.
        angle: degrees between the two.
        length: |truncated| / |full|.
        pair_share: share of the pairs (tau, t) that are kept.
    """

    windows: Int[np.ndarray, "window"]
    angle: Float[np.ndarray, "window"]
    length: Float[np.ndarray, "window"]
    pair_share: Float[np.ndarray, "window"]

    def nearest(self, window: int) -> int:
        """Return the computed window that is nearest to this one."""
        return int(self.windows[np.argmin(np.abs(self.windows - window))])

    def kept_by(self, window: int) -> Share:
        """Return the share of the pairs that a window keeps.

        Raises:
            ValueError: for a window that was not computed.
        """
        return float(self.pair_share[self._place(window)])

    def angle_of(self, window: int) -> Degrees:
        """Return the angle between the gradient with this window and the full one."""
        return float(self.angle[self._place(window)])

    def length_of(self, window: int) -> float:
        """Return |truncated| / |full| with this window."""
        return float(self.length[self._place(window)])

    def effect(self, window: int) -> Facts:
        """State the share of pairs that a window keeps, and the gradient's angle and length."""
        angle, length = self.angle_of(window), self.length_of(window)
        is_little = angle <= LITTLE[0] and abs(length - 1) <= LITTLE[1]
        variant = "little" if is_little else "much"
        return Facts(variant, window=window, kept=self.kept_by(window), angle=angle, length=length)

    def _place(self, window: int) -> int:
        return self.windows.tolist().index(window)


@dataclass(frozen=True)
class GradientTerms:
    """Size of each term of the full gradient, and the terms that the window keeps.

    Attributes:
        log10: log10 |term|, nan where t > tau.
        is_included: True where the truncated gradient has the term.
        steps: steps of the rows and columns.
    """

    log10: Float[np.ndarray, "later earlier"]
    is_included: np.ndarray
    steps: Int[np.ndarray, "later"]


@dataclass(frozen=True)
class Randomized:
    """Error of the means of n randomly truncated gradients, n = 1, 2, 4 ...

    Attributes:
        draws: n.
        error: |mean of n draws - full| / |full|.
        window: fixed window of the same expected length.
        fixed: error of fixed truncation to `window`; it does not depend on n.
        expected: mean number of steps that an error travels, one over the probability of stopping.
    """

    draws: Int[np.ndarray, "mean"]
    error: Float[np.ndarray, "mean"]
    window: int
    fixed: float
    expected: float

    error_of_one = array_item("error", 0, "Of the first draw alone.")
    error_of_all = array_item("error", -1, "Of the mean of all draws.")

    def compared(self) -> Facts:
        """State whether the mean of all draws is nearer to the gradient than a fixed window."""
        variant = "nearer" if self.error_of_all < self.fixed else "farther"
        return Facts(
            "little" if self.fixed < UNSEEN else variant, draws=int(self.draws[-1]), result=self
        )


def truncation(experiment: GradientExperiment, kind: str = "window") -> Truncation:
    """Return angle and length of the truncated gradient for every window.

    For sequences of more than 40 steps, 40 windows are computed. Both truncations are biased,
    because the same terms are always missing.

    * "window": every error flows back over at most k steps, itself included (the truncation of d2l,
      chapter 9.7, and of one of the texts).
    * "segments": the sequence is cut into pieces of k steps; the state is passed on, the gradient
      is not (Jurafsky & Martin, chapter 9; training loops with `detach`).

    Args:
        experiment: the experiment.
        kind: one of the above.

    Raises:
        ValueError: for an unknown kind, and if the full gradient is zero.
    """
    _known(kind)
    net, _ = _tamed(unroll(experiment))
    steps = net.steps
    windows = np.arange(1, steps + 1)
    if steps > _WINDOWS:
        each = _WINDOWS // 2  # the short windows, where the angle changes most
        longer = np.round(np.geomspace(each, steps, _WINDOWS - each + 1)).astype(int)
        windows = np.unique(np.concatenate([np.arange(1, each), longer]))
    full, length = _full(net)
    contributes = (net.errors != 0).any(axis=1)
    if kind == "segments":
        cut = _cut_gradients(net, windows)
        products = np.array([float((part * full).sum()) for part in cut])
        sizes = np.array([float(np.linalg.norm(part)) for part in cut])
        retained = [_pairs_in_segments(contributes, k) for k in windows.tolist()]
    else:
        products, sizes = _window_gradients(net, full)
        products, sizes = products[windows - 1], sizes[windows - 1]
        retained = [int(np.minimum(np.arange(1, steps + 1), k)[contributes].sum()) for k in windows]
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.clip(products / (sizes * length), -1, 1)
    return Truncation(
        windows, np.degrees(np.arccos(cosine)), sizes / length, np.array(retained) / retained[-1]
    )


def terms(experiment: GradientExperiment, window: int, kind: str = "window") -> GradientTerms:
    """Return the size |d a_t of error tau| |h_{t-1}| of each pair's term, and the kept ones.

    Args:
        experiment: the experiment.
        window: k.
        kind: kind of truncation, as in `truncation`.

    Raises:
        ValueError: for an unknown kind.
    """
    _known(kind)
    net, taken = _tamed(unroll(experiment))
    stride = -(-net.steps // _SHOWN)
    steps = np.arange(net.steps, 0, -stride)[::-1]
    logs = np.full((len(steps), len(steps)), np.nan)
    before = np.linalg.norm(net.trace.hidden[:-1], axis=1)
    for now, row, pre in _lags(net, steps):
        column = np.searchsorted(steps, now)
        is_visible = steps[np.minimum(column, len(steps) - 1)] == now
        with np.errstate(divide="ignore"):
            size = _log_norm_of_rows(pre) + np.log10(before[now - 1]) + taken
        logs[row[is_visible], column[is_visible]] = size[is_visible]
    later, earlier = steps[:, None], steps[None, :]
    if kind == "window":
        retained = later - earlier < window
    else:
        retained = (later - 1) // window == (earlier - 1) // window
    return GradientTerms(logs, retained & (earlier <= later), steps)


def randomized(
    experiment: GradientExperiment, stop: float, draws: int = 1024, seed: int = 0
) -> Randomized:
    """Truncate the gradient at random and reweight it so that it is unbiased.

    At every step back the gradient goes on with probability 1 - `stop`, divided by that
    probability, and stops otherwise. The mean of many draws tends to the full gradient, at the
    price of variance. It is compared with fixed truncation to the expected length 1 / stop.

    Args:
        experiment: the experiment.
        stop: probability of stopping at a step.
        draws: largest n; the largest power of two up to it is used.
        seed: seed of the draws.

    Raises:
        ValueError: unless 0 < stop < 1, and if the full gradient is zero.

    References:
        Tallec & Ollivier, 2017.
    """
    if not 0 < stop < 1:
        raise ValueError("The probability of stopping must lie between 0 and 1.")
    net, _ = _tamed(unroll(experiment))
    full, length = _full(net)
    rng = np.random.RandomState(seed)
    counts = 2 ** np.arange(int(np.log2(draws)) + 1)
    starts = np.concatenate([[0], counts[:-1]])  # first draw that each mean adds
    groups = np.zeros((len(counts), *full.shape))
    carried = _zeros(net, int(counts[-1]))
    for t in range(net.steps, 0, -1):
        after = State(carried.hidden + net.errors[t - 1], carried.cell_state)
        pulled = net.cell.pullback(net.weights, at(net.slopes, t - 1), after)
        added = np.add.reduceat(_joined(pulled.hidden_side), starts, axis=0)
        groups += added[:, :, None] * net.trace.hidden[t - 1]
        goes_on = (rng.uniform(size=(int(counts[-1]), 1)) >= stop) / (1 - stop)
        carried = pulled.state.each(partial(np.multiply, goes_on))
    means = groups.cumsum(0) / counts[:, None, None]
    error = np.linalg.norm((means - full).reshape(len(counts), -1), axis=1) / length
    window = min(net.steps, max(1, round(1 / stop)))
    products, sizes = _window_gradients(net, full)
    gap = sizes[window - 1] ** 2 - 2 * products[window - 1] + length**2
    fixed = float(np.sqrt(max(gap, 0))) / length
    return Randomized(counts, error, window, fixed, 1 / stop)


def _known(kind: str) -> None:
    if kind not in TRUNCATIONS:
        raise ValueError(f"There is no truncation called {kind!r}.")


def _tamed(net: Unrolled) -> tuple[Unrolled, float]:
    """Scale the gradient so that its square fits float64; also return log10 of the factor."""
    largest = log_norms(net.cell, net.weights, net.trace, net.errors).hidden.max()
    power = int(max(0.0, float(largest)) / LOG2)
    return replace(net, errors=np.ldexp(net.errors, -power)), power * LOG2


def _full(net: Unrolled) -> tuple[np.ndarray, float]:
    """Return the full gradient of the recurrent weights, and its length."""
    full = backward(net.cell, net.weights, net.trace, net.errors).weights.hidden_hidden
    length = float(np.linalg.norm(full))
    if length == 0:
        raise UserError("zero_gradient", "The full gradient is zero.")
    return full, length


def _lags(net: Unrolled, rows: np.ndarray | None = None) -> Any:
    """Carry the errors of all steps tau back together, one step at a time.

    Yields t of each row, index of each row, and d(pre-activations at t); rows that have reached the
    first step drop out. `rows` are the steps tau; by default those that have an error.
    """
    taus = np.flatnonzero(net.errors.any(axis=1)) + 1 if rows is None else rows
    index = np.arange(len(taus))
    now, carried = taus, State(net.errors[taus - 1], _zeros(net, len(taus)).cell_state)
    while len(now):
        pulled = net.cell.pullback(net.weights, at(net.slopes, now - 1), carried)
        yield now, index, _joined(pulled.hidden_side)
        alive = now > 1
        now, index = now[alive] - 1, index[alive]
        carried = pulled.state.each(itemgetter(alive))


def _window_gradients(net: Unrolled, full: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return <truncated, full> and |truncated| for windows 1 ... T."""
    products, sizes = np.zeros(net.steps), np.zeros(net.steps)
    total = np.zeros_like(full)
    for lag, (now, _, pre) in enumerate(_lags(net)):
        total += pre.T @ net.trace.hidden[now - 1]
        products[lag] = (total * full).sum()
        sizes[lag] = np.linalg.norm(total)
    return products, sizes


def _cut_gradients(net: Unrolled, windows: np.ndarray) -> Float[np.ndarray, "window rows hidden"]:
    """Return the gradient for segments of each length, from one backward pass."""
    carried = _zeros(net, len(windows))
    sides = np.empty((net.steps, len(windows), net.weights.hidden_hidden.shape[0]))
    for t in range(net.steps, 0, -1):
        after = State(carried.hidden + net.errors[t - 1], carried.cell_state)
        pulled = net.cell.pullback(net.weights, at(net.slopes, t - 1), after)
        sides[t - 1] = _joined(pulled.hidden_side)
        open_ = ((t - 1) % windows != 0)[:, None]
        carried = pulled.state.each(partial(np.multiply, open_))
    return np.einsum("twr,th->wrh", sides, net.trace.hidden[:-1], optimize=True)


def _pairs_in_segments(contributes: np.ndarray, window: int) -> int:
    moment = np.flatnonzero(contributes)
    return int((moment % window + 1).sum())


def _log_norm_of_rows(rows: np.ndarray) -> np.ndarray:
    """Return log10 of the norm of each row, also where its square is too small for float64."""
    size = np.abs(rows).max(axis=1)
    return np.log10(size) + np.log10(
        np.linalg.norm(rows / np.where(size > 0, size, 1)[:, None], axis=1)
    )


def _zeros(net: Unrolled, rows: int) -> State:
    zeros = np.zeros((rows, net.weights.hidden))
    return State(zeros, zeros if isinstance(net.trace, LSTMTrace) else None)


def _joined(side: Any) -> np.ndarray:
    return np.concatenate(side, axis=-1) if isinstance(side, tuple) else side
