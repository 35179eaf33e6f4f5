"""Three tiers: `pytest` (a push), `.ci/run` (that and the linters), `tools/nightly` (everything).

A test marked `nightly` repeats, over languages, draws, servers or hours, what a test of the same
family checks in the first tier; or it tries in a browser, which takes seconds, what follows from
parts that are checked there.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES

# Pages of which a push looks at every pixel: a lesson with a map, typed text and cards, and home.
LOOKED_AT = ("gates", "")
# Lessons of which a push tries what all of them share and what takes seconds for each.
BY_DAY = ("ar_fitting", "language_models", "gates", "attention")


def first_only(values: Sequence[Any], retained: int = 1) -> list[Any]:
    """The values of a parameter, or of several as tuples: a push tries the first `retained` of
    them.
    """
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=[pytest.mark.nightly] if index >= retained else [],
        )
        for index, value in enumerate(values)
    ]


def by_day(slugs: Sequence[str]) -> list[Any]:
    """The slugs of lessons: a push tries those of `BY_DAY`."""
    return [
        pytest.param(slug, marks=[] if slug in BY_DAY else [pytest.mark.nightly]) for slug in slugs
    ]


def alternate(values: Sequence[Any], tried: Collection[Any] | None = None) -> list[Any]:
    """(value, language): the languages alternate along the values; the nightly run has both.

    tried: the values that a push tries; all by default.
    """
    return [
        pytest.param(
            value,
            lang,
            marks=[]
            if LANGUAGES[index % len(LANGUAGES)] == lang and (tried is None or value in tried)
            else [pytest.mark.nightly],
        )
        for index, value in enumerate(values)
        for lang in LANGUAGES
    ]


def rotate(values: Sequence[Any], count: int, request: pytest.FixtureRequest) -> list[Any]:
    """Return `count` of the values in a push, others for each lesson; the nightly run has all.

    request: of a test that has a lesson's slug first in the id of its parameters.
    """
    if "not nightly" not in request.config.option.markexpr:
        return list(values)
    slugs = [record.slug for record in catalog.LESSONS]
    slug = request.node.callspec.id.partition("-")[0]
    start = slugs.index(slug) if slug in slugs else 0
    stride = len(values) // count
    return [values[(start + stride * turn) % len(values)] for turn in range(count)]


def pairwise(**axes: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrize so that every pair of values of two axes is tried; the nightly run tries all.

    Greedy: of all combinations the one with most pairs that are new, in their order.
    """
    values = [list(axis) for axis in axes.values()]
    every = list(product(*(range(len(axis)) for axis in values)))
    chosen = set(_covering(tuple(len(axis) for axis in values)))
    return pytest.mark.parametrize(
        tuple(axes),
        [
            pytest.param(
                *(axis[k] for axis, k in zip(values, positions, strict=True)),
                marks=[] if positions in chosen else [pytest.mark.nightly],
            )
            for positions in every
        ],
    )


def pairs(positions: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """The pairs of values in a combination: two axes, and the value on each."""
    for a, b in combinations(range(len(positions)), 2):
        yield a, b, positions[a], positions[b]


@functools.cache
def _covering(sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    every = list(product(*map(range, sizes)))
    missing = {pair for positions in every for pair in pairs(positions)}
    chosen = []
    while missing:
        best = max(every, key=lambda positions: len(missing.intersection(pairs(positions))))
        missing.difference_update(pairs(best))
        chosen.append(best)
    return tuple(chosen)
