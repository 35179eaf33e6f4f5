"""The bundled networks by name: what `seqviz.compute.gates` does, for a notebook or a page."""

from __future__ import annotations

from typing import Annotated

from seqviz.compute.gates import agreement, lengths, observation, searching, tasks, tempering
from seqviz.compute.gates.agreement import AgreementPair
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.lengths import ByLength
from seqviz.compute.gates.observation import Expectation, Observation, VariantComparison
from seqviz.compute.gates.searching import UnitSearch
from seqviz.compute.gates.tempering import ByTemperature, Tempered
from seqviz.compute.gates.tiny_results import recommended
from seqviz.models.checkpoints import load
from seqviz.models.texts import ReadBy


def _symbols_read(network: str | tuple[str, ...], text: str) -> int:
    """How many symbols of a text are read by a bundled network, or by several together."""
    names = (network,) if isinstance(network, str) else network
    return sum(observation.symbols_read(load(name), text) for name in names)


def _symbols_of_pair(networks: tuple[str, ...], text: str) -> int:
    """The same of a sentence that is read again with each noun of `agreement.NOUNS`."""
    return (len(agreement.NOUNS) + 1) * _symbols_read(networks, text)


Symbols = Annotated[str, ReadBy("network", _symbols_read)]
SymbolsOfEach = Annotated[str, ReadBy("networks", _symbols_read)]
SymbolsOfPair = Annotated[str, ReadBy("networks", _symbols_of_pair)]
CELLS = ("lstm", "gru")


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


def compare(network: str, text: Symbols) -> VariantComparison:
    """`seqviz.compute.gates.observation.compare` on a bundled network."""
    return observation.compare(load(network), text)


def expect(
    networks: tuple[str, ...], text: SymbolsOfEach, first: SymbolsOfEach, second: SymbolsOfEach
) -> Expectation:
    """`seqviz.compute.gates.observation.expect` on bundled character models."""
    return observation.expect([load(name) for name in networks], text, first, second)


def pair(
    networks: tuple[str, ...],
    text: SymbolsOfPair,
    other: SymbolsOfPair,
    first: SymbolsOfEach,
    second: SymbolsOfEach,
) -> AgreementPair:
    """`seqviz.compute.gates.agreement.pair` on bundled character models."""
    return agreement.pair([load(name) for name in networks], text, other, first, second)


def search(network: str, text: Symbols, other: Symbols, symbol: str, feature: str) -> UnitSearch:
    """`seqviz.compute.gates.searching.search` on two texts that a bundled network reads."""
    first, second = (observation.observe(load(network), item, symbol) for item in (text, other))
    return searching.search(first, second, feature)


def read_tempered(network: str, symbol: str, temperature: float, added: float) -> Tempered:
    """`seqviz.compute.gates.tempering.read_tempered` on the example of a bundled tiny network."""
    result = load(network)
    example = tasks.EXAMPLES[result.kind]
    return tempering.read_tempered(result, example, symbol, temperature, added)


def by_temperature(network: str, temperatures: tuple[float, ...], added: float) -> ByTemperature:
    """`seqviz.compute.gates.tempering.by_temperature` on sequences as long as its training's."""
    result = load(network)
    length = recommended(result.kind, result.cell).length
    return tempering.by_temperature(result, temperatures, added, length)


def by_length(task: str) -> ByLength:
    """`seqviz.compute.gates.lengths.by_length` on the two bundled networks of a task."""
    networks = [load(f"{task}_{cell}") for cell in CELLS]
    return lengths.by_length(networks, recommended(task, CELLS[0]).length)
