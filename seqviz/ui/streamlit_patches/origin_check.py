"""Patch: origin and host checks of websockets without requests to other servers.

Streamlit asks an address-echo service on the internet for the server's own address: when a page of
another site opens a websocket, on the event loop (20 s in a room without DNS, for each such page),
and at the start of a headless server. The latter happens before the app's code runs, for the
welcome message: `logger.hideWelcomeMessage` in `.streamlit/config.toml` disables that one, and
`welcome` replaces it.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from seqviz.ui.streamlit_patches.patch import Patch

LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


def allowed(origin: str | None, host: str | None) -> bool:
    """Return True where a page from `origin` may open a session of a server requested as `host`.

    Like Streamlit's check, except for addresses that it would have to look up: pages of this
    server's own address have that address as their host, too. Pages of the local machine are
    allowed only where the server is requested by a local name: otherwise a page on a visitor's own
    machine would be allowed.
    """
    from streamlit import config
    from streamlit.web.server.starlette import starlette_websocket

    if not starlette_websocket.is_host_allowed(host):
        return False
    if origin is None or not config.get_option("server.enableCORS"):  # not a page's request
        return True
    try:
        position = urlsplit(origin)
    except ValueError:  # for example http://[bad
        return False
    existing = {*_configured(), *(LOCAL if is_local(host or "") else ())}
    return bool(position.hostname) and (position.netloc == host or position.hostname in existing)


def is_host_allowed(host: str | None) -> bool:
    """Return True where `server.allowedHosts` has the host of a request, or is unset.

    Streamlit itself checks only websockets.
    """
    try:
        from streamlit.web.server.starlette.starlette_websocket import is_host_allowed as allows
    except ImportError:  # another version of Streamlit
        return True
    return bool(allows(host))


def is_local(host: str) -> bool:
    """Return True where a Host header names the browser's own machine."""
    try:
        return urlsplit(f"//{host}").hostname in LOCAL
    except ValueError:
        return False


def welcome() -> None:
    """Print the URLs of the app, as Streamlit would; with an untested version only the port."""
    try:
        _welcome()
    except (ImportError, AttributeError):
        print(f"  SeqViz is at port {st.get_option('server.port')}", flush=True)


def _welcome() -> None:
    from streamlit import config, net_util
    from streamlit.cli_util import print_to_cli
    from streamlit.web.server import server_util

    address = config.get_option("server.address")
    if config.is_manually_set("browser.serverAddress"):
        hosts = [config.get_option("browser.serverAddress")]
    elif address and address not in ("0.0.0.0", "::"):
        hosts = [address]
    else:
        hosts = ["localhost", net_util.get_internal_ip()]  # from a socket that sends nothing
    print_to_cli("  SeqViz is at " + " and ".join(map(server_util.get_url, filter(None, hosts))))


def _configured() -> set[str | None]:
    from streamlit import config, url_util

    payload = list(config.get_option("server.corsAllowedOrigins"))
    if config.is_manually_set("browser.serverAddress"):
        payload.append(config.get_option("browser.serverAddress"))
    return {url_util.get_hostname(item.strip()) for item in payload}


PATCH = Patch(
    "origin_check",
    (
        "streamlit.web.server.starlette.starlette_websocket:is_host_allowed",
        "streamlit.config:get_option",
        "streamlit.config:is_manually_set",
        "streamlit.url_util:get_hostname",
    ),
    {
        "streamlit.web.server.starlette.starlette_websocket:_is_origin_allowed": allowed,
        "streamlit.net_util:get_external_ip": lambda: None,
    },
    "Without it a page of another site that opens a session blocks all clients for 20 s on a "
    "network without DNS. No public API.",
)
