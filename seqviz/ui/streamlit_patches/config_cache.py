"""Patch: options and theme are read without Streamlit's lock.

Their values equal Streamlit's: tests/ui/streamlit_patches/test_config_cache.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig

_locked: Callable[[str], Any]  # Streamlit's two functions, once replaced
_put_together: Callable[..., None]


def option(key: str) -> Any:
    """Return an option like `config.get_option`, without its lock.

    No option changes while the server runs. Raises RuntimeError for an unknown option.
    """
    from streamlit import config

    existing = config._config_options
    if existing is None or key not in existing:  # not read yet, or unknown
        return _locked(key)
    return existing[key].value


@cache
def theme(section: str) -> CustomThemeConfig | None:
    """Return the theme of a section of `.streamlit/config.toml`; None where it is empty."""
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig

    written = CustomThemeConfig()
    _put_together(written, section)
    return written if written.ListFields() else None


def write_theme(msg: CustomThemeConfig, section: str = "theme") -> None:
    """Fill in the theme of a message to the browser, from the cache."""
    if (written := theme(section)) is not None:
        msg.MergeFrom(written)


def apply() -> None:
    """Apply the patch."""
    global _locked, _put_together
    from streamlit import config
    from streamlit.runtime import app_session

    _locked, _put_together = config.get_option, app_session._populate_theme_msg
    config.get_option = option
    app_session._populate_theme_msg = write_theme


PATCH = Patch(
    "config_cache",
    (
        "streamlit.config:_config_options",
        "streamlit.config:get_option",
        "streamlit.runtime.app_session:_populate_theme_msg",
        "streamlit.proto.NewSession_pb2:CustomThemeConfig",
    ),
    apply,
    "Without it each run of a bench looks up about a hundred options under one process-wide lock "
    "and rebuilds the theme under it, on the event loop, which sends all messages: "
    "a quarter of the CPU time with eighty students. No public API.",
)
