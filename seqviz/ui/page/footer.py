"""Footer of a figure: badge and the buttons for data, export, code and link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from seqviz.lessons.framework.output import Chart
from seqviz.lessons.framework.show import Show
from seqviz.ui.page import dialogs, export, pins, widgets
from seqviz.ui.page.bench_view import BenchView
from seqviz.ui.render.badge import badge
from seqviz.ui.render.share_link import link_and_code

_BADGES: dict[str, tuple[str, Any]] = {
    "live": (":material/bolt:", "green"),
    "browser": (":material/bolt:", "green"),
    "precomputed": (":material/inventory_2:", "blue"),
    "reported": (":material/menu_book:", "orange"),
}


def footer(
    view: BenchView, show: Show, link: Callable[[], str], frame: tuple[str, str] | None = None
) -> None:
    """Show badge and buttons; a button's content is created when it is pressed.

    Args:
        view: the bench on the page.
        show: its output and code trace.
        link: returns the permalink.
        frame: as in `share_link.link_and_code`.
    """
    if view.displayed is None:
        return
    chart = (
        view.displayed.figure.chart if isinstance(view.displayed, Chart) else view.displayed.chart
    )
    text, prefix = view.text, view.prefix
    kinds = (
        ("data", ":material/table_chart:", lambda: export.data_panel(text, chart)),
        ("export", ":material/download:", lambda: export.files_panel(text, prefix, chart)),
        ("code", ":material/code:", lambda: export.code_panel(text, show.trace.source())),
        ("link", ":material/link:", lambda: link_and_code(text, link(), frame)),
    )
    with view.below:
        view.replay(chart)
    pinnable = view.live is not None and pins.has_curves(chart)
    if pinnable:
        with view.below:
            pins.show(prefix, view.declaration, view.words)
    with (
        view.below,
        st.container(horizontal=True, key=f"{prefix}.footer", vertical_alignment="center"),
    ):
        icon, color = _BADGES[view.displayed.provenance.kind]
        st.badge(badge(view.displayed.provenance, show.output, text), icon=icon, color=color)
        st.space("stretch")
        # `bench/reset.js` shows it where a setting differs, with their number.
        st.button(
            text("frame.reset"),
            key=f"{prefix}.restore",
            type="tertiary",
            icon=":material/refresh:",
            on_click=partial(widgets.set_all, prefix, view.declaration, {}),
        )
        # `bench/pins.js` and `bench/bookmarks.js` take the press, so the page does not run.
        if pinnable:
            st.button(
                text("frame.pin"),
                key=f"{prefix}.pin",
                type="tertiary",
                icon=":material/keep:",
                help=text("pins.help"),
            )
        st.button(
            text("frame.bookmark"),
            key=f"{prefix}.bookmark",
            type="tertiary",
            icon=":material/star:",
        )
        for name, icon, fill in kinds:
            label = text(f"frame.{name}")
            if dialogs.asked_for(label, icon, f"{prefix}.{name}"):
                # A dialog instead of a popover: near the lower edge of the window a popover has
                # room for two lines only.
                st.dialog(label, width="large" if name in ("data", "code") else "small")(fill)()
