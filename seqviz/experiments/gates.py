"""The bundled networks by name: what `seqviz.compute.gates` does, for a notebook or a page."""

from __future__ import annotations

from typing import Annotated

from seqviz.compute.gates import observation
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import Comparison, Expectation, Observation
from seqviz.models.checkpoints import load
from seqviz.models.texts import ReadBy


def _symbols_read(network: str | tuple[str, ...], text: str) -> int:
    """How many symbols of a text are read by a bundled network, or by several together."""
    names = (network,) if isinstance(network, str) else network
    return sum(observation.symbols_read(load(name), text) for name in names)


Symbols = Annotated[str, ReadBy("network", _symbols_read)]
SymbolsOfEach = Annotated[str, ReadBy("networks", _symbols_read)]


def observe(
    network: str,
    text: Symbols,
    symbol: str = "h",
    by: str = "unit",
    feature: str = "position",
    clamps: tuple[Clamp, ...] = (),
) -> Observation:
    """`seqviz.compute.gates.observation.observe` on a bundled network, "sentiment_lstm" for one."""
    return observation.observe(load(network), text, symbol, by, feature, clamps)


def compare(network: str, text: Symbols) -> Comparison:
    """`seqviz.compute.gates.observation.compare` on a bundled network."""
    return observation.compare(load(network), text)


def expect(
    networks: tuple[str, ...], text: SymbolsOfEach, first: SymbolsOfEach, second: SymbolsOfEach
) -> Expectation:
    """`seqviz.compute.gates.observation.expect` on bundled character models."""
    return observation.expect([load(name) for name in networks], text, first, second)
