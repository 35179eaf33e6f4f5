"""The bundled networks of the lesson "Gates", by name."""

from seqviz.experiments.gates.networks import (
    CELLS,
    Symbols,
    SymbolsOfEach,
    SymbolsOfPair,
    by_length,
    by_temperature,
    compare,
    expect,
    observe,
    pair,
    read_tempered,
    search,
)
