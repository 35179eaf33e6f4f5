"""The bundled networks by name: what `seqviz.compute.gates` does, for a notebook or a page."""

from __future__ import annotations

from seqviz.compute.gates import observation
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import Comparison, Expectation, Observation
from seqviz.models.checkpoints import load


def observe(
    network: str,
    text: str,
    symbol: str = "h",
    by: str = "unit",
    feature: str = "position",
    clamps: tuple[Clamp, ...] = (),
) -> Observation:
    """`seqviz.compute.gates.observation.observe` on a bundled network, "sentiment_lstm" for one."""
    return observation.observe(load(network), text, symbol, by, feature, clamps)


def compare(network: str, text: str) -> Comparison:
    """`seqviz.compute.gates.observation.compare` on a bundled network."""
    return observation.compare(load(network), text)


def expect(networks: tuple[str, ...], text: str, first: str, second: str) -> Expectation:
    """`seqviz.compute.gates.observation.expect` on bundled character models."""
    return observation.expect([load(name) for name in networks], text, first, second)
