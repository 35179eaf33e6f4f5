"""BertViz's head view and model view as pages that need no other host.

BertViz (Vig, "A Multiscale Visualization of Attention in the Transformer Model", ACL 2019,
https://aclanthology.org/P19-3007) writes HTML that loads require.js, d3 and jQuery from a CDN. Here
its drawing script is unchanged; d3 and jQuery come from `static/` (`tools/vendor.py`), and a few
lines replace require.js. Its data are rewritten: rounded, once instead of twice, and escaped so
that no token can end their block. The data are in a block that is not executed, so the scripts are
the same on every page and the server's content security policy can name their digests
(`bertviz.scripts`, `seqviz.ui.server.policy`). Entry point: `page`, for `st.iframe(page.html,
page.height)`.
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

# Bytes of weights. Each weight is also an SVG line: on two cores without a GPU, a view at its limit
# is drawn in 2 to 5 s (12 heads: 117 tokens; 6 layers of 12 heads: 58).
MAX_PAGE_BYTES = {"head": 1_000_000, "model": 1_500_000}
PER_WEIGHT = 6  # bytes: "0.123" and a comma
MAX_TOKEN_CHARS = 80  # BertViz has room for about 14, and sends each token 2 to 6 times
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
# Tokens on the left extend leftwards from a fixed line, out of the image: room for 7 more letters.
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
    """Complete HTML document.

    Attributes:
        html: the document.
        height: height in pixels.
        bytes: size in UTF-8.
    """

    html: str
    height: int
    bytes: int


def most_tokens(view: str, layers: int, heads: int, pair: bool = False) -> int:
    """Return the number of tokens whose weights fit into `MAX_PAGE_BYTES[view]`.

    Args:
        view: "head" or "model"; the head view sends one layer.
        layers: number of layers.
        heads: number of heads of a layer.
        pair: True for two sentences, for which BertViz sends everything twice, once complete and
            once in four quarters.
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
    """Return BertViz's head view of one layer, or its model view of all layers and heads.

    Equal input gives equal bytes.

    Args:
        view: "head" or "model".
        attention: weights in [0, 1], drawn with three decimals; queries and keys are the same
            tokens.
        tokens: tokens, drawn without change and truncated to 80 characters.
        layer: layer that the head view shows.
        second: index of the second sentence's first token; None for a single sentence.
        dark: True for dark colors.

    Raises:
        ValueError: arguments that do not fit together.
        UserError: "bertviz_too_long" (tokens, limit) above `most_tokens`, before anything is built.
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
    if not (attention.min() >= 0 and attention.max() <= 1 + 1e-5):  # float32 sums; NaN fails, too
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
    """Return the HTML written by BertViz, with rounded weights."""
    import torch
    from bertviz import head_view, model_view

    chosen = [layer] if view == "head" else list(range(len(attention)))
    # In float64, 0.123 is written as such; in float32 it is 0.12300000339746475.
    weights = {i: np.round(attention[i].astype(np.float64), 3)[None] for i in chosen}
    visible = [
        token if len(token) <= MAX_TOKEN_CHARS else token[: MAX_TOKEN_CHARS - 1] + "…"
        for token in tokens
    ]
    # BertViz looks up layers by the numbers that it shows, so only those are passed.
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
    """Return BertViz's HTML without require.js, random name and second copy of the data.

    The script reads `const params = <data>; // HACK: <data> is a template marker ...`: BertViz also
    fills in the comment. The data are ASCII (`json.dumps`), so no line separator or quote ends a
    string early; `<` is escaped, so they contain neither `</script` nor `<!--`. The script passes
    tokens only to d3's `.text()`, never to an HTML parser.
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
    """Return the height in pixels: sizes as in BertViz's scripts, controls and margins."""
    if view == "head":
        return math.ceil(30 + 22.5 * length) + 26 + 2 * MARGIN
    thumbnails = layers * (length * 7 * 12 / heads + 10) + 38
    detail = 18 * length + 55
    choices = 26 if second is not None else 0
    return math.ceil(max(thumbnails, detail)) + choices + 2 * MARGIN
