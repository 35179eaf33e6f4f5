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
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from benchmarks.gpu import __main__ as command
from benchmarks.gpu import (
    agreement,
    app_speed,
    faults,
    goals,
    machine,
    seeds,
    speed,
    visible_differences,
)
from benchmarks.gpu.agreement import Difference, difference
from seqviz import lessons
from seqviz.compute.ar_fitting import replicate
from seqviz.content import catalog
from seqviz.core.paths import ROOT
from seqviz.lessons.framework.output import Chart, Note, Output, RenderedFigure
from seqviz.models import placement, sources, store
from seqviz.plotting.figure import Figure
from tools import gpu_bundle

# What a machine with torch and transformers may well lack; huggingface_hub's own needs are there.
LACKING = ("streamlit", "plotly", "altair", "optuna", "orjson", "gguf", "bertviz", "beartype")
RUN = """
import runpy, sys
sys.modules.update(dict.fromkeys({lacking!r}))
sys.argv = ["gpu", "--write", *{options!r}]
runpy.run_module("benchmarks.gpu", run_name="__main__")
"""
DRAW = """
import sys
from pathlib import Path
from seqviz.content import catalog
from seqviz import lessons
for record in catalog.LESSONS:
    for name, bench in getattr(lessons, record.slug).lesson.benches.items():
        for language in ("en", "zh"):
            output = bench.run({}, language)
            if output.figure is not None:
                output.figure.to_json()
        print(record.slug, name)
files = [Path(one.__file__) for name, one in sys.modules.items() if name.startswith("seqviz")]
assert all(file.is_relative_to(Path.cwd()) for file in files), files
"""
HERE = machine.Machine("cpu", "CPU", True, time.monotonic(), math.inf)


