"""A table of word vectors as it is kept on this machine: frequent words, in half precision.

The package of GloVe has 400,000 words of 50 float32 each (80 MB); a lesson needs the first 20,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float16

WORDS = 20_000
FILE = "words.npz"
_NAMES = "glove_6B_index.parquet"  # one column, in the order of the rows


@dataclass(frozen=True)
class StoredVectors:
    """Words from the most frequent down, and their vectors."""

    words: tuple[str, ...]
    vectors: Float16[np.ndarray, "word dimension"]

    @property
    def bytes(self) -> int:
        """Of the vectors in memory."""
        return int(self.vectors.nbytes)


def reduce(folder: Path, table: str) -> None:
    """Replace the two files of the package in a folder by one of the first `WORDS` words."""
    from pyarrow import parquet

    words = parquet.read_table(folder / _NAMES).column(0)[:WORDS].to_pylist()
    vectors = np.load(folder / table, mmap_mode="r", allow_pickle=False)[:WORDS].astype(np.float16)
    write(folder / FILE, StoredVectors(tuple(words), vectors))
    (folder / table).unlink()
    (folder / _NAMES).unlink()


def write(path: Path, table: StoredVectors) -> None:
    """A file of plain arrays. (No word has a line break.)"""
    letters = np.frombuffer("\n".join(table.words).encode(), np.uint8)
    np.savez_compressed(path, words=letters, vectors=table.vectors)


def read(path: Path) -> StoredVectors:
    """Raises OSError, ValueError or KeyError where the file is not what `write` wrote."""
    with np.load(path, allow_pickle=False) as retained:
        words = tuple(retained["words"].tobytes().decode().split("\n"))
        vectors = retained["vectors"]
    if len(words) != len(vectors):
        raise ValueError(f"{path.name} has {len(words)} words and {len(vectors)} vectors.")
    vectors.flags.writeable = False
    return StoredVectors(words, vectors)
