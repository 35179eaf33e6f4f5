"""Networks and signals of the experiments; every cell gets the same input and draws.

The recurrent matrix W that the student chooses is the one through which content passes: the only
one of an RNN, that of the candidate of an LSTM or GRU. The gates keep PyTorch's small uniform
weights and the biases that the student chooses. So cells with one seed differ only in their wiring.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute import ar_fitting
from seqviz.compute.recurrent import GRU, LSTM, RNN, Cell, RecurrentWeights, Trace, run
from seqviz.compute.seeded import seeded
from seqviz.core.errors import UserError

CELLS = ("linear", "rnn", "relu", "lstm", "gru")
INITS = ("gaussian", "orthogonal", "identity", "radius", "non_normal")
SIGNALS = ("random", "adding", "ar", "sentence")
LOSSES = ("last", "mean")

_KINDS: dict[str, Cell] = {
    "linear": RNN("linear"),
    "rnn": RNN("tanh"),
    "relu": RNN("relu"),
    "lstm": LSTM(),
    "gru": GRU(),
}
# Blocks of a gated cell's weights: the one that takes the student's bias, and that of content.
_BIASED, _CONTENT = 1, 2
_EMBEDDING = 16
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)


@dataclass(frozen=True)
class GradientExperiment:
    """One network, one sequence, one loss.

    Attributes:
        cell: "linear", "rnn" (tanh), "relu", "lstm" or "gru".
        steps: length T of the sequence; a sentence has its own, cut at `steps`.
        width: hidden units d.
        init: initialization of W; see `recurrent_matrix`.
        gain: scale of W; see `recurrent_matrix`.
        forget_bias: b_f of the LSTM.
        update_bias: b_z of the GRU in PyTorch's convention (z keeps the state).
        signal: "random" (Gaussian inputs and targets), "adding" (the adding problem), "ar" (an
            AR(1) series and its next value) or "sentence" (next token).
        sentence: text of the signal "sentence".
        loss: "last" (J is the loss of the last step) or "mean" (of all steps).
        shift: added to the last target, where targets are numbers.
    """

    cell: str = "rnn"
    steps: int = 100
    width: int = 32
    init: str = "gaussian"
    gain: float = 1.0
    forget_bias: float = 1.0
    update_bias: float = 0.0
    signal: str = "random"
    sentence: str = ""
    loss: str = "last"
    seed: int = 1
    shift: float = 0.0


@dataclass(frozen=True)
class Signal:
    """Inputs and targets of a network.

    Attributes:
        targets: values (T, output) for the squared error, or token ids (T,) for the cross-entropy.
        labels: input tokens of a sentence.
    """

    inputs: Float[np.ndarray, "time input"]
    targets: np.ndarray
    labels: tuple[str, ...] | None = None

    @property
    def outputs(self) -> int:
        """Number of outputs of the network."""
        return self.targets.shape[1] if self.targets.ndim == 2 else int(self.targets.max()) + 1


@dataclass(frozen=True)
class Unrolled:
    """Forward pass of an experiment; it ends before the first step that leaves float64, if any.

    Attributes:
        errors: dJ/dh_t directly from the output of step t, shape (time, hidden).
        residuals: dJ/dyhat_t, shape (time, output).
        overflow: first step whose state, loss or error has no finite square in float64, or None;
            the sequence ends before it.
    """

    cell: Cell
    weights: RecurrentWeights
    readout: Float[np.ndarray, "output hidden"]
    signal: Signal
    trace: Trace
    errors: Float[np.ndarray, "time hidden"]
    residuals: Float[np.ndarray, "time output"]
    loss: float
    overflow: int | None

    @cached_property
    def slopes(self) -> Any:
        """Derivatives of the elementwise parts, for `cell.pullback`."""
        return self.cell.slopes(self.weights, self.trace)  # type: ignore[arg-type]

    @property
    def steps(self) -> int:
        """Number of steps that were run."""
        return len(self.errors)


def recurrent_matrix(
    init: str, width: int, gain: float, seed: int
) -> Float[np.ndarray, "hidden hidden"]:
    """Return the recurrent matrix W of shape (width, width).

    * "gaussian": independent N(0, gain^2 / width), spectral radius near `gain`.
    * "orthogonal": `gain` times a matrix drawn uniformly from the orthogonal group (Saxe et al.
      2014).
    * "identity": `gain` times I (Le, Jaitly & Hinton 2015).
    * "radius": Gaussian, scaled to spectral radius exactly `gain`.
    * "non_normal": [[0.5, 10], [0, 0.5]] repeated down the diagonal, whatever the gain: largest
      singular value 10.02, spectral radius 0.5.

    Args:
        init: one of the above.
        width: hidden units.
        gain: scale of the matrix.
        seed: seed of the draw.

    Raises:
        ValueError: for an unknown initialization.
    """
    draw = _standard_normal(seed, width)
    if init == "gaussian":
        return gain * draw / np.sqrt(width)
    if init == "orthogonal":
        q, r = np.linalg.qr(draw)
        return gain * q * np.sign(np.diag(r))  # signs fixed: else the draw is not uniform
    if init == "identity":
        return gain * np.eye(width)
    if init == "radius":
        return gain * draw / np.abs(np.linalg.eigvals(draw)).max()
    if init == "non_normal":
        w = 0.5 * np.eye(width)
        w[np.arange(0, width - 1, 2), np.arange(1, width, 2)] = 10
        return w
    raise ValueError(f"There is no initialization called {init!r}.")


@lru_cache(maxsize=4)
def _standard_normal(seed: int, width: int) -> Float[np.ndarray, "hidden hidden"]:
    """Draw the numbers behind W, cached because they are the same for every gain and cell."""
    draw = seeded(seed).standard_normal((width, width))
    draw.setflags(write=False)
    return draw


@lru_cache(maxsize=6)
def _other_weights(
    seed: int, blocks: int, width: int, inputs: int, outputs: int
) -> tuple[np.ndarray, ...]:
    """Draw content's input weights, readout, and the gates' weights on input and state."""
    rng = seeded(seed + 10_000)  # W has the seed itself
    content_in = rng.standard_normal((width, inputs)) / np.sqrt(inputs)
    readout = rng.standard_normal((outputs, width)) / np.sqrt(width)
    bound = 1 / np.sqrt(width)
    shape = blocks, width
    to_input = rng.uniform(-bound, bound, (*shape, inputs))
    to_hidden = rng.uniform(-bound, bound, (*shape, width))
    for part in (result := (content_in, readout, to_input, to_hidden)):
        part.setflags(write=False)
    return result


def network(
    experiment: GradientExperiment, inputs: int, outputs: int
) -> tuple[Cell, RecurrentWeights, np.ndarray]:
    """Return cell, weights and readout W_yh, shape (outputs, width).

    Input weights of the content are N(0, 1 / inputs), the readout is N(0, 1 / width) without a
    bias.

    Args:
        experiment: the experiment.
        inputs: number of inputs.
        outputs: number of outputs.

    Raises:
        ValueError: for an unknown cell.
    """
    if experiment.cell not in _KINDS:
        raise ValueError(f"There is no cell called {experiment.cell!r}.")
    d, cell = experiment.width, _KINDS[experiment.cell]
    rendered = _other_weights(experiment.seed, cell.blocks, d, inputs, outputs)
    content_in, readout, to_input, to_hidden = (
        rendered[0],
        rendered[1],
        *(p.copy() for p in rendered[2:]),
    )
    bias = np.zeros((cell.blocks, d))
    content = _CONTENT if cell.blocks > 1 else 0
    to_input[content] = content_in
    to_hidden[content] = recurrent_matrix(experiment.init, d, experiment.gain, experiment.seed)
    if cell.blocks > 1:
        lstm = experiment.cell == "lstm"
        bias[_BIASED] = experiment.forget_bias if lstm else experiment.update_bias
    rows = cell.blocks * d
    weights = RecurrentWeights(
        to_input.reshape(rows, inputs), to_hidden.reshape(rows, d), bias.ravel(), np.zeros(rows)
    )
    return cell, weights, readout


def signal(experiment: GradientExperiment) -> Signal:
    """Return inputs and targets of the experiment.

    Raises:
        UserError: if a sentence has fewer than three tokens.
        ValueError: for an unknown signal.
    """
    if experiment.signal == "sentence":  # typed by a student, therefore not cached
        rng = seeded(experiment.seed + 20_000)
        tokens = split(experiment.sentence)[: experiment.steps + 1]
        if len(tokens) < 3:
            raise UserError("short_sentence", "The sentence needs at least three words.")
        existing = list(dict.fromkeys(tokens))
        ids = np.array([existing.index(token) for token in tokens])
        vectors = rng.standard_normal((len(existing), _EMBEDDING))
        return Signal(vectors[ids[:-1]], ids[1:], tuple(tokens[:-1]))
    result = _numbers(experiment.signal, experiment.steps, experiment.seed)
    if experiment.shift == 0:
        return result
    targets = result.targets.copy()
    targets[-1] += experiment.shift
    return replace(result, targets=targets)


@lru_cache(maxsize=8)
def _numbers(kind: str, steps: int, seed: int) -> Signal:
    """Return a numeric signal, read-only and cached: it is the same for every cell and gain."""
    rng = seeded(seed + 20_000)
    if kind == "random":
        signal = Signal(rng.standard_normal((steps, 1)), rng.standard_normal((steps, 1)))
    elif kind == "adding":
        values, marks = rng.uniform(0, 1, steps), np.zeros(steps)
        half = max(1, steps // 2)
        marks[[rng.randint(half), half + rng.randint(steps - half)]] = 1
        signal = Signal(np.stack([values, marks], 1), np.cumsum(values * marks)[:, None])
    elif kind == "ar":
        path = ar_fitting.simulate((0.8,), n=steps + 1, seed=seed).values
        signal = Signal(path[:-1, None].copy(), path[1:, None].copy())
    else:
        raise ValueError(f"There is no signal called {kind!r}.")
    for part in (signal.inputs, signal.targets):
        part.setflags(write=False)
    return signal


def split(sentence: str) -> list[str]:
    """Split a sentence at spaces, and Chinese and Japanese characters one by one."""
    return _TOKEN.findall(sentence)


def unroll(experiment: GradientExperiment) -> Unrolled:
    """Run the experiment forward and compute the loss.

    The squared error is J = |y_T - yhat_T|^2, or its mean over the steps; the cross-entropy
    likewise.

    Raises:
        UserError: if the state leaves float64 within two steps.
        ValueError: for an unknown loss.
    """
    if experiment.loss not in LOSSES:
        raise ValueError(f"There is no loss called {experiment.loss!r}.")
    task = signal(experiment)
    cell, weights, readout = network(experiment, task.inputs.shape[1], task.outputs)
    trace = run(cell, weights, task.inputs)
    overflow = _overflow(trace.hidden, readout)
    if overflow is not None:
        if overflow < 3:
            raise UserError(
                "overflow_at_once",
                f"The state leaves float64 at step {overflow}: choose a smaller gain.",
                step=overflow,
            )
        task = Signal(
            task.inputs[: overflow - 1],
            task.targets[: overflow - 1],
            task.labels and task.labels[: overflow - 1],
        )
        trace = run(cell, weights, task.inputs)
    answers = trace.hidden[1:] @ readout.T
    losses, residuals = _losses(answers, task.targets)
    counted = np.full(len(losses), 1 / len(losses))
    if experiment.loss == "last":
        counted = np.zeros(len(losses))
        counted[-1] = 1
    residuals = residuals * counted[:, None]
    return Unrolled(
        cell,
        weights,
        readout,
        task,
        trace,
        residuals @ readout,
        residuals,
        float(losses @ counted),
        overflow,
    )


def _losses(answers: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the loss of each step, and its derivative with respect to the answer."""
    if targets.ndim == 2:
        misses = answers - targets
        return (misses**2).sum(1), 2 * misses
    moment = np.arange(len(targets))
    logs = answers - np.logaddexp.reduce(answers, axis=1, keepdims=True)
    slope = np.exp(logs)
    slope[moment, targets] -= 1
    return -logs[moment, targets], slope


def _overflow(hidden: np.ndarray, readout: np.ndarray) -> int | None:
    """Return the first step whose state, loss or error has no finite square, or None."""
    gain = max(1.0, 2 * float(np.linalg.norm(readout)) ** 2)  # |error| is at most this times |h|
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(((gain * hidden) ** 2).sum(-1))
    return None if finite.all() else int(np.argmin(finite))
