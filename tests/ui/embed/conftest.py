"""Another site's side of the pages of single benches."""

from __future__ import annotations

import html
import json
import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from seqviz.ui.app import router
from seqviz.ui.embed import sessions


@pytest.fixture(scope="session")
def client():
    with TestClient(Starlette(middleware=[Middleware(router.LiveMiddleware)])) as client:
        yield client


@pytest.fixture(autouse=True)
def _own_sessions():
    sessions.embeds.cache_clear()


@pytest.fixture
def told():
    """What the script of a page is told in it."""

    def read(answer) -> dict:
        result = re.search(r'id="payload">(.*?)</script>', answer.text, re.DOTALL)
        return json.loads(result[1])

    return read


@pytest.fixture
def seen():
    """The words of a page without its script, as somebody reads them."""

    def read(answer) -> str:
        body = re.sub(r"<(script|style).*?</\1>", "", answer.text, flags=re.DOTALL)
        return html.unescape(re.sub(r"<[^>]+>", " ", body))

    return read


@pytest.fixture
def post(client):
    """Tell a page that something was set in it."""

    def ask(address, query=None, texts=None, token="", **more):
        payload = {"query": query or {}, "texts": texts or {}, **more}
        return client.post(address, json=payload, headers={"x-seqviz-session": token})

    return ask
