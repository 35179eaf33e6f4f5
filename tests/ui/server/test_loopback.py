"""Who is at the machine itself, and who only says so."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from seqviz.ui.render import share_link
from seqviz.ui.server import loopback

LOCAL = {"host": "localhost:8501"}
CASES = [
    ("127.0.0.1", LOCAL, True),
    ("127.0.0.1", {"host": "127.0.0.1:8501"}, True),
    ("127.0.0.1", {}, False),  # as an old proxy asks, in HTTP/1.0
    ("::1", {"host": "[::1]:8501"}, True),
    ("::ffff:127.0.0.1", LOCAL, True),  # as a server for both kinds of addresses sees it
    ("127.0.0.1", {"host": "evil.example:8501"}, False),
    ("127.0.0.1", {"host": "[bad"}, False),
    ("127.0.0.1", {**LOCAL, "X-Forwarded-For": "203.0.113.9"}, False),
    ("127.0.0.1", {**LOCAL, "Forwarded": "for=203.0.113.9"}, False),
    ("192.168.1.20", LOCAL, False),
    ("::ffff:192.168.1.20", LOCAL, False),
    ("", LOCAL, False),
    ("testclient", LOCAL, False),
]


@pytest.mark.parametrize(("address", "headers", "whether"), CASES)
def test_is_local_request_checks_address_and_headers(address, headers, whether):
    assert loopback.is_local_request(address, Headers(headers)) is whether


def test_is_local_request_rejects_all_behind_proxy(monkeypatch):
    """One that adds no header and asks for 127.0.0.1 looks like somebody at this machine."""
    monkeypatch.setenv("SEQVIZ_PROXIES", "1")
    assert not loopback.is_local_request("127.0.0.1", Headers(LOCAL))


def shared(url: str) -> None:
    from seqviz.core.i18n import Text
    from seqviz.ui.render.share_link import link_and_code

    link_and_code(Text("en"), url)


def invited(url: str) -> None:
    from seqviz.core.i18n import Text
    from seqviz.ui.page.classroom_panel import invitation

    invitation(Text("en"), "AAAAAAAA", url)


@pytest.mark.parametrize("own", ["10.9.8.7", None])
def test_title_of_slides_invites_class_where_phones_can_come(monkeypatch, own):
    monkeypatch.setattr(share_link, "_own_address", lambda: own)
    monkeypatch.setattr(ContextProxy, "ip_address", property(lambda _: None))
    monkeypatch.setattr(ContextProxy, "headers", property(lambda _: Headers(LOCAL)))
    for url, expected in {
        "http://localhost:8501/gates": own and f"{own}:8501/?room=AAAAAAAA",
        "https://school.example/seqviz/gates": "school.example/seqviz/?room=AAAAAAAA",
    }.items():
        page = AppTest.from_function(invited, args=(url,)).run(timeout=30)
        assert not page.exception
        assert [caption.value for caption in page.caption] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("address", "headers", "told"),
    [
        (None, LOCAL, True),  # as Streamlit says of loopback
        ("192.168.1.20", LOCAL, False),
        (None, {**LOCAL, "x-forwarded-for": "203.0.113.9"}, False),
        (None, {"host": "evil.example"}, False),
    ],
)
def test_share_link_hides_lan_address_from_remote_clients(monkeypatch, address, headers, told):
    monkeypatch.setattr(share_link, "_own_address", lambda: "10.9.8.7")
    monkeypatch.setattr(ContextProxy, "ip_address", property(lambda _: address))
    monkeypatch.setattr(ContextProxy, "headers", property(lambda _: Headers(headers)))
    page = AppTest.from_function(shared, args=("http://localhost:8501/gates?lang=en",)).run()
    assert not page.exception
    assert ("10.9.8.7" in page.code[0].value) is told
    assert "/gates?lang=en" in page.code[0].value
