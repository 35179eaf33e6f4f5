"""Patches of Streamlit's private code, in one registry; `install` applies them."""

from __future__ import annotations

from seqviz.ui.streamlit_patches import (
    batched_messages,
    component_search,
    component_state,
    config_cache,
    deferred_files,
    developer_messages,
    fragment_reruns,
    keep_alive,
    late_fragments,
    log_handlers,
    media_names,
    origin_check,
    patch,
    repeated_states,
    request_head,
    session_release,
    unread_messages,
    uploads,
    websocket_frames,
    widget_lookup,
    widget_states,
)

PATCHES = (
    keep_alive.PATCH,
    log_handlers.PATCH,
    config_cache.PATCH,
    component_search.PATCH,
    origin_check.PATCH,
    deferred_files.PATCH,
    widget_lookup.PATCH,
    component_state.PATCH,
    session_release.PATCH,
    batched_messages.PATCH,
    fragment_reruns.PATCH,
    late_fragments.PATCH,
    repeated_states.PATCH,
    uploads.PATCH,
    widget_states.PATCH,
    developer_messages.PATCH,
    request_head.PATCH,
    media_names.PATCH,
    unread_messages.PATCH,
    websocket_frames.PATCH,
)


def install() -> None:
    """Apply all applicable patches, before anything is served."""
    patch.install(PATCHES)
