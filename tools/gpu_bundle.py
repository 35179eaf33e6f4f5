"""Bundle all files that `python -m benchmarks.gpu` needs on a machine without a network.

    python -m tools.gpu_bundle [gpu_bundle.tar.bz2]  # anywhere: package, benchmark, data, models
    python -m tools.gpu_bundle --model [gpu_bundle.tar.bz2]  # for a checkout: only the models

Two archives of at most 60 MB each: `gpu_bundle.tar.bz2` (the files of the checkout, and MiniLM in
half precision: its float32 weights rounded, 45 MB) and `gpu_bundle_2.tar.bz2` (LAC, and SmolLM2
with coarse weights, see `coarse`). The second is left out where its models are not stored, and the
command measures what is there. Unpack both in an empty folder, or at the top of the checkout, and
run the benchmark there.

The models lie in `gpu_bundle/models/`, in the layout of the model cache with their own manifests.
The benchmark uses that folder as its cache if it exists (`benchmarks.gpu.machine.find_model`, which
also expands SmolLM2; `SEQVIZ_CACHE` takes precedence) and loads float32 as usual. Only tests marked
gpu are included, without the suite's conftest, which needs the test tools.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.gpu.machine import COARSE, STEP_SUFFIX
from seqviz.core import atomic_write
from seqviz.core.paths import ROOT
from seqviz.models import sources, store

MODEL = "minilm"
SECOND = ("lac", "smollm2")
MOST = 60_000_000  # bytes of each archive
UNUSED = {"window_words"}  # networks that no bench shows yet
PAGES = Path("seqviz", "ui")  # needs Streamlit, which no row uses
_STEP = 0.75  # step of a coarse weight, in standard deviations of its row
TAKEN = (
    "pyproject.toml", "LICENSE", "seqviz/**/*.py", "benchmarks/__init__.py",
    "benchmarks/report.py", "benchmarks/accuracy_lab.py", "benchmarks/gpu/*.py",
    "tests/gpu/*.py", "assets/data/**/*", "assets/lessons/**/*.toml",
    "assets/locale/**/*", "assets/glossary/*",
    "assets/checkpoints/*",
)  # fmt: skip


def files() -> Iterator[Path]:
    """Yield the files of the checkout to bundle, as relative paths."""
    for pattern in TAKEN:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT)
            if path.is_file() and path.stem not in UNUSED and not name.is_relative_to(PAGES):
                yield name


def half(weights: dict[str, Any]) -> dict[str, Any]:
    """Return weights in half precision."""
    return {
        name: item.half() if item.is_floating_point() else item for name, item in weights.items()
    }


def coarse(weights: dict[str, Any]) -> dict[str, Any]:
    """Return matrices as small integers, with the step of each row; vectors in half precision.

    An integer has about 2.5 bits of entropy, so that SmolLM2 fits into an archive. Its texts are
    worse than those of the exact weights; devices are compared with the same weights.
    """
    result: dict[str, Any] = {}
    for name, item in weights.items():
        if item.ndim < 2:
            result[name] = item.half()
            continue
        step = (item.std(1, keepdim=True) * _STEP).clamp_min(math.ulp(1.0))
        result[name] = (item / step).round().clamp(-127, 127).char()
        result[name + STEP_SUFFIX] = step[:, 0]
    return result


def put_model(name: str, folder: Path, is_coarse: bool = False) -> None:
    """Write a model with its manifest to a folder, its weights in half precision or coarse.

    Raises:
        UserError: "not_fetched": the model is not on this machine.
    """
    from safetensors.torch import load_file, save_file

    result = store.verify(name)
    folder.mkdir(parents=True)
    for file in result.files:
        shutil.copyfile(result.folder / file, folder / file)
    manifest = {
        "origin": result.origin,
        "version": result.version,
        "date": result.date,
    }
    weights = folder / sources.WEIGHTS
    if weights.is_file() and is_coarse:
        save_file(coarse(load_file(weights)), folder / COARSE, {"format": "pt"})
        weights.unlink()
        manifest["version"] += ", coarse"
    elif weights.is_file():
        save_file(half(load_file(weights)), weights, {"format": "pt"})
        manifest["version"] += ", in half precision"
    digests = {file.name: sources.digest(file) for file in sorted(folder.iterdir())}
    (folder / store.MANIFEST).write_text(json.dumps({**manifest, "files": digests}, indent=1))


def pack(target: Path, scratch: Path, model_only: bool = False) -> int:
    """Write the first archive and return its size in bytes.

    Args:
        target: file to write.
        scratch: folder for the model, without one of its name.
        model_only: leave out all files of the checkout.

    Raises:
        ValueError: the archive exceeds `MOST` bytes.
        UserError: "not_fetched": the model is not on this machine.
    """
    put_model(MODEL, scratch / MODEL)
    with tarfile.open(target, "w:bz2") as packed:
        for path in () if model_only else files():
            packed.add(ROOT / path, str(path))
        if not model_only:  # the folder for results, as in a checkout
            folder = tarfile.TarInfo("benchmarks/results")
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            packed.addfile(folder, io.BytesIO())
        packed.add(scratch / MODEL, f"gpu_bundle/models/{MODEL}")
    return _checked(target)


def pack_second(target: Path, scratch: Path) -> int:
    """Write the second archive, with the models of `SECOND`; arguments and errors as `pack`."""
    with tarfile.open(target, "w:bz2") as packed:
        for name in SECOND:
            put_model(name, scratch / name, is_coarse=True)
            packed.add(scratch / name, f"gpu_bundle/models/{name}")
    return _checked(target)


def _checked(target: Path) -> int:
    size = target.stat().st_size
    if size > MOST:
        raise ValueError(f"{target} has {size:,} bytes, more than {MOST:,}.")
    return size


def main(arguments: list[str] | None = None) -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", nargs="?", type=Path, default=Path("gpu_bundle.tar.bz2"))
    parser.add_argument("--model", action="store_true", help="bundle only the models")
    options = parser.parse_args(arguments)
    first = options.target
    second = first.with_name(f"{first.name.partition('.')[0]}_2.tar.bz2")
    with tempfile.TemporaryDirectory() as scratch:
        with atomic_write.or_exit(first):
            print(f"{first}: {pack(first, Path(scratch), options.model):,} bytes")
        lacking = [name for name in SECOND if store.stored(name) is None]
        if lacking:
            print(f"{second}: left out, because {', '.join(lacking)} is not on this machine")
            return
        with atomic_write.or_exit(second):
            print(f"{second}: {pack_second(second, Path(scratch)):,} bytes")


if __name__ == "__main__":
    main()
