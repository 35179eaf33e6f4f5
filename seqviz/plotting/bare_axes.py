"""`bare_axes`: the axes of a figure without its data."""

from __future__ import annotations

from collections.abc import Sequence

from seqviz.plotting.figure import Figure

# Properties of layout and axes that say nothing about the data.
_LAYOUT = (
    "height", "margin", "font", "paper_bgcolor", "plot_bgcolor", "template", "separators",
)  # fmt: skip
_AXIS = ("title", "type", "domain", "anchor", "side", "overlaying", "color", "linecolor")
# Empty values of ticks and not hidden labels: a title keeps its distance from the axis.
_BARE = {"tickvals": [], "showgrid": False, "zeroline": False, "showline": True}


def bare_axes(figure: Figure, message: str, visible: Sequence[int] = ()) -> Figure:
    """Return the axes of a figure with some of its traces, and a message in the first panel.

    Without traces ranges and ticks are left out as well, since they follow the data.

    Args:
        figure: the figure.
        message: text in place of the data.
        visible: indices of the traces to keep.
    """
    page = {key: figure.page[key] for key in _LAYOUT if key in figure.page}
    for key, axis in figure.page.items():
        if key.startswith(("xaxis", "yaxis")):
            bare = {name: axis[name] for name in _AXIS if name in axis} | _BARE
            page[key] = axis if visible else bare
    x_names, y_names = (
        [letter + key[5:] for key in page if key.startswith(f"{letter}axis")] for letter in "xy"
    )
    # Plotly draws no axis that no trace uses.
    empty = [{"type": "scatter", "x": [], "y": [], "xaxis": x, "yaxis": y, "showlegend": False}
             for x, y in zip(x_names, y_names, strict=False)]  # fmt: skip
    first = (f"{x_names[0]} domain", f"{y_names[0]} domain") if empty else ("paper", "paper")
    note = {"text": message, "showarrow": False, "xref": first[0], "yref": first[1],
            "x": 0.5, "y": 0.5}  # fmt: skip
    page |= {"annotations": [note], "showlegend": bool(visible)}
    return Figure([*(figure.traces[at] for at in visible), *empty], page)
