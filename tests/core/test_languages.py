"""A link's language and a browser's, however they are written, find the one that is here."""

from __future__ import annotations

import pytest

from seqviz import lessons
from seqviz.core import settings
from seqviz.core.languages import matching, preferred
from seqviz.plotting.style import Style


@pytest.mark.parametrize(("tag", "found"), [
    ("zh", "zh"), ("ZH", "zh"), ("zh-CN", "zh"), ("zh-TW", "zh"), ("zh_Hans", "zh"),
    ("zh-Hant-HK", "zh"), (" en-US ", "en"), ("EN", "en"), ("fr", None), ("zhuang", None),
    ("", None), ("-", None), ("*", None), ("../en", None), ("english", None),
])  # fmt: skip
def test_matching_returns_base_language(tag, found):
    assert matching(tag) == found


@pytest.mark.parametrize(("accepted", "found"), [
    ("fr-FR,zh-CN;q=0.8,en;q=0.5", "zh"),
    ("en;q=0.5,zh-CN;q=0.8,fr", "zh"),  # by weight, not by place
    ("zh-CN;q=0.5,en;q=0.5", "zh"),  # of one weight the first
    ("en-GB, zh", "en"),
    ("de, en ; q = 0.3 , zh-TW;q=0.4", "zh"),
    ("zh;q=0, en;q=0.1", "en"),  # not at all
    ("zh;q=0.000", None), ("fr, de;q=0.9", None), ("*", None), ("fr,*;q=0.5", None), ("", None),
    ("zh;q=high, en;q=0.2", "en"),
    ("zh;q=7,en;q=0.9", "en"), (",,;q=1,;", None), ("zh\x00,en", "en"),
])  # fmt: skip
def test_preferred_returns_first_supported_language(accepted, found):
    assert preferred(accepted) == found
    assert settings.language(None, accepted) == (found or "en")
    assert settings.language("zh-TW", accepted) == "zh"  # the link goes before


def test_settings_language_accepts_server_tag(monkeypatch):
    monkeypatch.setenv("SEQVIZ_LANGUAGE", "zh-CN")
    assert settings.language(None, "en") == "zh"
    assert settings.language("en-US", "zh") == "en"


def test_bench_accepts_language_tag_without_page():
    assert Style(lang="zh_Hans").lang == "zh"
    bench = lessons.gates.single_gate
    assert bench.run({}, "zh-CN").readouts == bench.run({}, "zh").readouts
