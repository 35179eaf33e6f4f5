"""Which pages may open a session, and where the app is: decided from what is known, asking nobody.

Streamlit asks an address-echo service on the internet for the server's own address: where a page of
another site opens a websocket, on the thread that serves everybody (20 s in a room without DNS, for
each such page), and at the start of a server without a screen. There it asks before any of our code
runs, for its welcome: `logger.hideWelcomeMessage` in `.streamlit/config.toml` turns that off, and
`welcome` says the same.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from seqviz.ui.streamlit_patches.patch import Patch

LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


def allowed(origin: str | None, host: str | None) -> bool:
    """Whether a page from `origin` may open a session of this server, asked for as `host`.

    As Streamlit, but for the addresses that it finds out by asking: pages of this server's own
    address have it as their host as well. Pages of this machine may where it is asked for by a name
    that only this machine has: else a page at a visitor's own machine could.
    """
    from streamlit import config
    from streamlit.web.server.starlette import starlette_websocket

    if not starlette_websocket.is_host_allowed(host):
        return False
    if origin is None or not config.get_option("server.enableCORS"):  # not from a browser's page
        return True
    try:
        position = urlsplit(origin)
    except ValueError:  # such as http://[bad
        return False
    existing = {*_configured(), *(LOCAL if is_local(host or "") else ())}
    return bool(position.hostname) and (position.netloc == host or position.hostname in existing)


def is_host_allowed(host: str | None) -> bool:
    """Return whether `server.allowedHosts` has the host of a request; all where it is unset.

    Streamlit itself asks that for its websocket alone.
    """
    try:
        from streamlit.web.server.starlette.starlette_websocket import is_host_allowed as allows
    except ImportError:  # another version of it
        return True
    return bool(allows(host))


def is_local(host: str) -> bool:
    """Whether a Host header names the machine on which the browser itself is."""
    try:
        return urlsplit(f"//{host}").hostname in LOCAL
    except ValueError:
        return False


def welcome() -> None:
    """Print where the app is, as Streamlit would; with other versions of it, the port alone."""
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
        hosts = ["localhost", net_util.get_internal_ip()]  # read from a socket that sends nothing
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
    "A page of another site that asks for a session stops everybody for 20 s in a room without "
    "DNS. There is no public way.",
)
