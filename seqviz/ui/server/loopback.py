"""Whether somebody at this machine asks: what only they are told."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from seqviz.core import settings
from seqviz.ui.streamlit_patches.origin_check import is_local

PASSED_ON = ("x-forwarded-for", "x-real-ip", "forwarded", "via")


def is_local_request(address: str, headers: Mapping[str, str]) -> bool:
    """Whether a request from this address comes from the machine itself, and not through it.

    A proxy passes others on, and says so or keeps the name that they asked for. One that does
    neither looks like somebody here, so where the operator has one (SEQVIZ_PROXIES) nobody is. A
    page of another site whose name leads here (DNS rebinding) asks for that name.
    """
    if settings.value("SEQVIZ_PROXIES"):
        return False
    try:
        result = ipaddress.ip_address(address)
    except ValueError:  # nobody's, as of a socket in the file system
        return False
    if isinstance(result, ipaddress.IPv6Address):  # a server for both kinds sees IPv4 in this form
        result = result.ipv4_mapped or result
    passed_on = any(name in headers for name in PASSED_ON)
    return result.is_loopback and not passed_on and is_local(headers.get("host", ""))
