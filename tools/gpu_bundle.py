"""Bundle all files that `python -m benchmarks.gpu` needs on a machine without a network.

    python -m tools.gpu_bundle [gpu_bundle.tar.gz]       # anywhere: package, benchmark, data, model
    python -m tools.gpu_bundle --model [gpu_bundle.tar.gz]  # for a checkout: only the model

Unpack it in an empty folder, or at the top of the checkout, and run the benchmark there. MiniLM is
stored in half precision (its float32 weights rounded: 45 MB) in `gpu_bundle/models/minilm/`, in
the layout of the model cache with its own manifest. The benchmark uses that folder as its cache if
it exists (`benchmarks.gpu.machine.find_model`; `SEQVIZ_CACHE` takes precedence) and loads float32
as usual. Only tests marked gpu are included, without the suite's conftest, which needs the test
tools.
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

from seqviz.core import atomic_write
from seqviz.core.paths import ROOT
from seqviz.models import sources, store

MODEL = "minilm"
MOST = 60_000_000  # bytes
# Only one checkpoint: the others belong to lessons that compute with NumPy.
TAKEN = (
    "pyproject.toml", "LICENSE", "seqviz/**/*.py", "benchmarks/__init__.py",
    "benchmarks/report.py", "benchmarks/accuracy_lab.py", "benchmarks/gpu/*.py",
    "tests/gpu/*.py", "assets/data/**/*", "assets/lessons/**/*.toml",
    "assets/locale/**/*", "assets/glossary/*",
    "assets/checkpoints/fill_in_minilm.*",
)  # fmt: skip


def files() -> Iterator[Path]:
    """Yield the files of the checkout to bundle, as relative paths."""
    for pattern in TAKEN:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file():
                yield path.relative_to(ROOT)


def half_model(folder: Path) -> None:
    """Write the model in half precision and its manifest to a folder.

    Raises:
        UserError: "not_fetched": the model is not on this machine.
    """
    from safetensors.torch import load_file, save_file

    result = store.verify(MODEL)
    folder.mkdir(parents=True)
    for name in result.files:
        (folder / name).write_bytes((result.folder / name).read_bytes())
    weights = {
        name: item.half() if item.is_floating_point() else item
        for name, item in load_file(result.folder / sources.WEIGHTS).items()
    }
    save_file(weights, folder / sources.WEIGHTS, {"format": "pt"})
    manifest = {
        "origin": result.origin,
        "version": f"{result.version}, in half precision",
        "date": result.date,
        "files": {name: sources.digest(folder / name) for name in result.files},
    }
    (folder / store.MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")


def pack(target: Path, scratch: Path, model_only: bool = False) -> int:
    """Write the bundle and return its size in bytes.

    Args:
        target: file to write.
        scratch: empty folder for the model in half precision.
        model_only: leave out all files of the checkout.

    Raises:
        ValueError: the bundle exceeds `MOST` bytes.
        UserError: "not_fetched": the model is not on this machine.
    """
    half_model(scratch / MODEL)
    with tarfile.open(target, "w:gz", compresslevel=6) as packed:
        for path in () if model_only else files():
            packed.add(ROOT / path, str(path))
        if not model_only:  # the folder for results, as in a checkout
            folder = tarfile.TarInfo("benchmarks/results")
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            packed.addfile(folder, io.BytesIO())
        packed.add(scratch / MODEL, f"gpu_bundle/models/{MODEL}")
    size = target.stat().st_size
    if size > MOST:
        raise ValueError(f"{target} has {size:,} bytes, more than {MOST:,}.")
    return size


def main(arguments: list[str] | None = None) -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", nargs="?", type=Path, default=Path("gpu_bundle.tar.gz"))
    parser.add_argument("--model", action="store_true", help="bundle only the model")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch, atomic_write.or_exit(options.target):
        size = pack(options.target, Path(scratch), options.model)
    print(f"{options.target}: {size:,} bytes")


if __name__ == "__main__":
    main()
