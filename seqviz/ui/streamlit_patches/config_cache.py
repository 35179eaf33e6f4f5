"""Streamlit's options stand when the server runs: they are read without waiting for one another.

What is used of it says what Streamlit says: tests/ui/streamlit_patches/test_config_cache.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig

_locked: Callable[[str], Any]  # Streamlit's own two, once they are replaced
_put_together: Callable[..., None]


def option(key: str) -> Any:
    """As `config.get_option`, without its lock: nobody changes an option while the server runs.

    Raises RuntimeError for an option that there is not.
    """
    from streamlit import config

    existing = config._config_options
    if existing is None or key not in existing:  # not read yet, or wrong
        return _locked(key)
    return existing[key].value


@cache
def theme(section: str) -> CustomThemeConfig | None:
    """What `.streamlit/config.toml` says in a section of the theme; None where it says nothing."""
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig

    written = CustomThemeConfig()
    _put_together(written, section)
    return written if written.ListFields() else None


def write_theme(msg: CustomThemeConfig, section: str = "theme") -> None:
    """As Streamlit's own: fills in the part of a message that tells a browser the theme."""
    if (written := theme(section)) is not None:
        msg.MergeFrom(written)


def apply() -> None:
    """From now on, in this process."""
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
    "For each run of a bench Streamlit looks up some hundred options under one lock of the whole "
    "process, and puts the theme together anew under it, on the thread that sends all messages: "
    "with eighty students a quarter of what the server computed. There is no public way.",
)
