"""`python -m benchmarks.gpu` on a CPU, from the bundle that travels; and its arithmetic."""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.gpu import __main__ as command
from benchmarks.gpu import agreement, faults, machine, speed, visible_differences
from benchmarks.gpu.agreement import Difference, difference
from seqviz import lessons
from seqviz.compute.ar_fitting import replicate
from seqviz.content import catalog
from seqviz.core.paths import ROOT
from seqviz.lessons.framework.output import Chart, Note, Output, RenderedFigure
from seqviz.models import placement, store
from seqviz.plotting.figure import Figure
from tools import gpu_bundle

# What a machine with torch and transformers may well lack; huggingface_hub's own needs are there.
LACKING = ("streamlit", "plotly", "altair", "optuna", "orjson", "gguf", "bertviz", "beartype")
RUN = """
import runpy, sys
sys.modules.update(dict.fromkeys({lacking!r}))
sys.argv = ["gpu", "--minutes", "0.1", "--write"]
runpy.run_module("benchmarks.gpu", run_name="__main__")
"""
DRAW = """
import sys
from pathlib import Path
from seqviz.content import catalog
from seqviz import lessons
for record in catalog.LESSONS:
    for name, bench in getattr(lessons, record.slug).lesson.benches.items():
        try:
            for language in ("en", "zh"):
                output = bench.run({}, language)
                if output.figure is not None:
                    output.figure.to_json()
        except ValueError as refusal:
            if not str(refusal).startswith("Unknown network"):  # computed with numpy, not carried
                raise
            continue
        print(record.slug, name)
        if not {every!r}:
            break
files = [Path(one.__file__) for name, one in sys.modules.items() if name.startswith("seqviz")]
assert all(file.is_relative_to(Path.cwd()) for file in files), files
"""
HERE = machine.Machine("cpu", "CPU", True, time.monotonic(), math.inf)


