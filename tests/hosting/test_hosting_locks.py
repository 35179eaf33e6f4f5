"""The locks that the image is made of: the versions that the tests ran with, each file's sum."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from seqviz.core.paths import ROOT
from tools import constraints, supply_chain_audit

IMAGE = {"python_version": "3.11", "python_full_version": "3.11.9", "sys_platform": "linux"}
MACHINES = [{**IMAGE, "platform_machine": name} for name in ("x86_64", "aarch64")]
BEYOND = "requirements-cuda.lock"  # of which constraints.txt knows nothing


def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """What a lock has: the package, and the sums of its files."""
    joined = (ROOT / name).read_text("utf-8").replace("\\\n", "")
    result = {}
    for line in joined.splitlines():
        if not line.startswith("#"):
            package, *sums = line.split(" --hash=")
            item = Requirement(package)
            assert item.name not in result
            result[canonicalize_name(item.name)] = (item, [text.strip() for text in sums])
    return result


def versions(name: str) -> dict[str, str]:
    lines = constraints.required(ROOT / name)
    return {canonicalize_name(line.name): str(line.specifier) for line in lines}


@pytest.mark.parametrize("name", constraints.LOCKS)
def test_locks_pin_one_version_with_hashes(name):
    packages = locked(name)
    assert packages
    for package, (item, sums) in packages.items():
        assert re.fullmatch(r"==[\w.!]+", str(item.specifier)), package
        assert sums, package
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", text) for text in sums), package
        assert len({*sums}) == len(sums), package


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine["platform_machine"])
def test_locks_agree_with_constraints_and_requirements(machine):
    again = "run `python -m tools.constraints`"
    training = versions("constraints.txt")
    result = {
        package: str(item.specifier)
        for name in constraints.LOCKS.keys() - {BEYOND}
        for package, (item, _) in locked(name).items()
        if item.marker is None or item.marker.evaluate(machine)
    }
    assert result == training, again
    expected = versions("requirements.txt")
    assert {package: result.get(package) for package in expected} == expected, again


def test_locks_do_not_overlap():
    every = [package for name in constraints.LOCKS for package in locked(name)]
    assert len({*every}) == len(every)
    assert [*locked("requirements-torch.lock")] == ["torch"]
    assert not locked(BEYOND).keys() & versions("constraints.txt").keys()


def test_locks_allow_torch_from_either_index():
    item, sums = locked("requirements-torch.lock")["torch"]
    (version,) = item.specifier
    assert f"sha256:{constraints.TORCH_CPU[version.version]}" in sums
    assert len(sums) > 1


def test_locks_name_no_index():
    for name in constraints.LOCKS:
        assert not re.search(r"://|--(extra-)?index|--find-links", (ROOT / name).read_text("utf-8"))


def test_pip_rejects_file_with_wrong_hash(tmp_path):
    """What pip does with a lock, on a package of our own."""
    (tmp_path / "mine.py").write_text("")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\nversion = "1"\n', "utf-8")
    pip = [sys.executable, "-m", "pip"]
    quiet = {"capture_output": True, "text": True, "cwd": tmp_path, "timeout": 120}
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", "wheels", "."],
        check=True, **quiet,
    )  # fmt: skip
    (tmp_path / "lock").write_text(f"mine==1 --hash=sha256:{'0' * 64}\n", "utf-8")
    done = subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--require-hashes", "--find-links", "wheels",
         "--target", "here", "-r", "lock"], **quiet,
    )  # fmt: skip
    assert done.returncode == 1
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "here").exists()


def test_locks_reject_torch_version_without_cpu_hash():
    with pytest.raises(SystemExit, match=r"lacks the SHA-256 of PyTorch's CPU build 9\.9"):
        constraints.locks("", "9.9")


def test_locks_split_resolution_by_file():
    sums = "".join(f" \\\n    --hash=sha256:{digit * 64}" for digit in "ab")
    names = ("accelerate==1", "nvidia-nccl-cu13==2 ; sys_platform == 'linux'", "torch==2.13.0",
             "torchless==4", "triton==3")  # fmt: skip
    result = constraints.locks("".join(f"{name}{sums}\n" for name in names), "2.13.0")
    assert [re.findall(r"^(\S+)==", text, re.M) for text in result.values()] == [
        ["torch"], ["nvidia-nccl-cu13", "triton"], ["accelerate", "torchless"],
    ]  # fmt: skip
    assert [text.count("--hash=") for text in result.values()] == [3, 4, 4]


def test_bill_of_materials_lists_every_locked_package(tmp_path):
    pytest.importorskip("cyclonedx_py")
    parts = supply_chain_audit.bill_of_materials(ROOT, tmp_path / "sbom.json")
    assert parts["bomFormat"] == "CycloneDX"
    result = {canonicalize_name(part["name"]): part for part in parts["components"]}
    every = {package: item for name in constraints.LOCKS for package, item in locked(name).items()}
    assert result.keys() == every.keys()
    assert all(
        f"=={part['version']}" == str(every[name][0].specifier) for name, part in result.items()
    )
    assert (tmp_path / "sbom.json").stat().st_size > 100_000
