"""What the lessons compute on a GPU is what the CPU computes, in float32 without TF32.

`pytest -m gpu`; on a machine without the suite's tools `pytest -o addopts= --confcutdir tests/gpu
tests/gpu`.
"""

from __future__ import annotations

import math
import time

import pytest

pytestmark = pytest.mark.gpu
NO_GPU = "No GPU here that torch can use (CUDA)"  # tests/conftest.py says it once at the end


@pytest.fixture
def gpu():
    import torch

    if not torch.cuda.is_available():
        pytest.skip(NO_GPU)
    from benchmarks.gpu import machine

    machine.find_model()
    name = torch.cuda.get_device_name()
    return machine.Machine("cuda", name, False, time.monotonic(), math.inf)


@pytest.mark.timeout(900)
def test_float32_is_within_a_ten_thousandth_of_the_cpu(gpu):
    from benchmarks.gpu import agreement

    found = dict(agreement.rows(gpu))
    measured = {name: one["float32"] for name, one in found.items() if isinstance(one, dict)}
    failed = [one for one in (*found.values(), *measured.values()) if str(one).startswith("failed")]
    assert not failed
    apart = {name: one.largest for name, one in measured.items() if not isinstance(one, str)}
    assert apart
    assert {name: size for name, size in apart.items() if size > agreement.TOLERANCE} == {}


@pytest.mark.timeout(900)
def test_a_student_would_not_see_the_difference(gpu):
    """No point moves by a pixel, no color by a level, and no exercise refuses the answer."""
    from benchmarks.gpu import agreement, seen

    found = dict(seen.rows(gpu))
    assert not [one for one in found.values() if isinstance(one, str) and one.startswith("failed")]
    pages = {name: one for name, one in found.items() if not isinstance(one, str)}
    assert any(one.benches for one in pages.values())
    failed = {name: one.skipped for name, one in pages.items() if "failed" in str(one.skipped)}
    assert not failed
    worst = {name: (one.pixels, one.levels) for name, one in pages.items()}
    assert {name: both for name, both in worst.items() if max(both) >= agreement.PIXEL} == {}
    assert sum(one.refused for one in pages.values()) == 0
