"""CSS rules for which Streamlit's theme has no setting."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from seqviz.content import catalog
from seqviz.core.paths import STATIC

# A figure draws many elements a second, and for each the browser matches again all rules above it
# whose `:has` may concern it: with `*` or `[class...]` in its argument, any. Such rules doubled the
# time of a press, so `:has` names only what no figure draws (`tests/ui/render/test_css.py`).
_PAGE = """
.stMainBlockContainer {max-width: 1200px; padding-top: 4rem; padding-bottom: 4rem;}
.st-key-masthead {row-gap: .25rem;}
.st-key-masthead h1 {padding: 0;}
/* A long title wraps, the switches do not. */
@media (min-width: 1200px) {
  .st-key-masthead {flex-wrap: nowrap;}
  .st-key-masthead > * {flex-shrink: 0;}
  .st-key-masthead > :first-child {flex-shrink: 1; min-width: 0;}
}
/* Sections and benches: the second level of headings, at the size of small ones. */
.stMarkdown.stMarkdown h2 {font-size: 1.05rem; padding: .5rem 0 1rem;}
[class*="st-key-bench-"] .stMarkdown.stMarkdown h2 {font-size: 1rem; padding: .375rem 0 1rem;}
[class*="-footer"] {column-gap: .1rem;}
[class*="-footer"] button {padding-left: .2rem; padding-right: .2rem;}
[class*="-footer"] button p {font-size: .875rem;}
/* One row of buttons; a long badge takes two lines. */
@media (min-width: 1000px) {
  [class*="-footer"] {flex-wrap: nowrap;}
  [class*="-footer"] > * {flex-shrink: 0;}
  [class*="-footer"] > :first-child {flex: 0 1 auto; min-width: 0;}
}
.stApp [class*="-footer"] .stMarkdownBadge.stMarkdownBadge {white-space: normal;}
[class*="-figure"] {overflow: hidden;}
.stTable :is(td, th) {overflow-wrap: anywhere;}
.stTable td:not(:last-child), .stTable th {overflow-wrap: normal;}
/* An italic letter is wider than its box; Streamlit, which truncates names, would cut it. */
.stApp :is(.stMarkdownEllipsis, .stButtonGroup button :is(div, p)) {
  overflow: clip; overflow-clip-margin: .3em; min-width: 0;
}
.stApp [data-testid="stMetricValue"] .stMarkdownEllipsis {white-space: normal;}
.stApp .katex-display {margin: .75em 0; padding: .25em 0;}
/* An off-screen bench is not laid out or painted at every interaction: a quarter of the time. One
   that was never on screen has its placeholder's height, so a jump arrives where it should. */
