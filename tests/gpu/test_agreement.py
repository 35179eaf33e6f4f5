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
def test_gpu_float32_matches_cpu_within_tolerance(gpu):
    from benchmarks.gpu import agreement
    from benchmarks.gpu.machine import attempt

    tasks = agreement.tasks(gpu, ("float32",))
    result = {name: attempt(task, gpu) for name, task in tasks.items()}
    measured = {name: item["float32"] for name, item in result.items() if isinstance(item, dict)}
    failed = [
        item for item in (*result.values(), *measured.values()) if str(item).startswith("failed")
    ]
    assert not failed
    apart = {name: item.largest for name, item in measured.items() if not isinstance(item, str)}
    assert apart
    assert {name: size for name, size in apart.items() if size > agreement.TOLERANCE} == {}


@pytest.mark.timeout(900)
def test_gpu_pages_show_no_visible_difference(gpu):
    """No point moves by a pixel, no color by a level, and no exercise refuses the answer."""
    from benchmarks.gpu import agreement
    from benchmarks.gpu.__main__ import pages as tasks
    from benchmarks.gpu.machine import attempt

    result = {name: attempt(task, gpu) for name, task in tasks(gpu).items()}
    assert not [
        item for item in result.values() if isinstance(item, str) and item.startswith("failed")
    ]
    pages = {name: item for name, item in result.items() if not isinstance(item, str)}
    assert any(page.benches for page in pages.values())
    failed = {name: page.skipped for name, page in pages.items() if "failed" in str(page.skipped)}
    assert not failed
    worst = {name: (page.pixels, page.levels) for name, page in pages.items()}
    assert {name: both for name, both in worst.items() if max(both) >= agreement.PIXEL} == {}
    assert sum(page.refused for page in pages.values()) == 0