@pytest.mark.usefixtures("minilm_on_disk")
def test_gpu_command_runs_from_unpacked_bundle(tmp_path):
    packed, position = tmp_path / "bundle.tar.gz", tmp_path / "there"
    assert gpu_bundle.pack(packed, tmp_path / "model") < gpu_bundle.MOST
    with tarfile.open(packed) as bundle:
        bundle.extractall(position, filter="data")
    outside = ("SEQVIZ_CACHE", "SEQVIZ_DEVICE", "PYTHONPATH", "HF_HOME")
    existing = {name: value for name, value in os.environ.items() if name not in outside}
    run = subprocess.run(
        [sys.executable, "-c", RUN.format(lacking=LACKING)],
        cwd=position,
        env={**existing, "HOME": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0].startswith("small: true")
    result = json.loads(lines[-1], parse_constant=pytest.fail)
    assert list(result) == ["name", "device", "small", "agreement", "speed", "faults"]
    assert (result["name"], result["small"]) == ("gpu", True)
    rows = {**result["agreement"], **result["speed"]}
    assert not {name: row for name, row in rows.items() if "failed" in str(row)}
    pages = {f"page: {record.slug}" for record in catalog.LESSONS}
    assert result["agreement"].keys() == agreement.SUBJECTS.keys() | pages
    # the colors of figures are plotly's
    assert {result["agreement"][name] for name in pages} == {"skipped: plotly is not installed"}
    assert not (position / "assets/data/crossover.json").exists()
    assert result["agreement"]["all pairs, RNN"]["float32"]["largest"] == 0
    assert "is not on this machine" not in str(result["agreement"]["MiniLM, one text"])
    assert speed.ROWS.keys() < result["speed"].keys()
    assert set(result["faults"].values()) == {"skipped: not on a CPU"}
    (results,) = (position / "benchmarks/results").glob("*-gpu-*.json")
    assert json.loads(results.read_text()) == result
    ElementTree.parse(results.with_suffix(".svg"))


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=[pytest.mark.nightly, pytest.mark.timeout(900)])]
)
def test_gpu_bundle_draws_benches_without_repository(every, tmp_path, monkeypatch):
    """By day one of each lesson, at night all of them."""
    if every and store.stored("minilm") is None:
        pytest.skip("MiniLM is not on this machine")
    monkeypatch.setattr(gpu_bundle, "half_model", lambda folder: folder.mkdir())
    packed, position = tmp_path / "bundle.tar.gz", tmp_path / "there"
    gpu_bundle.pack(packed, tmp_path)
    with tarfile.open(packed) as bundle:
        bundle.extractall(position, filter="data")
    run = subprocess.run(
        [sys.executable, "-c", DRAW.replace("{every!r}", str(every))],
        cwd=position,
        env={"PATH": os.defpath, "HOME": str(tmp_path), "HF_HUB_OFFLINE": "1",
             "SEQVIZ_CACHE": str(store.cache())},
        capture_output=True,
        text=True,
        timeout=850,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    rendered = {line.split()[0] for line in run.stdout.splitlines()}
    assert rendered == {record.slug for record in catalog.LESSONS}


def test_agreement_covers_every_function_with_device_argument():
    """Every function that takes a device has a row or a stated reason for having none."""

    def nodes(path: Path, *kinds: type) -> list:
        tree = ast.walk(ast.parse(path.read_text("utf-8")))
        return [node for node in tree if isinstance(node, kinds)]

    functions = {
        node.name
        for package in ("compute", "experiments")
        for path in (ROOT / "seqviz" / package).rglob("*.py")
        for node in nodes(path, ast.FunctionDef)
        if not node.name.startswith("_")
        and any(arg.arg in ("device", "report") for arg in args(node))
    }
    called = {
        getattr(node.func, "attr", getattr(node.func, "id", ""))
        for node in nodes(Path(agreement.__file__), ast.Call)
    }
    assert called & functions
    assert functions - called == agreement.LEFT_OUT.keys()


def args(node: ast.FunctionDef) -> list[ast.arg]:
    # a method's device, or that of what is done with a network at hand, is its caller's
    every = [*node.args.args, *node.args.kwonlyargs]
    return [] if every and every[0].arg in ("self", "network") else every


def test_difference_scales_by_largest_number_of_array():
    expected = np.array([1.0, -200.0, math.nan, -math.inf]), np.arange(4), ("a", "b")
    other = np.array([1.02, -200.0, math.nan, -math.inf]), np.array([0, 1, 2, 4]), ("a", "c")
    assert difference(expected, expected) == Difference(0.0, 0.0, 0.0, 0.0)
    result = difference(other, expected)
    assert result.largest == pytest.approx(1e-4)
    assert (result.median, result.choices, result.printed) == (0.0, 2 / 6, 1 / 4)
    assert difference(np.array([math.nan]), np.array([1.0])).largest == math.inf
    with pytest.raises(ValueError, match="shapes"):
        difference(np.zeros(2), np.zeros(3))


def test_difference_compares_readouts_as_printed():
    item, other = replicate(0.8, 50, 20, seed=1), replicate(0.8, 50, 20, seed=2)
    units = [unit.kind for array, unit in agreement.leaves(item) if array.dtype.kind == "f"]
    assert "share" in units  # of the coverage
    assert difference(item, item).printed == 0.0
    assert difference(other, item).printed > 0.5


@pytest.mark.parametrize("name", ["AR network, mlp", "recall, three cells", "gates, gru"])
def test_agreement_row_is_exact_only_for_float32_on_cpu(name):
    result = agreement.row(name, HERE)
    assert result["float32"] == Difference(0.0, 0.0, 0.0, 0.0)
    assert 1e-6 < result["bfloat16"].largest < 0.1
    assert result["tf32"].startswith("skipped")


def test_precision_restores_previous_settings():
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    with machine.precision("bfloat16", "cpu"):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
    assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32) == before


def test_precision_bfloat16_sees_updated_weights():
    weight = torch.ones(1, 1, requires_grad=True)
    with machine.precision("bfloat16", "cpu"):
        before = torch.nn.functional.linear(torch.ones(1, 1), weight).item()
        weight.data += 1
        assert torch.nn.functional.linear(torch.ones(1, 1), weight).item() == before + 1


def test_crossover_returns_size_from_which_device_stays_faster():
    cpu = {1: 1.0, 2: 2.0, 4: 4.0}
    assert speed.crossover(cpu, {1: 2.0, 2: 1.0, 4: 1.0, 8: 1.0}) == 2
    assert speed.crossover(cpu, {1: 0.5, 2: 3.0, 4: 1.0}) == 4
    assert speed.crossover(cpu, {4: 5.0}) is None