[class*="st-key-bench-"] {
  content-visibility: auto; contain-intrinsic-size: auto 461px; position: relative;
}
/* Placeholders stand out of sight until they are near: a pulse costs a frame 60 times a second. */
[class*="-placeholder"] .stSkeleton {animation: none;}
/* The old figure stays until the new one arrives; fading it only costs time. */
[data-stale="true"] {opacity: 1 !important; transition: none !important;}
/* During a drag, a copy with the new numbers covers the page's own (drag_overlay.js). */
.seqviz-covered > :not(.seqviz-overlay) {display: none !important;}
[class*="st-key-bench-"] {scroll-margin-top: 68px; outline: none;}
.seqviz-chart {position: relative;}
.seqviz-chart.waiting::after {
  content: ""; position: absolute; inset: 0 auto auto 0; width: 3rem; height: 2px;
  background: currentColor; opacity: .5;
}
.seqviz-chart.picking .nsewdrag {cursor: pointer;}
[data-testid="stHtml"] a {color: var(--st-link-color, currentColor);}
[class*="-restore"]:not([data-count]) {display: none;}
[class*="-restore"] button::after {content: "(" var(--seqviz-count) ")"; margin-left: .3em;}
/* The picture of a folded bench lies to the left of its title and claim. */
[class*="st-key-card-"] summary p:has(img) {position: relative; padding: .75rem 0 .75rem 7rem;}
.stApp [class*="st-key-card-"] summary p img {
  position: absolute; left: 0; top: calc(50% - 1.5rem); width: 6rem; height: 3rem;
  max-width: none; max-height: none;
}
@media (max-width: 640px) {
  [class*="st-key-card-"] summary p:has(img) {padding: .25rem 0 .25rem 4.75rem;}
  .stApp [class*="st-key-card-"] summary p img {top: calc(50% - 1rem); width: 4rem; height: 2rem;}
}
/* The map of the lesson beside the title of another bench: boxes along a stream. */
.stElementContainer:has(> .stHtml > .seqviz-navigator) {
  position: absolute; top: .9rem; right: 1rem; width: auto;
}
.seqviz-navigator {display: flex; gap: .3rem; padding: .35rem .3rem; text-decoration: none;}
.seqviz-navigator i {
  position: relative; width: .8rem; height: .95rem; border: 1px solid currentColor;
  border-radius: 2px;
}
.seqviz-navigator i + i::before {
  content: ""; position: absolute; left: calc(-.3rem - 1px); top: 50%; width: .3rem;
  border-top: 1px solid currentColor;
}
.seqviz-navigator [data-letter] {
  width: 1.2rem; height: 1.2rem; font-size: .8rem; line-height: 1.05rem; text-align: center;
}
.seqviz-navigator [data-letter]::after {content: attr(data-letter);}
.seqviz-navigator .lit {
  background: currentColor; -webkit-text-fill-color: var(--st-background-color, Canvas);
}
@media (min-width: 641px) {
  .stElementContainer:has(+ .stElementContainer > .stHtml > .seqviz-navigator) .stMarkdown h2 {
    padding-right: 11rem;
  }
}
@media (max-width: 640px) {.stElementContainer:has(> .stHtml > .seqviz-navigator) {display: none;}}
.seqviz-hidden {border-radius: .5rem; background: var(--st-secondary-background-color, #8882);}
.seqviz-target {border-left: 3px solid currentColor; padding-left: .75rem;}
.seqviz-target[data-reached="true"] {border-left-color: var(--st-green-color, #1a8754);}
[class*="-readouts"]:empty {display: none;}
[class*="st-key-"][class*="-details"] .stExpander :is(details, summary) {
  border: 0; padding-block: 0; min-height: 0;
}
@media (pointer: coarse) {
  [class*="st-key-"][class*="-details"] .stExpander summary {min-height: 2.75rem;}
}
[class*="-steps-row"] {min-height: 2rem;}
[data-testid="stMetricValue"] {font-size: 1.6rem;}
.st-key-theme, .st-key-presenting, .st-key-in_room, [class*="-debounce"], [class*="-lazy"] {
  position: absolute; width: 0; height: 0; overflow: hidden;
}
[data-testid="stFileUploaderDropzoneInstructions"] {display: none;}
/* The number of characters stands below a field, not on the end of a long text. */
.stTextInput [data-testid="InputInstructions"] {bottom: -1rem; line-height: 1rem;}
/* On a phone the figure stays on screen while its controls are dragged: the containers between them
   have no box there (viewport.js). A phone has no presenter mode. */
@media (max-width: 640px) and (pointer: coarse) {.st-key-present {display: none;}}
@media (max-width: 640px) {
  .st-key-masthead > :nth-child(2) {display: none;}
  .st-key-masthead > :first-child {flex: 0 0 100%;}
  [class*="st-key-bench-"] .stColumn:first-child,
  [class*="st-key-bench-"] .stColumn:first-child > .stVerticalBlock {display: contents;}
  .stMarkdown table {display: block; overflow-x: auto;}
  [class*="-question"] [role="radiogroup"] {flex-flow: column; align-items: flex-start; gap: 0;}
  [class*="-question"] .stElementContainer:has(> .stRadio) {flex: 1 0 100%;}
  [data-testid="stLayoutWrapper"][data-seqviz-pinned] {
    position: sticky; top: var(--seqviz-top, 3.75rem); z-index: 5; width: 100%;
    background: var(--seqviz-background);
  }
}
/* In landscape it is beside its controls and fills the window below the header. */
@media (min-width: 641px) and (max-height: 500px) and (pointer: coarse) {
  [data-testid="stLayoutWrapper"][data-seqviz-pinned] {
    position: sticky; top: var(--seqviz-top, 3.75rem); z-index: 5;
    background: var(--seqviz-background); flex: 0 0 auto; height: calc(100dvh - 5.5rem);
  }
  [class*="st-key-bench-"] .stColumn:first-child > .stVerticalBlock {height: 100%;}
  .stMainBlockContainer {padding-left: .75rem; padding-right: .75rem;}
  [class*="st-key-bench-"] {padding: .5rem;}
  [class*="st-key-bench-"] .stHorizontalBlock:has(> .stColumn) {gap: .75rem;}
}
/* Touch targets have 44 pixels. */
@media (pointer: coarse) {
  [class*="st-key-bench-"] :is(button:not(.help, .stTooltipHoverTarget), summary,
    input:not([type="range"], [type="checkbox"], [type="radio"]), label:has([type="radio"])) {
    min-height: 2.75rem; min-width: 2.75rem;
  }
  .vega-bind input[type="range"] {min-height: 2.75rem;}
  [class*="st-key-bench-"] button:not(.help, .stTooltipHoverTarget) {min-width: 2.75rem;}
}
.st-key-glossary-table table {width: 100%;}
.st-key-glossary-table td {vertical-align: top;}
.st-key-glossary-table td:nth-child(n + 3) {min-width: 11rem;}
.st-key-glossary-table td:first-child {min-width: 6rem;}
@media (max-width: 640px) {
  .st-key-masthead {column-gap: .5rem;}
  .st-key-glossary-open button {min-width: 2.75rem;}
  .st-key-glossary-open [data-testid="stMarkdownContainer"] {  /* for screen readers only */
    position: absolute; width: 1px; height: 1px; overflow: hidden;
  }
  .st-key-glossary-table :is(table, tbody, tr, td) {display: block; border: 0;}
  .st-key-glossary-table thead, .st-key-glossary-table td:empty {display: none;}
  .st-key-glossary-table td {padding: 0 .25rem;}
  .st-key-glossary-table tr {padding: .4rem 0; border-bottom: 1px solid #8885;}
}
"""
_PHONE = (STATIC / "components/phone.css").read_text("utf-8")
_EQUATION = (STATIC / "bench/equation.css").read_text("utf-8")
_PRESENTER = (STATIC / "components/present.css").read_text("utf-8")


def reserve(names: Iterable[str]) -> None:
    """Give benches that were never on screen the height that they have with a question.

    Args:
        names: benches with a question.
    """
    selectors = ", ".join(f".st-key-bench-{name}" for name in names)
    if selectors:
        st.html(f"<style>:is({selectors}) {{contain-intrinsic-size: auto 559px;}}</style>")


def apply(presenting: bool, slug: str = "") -> None:
    """Add the page's CSS, and the presenter's where presenter mode is on.

    Args:
        presenting: True in presenter mode.
        slug: of the page; the main control of a lesson is docked before the others on a phone.
    """
    first = "".join(
        f"@media (max-width: 640px) {{.st-key-{item.code}-{'-'.join(item.first)}-slider"
        " {order: -1 !important;}}"
        for item in catalog.LESSONS
        if item.slug == slug
    )
    st.html(f"<style>{_PAGE}{_EQUATION}{_PHONE}{first}{_PRESENTER if presenting else ''}</style>")


def theme() -> str:
    """Return the reader's theme as last reported by the browser: "light" or "dark"."""
    return st.context.theme.type or "light"
