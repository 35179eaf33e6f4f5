"""Tree diagrams with probabilities: node area is probability, leaves are stacked vertically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

import numpy as np
from jaxtyping import Float, Int

from seqviz.plotting.panel import Panel

_SMALLEST, _LARGEST = 4.0, 22.0  # node diameters in pixels
_ROOM = 4.3  # ems of a label between two columns of the tree
_LIFT = 0.13  # rows between a label and the line below it


@dataclass(frozen=True)
class Tree:
    """Tree below an implicit root; parents precede their children.

    Attributes:
        parent: index of the parent; -1 for the root.
        depth: distance from the root; 1 for its children.
        probability: probability of the path to each node, in [0, 1].
        names: node labels, escaped.
    """

    parent: Int[np.ndarray, "node"]
    depth: Int[np.ndarray, "node"]
    probability: Float[np.ndarray, "node"]
    names: tuple[str, ...]

    def part(self, nodes: Sequence[int]) -> tuple[Tree, dict[int, int]]:
        """Return the subtree of these nodes and their ancestors, and the new index of each node."""
        retained: set[int] = set()
        for node in nodes:
            while node >= 0 and node not in retained:
                retained.add(node)
                node = int(self.parent[node])
        order = sorted(retained)
        new = {old: index for index, old in enumerate(order)} | {-1: -1}
        tree = Tree(
            np.array([new[int(self.parent[old])] for old in order], int),
            self.depth[order],
            self.probability[order],
            tuple(self.names[old] for old in order),
        )
        return tree, new

    def layout(self) -> tuple[Float[np.ndarray, "node"], float]:
        """Return the row of each node and of the root.

        Leaves are in rows 1, 2, ..., children in order of decreasing probability.
        """
        children: dict[int, list[int]] = {}
        for node, above in enumerate(self.parent.tolist()):
            children.setdefault(above, []).append(node)
        rows, last, at_root = np.zeros(len(self.parent)), 0, 1.0
        left = [(-1, False)]
        while left:
            node, done = left.pop()
            below = sorted(children.get(node, []), key=lambda item: -self.probability[item])
            if below and not done:
                left += [(node, True), *((item, False) for item in below[::-1])]
                continue
            if below:
                at = float(rows[below[0]])  # level with its most probable child
            else:
                last += 1
                at = float(last)
            if node >= 0:
                rows[node] = at
            else:
                at_root = at
        return rows, at_root


@dataclass(frozen=True)
class TreePath:
    """Highlighted path through a tree.

    Attributes:
        name: legend entry.
        nodes: indices of the nodes, from the first one below the root.
        color: CSS color.
        dash: Plotly dash style.
        width: line width in pixels.
    """

    name: str
    nodes: Sequence[int]
    color: str
    dash: str = "solid"
    width: float = 2.0


def draw_tree(
    panel: Panel, tree: Tree, root: str, name: str, hover: str, paths: Sequence[TreePath]
) -> None:
    """Draw a tree with depth on the x axis and the rows of `Tree.layout` on the y axis.

    Args:
        panel: panel to draw on.
        tree: the tree.
        root: label of the root, escaped.
        name: name of the trace of nodes.
        hover: Plotly hover template of the nodes; `customdata` is the probability in percent.
        paths: highlighted paths; those with the same name share a legend entry.
    """
    palette, scale = panel.style.palette, panel.style.scale
    rows, at_root = tree.layout()

    def through(nodes: Sequence[int]) -> tuple[list[float], list[float]]:
        across = [0.0, *(float(tree.depth[node]) for node in nodes)]
        return across, [at_root, *(float(rows[node]) for node in nodes)]

    above = np.append(rows, at_root)[tree.parent]  # the root has index -1
    gap = np.full(len(rows), np.nan)
    x = np.stack([tree.depth - 1.0, tree.depth, gap], 1).ravel()
    y = np.stack([above, rows, gap], 1).ravel()
    panel.line(x, y, name, palette.grid, width=1.5, legend=False, hover=False)
    named: set[str] = set()
    for path in paths:
        panel.line(*through(path.nodes), path.name, path.color, dash=path.dash, width=path.width,
                   hover=False, legend=path.name not in named)  # fmt: skip
        named.add(path.name)
    size = np.clip(_LARGEST * np.sqrt(tree.probability), _SMALLEST, None) * scale
    panel.points(
        tree.depth, rows, name, palette.prediction, size=size, legend=False,
        edge={"color": palette.grid, "width": 1}, customdata=100 * tree.probability,
        hovertext=list(tree.names), hover=hover,
    )  # fmt: skip
    names, depths = [root, *tree.names], [0, *tree.depth.tolist()]
    heights = [at_root, *rows.tolist()]
    panel.marks_text(
        depths, [height - _LIFT for height in heights], names,
        textposition=_sides(names, depths, heights), cliponaxis=False,
        textfont={"size": 12 * scale, "color": palette.truth},
    )  # fmt: skip


def _sides(names: Sequence[str], depths: Sequence[int], rows: Sequence[float]) -> list[str]:
    """Return the position of each label: above its node, or aside where two would collide.

    Of two long labels in a row the first moves to the left if nothing is there, otherwise the
    second to the right if it is the last.
    """
    sides = ["top center"] * len(names)
    at = dict(zip(zip(rows, depths, strict=True), range(len(names)), strict=True))
    widths = [_ems(name) for name in names]
    for (row, depth), node in at.items():
        after = at.get((row, depth + 1))
        if after is None or (widths[node] + widths[after]) / 2 < _ROOM:
            continue
        if (row, depth - 1) not in at:
            sides[node] = "top left"
        elif (row, depth + 2) not in at:
            sides[after] = "top right"
    return sides


def _ems(name: str) -> float:
    """Return the width of a label: the sign of a space and Chinese characters are wide."""
    return sum(0.9 if char in "␣…" or char >= "\u2e80" else 0.55 for char in unescape(name))
