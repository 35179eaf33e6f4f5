"""Detection of loopback requests; only they may read local-only details."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from seqviz.core import settings
from seqviz.ui.streamlit_patches.origin_check import is_local

PASSED_ON = ("x-forwarded-for", "x-real-ip", "forwarded", "via")


def is_local_request(address: str, headers: Mapping[str, str]) -> bool:
    """Return True where a request comes from this machine itself, not through a proxy on it.

    A proxy usually adds a header or keeps the requested host name. One that does neither looks
    local, so with SEQVIZ_PROXIES no request counts as local. A page of another site whose name
    resolves to this machine (DNS rebinding) requests that name.

    Args:
        address: of the connection.
        headers: of the request, names in lower case.
    """
    if settings.value("SEQVIZ_PROXIES"):
        return False
    try:
        result = ipaddress.ip_address(address)
    except ValueError:  # no IP address, such as a Unix socket
        return False
    if isinstance(result, ipaddress.IPv6Address):  # a dual-stack socket maps IPv4
        result = result.ipv4_mapped or result
    passed_on = any(name in headers for name in PASSED_ON)
    return result.is_loopback and not passed_on and is_local(headers.get("host", ""))
