"""`bare_axes`: the axes of a figure without its data."""

from __future__ import annotations

from collections.abc import Sequence

from seqviz.plotting.figure import Figure

# Properties of layout and axes that say nothing about the data.
_LAYOUT = (
    "height", "margin", "font", "paper_bgcolor", "plot_bgcolor", "template", "separators",
)  # fmt: skip
_AXIS = ("title", "type", "domain", "anchor", "side", "overlaying", "color", "linecolor")
STANDOFF = 12  # pixels between an axis and its title
_BARE = {
    "tickvals": [], "showgrid": False, "zeroline": False, "showline": True, "automargin": True,
}  # fmt: skip


def bare_axes(figure: Figure, visible: Sequence[int] = ()) -> Figure:
    """Return the axes of a figure with some of its traces.

    Without traces ranges and ticks are left out as well, since they follow the data.

    Args:
        figure: the figure.
        visible: indices of the traces to keep.
    """
    page = {key: figure.page[key] for key in _LAYOUT if key in figure.page}
    for key, axis in figure.page.items():
        if key.startswith(("xaxis", "yaxis")):
            bare = {name: axis[name] for name in _AXIS if name in axis} | _BARE
            bare["title"] = {**axis.get("title", {}), "standoff": STANDOFF}
            page[key] = axis if visible else bare
    # Plotly draws no axis that no trace uses.
    pairs: set[tuple[str, str]] = set()
    for key, axis in page.items():
        own, other = key[0] + key[5:], axis.get("anchor") if isinstance(axis, dict) else None
        if key.startswith("xaxis"):
            pairs.add((own, other if other not in (None, "free") else "y"))
        elif key.startswith("yaxis"):
            pairs.add((other if other not in (None, "free") else "x", own))
    empty = [
        {"type": "scatter", "x": [], "y": [], "xaxis": x, "yaxis": y, "showlegend": False}
        for x, y in sorted(pairs)
    ]
    page |= {"showlegend": bool(visible)}
    return Figure([*(figure.traces[at] for at in visible), *empty], page)
