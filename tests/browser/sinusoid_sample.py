"""What the page of test_browser_sinusoid.py starts with and says."""

from __future__ import annotations

BENCH = "sample.wave"
VALUES = {
    "positions": 64,
    "d_model": 64,
    "base": 10000.0,
    "layout": "interleaved",
    "position": 5,
    "dimension": 6,
}
LINKED = {**VALUES, "positions": 37, "d_model": 9, "base": 750.0, "layout": "halves"}
WORDS = {
    "exact": "exact value",
    "positions": "Positions",
    "d_model": "Dimensions d",
    "base": "Base",
    "layout": "Sines and cosines",
    "interleaved": "In turn",
    "halves": "In halves",
    "position": "Position p",
    "dimension": "Dimension j",
    "axis_position": "Position p",
    "axis_dimension": "Dimension j",
    "value": "Value",
    "size": "Positions: {positions}; dimensions: {d_model}",
    "join": "; ",
    "some_positions": "one position in {every} shown",
    "some_dimensions": "{shown} dimensions shown",
    "dimension_is": "Dimension {dimension}: ",
    "value_at": "at p = {position}: ",
    "wavelength": "wavelength {wavelength}",
    "crowded": "turns too fast to be drawn as a line",
    "clocks": "Position {position} as hands of clocks, fast to slow: {pairs}",
    "some_clocks": "Position {position} as hands of clocks, fast to slow: {shown} of {pairs}",
    "no_clock": "One sine and no cosine: no clock",
    "cell": "p = {position}, j = {dimension}: {value}",
    "alt": "Dimension {dimension} of {d_model} is {formula}, {wavelength}; at {position}: {value}.",
    "table": "Encoding of position {position}",
}
