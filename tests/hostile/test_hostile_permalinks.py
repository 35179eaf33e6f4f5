"""Whole pages opened by random links, as many as fit in a second of each lesson, five at least.

By night for two minutes each; with `python -m tests.hostile.permalinks --count 10000` as many as
you like.
"""

from __future__ import annotations

import pytest

from tests.hostile import links, permalinks
from tests.hostile.app_page import opened
from tests.hostile.input_declarations import SLUGS
from tests.tiers import by_day

LEAST = 5


def look(slug: str, count: int, seconds: float, record_property) -> None:
    hunt = permalinks.hunting((slug,))
    hunt.search(1, start=7, within=seconds)  # imports and models, uncounted
    result = hunt.search(count, start=8, within=seconds, minimum=LEAST)
    record_property("tried", result.count)
    assert result.count >= LEAST
    assert [f"{links.address(link)}: {why}" for link, why in result.failures] == []


@pytest.mark.parametrize("slug", by_day(SLUGS))
def test_random_permalinks_open_without_faults(minilm, smollm2, slug, record_property):
    look(slug, 25, 1.0, record_property)


@pytest.mark.nightly
@pytest.mark.parametrize("slug", SLUGS)
def test_many_random_permalinks_open_without_faults(minilm, smollm2, slug, record_property):
    look(slug, 1000, 120.0, record_property)


@pytest.mark.parametrize(
    "query",
    [
        (("po.distance.d_model", "7"), ("po.distance.view", "rotation")),  # between two steps
        (("po.schemes.d_k", "2"), ("po.schemes.tokens", "64")),
        (("po.effect.first", ""), ("po.effect.second", "")),
        (("po.effect.first", "\udfff<b id=sqvz7>"), ("po.effect.view", "maps")),
        (("lang", "\ud800"), ("present", "yes"), ("embed", "true"), ("po.part", "x")),
        (("", ""), ("__class__", "x"), ("_owner", "x"), ("po.waves.positions", "9" * 5000)),
    ],
)
def test_odd_permalinks_open_without_faults(minilm, query):
    assert opened("positions", query).faults() == []
