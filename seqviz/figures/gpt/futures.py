"""All continuations of a prompt as a tree, and the texts that three ways of decoding take in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.gpt.futures import ContinuationTree
from seqviz.compute.gpt.ways import DecodingComparison
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short
from seqviz.plotting.tree import Tree, TreePath, draw_tree

_LONGEST = 10  # characters of a token
_LEFT, _RIGHT = (0.0, 0.74), (0.82, 0.97)


def all_futures(
    decoding_comparison: DecodingComparison, visible: int, style: Style = STYLE
) -> Figure:
    """The `visible` most probable beginnings as a tree, with the ways of greedy, beam and draws.

    A node is as large as the way to it is probable. Right the probability of each whole text or
    beginning at the end of a row, of 100%, on a log axis.
    """
    text, palette = style.text, style.palette
    tree, existing = decoding_comparison.tree, decoding_comparison.ids
    paths = {name: [tree.nodes(ids) for ids in some] for name, some in existing.items()}
    best = tree.path_to(tree.best)
    first = np.argsort(-tree.log, kind="stable")[:visible].tolist()
    every = [*first, *best, *(node for some in paths.values() for path in some for node in path)]
    full = _tree(tree)
    part, new = full.part(every)
    sheet = Sheet(style)
    rows, _ = part.layout()
    top = float(rows.max())
    panel = sheet.panel(
        axes.axis(text("figure.future_token"), range=[-0.6, tree.steps + 0.6], showgrid=False,
                  tickvals=list(range(1, tree.steps + 1)), zeroline=False),
        axes.axis(text("figure.future_row"), range=[top + 0.7, 0.1], showgrid=False,
                  showticklabels=False, zeroline=False),
        across=_LEFT,
    )  # fmt: skip
    names = {name: text(f"figure.future_{name}") for name in ("best", "sample", "beam", "greedy")}

    def tree_path(name: str, nodes: Sequence[int], color: str, dash: str, width: float) -> TreePath:
        return TreePath(names[name], [new[node] for node in nodes], color, dash, width)

    draw_tree(
        panel, part, text("figure.future_prompt"), text("figure.future_node"),
        text("figure.future_hover", piece="%{hovertext}", chance="%{customdata:.3g}"),
        [
            tree_path("best", best, palette.highlight, "solid", 7.0),
            *(tree_path("sample", item, palette.baseline, "dot", 1.5) for item in paths["sample"]),
            tree_path("beam", paths["beam"][0], palette.gru, "solid", 3.5),
            tree_path("greedy", paths["greedy"][0], palette.rnn, "dash", 2.5),
        ],
    )  # fmt: skip
    leaves = sorted(set(range(len(rows))) - set(part.parent.tolist()), key=lambda node: rows[node])
    probabilities = 100 * part.probability[leaves]
    beside = sheet.panel(
        axes.decades(np.log10(probabilities), text("figure.future_chance"), ticks=2),
        panel,
        across=_RIGHT,
    )
    beside.points(
        probabilities,
        rows[leaves],
        text("figure.future_chance"),
        palette.prediction,
        size=8,
        legend=False,
        hover="%{x:.3g}%",
    )
    return sheet.described(
        "alt.futures",
        steps=tree.steps,
        covered=tree.covered,
        best=escape("".join(tree.pieces[node] for node in best)),
        best_chance=decoding_comparison.best_probability,
        greedy=decoding_comparison.greedy_probability,
        beam=decoding_comparison.beam_probability,
    )


def futures_so_far(tree: ContinuationTree, visible: int, style: Style = STYLE) -> Figure:
    """The tree while it grows, without ways."""
    text = style.text
    first = np.argsort(-tree.log, kind="stable")[:visible].tolist()
    part, _ = _tree(tree).part(first)
    sheet = Sheet(style)
    top = float(part.layout()[0].max())
    panel = sheet.panel(
        axes.axis(text("figure.future_token"), range=[-0.6, tree.steps + 0.6], showgrid=False,
                  tickvals=list(range(1, tree.steps + 1)), zeroline=False),
        axes.axis(text("figure.future_row"), range=[top + 0.7, 0.1], showgrid=False,
                  showticklabels=False, zeroline=False),
    )  # fmt: skip
    draw_tree(
        panel, part, text("figure.future_prompt"), text("figure.future_node"),
        text("figure.future_hover", piece="%{hovertext}", chance="%{customdata:.3g}"), [],
    )  # fmt: skip
    return sheet.described("alt.futures_so_far", passes=tree.passes, covered=tree.covered)


def _tree(tree: ContinuationTree) -> Tree:
    names = tuple(escape(short(piece, _LONGEST)) for piece in tree.pieces)
    return Tree(tree.parent, tree.depth, np.exp(tree.log), names)
