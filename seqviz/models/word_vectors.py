"""Stored table of GloVe word vectors: frequent words, in half precision.

The GloVe package has 400,000 words of 50 float32 each (80 MB); the lessons need the first 20,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float16

WORDS = 20_000
FILE = "words.npz"
_NAMES = "glove_6B_index.parquet"  # one column: the words, in the order of the rows


@dataclass(frozen=True)
class StoredVectors:
    """Words in order of decreasing frequency, and their vectors."""

    words: tuple[str, ...]
    vectors: Float16[np.ndarray, "word dimension"]

    @property
    def bytes(self) -> int:
        """Bytes of the vectors in memory."""
        return int(self.vectors.nbytes)


def reduce(folder: Path, table: str) -> None:
    """Replace the package's two files by one with the first `WORDS` words.

    Args:
        folder: folder of the download.
        table: name of the file of vectors in it.
    """
    from pyarrow import parquet

    words = parquet.read_table(folder / _NAMES).column(0)[:WORDS].to_pylist()
    vectors = np.load(folder / table, mmap_mode="r", allow_pickle=False)[:WORDS].astype(np.float16)
    write(folder / FILE, StoredVectors(tuple(words), vectors))
    (folder / table).unlink()
    (folder / _NAMES).unlink()


def write(path: Path, table: StoredVectors) -> None:
    """Write the table as a file of plain arrays; no word may contain a line break.

    Args:
        path: the file.
        table: words and vectors.
    """
    letters = np.frombuffer("\n".join(table.words).encode(), np.uint8)
    np.savez_compressed(path, words=letters, vectors=table.vectors)


def read(path: Path) -> StoredVectors:
    """Read the file that `write` wrote; raise OSError, ValueError or KeyError for any other."""
    with np.load(path, allow_pickle=False) as retained:
        words = tuple(retained["words"].tobytes().decode().split("\n"))
        vectors = retained["vectors"]
    if len(words) != len(vectors):
        raise ValueError(f"{path.name} has {len(words)} words and {len(vectors)} vectors.")
    vectors.flags.writeable = False
    return StoredVectors(words, vectors)
