"""Navigation between pages: a lesson keeps the session's settings unless a link has others.

The settings of a lesson are in its URL. The target URL is therefore known in advance, and the
browser goes there in one step (`assets/static/components/navigation.js`), which Back undoes.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from seqviz import lessons
from seqviz.content import catalog
from seqviz.lessons.framework.lesson import Lesson
from seqviz.ui.page import classroom_panel, steps, widgets
from seqviz.ui.runtime import run_context
from seqviz.ui.streamlit_patches.navigation import went_back

HOME = "home"


def query(slug: str, view: Mapping[str, str]) -> dict[str, str]:
    """Return the query parameters of a page's URL.

    Args:
        slug: of the page.
        view: parameters of every page, such as `lang`.
    """
    return {**view, **_left(slug)}


def addresses(slug: str, view: Mapping[str, str]) -> dict[str, object]:
    """Return, for the browser on page `slug`, the query of every page by path and its neighbors.

    The settings of other lessons do not change while this page is open.
    """
    paths = {_path(item): urlencode(query(item, view)) for item in (HOME, *_slugs())}
    before, after = catalog.neighbours(slug) if slug in _slugs() else (None, None)
    return {
        "pages": paths,
        "previous": before.slug if before else "",
        "next": after.slug if after else "",
    }


def arrive(slug: str, view: Mapping[str, str]) -> None:
    """Apply the URL's settings to the page, or write the session's settings into the URL.

    After Back or Forward the URL is complete: a missing setting means its default.
    """
    session = run_context.session()
    entered, moved = session.page != slug, went_back()
    declared = getattr(lessons, slug).lesson if slug in _slugs() else None
    if entered or moved:
        if declared:
            steps.expand_links(declared)
        payload = _told(declared) if declared else {}
        if declared and (payload or moved):
            if not entered or payload != _left(slug):
                _follow(declared, payload)
        elif not st.query_params:
            st.query_params.from_dict(query(slug, view))
        elif left := _left(slug):
            st.query_params.update(left)
    session.page = slug
    # Also of benches that are not drawn yet: students follow where two addresses differ.
    if declared and classroom_panel.code():
        for bench in declared.benches.values():
            prefix, declaration = bench.prefix, bench.declaration
            lang = widgets.language_of_defaults(prefix, declaration)
            widgets.write_defaults_language(prefix, declaration, lang)


def _follow(declared: Lesson, values: Mapping[str, str]) -> None:
    for bench in declared.benches.values():
        widgets.follow_link(bench.prefix, bench.declaration)
    session = run_context.session()
    for key in _left(declared.slug):
        del session.links[key]
    session.links |= values


def _told(declared: Lesson) -> dict[str, str]:
    """Return the settings that the URL has for the benches of a lesson, as written."""
    return {
        key: text
        for bench in declared.benches.values()
        for key, text in (
            *widgets.told_by_link(bench.prefix, bench.declaration).items(),
            *steps.told_by_link(bench).items(),
        )
    }


def _left(slug: str) -> dict[str, str]:
    """Return the settings of a lesson, current or when it was left."""
    if slug not in _slugs():
        return {}
    start = f"{catalog.lesson(slug).code}."
    links = run_context.session().links
    return {key: text for key, text in links.items() if key.startswith(start)}


def _slugs() -> list[str]:
    return [record.slug for record in catalog.LESSONS]


def _path(slug: str) -> str:
    return "" if slug == HOME else slug
