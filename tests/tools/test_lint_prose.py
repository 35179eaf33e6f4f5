"""The check of prose, and what it finds in the lessons."""

from __future__ import annotations

import pytest

from seqviz.content import catalog
from tools.lint_prose import check, lint

SLUGS = ["", *(record.slug for record in catalog.LESSONS)]
# Lessons that are not yet in the new form: no more violations than these.
BASELINE: dict[str, int] = {}


@pytest.mark.parametrize("slug", SLUGS)
def test_lint_prose_finds_no_new_violation(slug):
    problems = lint(slug)
    assert len(problems) <= BASELINE.get(slug, 0), problems


@pytest.mark.parametrize(
    ("paragraph", "lang", "found"),
    [
        ("word " * 25 + ".", "en", 0),
        ("word " * 26 + ".", "en", 1),
        ("One. " * 61, "en", 1),
        ("The cost is 99.2 %.", "en", 1),
        ("S0 says so (D-02), in row 3-16.", "en", 3),
        ("Whoever sees this bench reads on.", "en", 2),
        ("字" * 60 + "。", "zh", 0),
        ("字" * 61 + "。", "zh", 1),
    ],
)
def test_check_counts_violations(paragraph, lang, found):
    assert len(list(check(paragraph.strip(), lang))) == found
