"""HTML page of an embedded bench, which contains everything that it shows."""

from __future__ import annotations

from functools import cache
from html import escape

import streamlit as st

from seqviz.core.i18n import Text
from seqviz.lessons.framework import markdown
from seqviz.ui.embed.payload import EmbedPayload
from seqviz.ui.embed.request import ANSWERED, EmbedRequest
from seqviz.ui.render.share_link import frame_of
from seqviz.ui.server.static_files import address, base, upright_font

# Preloaded before the page's script requests them: the files of a lesson without Streamlit's.
SCRIPTS = (
    "embed/embed.js", "components/native_controls.js", "bench/chart.js", "bench/live.js",
    "bench/repaint.js", "bench/drag_overlay.js", "bench/viewport.js", "bench/responsive_panels.js",
    "bench/equation.js", "bench/step_lights.js",
    "components/slider.js", "components/sortable.js",
)  # fmt: skip
STYLES = (
    "components/slider.css", "components/native_controls.css", "bench/equation.css",
    "embed/embed.css",
)  # fmt: skip
_PAGE = """<!doctype html>
<html lang="{lang}" data-theme="{theme}" data-present="{present}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>{title}</title>
<style>{colors}</style>
{links}</head>
<body data-post="{post}"><main>
<h1>{heading}</h1>
<div id="question">{question}</div><div id="over">{over}</div><div id="above"></div>
<div id="columns">
<div id="box"><div class="main-figure"><div class="seqviz-chart"></div></div></div>
<div id="side"><div id="front"></div><details id="more" hidden><summary>{more}</summary>
<div id="behind"></div></details></div></div>
<div id="problem" role="status">{problem}</div>
<dl id="readouts">{readouts}</dl>
<div id="under">{under}</div>
<footer><span id="origin">{origin}</span>
<a id="lesson" href="{lesson}" target="_blank" rel="noopener">{open}</a></footer></main>
<noscript><p>{noscript}</p></noscript>
<script type="application/json" id="payload">{told}</script>
<script type="module" src="{script}"></script>
</body></html>
"""
_NONE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><title>SeqViz</title>
<style>:root {{color-scheme: light dark}} body {{font: 1rem/1.6 system-ui, sans-serif}}</style>
</head><body><p>{sentence}</p></body></html>
"""
# A page that has to wait reloads itself, with and without scripts.
_WAITS = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><title>SeqViz</title>
<noscript><meta http-equiv="refresh" content="{seconds}"></noscript>
<style>:root {{color-scheme: light dark}} body {{font: 1rem/1.6 system-ui, sans-serif}}</style>
<script type="module" src="{script}"></script>
</head><body data-seconds="{seconds}"><p role="status">{sentence}</p></body></html>
"""
RETRY_S = 2  # seconds, approximately, until a waiting page reloads
_NAMES = {
    "--st-background-color": "backgroundColor", "--st-text-color": "textColor",
    "--st-primary-color": "primaryColor", "--st-border-color": "borderColor",
    "--st-secondary-background-color": "secondaryBackgroundColor",
    "--st-chart-categorical-colors": "chartCategoricalColors",
}  # fmt: skip


def page(embed_request: EmbedRequest, embed_payload: EmbedPayload) -> str:
    """Return the complete document."""
    text, slug = Text(embed_request.lang), embed_request.bench.lesson.slug
    payload = embed_payload.payload
    return _PAGE.format(
        lang=text("frame.language_tag"),
        theme=embed_request.theme,
        present=str(embed_request.present).lower(),
        title=escape(frame_of(slug, embed_request.bench.name, text)[1]),
        heading=markdown.inline(title(embed_request)),
        question=question(embed_request),
        colors=colors(),
        links=_links("figure" in payload, payload.get("component", {}).get("name", "")),
        post=escape(f"{base()}/embed/{slug}/{embed_request.bench.name}"),
        more=escape(text("frame.more")),
        open=escape(text("embed.open", title=text(f"{slug}.title"))),
        noscript=escape(text("embed.noscript")),
        told=embed_payload.json(),
        script=address("embed/embed.js"),
        **{name: payload[name] for name in ("over", "problem", "readouts", "under")},
        origin=escape(payload["origin"]),
        lesson=escape(payload["lesson"]),
    )


