"""What who comes by reads first: README's picture and links, and how to cite."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from urllib.parse import unquote

import pytest
import yaml

from seqviz.core.paths import ROOT
from tools import build_teaching, readme_picture

README = (ROOT / "README.md").read_text("utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
# https://github.com/citation-file-format/citation-file-format, schema 1.2.0, of the whole file.
REQUIRED = {"authors", "cff-version", "message", "title"}
ALLOWED = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license",
    "license-url", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "type", "url", "version",
}  # fmt: skip
PERSON = {"given-names", "family-names", "name-particle", "name-suffix", "alias", "affiliation"}
ENTITY = {"name", "address", "city", "country", "date-end", "date-start", "location"}
MOST_BYTES = 100_000


def test_citation_matches_schema():
    """By hand: the validator (cffconvert) wants an older jsonschema than the notebooks do."""
    assert set(CITATION) >= REQUIRED
    assert set(CITATION) <= ALLOWED
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] in ("software", "dataset")
    assert CITATION["authors"]
    for author in CITATION["authors"]:
        assert author
        assert set(author) <= PERSON | {"email", "orcid", "website"} or (
            "name" in author and set(author) <= ENTITY | {"email", "orcid", "website"}
        )
    assert all(isinstance(word, str) and word for word in CITATION["keywords"])
    assert isinstance(CITATION.get("date-released", date.today()), date)
    for name in ("abstract", "message", "title", "license"):
        assert isinstance(CITATION[name], str)


def test_citation_matches_pyproject_and_license():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert str(CITATION["version"]) == project["version"]
    assert CITATION["license"] == project["license"]
    holder = re.search(r"\d{4} (.+)", (ROOT / "LICENSE").read_text("utf-8"))
    assert holder is not None
    assert CITATION["authors"] == [{"name": holder[1]}]


@pytest.mark.parametrize("scheme", readme_picture.SCHEMES)
def test_readme_picture_exists_and_is_small(scheme):
    path = readme_picture.path(scheme)
    assert str(path.relative_to(ROOT)) in README
    assert 10_000 < path.stat().st_size < MOST_BYTES


def test_readme_lesson_link_matches_picture():
    (link,) = re.findall(r"<http://localhost:8501(/[^>]+)>", README)
    assert link == f"{readme_picture.LINK}#bench-force"
    build_teaching.setting(link)


def test_readme_links_resolve():
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert link.startswith("http") or (ROOT / unquote(link)).exists(), link
    assert README.startswith("---\ntitle: SeqViz\n")
