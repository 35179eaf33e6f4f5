"""The frame under a figure: where its numbers come from, how long they took, and what leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from seqviz.ui.bench import export

if TYPE_CHECKING:
    from seqviz.ui.bench.place import Place


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


def footer(place: Place, chart: Any, provenance: Provenance) -> None:
    """Badge, then the four quiet buttons. What they show is made when one is pressed."""
    panels = (
        ("data", ":material/table_chart:", lambda: export.data_panel(place, chart)),
        ("export", ":material/download:", lambda: export.files_panel(place, chart)),
        ("code", ":material/code:", lambda: export.code_panel(place)),
        ("link", ":material/link:", lambda: export.link_panel(place)),
    )
    with st.container(horizontal=True, key=f"{place.prefix}.footer", vertical_alignment="center"):
        icon, color = _BADGES[provenance.kind]
        st.badge(_badge(place, provenance), icon=icon, color=color)
        st.space("stretch")
        for name, icon, fill in panels:
            label = place.text(f"frame.{name}")
            if st.button(label, icon=icon, type="tertiary", key=f"{place.prefix}.{name}"):
                # A dialog and not a popover: under a figure near the lower edge of the window
                # a popover has room for two lines.
                st.dialog(label, width="large" if name in ("data", "code") else "small")(fill)()


def _badge(place: Place, provenance: Provenance) -> str:
    label = place.text(f"frame.{provenance.kind}")
    if provenance.kind == "browser":
        return label
    if provenance.kind != "live":
        return f"{label} · {provenance.note}"
    return f"{label} · {duration(place.seconds)} · {place.device}"


def duration(seconds: float) -> str:
    """Seconds as a person reads them: 120 ms, 2.4 s, 14 min."""
    if seconds < 0.001:
        return "< 1 ms"
    if seconds < 0.9995:  # what would be rounded to 1000 ms is a second
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds / 60:.0f} min"
