"""The table of contents agrees with the pages, the assets and the road."""

from __future__ import annotations

import re

import pytest

from seqviz import catalog
from seqviz.text import ASSETS, LANGUAGES

ROOT = ASSETS.parent


def test_every_lesson_has_its_page():
    for record in catalog.LESSONS:
        assert (ROOT / "pages" / f"{record.slug}.py").is_file(), record.slug


def test_every_page_is_in_the_catalogue():
    stems = {path.stem for path in (ROOT / "pages").glob("*.py")} - {"__init__"}
    assert stems == {"home", *(record.slug for record in catalog.LESSONS)}


def test_every_lesson_has_its_words_and_prose():
    for record in catalog.LESSONS:
        folder = ASSETS / "lessons" / record.slug
        for lang in LANGUAGES:
            assert (folder / f"{lang}.md").is_file()
            assert (folder / f"{lang}.toml").is_file()


def test_no_folder_of_words_without_a_lesson():
    folders = {path.name for path in (ASSETS / "lessons").iterdir() if path.is_dir()}
    assert folders == {record.slug for record in catalog.LESSONS}


def test_stages_are_known_and_come_in_order():
    places = [catalog.STAGES.index(record.stage) for record in catalog.LESSONS]
    assert places == sorted(places)
    assert len(set(catalog.STAGES)) == len(catalog.STAGES)


def test_slugs_and_codes_are_unique_and_short():
    slugs = [record.slug for record in catalog.LESSONS]
    codes = [record.code for record in catalog.LESSONS]
    assert len(set(slugs)) == len(slugs)
    assert len(set(codes)) == len(codes)
    for code in codes:
        # A code starts every key and parameter: `ar.process.phi`. No dot, nothing to escape.
        assert re.fullmatch(r"[a-z][a-z0-9]{0,4}", code), code
    for slug in slugs:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", slug), slug


def test_icons_are_material_symbols():
    for record in catalog.LESSONS:
        assert re.fullmatch(r":material/[a-z0-9_]+:", record.icon), record.slug


def test_lesson_finds_its_record():
    for record in catalog.LESSONS:
        assert catalog.lesson(record.slug) is record
    with pytest.raises(KeyError):
        catalog.lesson("no_such_lesson")


def test_neighbours_of_the_real_list():
    before = None
    for record in catalog.LESSONS:
        assert catalog.neighbours(record.slug)[0] is before
        before = record
    after = None
    for record in reversed(catalog.LESSONS):
        assert catalog.neighbours(record.slug)[1] is after
        after = record


def test_neighbours_of_a_longer_list(monkeypatch):
    first = catalog.LESSONS[0]
    names = ("one", "two", "three")
    three = tuple(
        catalog.Lesson(name, name, first.stage, first.group, first.icon, first.first)
        for name in names
    )
    monkeypatch.setattr(catalog, "LESSONS", three)
    assert catalog.neighbours("one") == (None, three[1])
    assert catalog.neighbours("two") == (three[0], three[2])
    assert catalog.neighbours("three") == (three[1], None)
    with pytest.raises(KeyError):
        catalog.neighbours("four")
