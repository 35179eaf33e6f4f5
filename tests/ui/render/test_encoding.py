"""What travels under a moving hand is one gzip stream, whatever is in it."""

from __future__ import annotations

import gzip
import re
import time
import zlib

import numpy as np
import pytest

from seqviz.core.paths import STATIC
from seqviz.plotting.figure import Array, Figure
from seqviz.ui.render.encoding import compress

LIVE = (STATIC / "bench/live.js").read_text("utf-8")
NOISE = np.random.default_rng(0).normal(size=(148, 256)).astype(np.float32)
SAME = np.tile(np.arange(256, dtype=np.float32), (148, 1))


def array(values: np.ndarray) -> Array:
    (result,) = (part for part in Figure([{"z": values}], {}).parts() if isinstance(part, Array))
    return result


@pytest.mark.parametrize("parts", [
    (b"x" * 2000,), (array(NOISE),), (b"a", array(NOISE), b"b"), (array(NOISE), array(SAME)),
    (b"x" * 3000, array(SAME), array(NOISE), array(NOISE), b""),
])  # fmt: skip
def test_compress_round_trips(parts):
    full = b"".join(part.text if isinstance(part, Array) else part for part in parts)
    assert gzip.decompress(compress(parts)) == full


def test_compress_is_faster_and_no_larger_on_noise():
    noise = array(NOISE)
    started = time.thread_time()
    item = gzip.compress(noise.text, 1)
    middle = time.thread_time()
    other = compress((noise,))
    assert time.thread_time() - middle < 0.7 * (middle - started)
    assert len(other) <= len(item)


def test_compress_exploits_repeated_rows():
    same = array(SAME)
    assert len(compress((same,))) <= len(zlib.compress(same.text, 1)) + 18 < len(same.text) / 10


@pytest.mark.parametrize("size", range(3066, 3076))
def test_browser_pattern_matches_server_arrays(size):
    """Of an array that only one of them counts, all after it would get another's values."""
    (pattern,) = re.findall(r"LARGE_ARRAY = /(.+)/g", LIVE)
    figure = Figure([{"z": np.arange(size).astype(np.uint8)}], {})
    apart = [part for part in figure.parts() if isinstance(part, Array)]
    assert len(apart) == len(re.findall(pattern, figure.to_json()))
