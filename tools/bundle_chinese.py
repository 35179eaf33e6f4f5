"""Bundle Chinese sentences into assets/data: `python -m tools.bundle_chinese`.

The source is MultiEmo (Kocoń et al. 2021, CC BY 4.0) in the source distribution of bigbench 1.0.0
(358 MB), downloaded with pip and not installed: reviews of hotels and products. Reviews of doctors
and teachers are left out, as they contain names. Sentences have 8 to 40 Chinese characters and
punctuation marks; one is kept of those with the same first eight characters.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
from pathlib import Path

import numpy as np

from tools import archives

DATA = Path(__file__).resolve().parent.parent / "assets" / "data"
PACKAGE = "bigbench==1.0.0"
SHA256 = "1bb398a5512c6d798cdebe0dfa0ac03f67f6033fa6b39c6ef71df978c7cbc5c2"
INNER = "bigbench-1.0.0/bigbench/benchmark_tasks/multiemo/{}_sentence_zh/task.json"
SENTENCES = 4800
_WANTED = re.compile("[\u4e00-\u9fff，。！？、；：]{8,40}")
_SAME = 8  # sentences with the same first characters count as equal


def chosen(sentences: list[str]) -> list[str]:
    """Return the bundled sentences, sorted, as these compress best."""
    first: dict[str, str] = {}
    for sentence in sentences:
        if _WANTED.fullmatch(sentence):
            first.setdefault(sentence[:_SAME], sentence)
    retained = list(first.values())
    indices = np.random.RandomState(0).permutation(len(retained))[:SENTENCES]
    return sorted(retained[k] for k in indices)


def main() -> None:
    """Download, verify, select and write the sentences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, help="existing source distribution")
    path = parser.parse_args().archive
    archive = (
        archives.check(path.read_bytes(), path.name, SHA256)
        if path
        else archives.fetch(PACKAGE, SHA256)
    )
    sentences = [
        example["input"].strip()
        for domain in ("hotels", "products")
        for example in json.loads(archives.member(archive, INNER.format(domain)))["examples"]
    ]
    content = "\n".join(chosen(sentences)).encode("utf-16-le")
    packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
    (DATA / "reviews_zh.xz").write_bytes(packed)
    print(f"{len(packed):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