@pytest.mark.nightly
@pytest.mark.usefixtures("minilm_on_disk")
def test_gpu_command_runs_from_unpacked_bundle(tmp_path):
    packed, position = tmp_path / "bundle.tar.bz2", tmp_path / "there"
    assert gpu_bundle.pack(packed, tmp_path / "model") < gpu_bundle.MOST
    with tarfile.open(packed) as bundle:
        bundle.extractall(position, filter="data")
    outside = ("SEQVIZ_CACHE", "SEQVIZ_DEVICE", "PYTHONPATH", "HF_HOME")
    existing = {name: value for name, value in os.environ.items() if name not in outside}

    def run(*options: str) -> tuple[str, dict]:
        done = subprocess.run(
            [sys.executable, "-c", RUN.format(lacking=LACKING, options=options)],
            cwd=position,
            env={**existing, "HOME": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""},
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, json.loads(done.stdout.splitlines()[-1], parse_constant=pytest.fail)

    output, first = run("--minutes", "0.1")
    assert output.startswith("small: true")
    late = [name for name, row in first["agreement"].items() if machine.NO_TIME in str(row)]
    (told,) = [line for line in output.splitlines() if "rows (--resume)" in line]
    assert len(late) > 1
    assert all(name in told for name in late)
    output, result = run("--minutes", "0.5", "--resume", "--only", "MiniLM, one;all pairs, RNN")
    assert list(result) == ["name", "device", "small", *command.TABLES]
    assert result["speed"] == first["speed"]  # kept
    assert (result["name"], result["small"]) == ("gpu", True)
    rows = {**result["agreement"], **result["speed"]}
    assert not {name: row for name, row in rows.items() if "failed" in str(row)}
    pages = {f"page: {record.slug}" for record in catalog.LESSONS}
    assert result["agreement"].keys() == agreement.SUBJECTS.keys() | pages
    # the colors of figures are plotly's
    why = {result["agreement"][name] for name in pages}
    assert why <= {"skipped: plotly is not installed", f"skipped: {machine.NO_TIME}"}
    carried = position / placement.FILE.relative_to(ROOT)
    assert carried.read_text() == placement.FILE.read_text()  # a CPU says nothing about a GPU
    assert result["agreement"]["all pairs, RNN"]["float32"]["largest"] == 0
    assert "is not on this machine" not in str(result["agreement"]["MiniLM, one text"])
    assert speed.ROWS.keys() < result["speed"].keys()
    assert set(result["faults"].values()) == {f"skipped: {machine.NO_TIME}"}
    (results,) = (position / "benchmarks/results").glob("*-gpu-*.json")
    assert json.loads(results.read_text()) == result
    ElementTree.parse(results.with_suffix(".svg"))


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_gpu_bundle_draws_benches_without_repository(tmp_path, monkeypatch):
    if store.stored("minilm") is None:
        pytest.skip("MiniLM is not on this machine")
    monkeypatch.setattr(gpu_bundle, "put_model", lambda name, folder: folder.mkdir())
    packed, position = tmp_path / "bundle.tar.bz2", tmp_path / "there"
    gpu_bundle.pack(packed, tmp_path)
    with tarfile.open(packed) as bundle:
        bundle.extractall(position, filter="data")
    run = subprocess.run(
        [sys.executable, "-c", DRAW],
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
    if isinstance(result["bfloat16"], str):
        assert result["bfloat16"].startswith("skipped: this CPU cannot")
        return
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
    assert placement.crossover(cpu, {1: 2.0, 2: 1.0, 4: 1.0, 8: 1.0}) == 2
    assert placement.crossover(cpu, {1: 0.5, 2: 3.0, 4: 1.0}) == 4
    assert placement.crossover(cpu, {4: 5.0}) is None


def test_measure_extrapolates_sizes_that_take_longer_than_a_second(monkeypatch):
    """Seconds: the square of the size in tenths; the CPU is asked for a second at most."""
    asked = []

    def make(size: int, location: str, small: bool):
        asked.append((location, size))
        return lambda: size

    monkeypatch.setattr(speed, "median", lambda call, location: 0.1 * call() ** 2)
    gpu = machine.Machine("meta", "H", False, time.monotonic(), math.inf)
    result = speed.measure(speed.Row("n", (), (1, 2, 4, 100), ("", ""), make), gpu)
    assert result.cpu == {1: 0.1, 2: pytest.approx(0.4)}
    assert result.extrapolated == {4: pytest.approx(1.6), 100: pytest.approx(1000)}
    assert list(result.device) == [1, 2, 4, 100]
    assert [size for location, size in asked if location == "cpu"] == [1, 2]
    assert "100: 17\N{NO-BREAK SPACE}min (extrapolated) | " in command.to_line(result)
    part = speed.Row("n", (), (2, 4), ("", ""), make, cpu_part=0.5)
    result = speed.measure(part, gpu)
    assert (result.cpu, result.extrapolated) == ({}, {2: pytest.approx(0.8), 4: pytest.approx(3.2)})
    assert speed.extrapolate({}, 3) == 0.0
    assert speed.extrapolate({1: 0.4, 2: 0.1}, 3) == pytest.approx(0.1)  # never less for more


def test_measure_names_sizes_without_time():
    late = machine.Machine("meta", "H", False, time.monotonic() - 10, 1.0)
    row = speed.Row("n", (), (1, 2), ("", ""), lambda *_: pytest.fail)
    result = speed.measure(row, late)
    assert result.stopped.keys() == {"meta 1", "meta 2", "cpu 1", "cpu 2"}
    assert not command.is_measured(result, ())


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
    times = speed.Times("hidden", "", {8: 1.0, 32: 4.0}, {8: 2.0, 32: 2.0}, crossover=32)
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
    (tmp_path / "crossover.json").write_text('[{"name": "T"}, {"name": "H", "date": "before"}]')
    command.write(gpu, result)
    assert placement.table().keys() == {"T", "H"}
    read = placement.table()["H"]
    placement.table.cache_clear()
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


@pytest.mark.usefixtures("minilm_on_disk")
def test_app_row_times_every_bench_with_a_model():
    result = app_speed.lesson(lessons.attention.lesson, HERE)
    assert result["unit"] == "s"
    times = {name: item for name, item in result.items() if name != "unit"}
    assert {"real", "apart"} <= times.keys()
    for item in times.values():
        assert 0 < item["p50"] <= item["p95"]
        assert item["pictures"] == app_speed.PICTURES[True]
    with pytest.raises(machine.SkipRowError, match="no bench"):
        app_speed.lesson(SimpleNamespace(benches={}), HERE)


@pytest.mark.usefixtures("minilm_on_disk")
def test_app_row_of_a_class_runs_beside_two_trainings():
    result = app_speed.classroom(HERE)
    assert result["pictures"] == app_speed.STUDENTS[True] * app_speed.PICTURES_EACH[True]
    assert 0 < result["p50"] <= result["p95"]
    assert result["pictures/s"] > 0


def test_training_that_ends_before_the_students_is_a_failure(monkeypatch, minilm_on_disk):
    monkeypatch.setattr(app_speed, "train_tiny", lambda *_, **__: None)
    with pytest.raises(AssertionError, match="before the students"):
        app_speed.classroom(HERE)


def test_bfloat16_is_skipped_on_old_cards(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 5))
    with (
        pytest.raises(machine.SkipRowError, match="bfloat16"),
        machine.precision("bfloat16", "cuda"),
    ):
        pass


def test_rows_skip_after_time_limit():
    late = machine.Machine("cpu", "CPU", True, time.monotonic() - 10, 1.0)
    result: dict = {table: {} for table in command.TABLES}
    names = command.run(late, result, only="", resume=False, is_written=False)
    rows = [row for table in result.values() for row in table.values()]
    # the other precisions of a row without float32 are said beside it
    whys = {why for row in rows for why in (row.values() if isinstance(row, dict) else [row])}
    assert whys == {f"skipped: {machine.NO_TIME}"}
    assert set(names) == {name for table in result.values() for name in table}


def stage(rows: dict, columns: tuple[str, ...] = ()) -> command.Stage:
    return command.Stage("agreement", "title", rows, columns)


def test_measure_resumes_rows_and_columns():
    calls = []

    def task(name: str, row: object):
        return lambda: calls.append(name) or row

    same = Difference(0.0, 0.0, 0.0, 0.0)
    result: dict = {"agreement": {"a": {"float32": same}, "b": "failed: x", "c": "skipped: y"}}
    rows = {name: task(name, {"float32": same}) for name in "abcd"}
    command.measure(stage(rows, ("float32",)), HERE, result, resume=True, only=": b;: d;: a")
    assert calls == ["b", "d"]
    calls.clear()
    command.measure(stage({"a": task("a", {"tf32": same})}, ("tf32",)), HERE, result, resume=True)
    assert (calls, result["agreement"]["a"].keys()) == (["a"], {"float32", "tf32"})
    calls.clear()
    command.measure(stage(rows), HERE, result, resume=False, only="nothing like it")
    assert calls == []


def test_stages_hold_every_row_in_order_of_worth():
    names = [name for item in command.stages(HERE) for name in item.tasks]
    assert names[0] == "texts in one batch"
    rows = [row.partition(": ")[2] for goal in command.GOALS for row in goal.rows]
    assert all(any(name.startswith(row) for name in names) for row in rows)
    assert names.index("page: gates") < names.index("app: gates") < names.index("all pairs, RNN")
    assert names.index("all pairs, RNN") < names.index("device lost")


def test_restored_rows_are_those_written():
    page = agreement.VisibleDifference(0.5, benches={"learn": 0.5}, skipped={"x": "failed: y"})
    times = speed.Times("n", "", {1: 0.5}, {1: 0.25}, {8: 4.0}, 1, {"cpu 9": "failed: z"})
    rows = {
        "page": page,
        "a": {"float32": Difference(math.inf, 0.0, 0.0, 0.25), "tf32": "skipped: y"},
        "times": times,
        "epoch": {"unit": "s", "device": 5.0, "accuracy": [0.5]},
    }
    assert command.restored(json.loads(json.dumps(command.plain(rows)))) == rows
    assert math.isnan(command.restored(command.plain(math.nan)))


def test_command_exits_with_1_where_a_goal_was_not_measured(tmp_path, monkeypatch, capsys):
    gpu = machine.Machine("cuda", "H", False, time.monotonic(), math.inf)
    for name, value in {
        "machine": lambda *_: gpu, "stages": lambda _: (), "RESULTS": tmp_path,
    }.items():  # fmt: skip
        monkeypatch.setattr(command, name, value)
    monkeypatch.setattr(placement, "FILE", tmp_path / "crossover.json")
    monkeypatch.setattr(sys, "argv", ["gpu"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    assert "all pairs, T = 500, s: nan, goal 0.16, not met" in capsys.readouterr().out
    pairs = speed.Times("T", "", {}, {500: 0.15})
    result = {
        "agreement": {},
        "speed": {"all pairs of Jacobians": pairs},
        "seeds": {},
        "faults": {},
    }
    command.results_file(gpu).write_text(json.dumps(command.plain(result)))
    monkeypatch.setattr(sys, "argv", ["gpu", "--only", "all pairs of"])
    command.main()
    assert "all pairs, T = 500, s: 0.15, goal 0.16, met" in capsys.readouterr().out


def test_coarse_weights_expand_to_a_stored_model(tmp_path):
    """Small integers, an eighth of the bytes in bzip2, within half a step of a row."""
    from safetensors.torch import load_file, save_file

    source = torch.Generator().manual_seed(0)
    scales = torch.tensor([[1.0], [20.0], [0.0]])
    weights = {"w": torch.randn(3, 1000, generator=source) * scales, "v": torch.ones(5)}
    coarse = gpu_bundle.coarse(weights)
    assert coarse["w"].dtype == torch.int8
    save_file(coarse, tmp_path / machine.COARSE)
    manifest = {"origin": "x", "files": {machine.COARSE: "0"}}
    (tmp_path / store.MANIFEST).write_text(json.dumps(manifest))
    machine.expand(tmp_path)
    weights_file = tmp_path / sources.WEIGHTS
    files = json.loads((tmp_path / store.MANIFEST).read_text())["files"]
    assert files == {sources.WEIGHTS: sources.digest(weights_file)}
    assert not (tmp_path / machine.COARSE).exists()
    result = load_file(weights_file)
    assert torch.equal(result["v"], weights["v"].half())
    error = (result["w"].float() - weights["w"]).abs() / (scales + 1e-9)
    assert 0.3 < error[:2].max() < 0.41
    assert not result["w"][2].any()


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("lac", "smollm2")
def test_second_archive_carries_smollm2_and_lac(tmp_path, monkeypatch):
    packed = tmp_path / "second.tar.bz2"
    assert 0 < gpu_bundle.pack_second(packed, tmp_path / "models") < gpu_bundle.MOST
    with tarfile.open(packed) as bundle:
        bundle.extractall(tmp_path, filter="data")
    monkeypatch.setattr(machine, "CARRIED", tmp_path / "gpu_bundle")
    monkeypatch.delenv("SEQVIZ_CACHE", raising=False)
    machine.find_model()
    monkeypatch.setenv("SEQVIZ_CACHE", os.environ["SEQVIZ_CACHE"])  # removed after the test
    for name in gpu_bundle.SECOND:
        assert store.verify(name).size


def test_goals_require_comparisons():
    """As on 2026-11-27: every bench of every page failed, and no speed was measured."""
    failed = agreement.VisibleDifference(skipped={"real": "failed: KeyError: 'figure.layer'"})
    result = {
        "agreement": {"page: a": failed, "page: b": "skipped: x"},
        "speed": {},
        "seeds": {},
        "faults": {},
    }
    states = {name: state for name, _, _, state in goals.goals(result)}
    assert set(states.values()) == {goals.NOTHING}
    some = agreement.VisibleDifference(
        pixels=0.5, benches={"learn": 0.5}, skipped={"x": "skipped: no model"}
    )
    result["agreement"] = {"page: a": some, "b": {"float32": Difference(2e-6, 0.0, 0.0, 0.0)}}
    states = {name: state for name, _, _, state in goals.goals(result)}
    assert states["figures, pixels"] == states["float32, largest difference"] == "met"
    result["agreement"]["page: b"] = failed  # a bench that fails there is not like that of the CPU
    states = {name: state for name, _, _, state in goals.goals(result)}
    assert states["figures, pixels"] == "missed: failed were real"
    assert states["exercises refused"] == "missed: failed were real"
    result["agreement"] |= {"page: c": "failed: KeyError: 'x'", "a": "failed: LinAlgError: y"}
    states = {name: state for name, _, _, state in goals.goals(result)}
    assert states["figures, pixels"] == "missed: failed were real, page: c"
    assert states["float32, largest difference"] == "missed: failed were a"


def test_trainings_of_the_same_seeds_are_one_distribution_on_the_cpu():
    for name in seeds.TRAININGS:
        row = seeds.row(name, HERE)
        assert row.cpu == row.device
        assert (row.same_seed, row.p) == (0.0, 1.0)
        assert row.seeds > 0  # another seed is another network


def test_training_that_learns_less_on_the_device_misses_its_goal(monkeypatch):
    usual = np.linspace(0.1, 0.2, 12).tolist()
    rounded = [value + 1e-6 for value in reversed(usual)]
    rows = {"seeds: a": seeds.seed_difference("loss", usual, rounded)}
    assert rows["seeds: a"].same_seed == pytest.approx(0.05, rel=0.2)
    result = {"agreement": {}, "speed": {}, "seeds": rows, "faults": {}}

    def state() -> str:
        return {name: state for name, _, _, state in goals.goals(result)}[goal]

    goal = "trainings over seeds, smallest p"
    assert state() == "met"
    worse = [value + 0.2 for value in usual]
    rows["seeds: b"] = seeds.seed_difference("loss", usual, worse)
    assert state() == "missed"
    rows["seeds: b"] = "failed: RuntimeError: x"
    assert state() == "missed: failed were seeds: b"
    rows.clear()
    assert state() == goals.NOTHING
    with pytest.raises(ValueError, match="without a finite result"):
        seeds.seed_difference("loss", [0.5, math.nan], [0.5, 0.5])
    row = seeds.seed_difference("loss", usual, worse)
    assert command.restored(json.loads(json.dumps(command.plain(row)))).device[0] == 0.3
    assert "12 seeds: 2.0e-01 apart at one seed" in command.to_line(row)


def test_difference_without_numbers_is_no_agreement():
    with pytest.raises(ValueError, match="nothing to compare"):
        difference((), ())
    words = difference(("a", "b"), ("a", "c"))
    assert math.isnan(words.largest)
    assert words.choices == 0.5
    result = {"agreement": {"a": {"float32": words}}, "speed": {}, "faults": {}}
    assert goals.apart_in_float32(result) == []


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
