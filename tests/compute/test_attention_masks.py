"""Who may look at whom: each kind cell by cell, padding, cells turned over, the form in links."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

from seqviz.compute.attention.masks import KINDS, MOST_CELLS, allowed, pairs, written
from seqviz.refusal import Refusal

RULES = {
    ("own", False): lambda q, k: True,
    ("own", True): lambda q, k: k <= q,
    ("none", False): lambda q, k: True,
    ("none", True): lambda q, k: True,
    ("causal", False): lambda q, k: k <= q,
    ("causal", True): lambda q, k: k <= q,
    ("reverse", False): lambda q, k: k >= q,
    ("reverse", True): lambda q, k: k >= q,
    ("diagonal", False): lambda q, k: k != q,
    ("diagonal", True): lambda q, k: k != q,
}


def test_every_kind_has_a_rule():
    assert {kind for kind, _ in RULES} == set(KINDS)


@pytest.mark.parametrize("tokens", [1, 2, 6])
@pytest.mark.parametrize("pads", [0, 2])
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize(("kind", "decoder"), RULES)
def test_each_cell(kind, decoder, told, pads, tokens):
    real = np.arange(tokens + pads) < tokens
    found = allowed(real, kind, decoder, told)
    for query, key in itertools.product(range(tokens + pads), repeat=2):
        wanted = RULES[kind, decoder](query, key) and (not told or key < tokens)
        assert found[query, key] == wanted, (query, key)


def test_padding_is_told_unless_said_otherwise():
    real = np.array([True, True, False])
    assert not allowed(real, "none", False)[:, 2].any()
    assert allowed(real, "none", False)[2, :2].all()  # padding itself may look: nobody reads it


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_turns_over_and_twice_is_untouched(kind):
    real = np.array([True] * 4 + [False])
    plain = allowed(real, kind, True)
    for cell in itertools.product(range(5), repeat=2):
        once = allowed(real, kind, True, cells=(cell,))
        assert np.argwhere(once != plain).tolist() == [list(cell)]
        np.testing.assert_array_equal(allowed(real, kind, True, cells=(cell, cell)), plain)


def test_cells_come_after_padding():
    """A student may let a query look at padding: that is what the cell is for."""
    real = np.array([True, True, False])
    assert allowed(real, "own", False, cells=((0, 2),))[0, 2]


def test_cells_beyond_the_text_are_ignored():
    real = np.ones(3, bool)
    plain = allowed(real, "causal", False)
    beyond = ((3, 0), (0, 3), (9999, 9999))
    np.testing.assert_array_equal(allowed(real, "causal", False, cells=beyond), plain)


def test_the_input_stays_as_it_is():
    real = np.array([True, False])
    real.flags.writeable = False
    allowed(real, "own", False, cells=((0, 1),))
    assert real.tolist() == [True, False]


def test_an_unknown_kind_is_refused_with_the_kinds_there_are():
    with pytest.raises(ValueError, match="own, none, causal, reverse, diagonal, not 'upside'"):
        allowed(np.ones(2, bool), "upside", False)


# --- pairs in a link ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("   ", ()),
        ("2.5 3.0", ((2, 5), (3, 0))),
        ("3.0 2.5", ((2, 5), (3, 0))),
        ("3.0,2.5+3.0\n2.5", ((2, 5), (3, 0))),
        ("10.2 9.11 9.2", ((9, 2), (9, 11), (10, 2))),  # numbers, not letters, are sorted
        ("0007.01", ((7, 1),)),
        ("9999.9999", ((9999, 9999),)),
    ],
)
def test_pairs(text, found):
    assert pairs(text) == found


def test_what_is_written_reads_back():
    random = np.random.RandomState(0)
    for count in (0, 1, 7, MOST_CELLS):
        cells = tuple(sorted({(int(a), int(b)) for a, b in random.randint(0, 9999, (count, 2))}))
        assert pairs(written(cells)) == cells
    assert written(()) == ""
    assert written(((2, 5), (3, 0))) == "2.5 3.0"


@pytest.mark.parametrize(
    "text",
    ["2", "2.", ".5", "2.5.1", "-1.2", "1.-2", "a.b", "2:5", "1e3.2", "10000.1", "1.10000", "２.x",
     "<script>", "2.5 3", "½.1"],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(Refusal) as caught:
        pairs(text)
    assert caught.value.code == "pairs"
    assert caught.value.details["part"] in text
    assert str(caught.value).endswith(".")
    assert pickle.loads(pickle.dumps(caught.value)).details == caught.value.details


def test_a_long_part_is_cut_in_the_refusal():
    with pytest.raises(Refusal) as caught:
        pairs("x" * 1_000_000)
    assert caught.value.details["part"] == "x" * 20
    assert len(str(caught.value)) < 200


def test_too_many_pairs_are_refused():
    many = written(tuple((0, i) for i in range(MOST_CELLS)))
    assert len(pairs(many)) == MOST_CELLS
    assert len(pairs(f"{many} {many}")) == MOST_CELLS  # each counts once
    with pytest.raises(Refusal) as caught:
        pairs(many + " 1.1")
    assert (caught.value.code, caught.value.details) == ("many_pairs", {"limit": MOST_CELLS})
