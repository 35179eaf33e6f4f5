"""Jacobians between all pairs of steps: effect of the state at t on the state at tau > t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.recurrent import LSTMTrace, State, as_dtype, at
from seqviz.compute.vanishing_gradients.experiment import GradientExperiment, Unrolled, unroll
from seqviz.core.units import Log10

NORMS = ("rms", "largest")
STATE_PARTS = ("hidden", "cell_state")
_CELLS = 100  # more rows and columns cannot be distinguished on a screen
_FLOPS = 2e10  # about half a second of float32 products on one core
_SVD_SECONDS, _SVD_BUDGET = 1.3e-9, 0.6  # a d x d matrix takes about 1.3 ns d^3 on one core


@dataclass(frozen=True)
class PairNorms:
    """log10 of a norm of d(state at later) / d(state at earlier) for pairs of steps.

    Attributes:
        log10: nan where later < earlier; 0 on the diagonal, where the Jacobian is the identity.
        steps: steps of the rows and columns: all, or every `stride`-th.
    """

    log10: Float[np.ndarray, "later earlier"]
    steps: Int[np.ndarray, "later"]
    stride: int


@dataclass(frozen=True)
class PairSpectrum:
    """log10 of all singular values of d(state at later) / d(state at earlier), largest first.

    Attributes:
        log10: the logarithms; nan for the lost ones.
        lost: number of values so far below the largest (a factor 1e-15) that float64 does not
            resolve them.
    """

    log10: Float[np.ndarray, "hidden"]
    lost: int

    @property
    def resolved(self) -> Float[np.ndarray, "value"]:
        """Logarithms of the values that are neither lost nor exactly zero."""
        return self.log10[np.isfinite(self.log10)]

    @property
    def largest(self) -> Log10:
        """log10 of the largest; -inf where all are zero."""
        return float(self.resolved.max(initial=-np.inf))

    @property
    def smallest(self) -> Log10:
        """log10 of the smallest that is resolved; -inf where all are zero."""
        return float(self.resolved[-1]) if self.resolved.size else -np.inf

    @property
    def strong(self) -> int:
        """Number of values of at least a hundredth of the largest; 0 where all are zero."""
        return int((self.resolved >= self.largest - 2).sum())

    @property
    def digits(self) -> int:
        """Significant digits of the smallest, 1 to 3: float64 has 15 of the largest."""
        observed = self.resolved
        return int(np.clip(15 - np.ptp(observed), 1, 3)) if observed.size else 1


def pair_norms(
    experiment: GradientExperiment,
    part: str = "hidden",
    norm: str = "rms",
    stride: int | None = None,
    device: str = "cpu",
) -> PairNorms:
    """Return the norm of dh_tau/dh_t, or of dc_tau/dc_t of an LSTM, for all pairs t <= tau.

    An LSTM's h_t and c_t are two parts of one state: one is varied, the other held constant.

    The Jacobian of each stretch of `stride` steps is the pullback of the unit vectors; then the
    products that end in different steps are extended together, one matrix product a stretch.

    Args:
        experiment: the experiment.
        part: "hidden" for h or "cell_state" for c.
        norm: "rms", the root of the mean squared singular value (the Frobenius norm over sqrt(d):
            the mean growth of an error of random direction), or "largest", the largest singular
            value.
        stride: distance of the steps taken; None for one that takes about half a second.
        device: torch device of the products, in float32 with a separate power of two.

    Raises:
        ValueError: for an unknown norm or part, or for the cell state of another cell.
    """
    if norm not in NORMS:
        raise ValueError(f"There is no norm {norm!r}.")
    net = _unrolled(experiment, part)
    stride = stride or _affordable(net, norm)
    steps = np.arange(net.steps, 0, -stride)[::-1]  # the last step is always one of them
    blocks, sizes_of_blocks = _stretches(net, steps)
    n, d = len(steps), net.weights.hidden
    first = d if part == "cell_state" else 0  # rows and columns of the part in the state
    own = slice(first, first + d)

    products: Any = np.zeros((n, d, blocks.shape[-1]), np.float32)
    products[:, np.arange(d), first + np.arange(d)] = 1
    logs = np.full((n, n), np.nan)
    np.fill_diagonal(logs, 0.0)
    xp, products, matrices, powers, logs = _placed(device, products, blocks, np.zeros(n), logs)
    spare, width = products + 0, products.shape[-1]
    for k in range(n - 1, 0, -1):  # the stretch that ends in steps[k] is crossed backward
        before, after = (item[k:].reshape((-1, width)) for item in (products, spare))
        xp.matmul(before, matrices[k - 1], out=after)
        products, spare = spare, products  # rows before k are the unit vectors in both
        rows = products[k:]
        squares = _squares(rows, logs)
        if norm == "largest":
            sizes = _largest(rows[..., own], logs)
        else:
            sizes = xp.sqrt((squares if d == width else _squares(rows[..., own], logs)) / d)
        powers[k:] += sizes_of_blocks[k - 1]
        with np.errstate(divide="ignore"):
            logs[k:, k - 1] = xp.log10(sizes) + powers[k:]
        full = xp.sqrt(squares)
        is_extreme = (full > 1e9) | ((full < 1e-9) & (full > 0))
        scale = xp.where(is_extreme, full, 1.0)
        # Back to a moderate size, with the power stored separately. To choose rows on a device
        # would wait for it: there, all are divided, most of them by 1.
        which: Any = np.flatnonzero(is_extreme) if xp is np else slice(None)
        rows[which] /= xp.asarray(scale[which], dtype=rows.dtype)[:, None, None]
        powers[k:][which] += xp.log10(scale[which])
    return PairNorms(logs if xp is np else logs.cpu().numpy().astype(float), steps, stride)


def pair_spectrum(
    experiment: GradientExperiment, earlier: int, later: int, part: str = "hidden"
) -> PairSpectrum:
    """Return the singular values of dh_later/dh_earlier or dc_later/dc_earlier.

    Args:
        experiment: the experiment.
        earlier: step, counted from 1.
        later: step, counted from 1.
        part: "hidden" for h or "cell_state" for c.

    Raises:
        ValueError: unless 1 <= earlier <= later <= steps, and as `pair_norms`.
    """
    net = _unrolled(experiment, part)
    if not 1 <= earlier <= later <= net.steps:
        raise ValueError(f"The steps must satisfy 1 <= t <= tau <= {net.steps}.")
    d = net.weights.hidden
    unit, zero = np.eye(d), np.zeros((d, d))
    if isinstance(net.trace, LSTMTrace):
        rows = State(unit, zero) if part == "hidden" else State(zero, unit)
    else:
        rows = State(unit)
    power = 0.0
    for t in range(later, earlier, -1):
        rows = net.cell.pullback(net.weights, at(net.slopes, t - 1), rows).state
        size = max(np.abs(part_).max() for part_ in rows if part_ is not None) or 1.0
        rows = State(*(None if part_ is None else part_ / size for part_ in rows))
        power += np.log10(size)
    matrix: Any = rows.hidden if part == "hidden" else rows.cell_state
    values = np.linalg.svd(matrix, compute_uv=False)
    values = np.where(values > 1e-15 * values[0], values, np.nan)
    return PairSpectrum(np.log10(values) + power, int(np.isnan(values).sum()))


def _unrolled(experiment: GradientExperiment, part: str) -> Unrolled:
    """Run the experiment, if its state has that part."""
    if part not in STATE_PARTS:
        raise ValueError(f"There is no part of the state called {part!r}.")
    net = unroll(experiment)
    if part == "cell_state" and not isinstance(net.trace, LSTMTrace):
        raise ValueError("Only the LSTM has a cell state.")
    return net


def _stretches(net: Unrolled, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return d(state at steps[k + 1]) / d(state at steps[k]) for every k, all stretches at once.

    The matrices have size one, float32, shape (stretch, state, state), with log10 of their true
    sizes.
    """
    d = net.weights.hidden
    gated = isinstance(net.trace, LSTMTrace)
    size = 2 * d if gated else d
    count, stride = len(steps) - 1, int(steps[1] - steps[0]) if len(steps) > 1 else 1
    weights = as_dtype(net.weights, np.float32)
    unit = np.broadcast_to(np.eye(size, dtype=np.float32), (count, size, size))
    rows = State(unit[..., :d], unit[..., d:]) if gated else State(unit)
    logs = np.zeros(count)
    for back in range(stride):
        # The same slopes for all rows of a stretch.
        now = [np.expand_dims(s[steps[1:] - 1 - back], 1).astype(np.float32) for s in net.slopes]
        rows = net.cell.pullback(weights, type(net.slopes)(*now), rows).state
        parts = [part for part in rows if part is not None]
        sizes = np.max([np.abs(part).max((1, 2), initial=0) for part in parts], axis=0)
        sizes[sizes == 0] = 1
        rows = State(*(part / sizes[:, None, None] for part in parts))
        logs += np.log10(sizes)
    return np.concatenate([part for part in rows if part is not None], axis=-1), logs