def test_measure_keeps_smaller_sizes_after_failure():
    def make(size: int, location: str, small: bool):
        return lambda: bytes(10**18 if size == 2 else size)  # no machine has that much

    result = speed.measure(speed.Row("bytes", (1, 2, 3), (), ("", ""), make), HERE)
    assert list(result.cpu) == [1]
    assert list(result.stopped) == ["cpu 2"]
    assert result.stopped["cpu 2"].startswith("failed: MemoryError")
    with pytest.raises(MemoryError):
        speed.measure(speed.Row("bytes", (2,), (), ("", ""), make), HERE)


def shown(y, z, note: str = "It is 0.5.", **axis) -> Output:
    traces = [
        {"type": "scatter", "x": np.array([1.0, 2.0]), "y": np.array(y)},
        {"type": "heatmap", "x": ["a", "b"], "z": np.array(z), "zmin": 0, "zmax": 1},
    ]
    figure = Figure(traces, {"yaxis": axis})
    return Output([Chart(RenderedFigure(figure, (), "")), Note(note)])


def test_visible_differences_counts_pixels_levels_and_words():
    item = shown([0.0, 10.0], [[0.0, 1.0]])
    assert visible_differences.apart(item, item) == (0.0, 0.0, [False, False])
    pixels, levels, words = visible_differences.apart(
        shown([0.0, 9.9], [[0.0, 0.9]], "It is 0.6."), item
    )
    assert pixels == pytest.approx(0.01 * 500)  # a hundredth of the axis
    assert levels == pytest.approx(25.5)
    assert words == [True, False]
    half = {"range": [0, 20], "domain": [0.5, 1.0]}
    expected = shown([0.0, 10.0], [[0.0, 1.0]], **half)
    pixels, *_ = visible_differences.apart(shown([0.0, 9.0], [[0.0, 1.0]]), expected)
    assert pixels == pytest.approx(1 / 20 * 250)
    expected = shown([1.0, 100.0], [[0.0, 1.0]], type="log")
    pixels, *_ = visible_differences.apart(shown([1.0, 10.0], [[0.0, 1.0]]), expected)
    assert pixels == pytest.approx(250)  # one decade of two
    pixels, *_ = visible_differences.apart(shown([math.nan, 10.0], [[0.0, 1.0]]), item)
    assert pixels == math.inf
    with pytest.raises(ValueError, match="shapes"):
        visible_differences.apart(shown([0.0], [[0.0, 1.0]]), item)


def test_visible_differences_detects_changed_computation(monkeypatch):
    """Trainings of the lesson at the second place begin from another seed."""
    lesson = lessons.gates.lesson
    alike = visible_differences.lesson(lesson, HERE)
    assert (alike.benches, alike.skipped) == ({"learn": 0.0}, {})
    assert (alike.pixels, alike.levels, alike.words) == (0.0, 0.0, 0.0)
    cases = len(lesson.exercises["constant"].cases)
    assert (alike.refused, alike.exercises) == (0, cases)
    real, hosts = visible_differences.At.training_result, []

    def trained(host, function, keywords, so_far):
        hosts.append(host)
        if len(hosts) == 2:
            other = visible_differences.replace(keywords["settings"], seed=7)
            keywords = {**keywords, "settings": other}
        return real(host, function, keywords, so_far)

    monkeypatch.setattr(visible_differences.At, "training_result", trained)
    exercise = next(iter(lesson.exercises.values()))
    answers = iter([*[1.0] * cases, *[1.0] * (cases - 2), *[2.0] * 2])
    other = visible_differences.replace(exercise, answer=lambda **case: next(answers))
    monkeypatch.setattr(lesson, "exercises", {"one": other})
    result = visible_differences.lesson(lesson, HERE)
    assert result.pixels > agreement.PIXEL
    assert (result.refused, result.exercises) == (2, cases)


