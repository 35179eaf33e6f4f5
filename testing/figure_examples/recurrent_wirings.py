"""One cell, seven wirings and a network without tanh, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.wirings.collapse import collapse
from seqviz.compute.recurrent.wirings.graph import WIRINGS, Influence, WiringGraph
from seqviz.compute.recurrent.wirings.notations import written
from seqviz.compute.recurrent.wirings.order import orders
from seqviz.compute.recurrent.wirings.step import steps
from seqviz.figures.recurrent.wirings.collapse import network_beside_convolution
from seqviz.figures.recurrent.wirings.graph import wiring_lit, wirings_beside
from seqviz.figures.recurrent.wirings.step import notation_blocks, one_step, orders_apart
from testing.figure_examples import Example


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    small = steps("0.8 -0.6; 0.6 0.8", "1; 0", "0 0", "2 0; 0 2", "2", 6, "softmax")
    large = steps("1 0 0; 0 1 0; 0 0 1", "1 2; 0 1; 3 -1", "0 0 1", "1 1 1", "-2 1", 3, "sigmoid")
    off, on = collapse(0.0, 1.0, 8, "float64", 1), collapse(1.0, 3.0, 1, "float32", 2)
    order = orders("<b> a & c", "a c <b>", 1)
    beside = tuple(influence_of(wiring) for wiring in WIRINGS.values())
    decoder = influence_of(WiringGraph("lstm", 3, True, "first", "after"))
    plain = influence_of(WiringGraph())
    return (
        Example("one step", one_step, (small, 3, 1), small.h[3, 0]),
        Example("one step, three units", one_step, (large, 1, 3), large.a[0, 2]),
        *(
            Example(f"notation {name}", notation_blocks,
                    (written(small.cell, small.h[2], small.x[2], name),), small.h[3, 1])
            for name in ("s0", "code", "s1", "joined")
        ),
        Example("two orders", orders_apart, (order,), order.apart),
        Example("wirings", wirings_beside, (beside,), sum(item.nonzero[0] for item in beside)),
        Example("a wiring", wiring_lit, (plain, 3), 3),
        Example("a decoder", wiring_lit, (decoder, 2), 1),
        Example("without tanh", network_beside_convolution, (off,), off.superposition),
        Example("with tanh", network_beside_convolution, (on,), on.error),
    )  # fmt: skip


def influence_of(wiring: WiringGraph) -> Influence:
    """What a network of this wiring might show."""
    there = wiring.reach()
    norm = np.random.RandomState(0).uniform(1e-4, 0.3, there.shape) * there
    return Influence(wiring, norm, np.zeros(0), 5, 16)
