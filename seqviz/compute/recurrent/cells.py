"""RNN, LSTM and GRU in numpy with every quantity of every step, forward and backward.

PyTorch's fused modules train; this reference implementation shows the intermediate values. For
equal weights both give the same numbers (`tests/compute/recurrent/test_cells.py`: states, gates and
gradients, to 1e-12 in float64).

A cell has three methods:

* `forward`: the states and gates of all steps, as a trace;
* `slopes`: the derivatives of that trace's elementwise parts, for all steps at once;
* `pullback`: one step of backpropagation through time (a vector-Jacobian product). It takes
  dJ/d(state after the step) and returns dJ/d(state before it). Every gradient here is made of it: a
  row of the step's Jacobian is the pullback of a unit vector, and the product of many Jacobians is
  that row pulled back further.

Time comes first, then any batch axes, then units. `hidden[0]` is the initial state, `hidden[t]` the
state after input t, t = 1 ... T; gates and pre-activations have no entry for t = 0, so that
`update_gate[t - 1]` made `hidden[t]`. Conventions that differ between texts and libraries are
fields of the cell; the defaults are PyTorch's. Weights keep PyTorch's layout: blocks of `hidden`
rows, one block per gate, in the order i f g o (LSTM) and r z n (GRU).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

Inputs = Float[np.ndarray, "time *batch input"]
Array = Any  # numpy, or torch on a GPU: `pullback` uses only operations of both


@dataclass(frozen=True)
class RecurrentWeights:
    """Parameters of one layer in one direction, or their gradients.

    Attributes:
        peephole: rows i, f, o (LSTM with peepholes only).
    """

    input_hidden: Float[np.ndarray, "gates_hidden input"]
    hidden_hidden: Float[np.ndarray, "gates_hidden hidden"]
    input_bias: Float[np.ndarray, "gates_hidden"]
    hidden_bias: Float[np.ndarray, "gates_hidden"]
    peephole: Float[np.ndarray, "3 hidden"] | None = None

    @property
    def hidden(self) -> int:
        """Number of units."""
        return self.hidden_hidden.shape[1]

    def block(self, gate: int) -> Float[np.ndarray, "hidden hidden"]:
        """Return the recurrent matrix of one gate."""
        return self.hidden_hidden[gate * self.hidden : (gate + 1) * self.hidden]


class State(NamedTuple):
    """State of a cell between two steps, or its gradient; only the LSTM has a cell state."""

    hidden: Array
    cell_state: Array | None = None

    def each(self, change: Callable[[Array], Array]) -> State:
        """Return the state with every part that is not None changed."""
        return State(*(None if part is None else change(part) for part in self))


class Pulled(NamedTuple):
    """Gradients of one step backward.

    The two sides differ only for a GRU with the reset after the product.

    Attributes:
        state: dJ/d(state before the step).
        input_side: dJ/d(pre-activations) on the input side.
        hidden_side: dJ/d(pre-activations) on the hidden side.
    """

    state: State
    input_side: Array
    hidden_side: Array


@dataclass(frozen=True)
class RNNTrace:
    """States and pre-activations of an RNN."""

    inputs: Inputs
    hidden: Float[np.ndarray, "time_1 *batch hidden"]
    preactivation: Float[np.ndarray, "time *batch hidden"]


@dataclass(frozen=True)
class LSTMTrace:
    """States and gates of an LSTM; `preactivation` has the blocks i, f, g, o."""

    inputs: Inputs
    hidden: Float[np.ndarray, "time_1 *batch hidden"]
    cell_state: Float[np.ndarray, "time_1 *batch hidden"]
    preactivation: Float[np.ndarray, "time *batch 4 hidden"]
    input_gate: Float[np.ndarray, "time *batch hidden"]
    forget_gate: Float[np.ndarray, "time *batch hidden"]
    candidate: Float[np.ndarray, "time *batch hidden"]
    output_gate: Float[np.ndarray, "time *batch hidden"]


@dataclass(frozen=True)
class GRUTrace:
    """States and gates of a GRU; `preactivation` has the blocks r, z, n.

    Attributes:
        recurrent: recurrent term of n, before the reset gate multiplies it (reset "after").
    """

    inputs: Inputs
    hidden: Float[np.ndarray, "time_1 *batch hidden"]
    preactivation: Float[np.ndarray, "time *batch 3 hidden"]
    reset_gate: Float[np.ndarray, "time *batch hidden"]
    update_gate: Float[np.ndarray, "time *batch hidden"]
    candidate: Float[np.ndarray, "time *batch hidden"]
    recurrent: Float[np.ndarray, "time *batch hidden"]


Trace = RNNTrace | LSTMTrace | GRUTrace


def sigmoid(a: Array, out: Array | None = None) -> Array:
    """Return 1 / (1 + e^-a), without overflow and with full relative precision at both ends.

    Args:
        a: input.
        out: array for the result.
    """
    small = np.exp(np.copysign(a, -1.0))  # e^-|a|
    return np.divide(np.exp(np.minimum(a, 0.0)), 1 + small, out)


def sigmoid_slope(a: Array) -> Array:
    """Return the derivative of the sigmoid, s(a) s(-a); it stays nonzero where s rounds to 1."""
    small = np.exp(-np.abs(a))
    return small / (1 + small) ** 2


def tanh_slope(a: Array) -> Array:
    """Return the derivative of tanh as 1 / cosh(a)^2; 1 - tanh(a)^2 would be 0 from |a| = 19 on."""
    return 4 * sigmoid_slope(2 * a)


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": np.tanh,
    "relu": lambda a: np.maximum(a, 0),
    "linear": lambda a: a,
}
_SLOPES: dict[str, Callable[[Array], Array]] = {
    "tanh": tanh_slope,
    "relu": lambda a: (a > 0).astype(a.dtype),
    "linear": np.ones_like,
}


@dataclass(frozen=True)
class RNN:
    """Elman RNN (1990): h_t = phi(W x_t + b + U h_{t-1} + b'); phi is tanh, relu or linear."""

    activation: Literal["tanh", "relu", "linear"] = "tanh"

    blocks = 1  # row blocks of the weights

    class Slopes(NamedTuple):
        """phi' at every step."""

        activation: Array

    def forward(
        self,
        weights: RecurrentWeights,
        inputs: Inputs,
        initial: State,
        forced: None = None,
    ) -> RNNTrace:
        """Return all states; a linear or ReLU network may overflow to infinite states.

        Args:
            weights: parameters.
            inputs: the sequence.
            initial: state before the first step.
            forced: None, because an RNN has no gates.
        """
        phi = _ACTIVATIONS[self.activation]
        from_input = inputs @ weights.input_hidden.T + weights.input_bias + weights.hidden_bias
        back = weights.hidden_hidden.T
        a = np.empty_like(from_input)
        h = _states(initial.hidden, a.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            for t in range(len(inputs)):
                a[t] = from_input[t] + h[t] @ back
                h[t + 1] = phi(a[t])
        return RNNTrace(inputs, h, a)

    def slopes(self, weights: RecurrentWeights, trace: RNNTrace) -> Slopes:
        """Return phi'(a_t).

        Args:
            weights: parameters.
            trace: result of `forward`.
        """
        return self.Slopes(_SLOPES[self.activation](trace.preactivation))

    def pullback(self, weights: RecurrentWeights, slopes: Slopes, after: State) -> Pulled:
        """Return dJ/dh_{t-1} = U^T diag(phi'(a_t)) dJ/dh_t.

        Args:
            weights: parameters.
            slopes: derivatives of the step, see `at`.
            after: dJ/d(state after the step).
        """
        da = slopes.activation * after.hidden
        return Pulled(State(da @ weights.hidden_hidden), da, da)


@dataclass(frozen=True)
class LSTM:
    """LSTM: c_t = f c_{t-1} + i g, h_t = o tanh(c_t), gates i, f, o, candidate g = tanh(...).

    Attributes:
        forget: "learned" (Gers, Schmidhuber and Cummins 2000) or "one", the cell of Hochreiter and
            Schmidhuber (1997): f = 1, its block of the weights is not used.
        output: "tanh", or "linear" for the texts with h_t = o c_t.
        peephole: True where i and f also see c_{t-1}, and o sees c_t (Gers and Schmidhuber 2000),
            each unit its own.
    """

    forget: Literal["learned", "one"] = "learned"
    output: Literal["tanh", "linear"] = "tanh"
    peephole: bool = False

    blocks = 4

    class Slopes(NamedTuple):
        """Elementwise derivatives of an LSTM step.

        Attributes:
            memory: d c_t / d (pre-activations of i, f, g), one block each.
            to_output: d h_t / d a_o.
            to_memory: d h_t / d c_t, through the output's tanh and its peephole.
            retention: f.
        """

        memory: Array
        to_output: Array
        to_memory: Array
        retention: Array

    def forward(
        self, weights: RecurrentWeights, inputs: Inputs, initial: State, forced: Array | None = None
    ) -> LSTMTrace:
        """Return all states and gates.

        Args:
            weights: parameters.
            inputs: the sequence.
            initial: state before the first step.
            forced: see `run`.
        """
        n, peep = weights.hidden, self._peephole(weights)
        from_input = inputs @ weights.input_hidden.T + weights.input_bias + weights.hidden_bias
        back = weights.hidden_hidden.T
        a = np.empty((*from_input.shape[:-1], 4, n), from_input.dtype)
        gates = np.empty_like(a)
        h = _states(initial.hidden, (*from_input.shape[:-1], n))
        c = _states(initial.cell_state, h[1:].shape)
        rows = a.reshape(from_input.shape)
        a_if, a_g, a_o = a[..., :2, :], a[..., 2, :], a[..., 3, :]
        i, f, g, o = np.moveaxis(gates, -2, 0)
        held_ifg, held_o = _held(forced, slice(0, 3), a), _held(forced, slice(3, 4), a)
        for t in range(len(inputs)):
            np.add(from_input[t], h[t] @ back, rows[t])
            if self.peephole:
                a_if[t] += peep[:2] * c[t][..., None, :]
            sigmoid(a[t], gates[t])  # one call for all four blocks; g is overwritten below
            if self.forget == "one":
                f[t] = 1
            np.tanh(a_g[t], g[t])
            _force(gates[t, ..., :3, :], held_ifg, t)
            c[t + 1] = f[t] * c[t] + i[t] * g[t]
            if self.peephole:
                a_o[t] += peep[2] * c[t + 1]
                sigmoid(a_o[t], o[t])
            _force(gates[t, ..., 3:, :], held_o, t)
            np.multiply(o[t], np.tanh(c[t + 1]) if self.output == "tanh" else c[t + 1], h[t + 1])
        return LSTMTrace(inputs, h, c, a, i, f, g, o)

    def slopes(self, weights: RecurrentWeights, trace: LSTMTrace) -> Slopes:
        """Return the elementwise derivatives of both equations.

        Args:
            weights: parameters.
            trace: result of `forward`.
        """
        i, f, g, o = np.moveaxis(trace.preactivation, -2, 0)
        before, after = trace.cell_state[:-1], trace.cell_state[1:]
        forgetting = sigmoid_slope(f) if self.forget == "learned" else np.zeros_like(f)
        memory = np.stack(
            [
                trace.candidate * sigmoid_slope(i),
                before * forgetting,
                trace.input_gate * tanh_slope(g),
            ],
            axis=-2,
        )
        visible = np.tanh(after) if self.output == "tanh" else after
        to_output = visible * sigmoid_slope(o)
        to_memory = trace.output_gate * (tanh_slope(after) if self.output == "tanh" else 1)
        return self.Slopes(
            memory, to_output, to_memory + self._peephole(weights)[2] * to_output, trace.forget_gate
        )

    def pullback(self, weights: RecurrentWeights, slopes: Slopes, after: State) -> Pulled:
        """Return the gradients through h_t into c_t, then along c (times f) and through the gates.

        Args:
            weights: parameters.
            slopes: derivatives of the step, see `at`.
            after: dJ/d(state after the step).
        """
        dc = after.hidden * slopes.to_memory
        if after.cell_state is not None:
            dc = dc + after.cell_state
        da_o = after.hidden * slopes.to_output
        da_ifg = slopes.memory * dc[..., None, :]
        earlier_c = slopes.retention * dc
        if self.peephole:
            peep = self._peephole(weights)
            earlier_c = earlier_c + peep[0] * da_ifg[..., 0, :] + peep[1] * da_ifg[..., 1, :]
        n = weights.hidden
        da_ifg = da_ifg.reshape((*da_ifg.shape[:-2], 3 * n))
        U = weights.hidden_hidden
        earlier_h = da_ifg @ U[: 3 * n] + da_o @ U[3 * n :]
        da = _Blocks((da_ifg, da_o))
        return Pulled(State(earlier_h, earlier_c), da, da)

    def _peephole(self, weights: RecurrentWeights) -> Array:
        if self.peephole and weights.peephole is not None:
            return weights.peephole
        if self.peephole:
            raise ValueError("An LSTM with peepholes needs their weights.")
        return np.zeros((3, 1), weights.hidden_hidden.dtype)


@dataclass(frozen=True)
class GRU:
    """GRU (Cho et al. 2014): h_t = z h_{t-1} + (1 - z) n, gates r, z, candidate n = tanh(...).

    Attributes:
        update: factor of z, the old state ("keep", PyTorch and Cho et al.) or the candidate
            ("write", Chung et al. 2014 and most textbooks); they are equivalent, with z replaced by
            1 - z.
        reset: "after" the product, n = tanh(W x + b + r (U h + b')) (PyTorch, cuDNN), or "before"
            it, n = tanh(W x + b + U (r h) + b') (Cho et al. 2014); these are different networks.
    """

    update: Literal["keep", "write"] = "keep"
    reset: Literal["after", "before"] = "after"

    blocks = 3

    class Slopes(NamedTuple):
        """Elementwise derivatives of a GRU step.

        Attributes:
            retention: factor of h_{t-1} in h_t.
            candidate: d h_t / d a_n.
            update: d h_t / d a_z.
            reset: d a_r after the chain through n, per unit of da_n ("after") or of d(r h)
                ("before").
            opened: r.
        """

        retention: Array
        candidate: Array
        update: Array
        reset: Array
        opened: Array

    def forward(
        self, weights: RecurrentWeights, inputs: Inputs, initial: State, forced: Array | None = None
    ) -> GRUTrace:
        """Return all states and gates.

        Args:
            weights: parameters.
            inputs: the sequence.
            initial: state before the first step.
            forced: see `run`.
        """
        n = weights.hidden
        U, b = weights.hidden_hidden.T, weights.hidden_bias
        from_input = inputs @ weights.input_hidden.T + weights.input_bias
        a = np.empty((*from_input.shape[:-1], 3, n), from_input.dtype)
        gates = np.empty_like(a)
        recurrent = np.empty_like(a[..., 0, :])
        h = _states(initial.hidden, recurrent.shape)
        a_rz, a_n, opened = a[..., :2, :], a[..., 2, :], gates[..., :2, :]
        r, z, n_ = np.moveaxis(gates, -2, 0)
        a.reshape(from_input.shape)[:] = from_input
        held_rz, held_n = _held(forced, slice(0, 2), a), _held(forced, slice(2, 3), a)
        for t in range(len(inputs)):
            if self.reset == "after":
                back = (h[t] @ U + b).reshape(a[t].shape)
                recurrent[t] = back[..., 2, :]
                a_rz[t] += back[..., :2, :]
            else:
                a_rz[t] += (h[t] @ U[:, : 2 * n] + b[: 2 * n]).reshape(a_rz[t].shape)
            sigmoid(a_rz[t], opened[t])
            _force(opened[t], held_rz, t)
            if self.reset == "after":
                a_n[t] += r[t] * recurrent[t]
            else:
                recurrent[t] = (r[t] * h[t]) @ U[:, 2 * n :] + b[2 * n :]
                a_n[t] += recurrent[t]
            np.tanh(a_n[t], n_[t])
            _force(gates[t, ..., 2:, :], held_n, t)
            retained = z[t] if self.update == "keep" else 1 - z[t]
            h[t + 1] = retained * h[t] + (1 - retained) * n_[t]
        return GRUTrace(inputs, h, a, r, z, n_, recurrent)

    def slopes(self, weights: RecurrentWeights, trace: GRUTrace) -> Slopes:
        """Return the elementwise derivatives.

        Args:
            weights: parameters.
            trace: result of `forward`.
        """
        a_r, a_z, a_n = np.moveaxis(trace.preactivation, -2, 0)
        before = trace.hidden[:-1]
        sign = 1 if self.update == "keep" else -1
        retained, write = (
            sigmoid(sign * a_z),
            sigmoid(-sign * a_z),
        )  # both to full relative precision
        return self.Slopes(
            retained,
            write * tanh_slope(a_n),
            sign * (before - trace.candidate) * sigmoid_slope(a_z),
            (trace.recurrent if self.reset == "after" else before) * sigmoid_slope(a_r),
            trace.reset_gate,
        )

    def pullback(self, weights: RecurrentWeights, slopes: Slopes, after: State) -> Pulled:
        """Return the gradients along h and through candidate, update and reset gate.

        Args:
            weights: parameters.
            slopes: derivatives of the step, see `at`.
            after: dJ/d(state after the step).
        """
        n, U = weights.hidden, weights.hidden_hidden
        dh = after.hidden
        da_n, da_z = dh * slopes.candidate, dh * slopes.update
        if self.reset == "after":
            da_r, through_n = da_n * slopes.reset, da_n * slopes.opened
            earlier = dh * slopes.retention + through_n @ U[2 * n :]
        else:
            through_n = da_n
            d_reset_state = da_n @ U[2 * n :]  # with respect to r h_{t-1}
            da_r = d_reset_state * slopes.reset
            earlier = dh * slopes.retention + d_reset_state * slopes.opened
        earlier = earlier + da_r @ U[:n] + da_z @ U[n : 2 * n]
        return Pulled(State(earlier), _Blocks((da_r, da_z, da_n)), _Blocks((da_r, da_z, through_n)))


Cell = RNN | LSTM | GRU


class _Blocks(tuple):
    """Blocks of pre-activations, concatenated only on demand."""

    def joined(self) -> np.ndarray:
        return np.concatenate(self, axis=-1)


@dataclass(frozen=True)
class Gradients:
    """Gradients dJ/d(...) of one layer.

    Attributes:
        hidden: dJ/dh_t through all paths, t = 0 ... T.
        cell_state: dJ/dc_t (LSTM), the path through h_t = o tanh(c_t) included.
        inputs: dJ/dx_t.
    """

    hidden: Float[np.ndarray, "time_1 *batch hidden"]
    cell_state: Float[np.ndarray, "time_1 *batch hidden"] | None
    inputs: Inputs
    weights: RecurrentWeights


def run(
    cell: Cell,
    weights: RecurrentWeights,
    inputs: Inputs,
    initial: State | None = None,
    forced: Float[np.ndarray, "time *batch gates hidden"] | None = None,
) -> Trace:
    """Run a cell over a sequence, in the dtype of the weights.

    Args:
        cell: the cell.
        weights: parameters.
        inputs: the sequence.
        initial: state before the first step; None is zeros.
        forced: values that replace gates and candidate, blocks in the order of the weights, nan
            where a gate is free. The trace then holds forced values beside the pre-activations that
            they override, so `backward` does not apply to it.

    Raises:
        ValueError: the weights do not fit the cell or the inputs, an LSTM lacks a part of its
            initial state, or a forced value is out of the gate's range.
    """
    dtype = weights.hidden_hidden.dtype
    if weights.hidden_hidden.shape[0] != cell.blocks * weights.hidden:
        raise ValueError(
            f"The {type(cell).__name__} with {weights.hidden} units has "
            f"{cell.blocks * weights.hidden} rows of weights, not {weights.hidden_hidden.shape[0]}."
        )
    if inputs.shape[-1] != weights.input_hidden.shape[1]:
        raise ValueError(
            f"The inputs have {inputs.shape[-1]} features, "
            f"the weights expect {weights.input_hidden.shape[1]}."
        )
    if initial is None:
        zeros = np.zeros((*inputs.shape[1:-1], weights.hidden), dtype)
        initial = State(zeros, zeros)
    if isinstance(cell, LSTM) and initial.cell_state is None:
        raise ValueError("An LSTM starts from a hidden state and a cell state.")
    initial = initial.each(lambda part: np.asarray(part, dtype))
    if forced is not None:
        _check_forced(cell, weights, inputs, forced)
        return cell.forward(weights, np.asarray(inputs, dtype), initial, forced)  # type: ignore
    return cell.forward(weights, np.asarray(inputs, dtype), initial)


def backward(
    cell: Cell,
    weights: RecurrentWeights,
    trace: Trace,
    errors: Float[np.ndarray, "time *batch hidden"],
) -> Gradients:
    """Return all gradients by backpropagation through time (Werbos 1990).

    Args:
        cell: the cell.
        weights: parameters.
        trace: result of `run`.
        errors: dJ/dh_t directly from the output of step t; zero where there is no loss.
    """
    slopes: Any = cell.slopes(weights, trace)  # type: ignore[arg-type]
    steps, n = len(errors), weights.hidden
    dh = np.zeros_like(trace.hidden)
    dc = np.zeros_like(trace.hidden) if isinstance(trace, LSTMTrace) else None
    sides = [np.empty((*errors.shape[:-1], cell.blocks * n), errors.dtype) for _ in range(2)]
    carried = State(np.zeros_like(dh[0]), None if dc is None else np.zeros_like(dh[0]))
    for t in range(steps, 0, -1):
        now = at(slopes, t - 1)
        after = State(carried.hidden + errors[t - 1], carried.cell_state)
        dh[t] = after.hidden
        if dc is not None:
            dc[t] = after.cell_state + after.hidden * now.to_memory
        pulled = cell.pullback(weights, now, after)
        for side, part in zip(sides, (pulled.input_side, pulled.hidden_side), strict=True):
            side[t - 1] = part.joined() if isinstance(part, _Blocks) else part
        carried = pulled.state
    dh[0] = carried.hidden
    if dc is not None:
        dc[0] = carried.cell_state
    return Gradients(
        dh, dc, sides[0] @ weights.input_hidden, weight_gradients(cell, weights, trace, *sides)
    )


def weight_gradients(
    cell: Cell,
    weights: RecurrentWeights,
    trace: Trace,
    input_side: np.ndarray,
    hidden_side: np.ndarray,
) -> RecurrentWeights:
    """Return dJ/dW from dJ/d(pre-activations): outer products, summed over time and batch.

    Args:
        cell: the cell.
        weights: parameters.
        trace: result of `run`.
        input_side: shape (time, *batch, gates * hidden).
        hidden_side: the same shape.
    """
    before = trace.hidden[:-1]
    to_hidden = _outer(hidden_side, before)
    if isinstance(cell, GRU) and cell.reset == "before" and isinstance(trace, GRUTrace):
        n = weights.hidden
        to_hidden[2 * n :] = _outer(hidden_side[..., 2 * n :], trace.reset_gate * before)
    peephole = None
    if isinstance(cell, LSTM) and cell.peephole and isinstance(trace, LSTMTrace):
        observed = (trace.cell_state[:-1], trace.cell_state[:-1], trace.cell_state[1:])
        di, df, _, do = np.split(hidden_side, 4, axis=-1)
        axes = tuple(range(di.ndim - 1))
        peephole = np.stack(
            [(d * c).sum(axes) for d, c in zip((di, df, do), observed, strict=True)]
        )
    axes = tuple(range(input_side.ndim - 1))
    return RecurrentWeights(
        _outer(input_side, trace.inputs),
        to_hidden,
        input_side.sum(axes),
        hidden_side.sum(axes),
        peephole,
    )


def jacobians(
    cell: Cell, weights: RecurrentWeights, trace: Trace
) -> Float[np.ndarray, "time *batch state state"]:
    """Return d(state after step t) / d(state before it), t = 1 ... T; an LSTM's is (h, c).

    Row i is the pullback of the i-th unit vector, for all steps at once.

    Args:
        cell: the cell.
        weights: parameters.
        trace: result of `run`.
    """
    slopes: Any = cell.slopes(weights, trace)  # type: ignore[arg-type]
    rows = type(slopes)(*(_row_axis(name, s) for name, s in slopes._asdict().items()))
    n = weights.hidden
    if not isinstance(trace, LSTMTrace):
        unit = np.eye(n, dtype=trace.hidden.dtype)
        return np.asarray(cell.pullback(weights, rows, State(unit)).state.hidden)
    unit = np.eye(2 * n, dtype=trace.hidden.dtype)
    pulled = cell.pullback(weights, rows, State(unit[:, :n], unit[:, n:])).state
    return np.concatenate([pulled.hidden, pulled.cell_state], axis=-1)


def at(slopes: Any, index: Any) -> Any:
    """Return the slopes of one step, or of several (an array of steps becomes a batch).

    Args:
        slopes: slopes of all steps.
        index: index or array of indices, from 0.
    """
    return type(slopes)(*(part[index] for part in slopes))


def as_dtype(weights: RecurrentWeights, dtype: type[np.floating[Any]]) -> RecurrentWeights:
    """Return the weights in another precision.

    Args:
        weights: parameters.
        dtype: the new dtype.
    """
    parts = {f.name: getattr(weights, f.name) for f in fields(weights)}
    return replace(weights, **{k: v.astype(dtype) for k, v in parts.items() if v is not None})


def _check_forced(cell: Cell, weights: RecurrentWeights, inputs: Array, forced: Array) -> None:
    if cell.blocks == 1:
        raise ValueError("An RNN has no gates to force.")
    shape = (*inputs.shape[:-1], cell.blocks, weights.hidden)
    if forced.shape != shape:
        raise ValueError(f"Forced gates have the shape {shape}, not {forced.shape}.")
    with np.errstate(invalid="ignore"):  # nan marks a free gate
        lowest = np.where(np.arange(cell.blocks) == 2, -1, 0)[:, None]  # candidate: g or n
        if (forced < lowest).any() or (forced > 1).any():
            raise ValueError(
                "A gate is forced to a value in [0, 1], a candidate to one in [-1, 1]."
            )


class _Held(NamedTuple):
    """Forced values of some gate blocks, and their mask."""

    values: Float[np.ndarray, "time *batch blocks hidden"]
    where: Bool[np.ndarray, "time *batch blocks hidden"]


def _held(forced: Array | None, blocks: slice, like: Array) -> _Held | None:
    """Return the forced values of these blocks in the dtype of `like`; None where all are free."""
    if forced is None:
        return None
    values = forced[..., blocks, :].astype(like.dtype)
    where = ~np.isnan(values)
    return _Held(values, where) if where.any() else None


def _force(gates: Array, held: _Held | None, step: int) -> None:
    """Replace one step's gates where a value is forced."""
    if held is not None:
        np.copyto(gates, held.values[step], where=held.where[step])


def _states(initial: Array, shape: tuple[int, ...]) -> np.ndarray:
    """Allocate the states of all steps and set the initial one."""
    states = np.empty((shape[0] + 1, *shape[1:]), initial.dtype)
    states[0] = initial
    return states


def _outer(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the outer products summed over time and batch."""
    return left.reshape(-1, left.shape[-1]).T @ right.reshape(-1, right.shape[-1])


def _row_axis(name: str, slope: np.ndarray) -> np.ndarray:
    """Insert an axis for the rows of a Jacobian before the units (and before the LSTM's blocks)."""
    return np.expand_dims(slope, -3 if name == "memory" else -2)