def test_command_writes_crossover_read_by_placement(tmp_path, monkeypatch):
    gpu = machine.Machine("cuda", "H", False, time.monotonic(), math.inf)
    times = speed.Times("hidden", "", {8: 1.0, 32: 4.0}, {8: 2.0, 32: 2.0}, 32)
    never = speed.Times("hidden", "", {8: 1.0}, {8: 2.0})
    unmeasured = speed.Times("paths", "", {100: 1.0})
    agreed = {
        "a": {"float32": Difference(2e-6, 0.0, 0.0, 0.0)},
        "b": {"float32": "skipped"},
        "page: gates": agreement.VisibleDifference(),
    }
    result = {
        "agreement": agreed,
        "faults": {},
        "speed": {"fit: recall": times, "fit: gates, LSTM": never, "AR": unmeasured},
    }
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(placement, "FILE", tmp_path / "crossover.json")
    command.write(gpu, result)
    placement.measured.cache_clear()
    read = placement.measured()
    placement.measured.cache_clear()
    assert (read.name, read.largest) == ("H", 2e-6)
    assert read.crossover == {"fit: recall": 32, "fit: gates, LSTM": None}


@pytest.mark.nightly
def test_processes_reports_failure():
    (message,) = faults.processes(1, faults.passes, "abacus", 0.1)
    assert message.startswith("failed: ValueError: SEQVIZ_DEVICE")


@pytest.mark.nightly
@pytest.mark.usefixtures("minilm_on_disk")
def test_processes_runs_two_concurrently():
    assert all(rate > 0 for rate in faults.processes(2, faults.passes, "cpu", 0.5))


def test_rows_skip_after_time_limit():
    late = machine.Machine("cpu", "CPU", True, time.monotonic() - 10, 1.0)
    payload = {name: row for name, row in agreement.rows(late) if "too long" not in row}
    assert set(payload.values()) == {"skipped: no time left for it"}
    assert {row for _, row in speed.rows(late)} == {"skipped: no time left for it"}


def test_goals_require_comparisons():
    """As on 2026-11-27: every bench of every page failed, and no speed was measured."""
    failed = agreement.VisibleDifference(skipped={"real": "failed: KeyError: 'figure.layer'"})
    result = {"agreement": {"page: a": failed, "page: b": "skipped: x"}, "speed": {}, "faults": {}}
    states = {name: state for name, _, _, state in command.goals(result)}
    assert set(states.values()) == {command.NOTHING}
    some = agreement.VisibleDifference(
        pixels=0.5, benches={"learn": 0.5}, skipped={"x": "skipped: no model"}
    )
    result["agreement"] = {"page: a": some, "b": {"float32": Difference(2e-6, 0.0, 0.0, 0.0)}}
    states = {name: state for name, _, _, state in command.goals(result)}
    assert states["figures, pixels"] == states["float32, largest difference"] == "met"
    result["agreement"]["page: b"] = failed  # a bench that fails there is not like that of the CPU
    states = {name: state for name, _, _, state in command.goals(result)}
    assert states["figures, pixels"] == "missed: failed were real"
    result["agreement"] |= {"page: c": "failed: KeyError: 'x'", "a": "failed: LinAlgError: y"}
    states = {name: state for name, _, _, state in command.goals(result)}
    assert states["figures, pixels"] == "missed: failed were real, page: c"
    assert states["float32, largest difference"] == "missed: failed were a"


def test_difference_without_numbers_is_no_agreement():
    with pytest.raises(ValueError, match="nothing to compare"):
        difference((), ())
    words = difference(("a", "b"), ("a", "c"))
    assert math.isnan(words.largest)
    assert words.choices == 0.5
    result = {"agreement": {"a": {"float32": words}}, "speed": {}, "faults": {}}
    assert command.apart_in_float32(result) == []


def test_visible_differences_skips_bench_without_figure(monkeypatch):
    bare = Output([Note("It waits.")])
    monkeypatch.setattr(type(lessons.gates.lesson.benches["learn"]), "run", waiting(bare))
    result = visible_differences.lesson(lessons.gates.lesson, HERE)
    assert result.benches == {}
    assert result.skipped["learn"] == "skipped: there is no figure to compare"


def waiting(output: Output):
    def run(bench, *_, host, **__):
        host.used = True
        return output

    return run


def test_silence_discards_driver_output():
    script = (
        "import os; from benchmarks.gpu import faults\n"
        "print('before', flush=True); faults._silence()\n"
        "[os.write(stream, b'Assertion failed\\n') for stream in (1, 2)]"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "before\n", "")
