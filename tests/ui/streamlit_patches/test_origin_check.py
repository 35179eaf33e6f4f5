"""Who may open a session is known at once: no name is looked up and no address is asked for."""

from __future__ import annotations

import socket

import pytest
from streamlit import config, net_util
from streamlit.web import bootstrap
from streamlit.web.server import server_util
from streamlit.web.server.starlette import starlette_websocket

from seqviz.ui.streamlit_patches import origin_check

theirs = starlette_websocket._is_origin_allowed
SPACE = "lab-seqviz.hf.space"
CASES = [  # origin, host, whether
    (None, "127.0.0.1:8501", True),
    (f"https://{SPACE}", SPACE, True),
    ("http://192.168.1.20:8501", "192.168.1.20:8501", True),
    ("http://localhost:8501", "127.0.0.1:8501", True),
    ("http://127.0.0.1:9000", "localhost:8501", True),
    ("https://course.example.org", "10.0.0.1:8501", True),
    ("https://seqviz.example.org:8443", "10.0.0.1:8501", True),
    ("https://evil.example", SPACE, False),
    (f"https://{SPACE}.evil.example", SPACE, False),
    ("http://192.168.1.20:8080", "192.168.1.20:8501", False),
    ("null", SPACE, False),
    ("", "", False),
]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """What is configured; whoever opens a socket fails."""
    config.get_config_options()
    options = {
        "server.corsAllowedOrigins": [" https://course.example.org "],
        "browser.serverAddress": "seqviz.example.org",
        "server.enableCORS": True,
        "server.allowedHosts": [],
    }
    read, existing = config.get_option, config.is_manually_set
    monkeypatch.setattr(config, "get_option", lambda k: options[k] if k in options else read(k))
    monkeypatch.setattr(config, "is_manually_set", lambda k: k in options or existing(k))
    for name in ("socket", "getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, lambda *_, **__: pytest.fail("asked"))
    return options


@pytest.mark.parametrize(("origin", "host", "whether"), CASES)
def test_allowed_decides_without_network(origin, host, whether):
    assert origin_check.allowed(origin, host) is whether


@pytest.mark.parametrize(("origin", "host", "whether"), CASES)
def test_allowed_matches_streamlit(origin, host, whether, monkeypatch):
    for name in ("get_internal_ip", "get_external_ip"):
        monkeypatch.setattr(net_util, name, lambda: None)
    if origin != "":  # there Streamlit lets in who says that nothing is its host
        assert theirs(origin, host) is whether


def test_allowed_rejects_localhost_of_visitor():
    """Streamlit would let it in."""
    assert not origin_check.allowed("http://localhost:9000", SPACE)
    assert not origin_check.allowed("http://127.0.0.1", "192.168.1.20:8501")
    assert not origin_check.allowed("http://localhost", "[bad")


def test_allowed_rejects_unconfigured_host(alone):
    """As a page whose name leads here (DNS rebinding): to the server it is its own page."""
    assert origin_check.allowed("http://evil.example:8501", "evil.example:8501")
    alone["server.allowedHosts"] = ["localhost", SPACE]
    assert not origin_check.allowed("http://evil.example:8501", "evil.example:8501")
    assert origin_check.allowed(f"https://{SPACE}", SPACE)


def test_allowed_rejects_malformed_origin():
    assert not origin_check.allowed("http://[bad", SPACE)


def test_allowed_follows_cors_and_host_settings(alone):
    alone["server.enableCORS"] = False
    assert origin_check.allowed("https://evil.example", SPACE)
    alone["server.allowedHosts"] = ["other.example"]
    assert not origin_check.allowed(f"https://{SPACE}", SPACE)


def test_patch_replaces_origin_check_and_welcome(monkeypatch):
    monkeypatch.setattr(starlette_websocket, "_is_origin_allowed", theirs)
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    origin_check.PATCH.put()
    used = starlette_websocket.create_websocket_handler.__code__.co_consts
    names = {name for code in used if hasattr(code, "co_names") for name in code.co_names}
    assert "_is_origin_allowed" in names
    assert not server_util.is_url_from_allowed_origins.__module__.startswith("seqviz")
    assert net_util.get_external_ip() is None
    assert config.get_option("logger.hideWelcomeMessage")
    bootstrap._print_url(is_running_hello=False)  # would ask


@pytest.mark.parametrize(
    ("address", "said"), [("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://localhost:")]
)
def test_welcome_prints_app_address(alone, address, said, monkeypatch, capsys):
    del alone["browser.serverAddress"]
    alone["server.address"] = address
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: "192.168.1.20")
    origin_check.welcome()
    printed = capsys.readouterr().out
    assert said in printed
    assert ("http://192.168.1.20:" in printed) == (address == "0.0.0.0")
