"""Words of benches, read from their code."""

from __future__ import annotations

import ast

import pytest

from seqviz.content import bench_words, catalog, search_index


def test_server_never_parses(monkeypatch):
    """Visitors, and Streamlit with a page, got SystemError where two threads parsed at once."""
    expected = bench_words.keys("gpt")

    def parse(*_):
        pytest.fail("parsed in the process of the server")

    monkeypatch.setattr(ast, "parse", parse)
    bench_words.all_keys.cache_clear()
    search_index.entries.cache_clear()
    assert search_index.entries()
    found = bench_words.all_keys()
    assert list(found) == [record.slug for record in catalog.LESSONS]
    assert {name: tuple(keys) for name, keys in found["gpt"].items()} == expected
