"""Gate temperature: trained networks with a softer or harder sigmoid in their gates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates.activations import OPEN, SHUT, activation
from seqviz.compute.gates.networks import GatedNetwork, accuracy
from seqviz.compute.gates.observation import Observation, observe
from seqviz.compute.gates.tasks import draw, majority, right_answers
from seqviz.compute.recurrent import GRUTrace, LSTMTrace, RecurrentWeights
from seqviz.core.units import Fraction, Share
from seqviz.stats.facts import Facts

# Indices of weight blocks in PyTorch's order: those followed by a sigmoid, and that of the gate
# that keeps (f of an LSTM, z of a GRU).
_GATES = {"lstm": ((0, 1, 3), 1), "gru": ((0, 1), 1)}
_PLACES = {"i": 0, "f": 1, "o": 3, "r": 0, "z": 1}
_TRIED = 200  # sequences


def tempered(network: GatedNetwork, temperature: float, added: float = 0.0) -> GatedNetwork:
    """Return the network with sigma((a + added) / T) in place of sigma(a) in its gates.

    The candidate's tanh is unchanged. As a gate is a sigmoid of a linear map, its rows of the
    weights divided by T are the same network.

    Args:
        network: the network.
        temperature: T > 0 of every gate; near 0 a gate is a step function, far above 1 it is 1/2
            for any input.
        added: added to the pre-activation of the gate that keeps (f, or z of a GRU), like a larger
            bias.

    Raises:
        ValueError: the temperature is not positive.
    """
    if temperature <= 0:
        raise ValueError("A temperature is positive.")
    w, (gates, keeps) = network.weights, _GATES[network.cell]
    blocks = len(w.input_bias) // w.hidden
    factor, shift = np.ones((blocks, w.hidden)), np.zeros((blocks, w.hidden))
    factor[list(gates)] = 1 / temperature
    shift[keeps] = added
    rows = factor.reshape(-1).astype(w.input_bias.dtype)
    bias = (w.input_bias + shift.reshape(-1)).astype(w.input_bias.dtype)
    scaled: RecurrentWeights = replace(
        w,
        input_hidden=rows[:, None] * w.input_hidden,
        hidden_hidden=rows[:, None] * w.hidden_hidden,
        input_bias=rows * bias,
        hidden_bias=rows * w.hidden_bias,
    )
    return replace(network, weights=scaled)


@dataclass(frozen=True)
class Tempered:
    """A network with a softer or harder sigmoid, on one text.

    Attributes:
        seen: observation of the network on the text.
        preactivation: by the gate's symbol, pre-activation before division by the temperature.
    """

    seen: Observation
    ids: Int[np.ndarray, "time"]
    temperature: float
    preactivation: dict[str, Float[np.ndarray, "time hidden"]]

    def right_steps(self) -> Fraction:
        """Return the number of right answers and that of steps that have an answer."""
        finite = ~np.isnan(self.seen.probability)
        given = right_answers(self.seen.kind, self.ids).answers[:, 0]
        return int((self.seen.answer == given)[finite].sum()), int(finite.sum())

    def saturated(self, gate: str) -> Share:
        """Return the share of a gate's values, over units and steps, below 0.1 or above 0.9."""
        values = activation(self.seen.trace, gate)
        return float(((values < SHUT) | (values > OPEN)).mean())


def read_tempered(
    network: GatedNetwork, text: str, symbol: str, temperature: float, added: float = 0.0
) -> Tempered:
    """Observe a text with the network of `tempered`.

    Args:
        network: the network.
        text: the text.
        symbol: gate or state in the observation's `values`.
        temperature: as in `tempered`.
        added: as in `tempered`.

    Raises:
        UserError: "no_text", the text is empty.
    """
    observation = observe(tempered(network, temperature, added), text, symbol)
    result = observation.trace
    assert isinstance(result, (LSTMTrace, GRUTrace))
    by_gate = {
        gate: temperature * result.preactivation[:, _PLACES[gate]].astype(float)
        for gate in observation.gates
    }
    ids = network.encode("".join(observation.pieces)).ids
    return Tempered(observation, ids, temperature, by_gate)


@dataclass(frozen=True)
class ByTemperature:
    """Accuracy of a network on its task by temperature of its gates.

    Attributes:
        accuracy: share of right answers.
        majority: accuracy of the most frequent answer, whatever was read.
        sequences: number of sequences tried.
        length: symbols in a sequence.
    """

    temperature: Float[np.ndarray, "temperature"]
    accuracy: Float[np.ndarray, "temperature"]
    majority: float
    sequences: int
    length: int

    def accuracy_at(self, temperature: float) -> Share:
        """Return the accuracy at the nearest temperature tried, by ratio."""
        far = np.abs(np.log(self.temperature / temperature))
        return float(self.accuracy[int(far.argmin())])

    def compared(self, temperature: float) -> Facts:
        """State the accuracy at a temperature, beside those of the hardest and softest gates."""
        hard, soft = self.temperature[[0, -1]].tolist()
        hardest, softest = self.accuracy[[0, -1]].tolist()
        return Facts(
            t=temperature, n=self.sequences, length=self.length, majority=self.majority,
            accuracy=self.accuracy_at(temperature), hard=hard, hardest=hardest, soft=soft,
            softest=softest,
        )  # fmt: skip


def by_temperature(
    network: GatedNetwork, temperatures: tuple[float, ...], added: float = 0.0, length: int = 16
) -> ByTemperature:
    """Test a network of a small task on 200 new sequences, the same at each temperature.

    Args:
        network: the network.
        temperatures: temperatures to try.
        added: as in `tempered`.
        length: symbols in a sequence.
    """
    batch = draw(network.kind, length, _TRIED, np.random.RandomState([0, 3]))
    right = [accuracy(tempered(network, t, added), batch) for t in temperatures]
    return ByTemperature(np.array(temperatures), np.array(right), majority(batch), _TRIED, length)
