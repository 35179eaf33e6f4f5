"""Functions of `seqviz.compute.gates` on bundled networks by name, for notebooks and pages."""

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
    """Return the number of symbols of a text that one or several bundled networks read in all."""
    names = (network,) if isinstance(network, str) else network
    return sum(observation.symbols_read(load(name), text) for name in names)


def _symbols_of_pair(networks: tuple[str, ...], text: str) -> int:
    """Return `_symbols_read` of a sentence read again with each noun of `agreement.NOUNS`."""
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
    """Run `seqviz.compute.gates.observation.observe` on a bundled network.

    Args:
        network: name of the network, such as "sentiment_lstm".
        text: the text.
        symbol: symbol of the gate or state.
        by: order of the units, see `activations.ORDERS`.
        feature: feature of the order "correlation", of `activations.FEATURES`.
        clamps: gates to force.
    """
    return observation.observe(load(network), text, symbol, by, feature, clamps)


def compare(network: str, text: Symbols) -> VariantComparison:
    """Run `seqviz.compute.gates.observation.compare` on a bundled network.

    Args:
        network: name of the network.
        text: the text.
    """
    return observation.compare(load(network), text)


def expect(
    networks: tuple[str, ...], text: SymbolsOfEach, first: SymbolsOfEach, second: SymbolsOfEach
) -> Expectation:
    """Run `seqviz.compute.gates.observation.expect` on bundled character models.

    Args:
        networks: names of the models.
        text: the text.
        first: a possible next word.
        second: another possible next word.
    """
    return observation.expect([load(name) for name in networks], text, first, second)


def pair(
    networks: tuple[str, ...],
    text: SymbolsOfPair,
    other: SymbolsOfPair,
    first: SymbolsOfEach,
    second: SymbolsOfEach,
) -> AgreementPair:
    """Run `seqviz.compute.gates.agreement.pair` on bundled character models.

    Args:
        networks: names of the models.
        text: a sentence.
        other: the sentence with one different word.
        first: a possible next word.
        second: another possible next word.
    """
    return agreement.pair([load(name) for name in networks], text, other, first, second)


def search(network: str, text: Symbols, other: Symbols, symbol: str, feature: str) -> UnitSearch:
    """Run `seqviz.compute.gates.searching.search` on two texts read by a bundled network.

    Args:
        network: name of the network.
        text: first text.
        other: second text.
        symbol: symbol of the gate or state.
        feature: feature to search for.
    """
    first, second = (observation.observe(load(network), item, symbol) for item in (text, other))
    return searching.search(first, second, feature)


def read_tempered(network: str, symbol: str, temperature: float, added: float) -> Tempered:
    """Run `compute.gates.tempering.read_tempered` on the example of a bundled tiny network.

    Args:
        network: name of the network.
        symbol: symbol of the gate or state.
        temperature: temperature of the gates, positive.
        added: number added to the pre-activation of the gate that keeps the state.
    """
    result = load(network)
    example = tasks.EXAMPLES[result.kind]
    return tempering.read_tempered(result, example, symbol, temperature, added)


def by_temperature(network: str, temperatures: tuple[float, ...], added: float) -> ByTemperature:
    """Run `compute.gates.tempering.by_temperature` on sequences of the training length.

    Args:
        network: name of the tiny network.
        temperatures: temperatures of the gates, positive.
        added: number added to the pre-activation of the gate that keeps the state.
    """
    result = load(network)
    length = recommended(result.kind, result.cell).length
    return tempering.by_temperature(result, temperatures, added, length)


def by_length(task: str) -> ByLength:
    """Run `seqviz.compute.gates.lengths.by_length` on the two bundled networks of a task."""
    networks = [load(f"{task}_{cell}") for cell in CELLS]
    return lengths.by_length(networks, recommended(task, CELLS[0]).length)
