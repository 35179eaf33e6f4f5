"""Streamlit's options stand when the server runs: they are read without waiting for one another.

For each run of a bench Streamlit looks up some hundred options under one lock of the whole process,
and puts the theme of the page together anew, under the same lock, on the thread that sends all
messages. With eighty students that was a quarter of what the server computed. There is no public
way to this; what is used of Streamlit is checked by tests/ui/test_config_cache.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

_locked = config.get_option
_put_together = app_session._populate_theme_msg


def option(key: str) -> Any:
    """As `config.get_option`, without its lock: nobody changes an option while the server runs.

    Raises RuntimeError for an option that there is not.
    """
    known = config._config_options
    if known is None or key not in known:  # not read yet, or wrong
        return _locked(key)
    return known[key].value


@cache
def theme(section: str) -> CustomThemeConfig | None:
    """What `.streamlit/config.toml` says in a section of the theme; None where it says nothing."""
    written = CustomThemeConfig()
    _put_together(written, section)
    return written if written.ListFields() else None


def write_theme(msg: CustomThemeConfig, section: str = "theme") -> None:
    """As Streamlit's own: fills in the part of a message that tells a browser the theme."""
    if (written := theme(section)) is not None:
        msg.MergeFrom(written)


def install() -> None:
    """From now on, in this process."""
    config.get_option = option
    app_session._populate_theme_msg = write_theme