def question(embed_request: EmbedRequest, is_paper: bool = False) -> str:
    """Return the question of a bench as HTML: a form before the answer, its explanation after.

    Args:
        embed_request: the bench at its settings.
        is_paper: nothing can be pressed.
    """
    text, bench = Text(embed_request.lang), embed_request.bench
    if not bench.veiled_by or (is_paper and not embed_request.is_veiled):
        return ""
    first = next((item for item in bench.questions if item.veils), None)
    position = f"{bench.lesson.slug}.predict.{first.name}" if first else ""
    options = text.items(f"{position}.options") if position else []
    answered = embed_request.answered
    if embed_request.is_veiled:
        prompt = f"<p><b>{escape(text('frame.predict'))}</b> {{}}</p>"
        prompt = prompt.format(markdown.inline(text(f"{position}.question"))) if position else ""
        if is_paper:
            return prompt + "".join(f"<p>☐ {markdown.inline(option)}</p>" for option in options)
        buttons = [*enumerate(options), ("skip", text("frame.skip" if first else "frame.result"))]
        hidden = {**embed_request.link, **embed_request.view_parameters}
        return (
            '<form method="get">' + prompt
            + "".join(f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
                      for name, value in hidden.items())
            + "".join(f'<button name="{ANSWERED}" value="{value}">{markdown.inline(label)}</button>'
                      for value, label in buttons)
            + "</form>"
        )  # fmt: skip
    if not position or answered is None:
        return ""
    is_option = answered.isdecimal() and int(answered) < len(options)
    is_right = is_option and int(answered) == int(text(f"{position}.answer"))
    verdict = f"**{text('frame.right' if is_right else 'frame.wrong')}** " if is_option else ""
    return markdown.html(verdict + text(f"{position}.reveal"))


def none(lang: str, key: str) -> str:
    """Return the page that replaces a missing bench by one sentence.

    Args:
        lang: language code.
        key: of the sentence.
    """
    text = Text(lang)
    return _NONE.format(lang=text("frame.language_tag"), sentence=escape(text(key)))


def waits(lang: str) -> str:
    """Return the page for too many concurrent requests; it reloads itself."""
    text = Text(lang)
    return _WAITS.format(
        lang=text("frame.language_tag"),
        sentence=escape(text("embed.full")),
        script=address("embed/embed_wait.js"),
        seconds=RETRY_S,
    )


def title(embed_request: EmbedRequest) -> str:
    """Return the name of the bench, else of its lesson, in Markdown."""
    text, slug = Text(embed_request.lang), embed_request.bench.lesson.slug
    own = f"{slug}.bench.{embed_request.bench.name}"
    return text(own) if text.has(own) else text(f"{slug}.title")


@cache
def colors() -> str:
    """Return the CSS of the app's font, and of its colors in both themes, as in Streamlit.

    In English the fallback is the system font, because the quotation marks of a Chinese font are as
    wide as its characters.
    """
    light, dark = (
        " ".join(f"{name}: {_option(theme, option)};" for name, option in _NAMES.items())
        for theme in ("light", "dark")
    )
    family = st.get_option("theme.font")
    english = f"{family.partition(',')[0]}, system-ui, sans-serif"
    return f"""
@font-face {{font-family: {family.partition(",")[0]}; font-weight: 200 900;
  src: url("{upright_font()}") format("woff2")}}
:root {{--st-font: {family}; color-scheme: light; {light}}}
:root:lang(en) {{--st-font: {english}}}
:root[data-theme="dark"] {{color-scheme: dark; {dark}}}
@media (prefers-color-scheme: dark) {{:root[data-theme=""] {{color-scheme: dark; {dark}}}}}
"""


def _option(theme: str, name: str) -> str:
    value = st.get_option(f"theme.{theme}.{name}")
    return ",".join(value) if isinstance(value, list) else str(value)


@cache
def _links(is_rendered: bool, component: str) -> str:
    """Return the stylesheet and preload links.

    Args:
        is_rendered: the figure needs the drawing library.
        component: name of a client component, which has its own stylesheet; or empty.
    """
    font = f'<link rel="preload" as="font" type="font/woff2" crossorigin href="{upright_font()}">\n'
    early = "".join(f'<link rel="modulepreload" href="{address(script)}">\n' for script in SCRIPTS)
    names = (*STYLES, f"figures/{component}.css") if component else STYLES
    library = f'<link rel="preload" as="script" href="{address("plotly.min.js")}">\n'
    styles = "".join(f'<link rel="stylesheet" href="{address(name)}">\n' for name in names)
    return font + styles + (library if is_rendered else "") + early
