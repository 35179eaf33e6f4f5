"""Tree of all continuations of a prompt, with the texts of three decoding methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from seqviz.compute.gpt.futures import ContinuationTree, DecodingComparison
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short
from seqviz.plotting.tree import Tree, TreePath, draw_tree

_LONGEST = 10  # maximum number of characters of a token


def all_futures(
    decoding_comparison: DecodingComparison, visible: int, style: Style = STYLE
) -> Figure:
    """Plot the most probable prefixes as a tree (left), and its leaves' probabilities (right).

    The size of a node shows the probability of its prefix. Lines are the texts of three decoding
    methods. Right: the probability, in percent on a log axis, of the text or prefix at the end of
    each row.

    Args:
        decoding_comparison: tree and texts.
        visible: number of prefixes shown.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.future_"), style.palette
    tree, best = decoding_comparison.tree, decoding_comparison.tree.path_to
    nodes = {
        name: [tree.nodes(ids) for ids in texts] for name, texts in decoding_comparison.ids.items()
    }
    styles: list[tuple[Any, ...]] = [
        ("best", best(tree.best), palette.highlight, "solid", 7.0),
        *(("sample", path, palette.baseline, "dot", 1.5) for path in nodes["sample"]),
        ("beam", nodes["beam"][0], palette.gru, "solid", 3.5),
        ("greedy", nodes["greedy"][0], palette.rnn, "dash", 2.5),
    ]
    part, new = _part(tree, visible, (node for _, path, *_ in styles for node in path))
    paths = [TreePath(label(name), [new[node] for node in path], *look)
             for name, path, *look in styles]  # fmt: skip
    sheet = Sheet(style)
    panel = _draw(sheet, tree, part, paths, across=(0.0, 0.81))
    rows, _ = part.layout()
    leaves = sorted(set(range(len(rows))) - set(part.parent.tolist()), key=lambda node: rows[node])
    probabilities = 100 * part.probability[leaves]
    x = axes.decades(np.log10(probabilities), label("chance"), ticks=2)
    sheet.panel(x, panel, across=(0.87, 0.98)).points(
        probabilities, rows[leaves], label("chance"), palette.prediction, size=8, legend=False,
        hover="%{x:.3g}%",
    )  # fmt: skip
    text = escape("".join(tree.pieces[node] for node in best(tree.best)))
    return sheet.described("alt.futures", text=text, **decoding_comparison.compared())


def futures_so_far(tree: ContinuationTree, visible: int, style: Style = STYLE) -> Figure:
    """Plot the tree while it grows, without texts.

    Args:
        tree: the tree so far.
        visible: number of prefixes shown.
        style: language, theme and scale of the figure.
    """
    sheet = Sheet(style)
    _draw(sheet, tree, _part(tree, visible)[0], [])
    return sheet.described("alt.futures_so_far", tree=tree)


def _part(
    tree: ContinuationTree, visible: int, more: Iterable[int] = ()
) -> tuple[Tree, dict[int, int]]:
    """Return a tree of the most probable nodes and some more, and the new index of each."""
    names = tuple(escape(short(piece, _LONGEST)) for piece in tree.pieces)
    first = tree.most_probable(visible).tolist()
    return Tree(tree.parent, tree.depth, np.exp(tree.log), names).part([*first, *more])


def _draw(
    sheet: Sheet, tree: ContinuationTree, part: Tree, paths: Sequence[TreePath], **domain: Any
) -> Panel:
    label = sheet.style.labels("figure.future_")
    bare = {"showgrid": False, "zeroline": False}
    bottom = float(part.layout()[0].max()) + 0.7
    panel = sheet.panel(
        axes.axis(label("token"), range=[-0.45, tree.steps + 0.45],
                  tickvals=list(range(1, tree.steps + 1)), **bare),
        axes.axis(label("row"), range=[bottom, 0.1], showticklabels=False, **bare),
        **domain,
    )  # fmt: skip
    hover = label("hover", piece="%{hovertext}", chance="%{customdata:.3g}")
    draw_tree(panel, part, label("prompt"), label("node"), hover, paths)
    return panel
