"""What a page says of itself before any script: to a browser, and to who looks for pages."""

from __future__ import annotations

import html
import re

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.ui.server import page_head

PAGE = b'<!DOCTYPE html><html lang="en"><head><title>Streamlit</title></head></html>'
SLUGS = ["", *(record.slug for record in catalog.LESSONS)]


def put(slug: str, lang: str, host: str = "seqviz.example", scheme: str = "http", **headers) -> str:
    payload = {"host": host, **headers}
    scope = {
        "scheme": scheme,
        "headers": [
            (name.replace("_", "-").encode(), value.encode("latin-1"))
            for name, value in payload.items()
        ],
    }
    return page_head.put(PAGE, slug, lang, scope).decode()


def alternates(page: str) -> dict[str, str]:
    return dict(re.findall(r'<link rel="alternate" hreflang="([^"]*)" href="([^"]*)"', page))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_page_head_sets_language_title_and_description(slug, lang):
    page, text = put(slug, lang), Text(lang)
    tag = text("frame.language_tag")
    assert f'<html lang="{tag}">' in page
    (title,) = re.findall("<title>(.*)</title>", page)
    name = slug or "home"
    assert html.unescape(title) == f"{text(f'{name}.title')} · SeqViz"
    (payload,) = re.findall('name="description" content="([^"]*)"', page)
    assert 20 < len(html.unescape(payload)) <= page_head.MAX_DESCRIPTION_CHARS + 2
    assert not set("*`$<>") & set(payload)


def test_page_head_lists_alternate_for_each_language():
    assert alternates(put("gates", "zh")) == {
        "en": "http://seqviz.example/gates?lang=en",
        "zh-CN": "http://seqviz.example/gates?lang=zh",
        "x-default": "http://seqviz.example/gates",
    }


@pytest.mark.parametrize(
    "host", ['a"><script>', "a b", "", "a/b", "a:1:2", "é", "[::1", "x" * 9 + "'"]
)
def test_page_head_omits_invalid_host(host):
    page = put("", "en", host)
    assert alternates(page) == {}
    assert "<script" not in page


def test_page_head_reads_scheme_from_forwarded_proto():
    """A proxy that terminates TLS reports that the connection is encrypted."""

    def begins(message: str) -> str:
        return alternates(put("", "en", x_forwarded_proto=message))["en"].partition(":")[0]

    assert begins("https") == begins("https, http") == "https"
    assert begins("http") == begins("ftp") == begins("") == "http"