def _placed(device: str, *arrays: np.ndarray) -> tuple[Any, ...]:
    """Return the namespace for a device, numpy or torch, and the arrays as it needs them.

    Nothing but singular values is read back before the end. Apple's GPU has no float64.
    """
    if device == "cpu":
        return np, *arrays
    import torch

    tensors = [torch.from_numpy(array) for array in arrays]
    single = device.startswith("mps")
    return torch, *((item.float() if single else item).to(device) for item in tensors)


def _squares(matrices: Any, like: Any) -> Any:
    """Return the sum of squares of each matrix, numpy or torch, with the number type of `like`."""
    flat = matrices.reshape((len(matrices), -1))
    if isinstance(matrices, np.ndarray):
        return (flat * flat).sum(1).astype(like.dtype)
    return flat.norm(dim=1).to(like.dtype).square()


def _largest(matrices: Any, like: Any) -> Any:
    """Return the largest singular value of each matrix; LAPACK finds it, on a CPU."""
    if isinstance(matrices, np.ndarray):
        return np.linalg.svd(matrices, compute_uv=False)[:, 0]
    values = np.linalg.svd(matrices.cpu().numpy(), compute_uv=False)[:, 0]
    return like.new_tensor(values)


def _affordable(net: Unrolled, norm: str) -> int:
    """Return the smallest stride with at most `_CELLS` rows whose work stays within the budget."""
    d = net.weights.hidden
    state = 2 * d if isinstance(net.trace, LSTMTrace) else d
    rows = min(_CELLS, net.steps)
    while rows > 2:
        products = rows**2 * d * state**2
        searches = rows**2 / 2 * _SVD_SECONDS * d**3 if norm == "largest" else 0
        if products <= _FLOPS and searches <= _SVD_BUDGET:
            break
        rows -= 1
    return -(-(net.steps - 1) // max(1, rows - 1)) if net.steps > 1 else 1
