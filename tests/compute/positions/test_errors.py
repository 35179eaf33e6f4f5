"""What cannot be computed about positions, each with the code of its sentence."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from seqviz.compute.positions import clocks, learned, offsets, order, orders, relative, rotary
from seqviz.compute.positions import sinusoidal as pe
from seqviz.core.errors import UserError

WORDS, LONG = np.ones((3, 4)), " ".join(["w"] * orders.MOST_WORDS)
HOLE = np.where(np.eye(3, 4) > 0, np.nan, 1.0)
PAIR = (np.ones(4), np.ones(4))
SAID = {
    "encoding_base": "The base must be a number above 1, not @.",
    "encoding_positions": "There can be from 1 to @ positions, not @.",
    "encoding_width": "The encoding needs from 2 to 4096 dimensions, not @.",
    "heads": "There can be from 1 to 1024 heads, not @.",
    "shift": "The shift can be from 0 to 100000, not @.",
    "position_outside": "There is no position @ in a table of 10.",
    "many_words": "At most 24 words; shorten.",
}
REFUSED = (
    *((pe.encoding, (10, 8, base), "encoding_base") for base in (1.0, 0.5, -3.0, math.nan)),
    (pe.encoding, (10, 8, math.inf), "encoding_base"),
    *((pe.encoding, (positions, 8), "encoding_positions") for positions in (0, 100_001)),
    *((pe.encoding, (10, width), "encoding_width") for width in (1, 4097)),
    (pe.encoding, (100_000, 1000), "encoding_too_large"),
    (pe.rotation, (7, 9), "lone_sine"),
    *((pe.fit_rotation, (WORDS, offset), "offset_beyond_table") for offset in (0, 3)),
    (pe.fit_rotation, (np.ones((2048, 512)), 1), "too_large_to_solve"),
    *((clocks.clocks, (pe.encoding(10, 4), at), "position_outside") for at in (-1, 10)),
    *((offsets.similarity, (np.ones((rows, 2)),), "encoding_positions") for rows in (0, 2049)),
    (learned.path, (HOLE,), "table_not_finite"),
    (learned.path, (np.ones((2049, 1)),), "encoding_positions"),
    (learned.spectrum, (WORDS[:1],), "one_position"),
    (learned.compare, (WORDS[:0],), "encoding_positions"),
    (rotary.rotate, (np.ones((2, 7)), np.arange(2)), "odd_head"),
    (rotary.frequencies, (0,), "odd_head"),
    *((rotary.frequencies, (8, base), "encoding_base") for base in (1.0, 0.0, math.nan)),
    *((rotary.score_by_offset, (*PAIR, np.arange(n)), "encoding_positions") for n in (0, 2049)),
    (rotary.score_by_offset, (*PAIR, np.array([-100_001])), "position_too_far"),
    (rotary.random_scores, (7, 4), "odd_head"),
    (rotary.random_scores, (8, 0), "encoding_positions"),
    (rotary.random_scores, (8, 4, 1.0), "encoding_base"),
    *((relative.alibi_slopes, (heads,), "heads") for heads in (0, 1025)),
    (relative.alibi_bias, (8, 0), "encoding_positions"),
    *((relative.t5_map, (8, True, buckets), "buckets") for buckets in (33, 2)),
    (relative.t5_map, (8, True, 32, 8), "buckets"),
    (relative.t5_map, (2049,), "encoding_positions"),
    (relative.shift_change, ("none", 0), "encoding_positions"),
    *((relative.shift_change, ("none", 5, shift), "shift") for shift in (-1, 100_001)),
    (relative.shift_change, ("rotary", 5, 1, 7), "odd_head"),
    *((order.attend, (np.ones((n, 2)),), "encoding_positions") for n in (0, 513)),
    *((orders.compare_orders, pair, "no_text") for pair in (("", "a"), ("a", " \n\t"), ("", ""))),
    (orders.compare_orders, (f"{LONG} more", "a"), "many_words"),
    (orders.compare_orders, ("a", f"{LONG} more"), "many_words"),
)


@pytest.mark.parametrize(("call", "arguments", "code"), REFUSED)
def test_positions_reject_bad_arguments_with_error_code(call, arguments, code):
    with pytest.raises(UserError) as caught:
        call(*arguments)
    assert caught.value.code == code
    sentence = str(caught.value)
    assert sentence.endswith(".")
    for part in SAID.get(code, "").split("@"):
        assert part in sentence
    for number in caught.value.details.values():  # the page's own sentence is filled in with them
        assert str(number) in sentence


@pytest.mark.parametrize(
    ("call", "arguments", "said"),
    [
        (pe.encoding, (3, 4, 10.0, "thirds"), "layout: thirds"),
        (rotary.rotate, (WORDS, np.arange(3), 10.0, "thirds"), "layout: thirds"),
        (relative.shift_change, ("absolute",), "scheme: absolute"),
        (order.attend, (WORDS, "absolute"), "scheme: absolute"),
    ],
)
def test_positions_reject_unknown_layout_or_scheme(call, arguments, said):
    with pytest.raises(ValueError, match=said):
        call(*arguments)


def test_positions_package_imports_only_numpy():
    """Torch is for the trainings: two seconds that the first visitor does not pay."""
    names = "sinusoidal, offsets, clocks, rotary, relative, learned, order, tiny"
    code = (
        f"import sys; from seqviz.compute.positions import {names}; tiny.OrderSettings(); "
        "from seqviz.compute.positions.tiny import tasks; tasks.order_blind('sort', 8); "
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "seqviz.compute.positions.tiny.training" in loaded.split()
    assert not {"torch", "scipy", "statsmodels", "streamlit"} & set(loaded.split())
