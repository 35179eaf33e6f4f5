"""How gates, states, cells and runs look wherever they are drawn, and what labels say of them."""

from __future__ import annotations

from collections.abc import Sequence

from seqviz.core.i18n import Text
from seqviz.plotting import NAMED

# Of a gate, a candidate or a state by its symbol: role of its color, dash, marker.
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
# Of a cell, whose name is also the role of its color: dash, marker.
CELLS = {"rnn": ("dot", "square"), "gru": ("dash", "diamond"), "lstm": ("solid", "circle")}
_DOTS = 40  # steps up to which each has its own mark
_SPACES = {" ": "␣", "\n": "⏎"}


def visible_symbols(pieces: Sequence[str]) -> tuple[str, ...]:
    """Symbols as labels: what cannot be seen has a sign."""
    return tuple(_SPACES.get(piece, piece) for piece in pieces)


def marked(symbol: str, steps: int) -> str | None:
    """The marker of each point while there are few of them."""
    return symbol if steps <= _DOTS else None


def at_step(text: Text) -> str:
    """What stands over a point of a line over steps."""
    return text("figure.hover_step", token="%{x}", step="%{x:d}", value="%{y:.3g}") + NAMED
