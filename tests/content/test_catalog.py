"""The table of contents agrees with the pages, the assets and the road."""

from __future__ import annotations

import re

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import ASSETS, LANGUAGES

ROOT = ASSETS.parent


def test_catalog_matches_pages_and_lesson_assets():
    slugs = {record.slug for record in catalog.LESSONS}
    assert {path.stem for path in (ROOT / "pages").glob("*.py")} - {"__init__"} == {"home", *slugs}
    files = (ASSETS / "lessons").rglob("*")
    result = {path.relative_to(ASSETS / "lessons").as_posix() for path in files if path.is_file()}
    ends = [f"{lang}.{kind}" for lang in LANGUAGES for kind in ("md", "toml")]
    assert {f"{slug}/{end}" for slug in slugs for end in ends} <= result
    assert {name.partition("/")[0] for name in result} == slugs


def test_catalog_stages_are_known_and_ordered():
    indices = [catalog.STAGES.index(record.stage) for record in catalog.LESSONS]
    assert indices == sorted(indices)
    assert len(set(catalog.STAGES)) == len(catalog.STAGES)


def test_catalog_slugs_and_codes_are_unique_and_short():
    slugs = [record.slug for record in catalog.LESSONS]
    codes = [record.code for record in catalog.LESSONS]
    assert len(set(slugs)) == len(slugs)
    assert len(set(codes)) == len(codes)
    for code in codes:
        # A code starts every key and parameter: `ar.process.phi`. No dot, nothing to escape.
        assert re.fullmatch(r"[a-z][a-z0-9]{0,4}", code), code
    for slug in slugs:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", slug), slug


def test_catalog_finds_lesson_and_neighbours_by_slug():
    around = (None, *catalog.LESSONS, None)
    for before, record, after in zip(around, catalog.LESSONS, around[2:], strict=False):
        assert re.fullmatch(r":material/[a-z0-9_]+:", record.icon), record.slug
        assert catalog.lesson(record.slug) is record
        assert catalog.neighbours(record.slug) == (before, after)
    for unknown in (catalog.lesson, catalog.neighbours):
        with pytest.raises(KeyError):
            unknown("no_such_lesson")
