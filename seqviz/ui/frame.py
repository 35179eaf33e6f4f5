"""The frame under a figure: where its numbers come from, how long they took, and what leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from seqviz.ui import export

if TYPE_CHECKING:
    from seqviz.ui.bench import Show


@dataclass(frozen=True)
class Provenance:
    """Where the numbers of a figure come from.

    kind: "live" (computed now), "browser" (computed where it is drawn), "precomputed" (when and on
    what: `note`) or "reported" (printed in the text named in `note`, not computed by us).
    """

    kind: str
    note: str = ""


COMPUTED = Provenance("live")
BROWSER = Provenance("browser")
_BADGES: dict[str, tuple[str, Any]] = {
    "live": (":material/bolt:", "green"),
    "browser": (":material/bolt:", "green"),
    "precomputed": (":material/inventory_2:", "blue"),
    "reported": (":material/menu_book:", "orange"),
}


def footer(show: Show, chart: Any, provenance: Provenance) -> None:
    """Badge, then the four quiet buttons. What they show is made when one is pressed."""
    panels = (
        ("data", ":material/table_chart:", lambda: export.data_panel(show, chart)),
        ("export", ":material/download:", lambda: export.files_panel(show, chart)),
        ("code", ":material/code:", lambda: export.code_panel(show)),
        ("link", ":material/link:", lambda: export.link_panel(show)),
    )
    with st.container(horizontal=True, key=f"{show.prefix}.footer", vertical_alignment="center"):
        icon, color = _BADGES[provenance.kind]
        st.badge(_badge(show, provenance), icon=icon, color=color)
        st.space("stretch")
        for name, icon, fill in panels:
            label = show.text(f"frame.{name}")
            if st.button(label, icon=icon, type="tertiary", key=f"{show.prefix}.{name}"):
                # A dialog and not a popover: under a figure near the lower edge of the window
                # a popover has room for two lines.
                st.dialog(label, width="large" if name in ("data", "code") else "small")(fill)()


def _badge(show: Show, provenance: Provenance) -> str:
    label = show.text(f"frame.{provenance.kind}")
    if provenance.kind == "browser":
        return label
    if provenance.kind != "live":
        return f"{label} · {provenance.note}"
    return f"{label} · {duration(show.seconds)} · {show.device}"


def duration(seconds: float) -> str:
    """Seconds as a person reads them: 120 ms, 2.4 s, 14 min."""
    if seconds < 0.001:
        return "< 1 ms"
    if seconds < 0.9995:  # what would be rounded to 1000 ms is a second
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds / 60:.0f} min"
