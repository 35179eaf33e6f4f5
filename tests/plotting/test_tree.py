"""A tree with probabilities: its rows, its parts, and the lines through it."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.plotting import Sheet, Style, axes
from seqviz.plotting.tree import Tree, TreePath, draw_tree

# a (0.6) with c (0.2) and d (0.4), b (0.3) with e (0.3)
TREE = Tree(
    np.array([-1, -1, 0, 0, 1]),
    np.array([1, 1, 2, 2, 2]),
    np.array([0.6, 0.3, 0.2, 0.4, 0.3]),
    ("a", "b", "c", "d", "e"),
)


def test_tree_layout_places_likelier_child_in_parent_row():
    rows, root = TREE.layout()
    assert rows.tolist() == [1, 3, 2, 1, 3]
    assert root == 1


def test_tree_part_contains_ancestors_of_nodes():
    part, new = TREE.part([4, 2])
    assert part.names == ("a", "b", "c", "e")
    assert part.parent.tolist() == [-1, -1, 0, 1]
    assert [new[old] for old in (0, 1, 2, 4)] == [0, 1, 2, 3]
    assert 3 not in new


def test_draw_tree_draws_every_edge_and_paths_from_root():
    sheet = Sheet(Style())
    panel = sheet.panel(axes.axis("depth"), axes.axis("row"))
    draw_tree(panel, TREE, "root", "node", "%{hovertext}", [
        TreePath("one", [0, 3], "#000"), TreePath("two", [1, 4], "#111"), TreePath("one", [0, 2],
            "#000"),
    ])  # fmt: skip
    edges, *paths = [trace for trace in sheet.traces if trace["mode"] == "lines"]
    ends = np.stack([edges["x"], edges["y"]], 1).reshape(5, 3, 2)
    assert np.isnan(ends[:, 2]).all()
    rows, root = TREE.layout()
    for node, (start, end, _) in enumerate(ends):
        above = TREE.parent[node]
        assert start.tolist() == [TREE.depth[node] - 1, root if above < 0 else rows[above]]
        assert end.tolist() == [TREE.depth[node], rows[node]]
    assert [(list(path["x"]), list(path["y"])) for path in paths] == [
        ([0, 1, 2], [1, 1, 1]), ([0, 1, 2], [1, 3, 3]), ([0, 1, 2], [1, 1, 2]),
    ]  # fmt: skip
    assert [path.get("showlegend", True) for path in paths] == [True, True, False]


def test_draw_tree_node_area_is_proportional_to_probability():
    sheet = Sheet(Style())
    panel = sheet.panel(axes.axis("depth"), axes.axis("row"))
    draw_tree(panel, TREE, "root", "node", "%{hovertext}", [])
    (nodes,) = [trace for trace in sheet.traces if trace["mode"] == "markers"]
    size = np.array(nodes["marker"]["size"])
    assert (size[0] / size[1]) ** 2 == pytest.approx(2)


def test_draw_tree_moves_long_labels_apart():
    """The first of a row to the left, the last to the right; short ones stay above their nodes."""
    parent, depth = np.array([-1, -1, 1, 2, 3]), np.array([1, 1, 2, 3, 4])
    probability, long = np.array([0.9, 0.5, 0.4, 0.3, 0.2]), "␣something"
    center, sides = "top center", []
    for words in ((long, long, "a", "b"), ("a", "b", long, long)):
        sheet = Sheet(Style())
        panel = sheet.panel(axes.axis("depth"), axes.axis("row"))
        tree = Tree(parent, depth, probability, ("c", *words))
        draw_tree(panel, tree, "root", "node", "%{hovertext}", [])
        (labels,) = [trace for trace in sheet.traces if trace["mode"] == "text"]
        sides.append(labels["textposition"])
        assert (np.array(labels["y"]) < [1, 1, 2, 2, 2, 2]).all()  # above the lines
    assert sides == [
        [center, center, "top left", *[center] * 3],
        [*[center] * 5, "top right"],
    ]
