"""What reaches into Streamlit's private names, in one place."""

from __future__ import annotations

from seqviz.ui.streamlit_internals import (
    component_state,
    config_cache,
    deferred_files,
    fragment_reruns,
    log_handlers,
    origin_check,
    patch,
    session_release,
    widget_lookup,
)

PATCHES = (
    log_handlers.PATCH,
    config_cache.PATCH,
    origin_check.PATCH,
    deferred_files.PATCH,
    widget_lookup.PATCH,
    component_state.PATCH,
    session_release.PATCH,
    fragment_reruns.PATCH,
)


def install() -> None:
    """Before anything is served: what can be applied is."""
    patch.install(PATCHES)
