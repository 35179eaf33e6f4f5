"""Colors, dashes, markers and hover texts of gates, states and cells."""

from __future__ import annotations

from collections.abc import Sequence

from seqviz.core.i18n import Text
from seqviz.plotting import NAMED

# Role of the color, dash and marker by symbol of a gate, candidate or state.
LOOKS = {
    "i": ("rnn", "dash", "triangle-up"),
    "f": ("prediction", "solid", "circle"),
    "o": ("mlp", "dot", "square"),
    "r": ("mlp", "dot", "square"),
    "z": ("prediction", "solid", "circle"),
    "c": ("lstm", "solid", "diamond"),
    "h": ("truth", "dash", "circle"),
    "g": ("baseline", "dot", "cross"),
    "n": ("baseline", "dot", "cross"),
}
# Dash and marker of a cell, whose name is also the role of its color.
CELLS = {"rnn": ("dot", "square"), "gru": ("dash", "diamond"), "lstm": ("solid", "circle")}
_DOTS = 40  # maximum number of steps with markers
_SPACES = {" ": "␣", "\n": "⏎"}


def visible_symbols(pieces: Sequence[str]) -> tuple[str, ...]:
    """Return symbols as labels, with a sign for whitespace."""
    return tuple(_SPACES.get(piece, piece) for piece in pieces)


def marked(symbol: str, steps: int) -> str | None:
    """Return the marker, or None for too many steps."""
    return symbol if steps <= _DOTS else None


def at_step(text: Text) -> str:
    """Return the hover template of a point of a line over steps."""
    return text("figure.hover_step", token="%{x}", step="%{x:d}", value="%{y:.3g}") + NAMED
