"""The server starts without looking for components in every package that is installed."""

from __future__ import annotations

from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch


def none_elsewhere(max_workers: int | None = None) -> list[Any]:
    """As Streamlit's own where no package brings a component: the app's are all its own."""
    return []


PATCH = Patch(
    "component_search",
    (),
    {"streamlit.components.v2.manifest_scanner:scan_component_manifests": none_elsewhere},
    "Before it answers anybody Streamlit reads what each installed package says of itself, each "
    "four times: a quarter of the processor time of a start.",
)
