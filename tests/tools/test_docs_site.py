"""The documentation site: built strictly, with every page, and without a call to another server."""

from __future__ import annotations

import re
import shutil

import pytest

from seqviz.core.paths import ROOT
from tools import build_teaching, docs_site

# What a browser loads by itself; a link that somebody follows may lead anywhere.
LOADED = re.compile(r"<(?:script|link|img|source|iframe)\b[^>]*\b(?:src|href|srcset)=\"([^\"]+)")
IN_STYLES = re.compile(r"(?:url\(|@import)\s*[\"']?([^\"')\s]+)")


def test_docs_site_has_page_for_every_library_package():
    packages = docs_site.packages()
    assert {
        "seqviz.compute.vanishing_gradients",
        "seqviz.lessons.framework",
        "seqviz.plotting",
    } <= {*packages}
    assert "seqviz.compute.vanishing_gradients.norms" in docs_site.modules(
        "seqviz.compute.vanishing_gradients"
    )
    assert not [name for name in packages if name.startswith("seqviz.ui")]


def test_docs_site_navigation_names_existing_pages(tmp_path):
    docs_site.lay_out(tmp_path / "docs", "http://localhost:8501")
    named = re.findall(r"'([^']+\.md)'", str(docs_site.navigation()))
    assert len(named) > 40
    assert not [name for name in named if not (tmp_path / "docs" / name).exists()]
    page = (tmp_path / "docs" / "docs" / "teaching" / "gates.en.md").read_text("utf-8")
    assert "](http://localhost:8501/gates?" in page
    assert not build_teaching.links(page)


@pytest.mark.nightly
def test_docs_site_builds_without_external_resources(tmp_path):
    """Needs `pip install -r docs/requirements.txt`, which tools/nightly does."""
    assert docs_site.build(tmp_path / "site", "http://localhost:8501") == 0
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 50
    for path in [*pages, *(tmp_path / "site").rglob("*.css")]:
        result = (LOADED if path.suffix == ".html" else IN_STYLES).findall(path.read_text("utf-8"))
        assert not [link for link in result if re.match(r"(?:https?:)?//", link)], path
    text = (tmp_path / "site" / "library" / "seqviz.compute.vanishing_gradients.html").read_text(
        "utf-8"
    )
    assert "follow its gradient back through time" in text


@pytest.mark.nightly
def test_docs_site_build_fails_on_broken_link(tmp_path, monkeypatch):
    def with_a_broken_link(pages, address, lay_out=docs_site.lay_out):
        lay_out(pages, address)
        (pages / "SECURITY.md").write_text("[nowhere](no-such-page.md)\n", "utf-8")

    monkeypatch.setattr(docs_site, "lay_out", with_a_broken_link)
    assert docs_site.build(tmp_path / "site", "http://localhost:8501") != 0
    shutil.rmtree(ROOT / "tmp" / "docs")
