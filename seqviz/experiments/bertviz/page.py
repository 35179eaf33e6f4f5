"""BertViz' two views as pages that need no other host, for `st.iframe(page.html, page.height)`.

BertViz (Vig, "A Multiscale Visualization of Attention in the Transformer Model", ACL 2019,
https://aclanthology.org/P19-3007) writes HTML that asks a content network for require.js, d3 and
jQuery. Here its drawing script is kept as it is; d3 and jQuery come from `static/`
(`tools/vendor.py`), a few lines stand in for require.js, and its data are written anew: rounded,
once instead of twice, and so that no token can end the block they stand in. The data are in a block
that does not run: the scripts that do are the same on every page, so the server's policy can name
their digests (`bertviz_scripts`, `seqviz.ui.server.policy`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.core.errors import UserError
from seqviz.experiments.bertviz.scripts import (
    FIT,
    MARGIN,
    MARK,
    SCRIPTS,
    VIEWS,
    WIDTH,
    drawing,
)

# Bytes of weights. Each weight is an SVG line as well: on two cores without a GPU a view at its
# limit is drawn in 2 to 5 s (12 heads: 117 tokens; 6 layers of 12 heads: 58).
MAX_PAGE_BYTES = {"head": 1_000_000, "model": 1_500_000}
PER_WEIGHT = 6  # bytes: "0.123" and a comma
MAX_TOKEN_CHARS = (
    80  # letters of a token; BertViz has room for about 14, and sends each token 2 to 6 times
)
ROOT = "bertviz"
COLORS = {
    "light": {"background": "#FFFFFF", "text": "#1B2430"},
    "dark": {"background": "#11161D", "text": "#E6EAF0"},
}

STYLE = """
html {color-scheme: %(mode)s;}
body {margin: %(margin)dpx; background: %(background)s; color: %(text)s;}
svg {display: block; overflow: visible;}
"""
# Left tokens grow to the left from a fixed line, beyond the picture: room for 7 letters more.
HEAD_STYLE = "#vis {padding-left: 56px;}\n"
# BertViz draws its dark view on black, with axis labels in black, and has no dark head view.
DARK_STYLE = """
:is(svg, rect)[fill="black"] {fill: #11161D;}
rect[fill="#222"] {fill: #1A212B;}
rect.background {fill: #2C3643;}
text:not(.detail, .token) {fill: #E6EAF0;}
"""


@dataclass(frozen=True)
class BertVizPage:
    """A whole HTML document; height: pixels it needs; bytes: its size as it is sent."""

    html: str
    height: int
    bytes: int


def most_tokens(view: str, layers: int, heads: int, pair: bool = False) -> int:
    """How many tokens `page` takes: their weights then need `MOST[view]` bytes or less.

    The head view sends one layer whatever `layers` is. `pair`: two sentences, for which BertViz
    sends everything twice, once whole and once in four quarters.
    """
    maps = heads * (layers if view == "model" else 1) * (2 if pair else 1)
    return math.isqrt(MAX_PAGE_BYTES[view] // (PER_WEIGHT * maps))


def page(
    view: str,
    attention: Float[np.ndarray, "layer head query key"],
    tokens: Sequence[str],
    layer: int = 0,
    second: int | None = None,
    dark: bool = False,
) -> BertVizPage:
    """BertViz' head view of one layer, or its model view of all layers and heads.

    attention: weights between 0 and 1, drawn with three decimals; queries and keys are the same
    tokens. tokens: drawn as they are, the first 80 letters of each. layer: the one that the head
    view shows. second: where the second sentence starts, None for a single one. Equal input gives
    equal bytes.

    Raises ValueError where these do not fit together, and UserError `bertviz_too_long` (tokens,
    limit) above `most_tokens`, before anything is built.
    """
    _check(view, attention, tokens, layer, second)
    layers, heads, length, _ = attention.shape
    limit = most_tokens(view, layers, heads, second is not None)
    if length > limit:
        raise UserError(
            "bertviz_too_long",
            f"BertViz' {view} view takes at most {limit} tokens here, not {length}.",
            tokens=length,
            limit=limit,
        )
    mode = "dark" if dark else "light"
    rendered = _bertviz(view, attention, tokens, layer, second, mode)
    style = STYLE % {"mode": mode, "margin": MARGIN, **COLORS[mode]}
    style += (HEAD_STYLE if view == "head" else "") + (DARK_STYLE if dark else "")
    fit = FIT % {"width": WIDTH} if view == "model" else ""
    html = (
        '<!doctype html>\n<html><head><meta charset="utf-8">\n'
        f"<style>{style}</style>\n{SCRIPTS}</head><body>{_rewritten(rendered)}{fit}</body></html>\n"
    )
    return BertVizPage(html, _height(view, layers, heads, length, second), len(html.encode()))


def _check(
    view: str,
    attention: Float[np.ndarray, "layer head query key"],
    tokens: Sequence[str],
    layer: int,
    second: int | None,
) -> None:
    if view not in VIEWS:
        raise ValueError(f"A view is one of {', '.join(VIEWS)}, not {view}.")
    if attention.ndim != 4 or 0 in attention.shape:
        raise ValueError("Attention has the axes layer, head, query and key, none of them empty.")
    if attention.shape[2:] != (len(tokens), len(tokens)):
        queries, keys = attention.shape[2:]
        raise ValueError(f"Attention of {queries} x {keys} does not fit {len(tokens)} tokens.")
    if not (attention.min() >= 0 and attention.max() <= 1 + 1e-5):  # float32 sums; NaN fails too
        raise ValueError("Attention weights lie between 0 and 1.")
    if not 0 <= layer < len(attention):
        raise ValueError(f"There is no layer {layer}: the {len(attention)} layers start at 0.")
    if second is not None and not 0 < second < len(tokens):
        raise ValueError("The second sentence starts after the first token, at a token.")


def _bertviz(
    view: str,
    attention: Float[np.ndarray, "layer head query key"],
    tokens: Sequence[str],
    layer: int,
    second: int | None,
    mode: str,
) -> str:
    """What BertViz writes, with rounded weights."""
    import torch
    from bertviz import head_view, model_view

    chosen = [layer] if view == "head" else list(range(len(attention)))
    # In float64, where 0.123 is written as such; as float32 it is 0.12300000339746475.
    weights = {i: np.round(attention[i].astype(np.float64), 3)[None] for i in chosen}
    visible = [
        token if len(token) <= MAX_TOKEN_CHARS else token[: MAX_TOKEN_CHARS - 1] + "…"
        for token in tokens
    ]
    # BertViz looks up the layers by their numbers, which it also shows: only those need be there.
    common: dict[str, Any] = {
        "attention": {i: torch.from_numpy(weight) for i, weight in weights.items()},
        "tokens": visible,
        "sentence_b_start": second,
        "prettify_tokens": False,
        "include_layers": chosen,
        "html_action": "return",
    }
    if view == "head":
        return head_view(layer=layer, **common).data
    return model_view(display_mode=mode, **common).data


def _rewritten(html: str) -> str:
    """BertViz' HTML without require.js, its random name and the second copy of its data.

    The script reads `const params = <data>; // HACK: <data> is a template marker ...`: BertViz
    fills in the comment as well. The data are ASCII (`json.dumps`), so no line separator or quote
    ends a string early; `<` is written as an escape, so that neither `</script` nor `<!--` is in
    them. The script hands tokens to d3's `.text()` only, never to anything that reads HTML.
    """
    _, _, body = html.partition("</script>")
    before, opening, script = body.partition('<script type="text/javascript">')
    params, _ = json.JSONDecoder().raw_decode(script.partition(MARK)[2])
    before = before.replace(params["root_div_id"], ROOT)
    params["root_div_id"] = ROOT
    data = json.dumps(params, separators=(",", ":")).replace("<", "\\u003c")
    block = f'<script type="text/plain" id="data">\n{MARK}{data};\n</script>\n'
    return f"{before}{block}{opening}{drawing(script)}"


def _height(view: str, layers: int, heads: int, length: int, second: int | None) -> int:
    """Pixels: the sizes that BertViz' scripts compute, the row of choices above, the margins."""
    if view == "head":
        return math.ceil(30 + 22.5 * length) + 26 + 2 * MARGIN
    thumbnails = layers * (length * 7 * 12 / heads + 10) + 38
    detail = 18 * length + 55
    choices = 26 if second is not None else 0
    return math.ceil(max(thumbnails, detail)) + choices + 2 * MARGIN
