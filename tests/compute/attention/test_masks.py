"""Who may look at whom: each kind cell by cell, padding, cells turned over, the form in links."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

from seqviz.compute.attention.masks import (
    MASK_KINDS,
    MOST_CELLS,
    REACH,
    SPARSE,
    allowed,
    pairs,
    written,
)
from seqviz.core.errors import UserError

RULES = {
    "own": lambda q, k: True,  # of an encoder; a decoder's is causal
    "none": lambda q, k: True,
    "causal": lambda q, k: k <= q,
    "reverse": lambda q, k: k >= q,
    "diagonal": lambda q, k: k != q,
    "window": lambda q, k: abs(k - q) < REACH,
    "strided": lambda q, k: abs(k - q) < REACH or (q - k) % REACH == 0,
}
DECODER = pytest.mark.parametrize("decoder", [False, True])


@DECODER
@pytest.mark.parametrize("kind", MASK_KINDS)
def test_allowed_matches_mask_rules(kind, decoder):
    """Padding is told unless said otherwise; it may look itself, as nobody reads it."""
    rule = RULES["causal" if decoder and kind == "own" else kind]
    for tokens, pads, payload in itertools.product((1, 2, 6), (0, 2), ({}, {"padding": False})):
        real = np.arange(tokens + pads) < tokens
        real.flags.writeable = False  # readings are
        result = allowed(real, kind, decoder, **payload)
        for query, key in itertools.product(range(tokens + pads), repeat=2):
            expected = rule(query, key) and (bool(payload) or key < tokens)
            if decoder and kind in SPARSE:
                expected = expected and key <= query
            assert result[query, key] == expected, (tokens, pads, payload, query, key)


@DECODER
@pytest.mark.parametrize("kind", MASK_KINDS)
def test_allowed_toggles_cells(kind, decoder):
    """Of padding, too: a student may let a query look there. Beyond the text there is none."""
    real = np.array([True] * 4 + [False])
    plain = allowed(real, kind, decoder)
    for cell in itertools.product(range(5), repeat=2):
        once = allowed(real, kind, decoder, cells=(cell,))
        assert np.argwhere(once != plain).tolist() == [list(cell)]
        np.testing.assert_array_equal(allowed(real, kind, decoder, cells=(cell, cell)), plain)
    beyond = ((5, 0), (0, 5), (9999, 9999))
    np.testing.assert_array_equal(allowed(real, kind, decoder, cells=beyond), plain)


def test_allowed_rejects_unknown_kind_and_lists_kinds():
    with pytest.raises(
        ValueError, match="own, none, causal, reverse, diagonal, window, strided, not 'upside'"
    ):
        allowed(np.ones(2, bool), "upside", False)


# --- pairs in a link ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("   ", ()),
        ("3.0 2.5", ((2, 5), (3, 0))),
        ("3.0,2.5+3.0\n2.5", ((2, 5), (3, 0))),
        ("10.2 9.11 9.2", ((9, 2), (9, 11), (10, 2))),  # numbers, not letters, are sorted
        ("0007.01", ((7, 1),)),
        ("9999.9999", ((9999, 9999),)),
    ],
)
def test_pairs_parses_text(text, found):
    assert pairs(text) == found


def test_written_round_trips_through_pairs():
    assert written(((2, 5), (3, 0))) == "2.5 3.0"
    for count in (0, 1, MOST_CELLS):
        cells = tuple((0, index) for index in range(count))
        assert pairs(written(cells)) == cells
        assert pairs(f"{written(cells)} {written(cells)}") == cells  # each counts once


@pytest.mark.parametrize(
    ("text", "part"),
    [
        *((text, text) for text in ("2", "2.", ".5", "2.5.1", "-1.2", "1.-2", "a.b", "2:5",
          "1e3.2", "10000.1", "1.10000", "２.x", "<script>", "½.1")),
        ("2.5 3", "3"),
        ("x" * 1_000_000, "x" * 20),  # a long one is cut
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_pairs_rejects_malformed_text(text, part):
    with pytest.raises(UserError, match=r"^.{1,200}\.$") as caught:
        pairs(text)
    assert (caught.value.code, caught.value.details) == ("pairs", {"part": part})
    assert pickle.loads(pickle.dumps(caught.value)).details == caught.value.details


def test_pairs_rejects_too_many_cells():
    with pytest.raises(UserError) as caught:
        pairs(written(tuple((0, index) for index in range(MOST_CELLS + 1))))
    assert (caught.value.code, caught.value.details) == ("many_pairs", {"limit": MOST_CELLS})
