"""Print page of a bench: a figure in grays or colors, with its URL as a QR code.

Plotly draws only in a browser, so the page draws the figure itself; its buttons save it as SVG, and
as PNG at twice the size.
"""

from __future__ import annotations

import json
from html import escape
from urllib.parse import urlencode

import segno

from seqviz.core.i18n import Text
from seqviz.lessons.framework import markdown
from seqviz.plotting.figure import Figure, read
from seqviz.plotting.grayscale import grayscale
from seqviz.plotting.style import LIGHT, LIVE, opaque, recolored
from seqviz.ui.embed.page import colors, question, title
from seqviz.ui.embed.payload import EmbedPayload, lesson_link
from seqviz.ui.embed.request import EmbedRequest
from seqviz.ui.render.share_link import frame_of, svg_code
from seqviz.ui.server.static_files import address

_PAGE = """<!doctype html>
<html lang="{lang}" data-theme="light" data-present="{present}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>{title}</title>
<style>{colors}</style>
{styles}</head>
<body class="print{gray}" data-stem="{stem}"><main>
<h1>{heading}</h1>
<div id="question">{question}</div>
<div id="columns">
<div id="box"><div class="main-figure"><div class="seqviz-chart"></div></div></div></div>
<div id="problem" role="status">{problem}</div>
<dl id="readouts">{readouts}</dl>
<div id="under">{under}</div>
<div id="address"><p>{live_at}<br><a href="{url}">{url}</a></p><div id="code">{code}</div></div>
<footer><span id="origin">{origin}</span><span class="buttons">
<button type="button" data-kind="svg">{svg}</button>
<button type="button" data-kind="png">{png}</button>
<button type="button" data-kind="print">{print}</button>
<a href="{other}">{other_name}</a></span></footer></main>
<script type="application/json" id="payload">{told}</script>
<script type="module" src="{script}"></script>
</body></html>
"""


def page(origin: str, color: bool, embed_request: EmbedRequest, embed_payload: EmbedPayload) -> str:
    """Return the complete document.

    Args:
        origin: scheme and host of the server as the client knows it.
        color: False for grays.
        embed_request: the bench at its settings.
        embed_payload: its output.
    """
    text, bench, payload = Text(embed_request.lang), embed_request.bench, embed_payload.payload
    url = lesson_link(embed_request, origin)
    rendered = {name: payload[name] for name in ("alt", "vega", "component") if name in payload}
    if "figure" in payload:
        rendered["figure"] = _on_paper(read(payload["figure"]), color).to_json()
    own = ["figures/sinusoid.css"] if "component" in payload else []
    css = ["components/slider.css", "bench/equation.css", "embed/embed.css", *own]
    query = (
        dict(embed_request.shared)
        | dict(embed_request.view_parameters)
        | ({} if color else {"color": "true"})
    )
    return _PAGE.format(
        lang=text("frame.language_tag"),
        present=str(embed_request.present).lower(),
        title=escape(frame_of(bench.lesson.slug, bench.name, text)[1]),
        colors=colors(),
        styles="".join(f'<link rel="stylesheet" href="{address(item)}">\n' for item in css),
        gray="" if color else " gray",
        stem=escape(bench.prefix.replace(".", "-")),
        question=question(embed_request, is_paper=True),
        heading=markdown.inline(title(embed_request)),
        live_at=escape(text("embed.live_at")),
        url=escape(url),
        code=_code(url),
        svg=escape(text("frame.svg")),
        png=escape(text("frame.png")),
        print=escape(text("embed.print")),
        other=escape(f"?{urlencode(query)}"),
        other_name=escape(text(f"embed.in_{'grays' if color else 'colors'}")),
        told=json.dumps(rendered, ensure_ascii=False).replace("<", "\\u003c"),
        script=address("embed/print_page.js"),
        origin=escape(payload["origin"]),
        **{name: payload[name] for name in ("problem", "readouts", "under")},
    )


def _on_paper(figure: Figure, color: bool) -> Figure:
    return opaque(recolored(figure, LIVE, LIGHT), LIGHT) if color else grayscale(figure)


def _code(url: str) -> str:
    """Return the QR code; empty where a long text exceeds its capacity."""
    try:
        return svg_code(url, scale=3)
    except segno.DataOverflowError:
        return ""
