"""One head from the inside: the products of a query with the keys, and the way to the weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.figures.grammar.annotations import headline, panel_title
from seqviz.figures.grammar.decades import diverging
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.matrices import NAMED_ROWS
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import numbered, plain, token_axis
from seqviz.text import number

_STYLE = Style()
_WRITTEN = 16  # tokens whose numbers find room above the bars


def products(
    queries: Float[np.ndarray, "token d_k"],
    keys: Float[np.ndarray, "token d_k"],
    pieces: Sequence[str],
    scaled: Float[np.ndarray, "query key"],
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    query: int,
    key: int,
    style: Style = _STYLE,
) -> Figure:
    """From left to right: the query and all keys, their products entry by entry, scores, weights.

    The first row of the left panel is the query's vector. A row of products sums to the score
    before it is divided. query, key: from 1. A click on a row chooses the key (y).
    """
    text, palette = style.text, style.palette
    tokens, d_k = keys.shape
    q = queries[query - 1].astype(np.float64)
    terms = q[None, :] * keys.astype(np.float64)
    rows = np.arange(1, tokens + 1)
    open_to = allowed[query - 1]
    row = np.where(open_to, scaled[query - 1], np.nan).astype(float)
    shares = np.where(open_to, weights[query - 1], np.nan).astype(float)
    dims = np.arange(1, d_k + 1)

    def heat(z: np.ndarray, y: np.ndarray, axis: str, name: str, **more: Any) -> dict[str, Any]:
        limit = float(np.percentile(np.abs(z), 99)) or 1.0
        return {
            "type": "heatmap",
            "x": dims,
            "y": y,
            "z": z.astype(np.float32),
            "zmin": -limit,
            "zmax": limit,
            "colorscale": diverging(style),
            "showscale": False,
            "name": name,
            "xaxis": f"x{axis}",
            "yaxis": f"y{axis}",
            "hovertemplate": text("figure.hover_entry", key="%{y}", entry="%{x}", value="%{z:.4f}")
            + "<extra>%{fullData.name}</extra>",
            **more,
        }

    def bars(x: np.ndarray, axis: str, name: str) -> dict[str, Any]:
        return {
            "type": "bar",
            "orientation": "h",
            "x": x,
            "y": rows,
            "name": name,
            "showlegend": False,
            "xaxis": f"x{axis}",
            "yaxis": f"y{axis}",
            "marker": {
                "color": [palette.highlight if r == key else palette.prediction for r in rows]
            },
            "text": [number(float(v)) if tokens <= _WRITTEN else "" for v in x],
            "textposition": "outside",
            "cliponaxis": False,
            "constraintext": "none",  # or Plotly shrinks long numbers
            "textfont": {"size": 11 * style.scale},
            "hovertemplate": text("figure.hover_bar", key="%{y}", value="%{x:.4f}")
            + "<extra>%{fullData.name}</extra>",
        }

    names = [text(f"figure.parts_{part}") for part in ("keys", "products", "scaled", "weights")]
    # The query's row stands above the keys with a gap of half a row, where 0 is on the axis.
    stacked = np.vstack([q[None, :], keys])
    data = [
        heat(stacked, np.arange(0, tokens + 1), "", names[0], meta="pick"),
        heat(terms, rows, "2", names[1], meta="pick"),
        bars(row, "3", names[2]),
        bars(shares, "4", names[3]),
    ]
    ends = ("", "2", "3", "4")
    domains = ([0, 0.3], [0.33, 0.63], [0.67, 0.8], [0.84, 0.97])
    labels = [f"<b>{plain(pieces[query - 1])}</b> q", *map(plain, pieces)]
    spec = layout(style)
    for place, domain in enumerate(domains):
        end = "" if place == 0 else str(place + 1)
        y: dict[str, Any] = {
            "range": [tokens + 0.5, -0.5],
            "showgrid": False,
            "anchor": f"x{end}",
            "showticklabels": place == 0,
            "title": {"text": text("figure.keys") if place == 0 else ""},
        }
        if tokens <= NAMED_ROWS:
            y |= {"tickvals": list(range(tokens + 1)), "ticktext": labels}
        else:
            y |= numbered(tokens, labels[1:])
            y |= {"tickvals": [0, *y["tickvals"]], "ticktext": [labels[0], *y["ticktext"]]}
        spec[f"yaxis{end}"] = axis_layout(style, **y)
        if place < 2:
            extent: dict[str, Any] = {
                "range": [0.5, d_k + 0.5],
                "tickvals": sorted({1, max(1, d_k // 2), d_k}),
            }
        else:
            values = np.nan_to_num([row, shares][place - 2])
            reach = float(np.abs(values).max(initial=0)) or 1.0
            extent = {"range": [-1.15 * reach if values.min(initial=0) < 0 else 0, 1.5 * reach]}
            extent |= {"nticks": 3}
        spec[f"xaxis{end}"] = axis_layout(
            style,
            domain=domain,
            anchor=f"y{end}",
            showgrid=False,
            title={"text": text("figure.entry") if place < 2 else names[place]},
            **extent,
        )
    spec["shapes"] = [
        {
            "type": "rect",
            "xref": f"x{end} domain",
            "yref": f"y{end}",
            "x0": 0,
            "x1": 1,
            "y0": key - 0.5,
            "y1": key + 0.5,
            "line": {"color": palette.highlight, "width": 2},
        }
        for end in ("", "2")
    ] + [
        {
            "type": "line",
            "xref": "x domain",
            "yref": "y",
            "x0": 0,
            "x1": 1,
            "y0": 0.5,
            "y1": 0.5,
            "line": {"color": palette.truth, "width": 1.5},
        }
    ]
    spec["annotations"] = [
        panel_title(style, end, name) for end, name in zip(ends, names, strict=True)
    ]
    score = float(terms[key - 1].sum())
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.products",
            query=pieces[query - 1],
            key=pieces[key - 1],
            d_k=d_k,
            score=number(score),
            scaled=number(float(row[key - 1])),
            weight=number(float(shares[key - 1])),
        ),
    )


def chain(
    scores: Float[np.ndarray, "query key"],
    scaled: Float[np.ndarray, "query key"],
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    pieces: Sequence[str],
    query: int,
    key: int,
    style: Style = _STYLE,
) -> Figure:
    """From scores to weights for one query, top to bottom: q·k, divided, masked, softmax."""
    text, palette = style.text, style.palette
    open_to = allowed[query - 1]
    stages = {
        "scores": scores[query - 1].astype(float),
        "scaled": scaled[query - 1].astype(float),
        "masked": np.where(open_to, scaled[query - 1], np.nan).astype(float),
        "weights": weights[query - 1].astype(float),
    }
    places = np.arange(1, len(pieces) + 1)
    spec = layout(style)
    data = []
    height, gap = 0.19, 0.08
    for row, (stage, values) in enumerate(stages.items()):
        end = "" if row == 0 else str(row + 1)
        name = text(f"figure.parts_{stage}")
        written = [number(float(v)) if np.isfinite(v) else "−∞" for v in values]
        if stage == "weights":
            written = [
                "< 0.001" if 0 < v < 0.001 else w for v, w in zip(values, written, strict=True)
            ]
        data.append(
            {
                "type": "bar",
                "x": places,
                "y": values,
                "name": name,
                "showlegend": False,
                "meta": "pick",
                "xaxis": "x",
                "yaxis": f"y{end}",
                "marker": {
                    "color": [palette.highlight if p == key else palette.prediction for p in places]
                },
                "text": written if len(pieces) <= _WRITTEN else None,
                "textposition": "outside",
                "cliponaxis": False,
                "constraintext": "none",  # or Plotly shrinks long numbers
                "textfont": {"size": 11 * style.scale},
                "hovertemplate": text("figure.hover_bar", key="%{x}", value="%{y:.4f}")
                + "<extra>%{fullData.name}</extra>",
            }
        )
        finite = values[np.isfinite(values)]
        low, high = float(finite.min(initial=0)), float(finite.max(initial=0))
        reach = (high - low) or 1.0
        top = 1 - row * (height + gap)
        spec[f"yaxis{end}"] = axis_layout(
            style,
            domain=[max(0.0, top - height), top],
            range=[low - (0.35 * reach if low < 0 else 0), high + 0.4 * reach],
            nticks=3,
            title={"text": text(f"figure.axis_{stage}")},
            zeroline=True,
            zerolinecolor=palette.baseline,
        )
        title = panel_title(style, end, name) | {"xref": "paper", "x": 0}
        spec.setdefault("annotations", []).append(title)
        for place in places[~np.isfinite(values)] if len(pieces) <= _WRITTEN else ():
            spec["annotations"].append(
                {
                    "x": int(place), "y": 0, "xref": "x", "yref": f"y{end}", "text": "−∞",
                    "showarrow": False, "yanchor": "bottom",
                    "font": {"size": 11 * style.scale, "color": palette.baseline},
                }
            )  # fmt: skip
    spec["xaxis"] = token_axis(style, pieces, anchor="y4")
    spec["xaxis"]["title"] = {**spec["xaxis"]["title"], "text": text("figure.keys")}
    spec["annotations"].append(
        headline(style, text("figure.of_query", query=plain(pieces[query - 1]), at=query))
    )
    spec["annotations"][-1] |= {"x": 1, "xanchor": "right"}
    best = int(np.argmax(stages["weights"]))
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.chain",
            query=pieces[query - 1],
            key=pieces[key - 1],
            score=number(float(stages["scores"][key - 1])),
            scaled=number(float(stages["scaled"][key - 1])),
            weight=number(float(stages["weights"][key - 1])),
            best=pieces[best],
            most=number(float(stages["weights"][best])),
        ),
        names={"x": pieces},
    )
