"""Which pages may open a session, and where the app is: decided from what is known, asking nobody.

Streamlit asks an address-echo service on the internet for the server's own address: where a page of
another site opens a websocket, on the thread that serves everybody (20 s in a room without DNS, for
each such page), and at the start of a server without a screen. There is no public way to this; what
is used of Streamlit is checked by tests/ui/test_origins.py. At the start it asks before any of our
code runs, for its welcome: `logger.hideWelcomeMessage` in `.streamlit/config.toml` turns that off,
and `welcome` says the same.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from streamlit import config, net_util, url_util
from streamlit.cli_util import print_to_cli
from streamlit.web.server import server_util
from streamlit.web.server.starlette import starlette_websocket

LOCAL = ("localhost", "127.0.0.1", "0.0.0.0")


def allowed(origin: str | None, host: str | None) -> bool:
    """Whether a page from `origin` may open a session of this server, asked for as `host`.

    As Streamlit, but for the addresses that it finds out by asking: pages of this server's own
    address have it as their host as well.
    """
    if not starlette_websocket.is_host_allowed(host):
        return False
    if origin is None or not config.get_option("server.enableCORS"):  # not from a browser's page
        return True
    try:
        place = urlsplit(origin)
    except ValueError:  # such as http://[bad
        return False
    return bool(place.hostname) and (place.netloc == host or place.hostname in _configured())


def welcome() -> None:
    """Print where the app is, as Streamlit would."""
    address = config.get_option("server.address")
    if config.is_manually_set("browser.serverAddress"):
        hosts = [config.get_option("browser.serverAddress")]
    elif address and address not in ("0.0.0.0", "::"):
        hosts = [address]
    else:
        hosts = ["localhost", net_util.get_internal_ip()]  # read from a socket that sends nothing
    print_to_cli("  SeqViz is at " + " and ".join(map(server_util.get_url, filter(None, hosts))))


def install() -> None:
    """From now on, in this process."""
    starlette_websocket._is_origin_allowed = allowed
    net_util.get_external_ip = lambda: None


def _configured() -> set[str | None]:
    told = list(config.get_option("server.corsAllowedOrigins"))
    if config.is_manually_set("browser.serverAddress"):
        told.append(config.get_option("browser.serverAddress"))
    return {*LOCAL, *(url_util.get_hostname(one.strip()) for one in told)}
