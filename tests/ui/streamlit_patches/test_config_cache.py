"""Options and the theme are read without Streamlit's lock, and say what Streamlit says."""

from __future__ import annotations

import threading

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig, NewSession
from streamlit.runtime import app_session

from seqviz.ui.streamlit_patches import config_cache

locked, put_together = config.get_option, app_session._populate_theme_msg
SECTIONS = ["theme", *(f"theme.{part.value}" for part in config.CustomThemeCategories)]


@pytest.fixture(autouse=True)
def as_configured(monkeypatch):
    """The app's own `.streamlit/config.toml` has been read."""
    config.get_config_options()
    config_cache.theme.cache_clear()
    for module, name in ((config, "get_option"), (app_session, "_populate_theme_msg")):
        monkeypatch.setattr(module, name, getattr(module, name))  # is put back
    config_cache.apply()
    yield
    config_cache.theme.cache_clear()


def whole(write) -> bytes:
    """All sections of the theme, in the order and at the places of `app_session`."""
    payload = NewSession().custom_theme
    positions = {
        "theme": payload,
        "theme.light": payload.light,
        "theme.dark": payload.dark,
        "theme.sidebar": payload.sidebar,
        "theme.light.sidebar": payload.light.sidebar,
        "theme.dark.sidebar": payload.dark.sidebar,
    }
    assert set(positions) == set(SECTIONS), "Streamlit knows other sections now"
    for section, position in positions.items():
        write(position, section)
    return payload.SerializeToString(deterministic=True)


def test_config_cache_matches_every_streamlit_option():
    names = list(config.get_config_options())
    assert len(names) > 100
    for name in names:
        assert config_cache.option(name) == locked(name), name
    with pytest.raises(RuntimeError, match="not defined"):
        config_cache.option("server.nonsense")


def test_config_cache_matches_streamlit_theme():
    assert whole(config_cache.write_theme) == whole(put_together)
    assert whole(config_cache.write_theme) == whole(put_together)  # from what is kept
    assert config_cache.theme("theme") is not None, "the app has no theme"


def test_config_cache_writes_nothing_for_empty_section():
    payload = NewSession().custom_theme
    silent = [section for section in SECTIONS if config_cache.theme(section) is None]
    assert silent
    for section in silent:
        config_cache.write_theme(payload, section)
    assert payload == CustomThemeConfig()
    assert not payload.ListFields()


def test_config_cache_isolates_theme_between_browsers():
    first, second = CustomThemeConfig(), CustomThemeConfig()
    config_cache.write_theme(first)
    first.primary_color = "#000000"
    config_cache.write_theme(second)
    assert second.primary_color != "#000000"


def test_config_cache_reads_without_streamlit_lock():
    """A thread that holds Streamlit's lock does not stop another one."""
    config_cache.theme("theme")
    read = threading.Event()

    def reader() -> None:
        assert config.get_option("runner.fastReruns") in (True, False)
        app_session._populate_theme_msg(CustomThemeConfig())
        read.set()

    with config._config_lock:
        thread = threading.Thread(target=reader)
        thread.start()
        assert read.wait(5)
    thread.join()
