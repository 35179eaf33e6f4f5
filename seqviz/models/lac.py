"""Baidu's LAC (lexical analysis of Chinese), stored as one file of plain arrays.

The source distribution of jieba 0.42.1 has its parameters as PaddlePaddle wrote them: a few header
bytes, then float32. The character table is stored in half precision, which changes no tag of the
package's own test sentences. Entry points: `pack` and `read`.
"""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent.tagging.lac import CRF, Lac, LayerDirection

FILE = "lac.npz"
_FOLDER = "jieba-0.42.1/jieba/lac_small"
_TESTED = re.compile(r"""^\s*cuttest\((["'])(.+)\1\)""", re.MULTILINE)
_UNITS, _LAYERS, _HALVES = 128, 2, 2
_PARTS = ("inputs", "bias", "gates", "candidate")


def pack(folder: Path, archive: str) -> None:
    """Replace the downloaded package by one file of arrays.

    Nothing of the package is executed or unpacked.

    Args:
        folder: folder of the download.
        archive: name of the source distribution in it.
    """
    with tarfile.open(folder / archive) as packed:

        def content(name: str) -> bytes:
            file = packed.extractfile(name)
            assert file is not None
            return file.read()

        def weights(name: str, *shape: int) -> Float[np.ndarray, "*shape"]:
            raw = content(f"{_FOLDER}/model_baseline/{name}")
            return np.frombuffer(raw[-4 * int(np.prod(shape)) :], "<f4").reshape(shape)

        lines = content(f"{_FOLDER}/word.dic").decode().split("\n")
        pairs = [line.split("\t") for line in lines if line.count("\t") == 1]
        rows = {word: int(row) for row, word in pairs}
        characters = sorted((ord(word), row) for word, row in rows.items() if len(word) == 1)
        tags = re.findall(r"\t(\S+)", content(f"{_FOLDER}/tag.dic").decode())
        tested = content("jieba-0.42.1/test/test.py").decode()
        sentences = dict.fromkeys(
            result[1] for result in _TESTED.findall(tested) if result[1].strip()
        )
        retained: dict[str, np.ndarray] = {
            "letters": np.array(characters, np.int32).T,
            "unknown": np.array(rows["OOV"]),
            "table": weights("word_emb", 1 + max(rows.values()), _UNITS).astype(np.float16),
            "emission": weights("fc_4.w_0", _HALVES * _UNITS, len(tags)),
            "emission_bias": weights("fc_4.b_0", len(tags)),
            "crf": weights("crfw", len(tags) + 2, len(tags)),
            "tags": _letters("\n".join(tags)),
            "sentences": _letters("\n".join(sentences)),
        }
        for k in range(_LAYERS * _HALVES):
            features = _UNITS if k < _HALVES else _HALVES * _UNITS
            both = weights(f"gru_{k}.w_0", 3 * _UNITS * _UNITS)
            split = 2 * _UNITS * _UNITS
            halves = (
                weights(f"fc_{k}.w_0", features, 3 * _UNITS),
                weights(f"fc_{k}.b_0", 3 * _UNITS) + weights(f"gru_{k}.b_0", 3 * _UNITS),
                both[:split].reshape(_UNITS, 2 * _UNITS),
                both[split:].reshape(_UNITS, _UNITS),
            )
            retained |= {f"{part}{k}": item for part, item in zip(_PARTS, halves, strict=True)}
    np.savez_compressed(folder / FILE, **retained)  # type: ignore[arg-type]
    (folder / archive).unlink()


def read(path: Path) -> Lac:
    """Read the file that `pack` wrote; raise OSError, ValueError or KeyError for any other."""
    with np.load(path, allow_pickle=False) as file:
        retained = dict(file.items())
    for array in retained.values():
        array.flags.writeable = False
    halves = [
        LayerDirection(*(retained[f"{part}{k}"] for part in _PARTS))
        for k in range(_LAYERS * _HALVES)
    ]
    characters, ids = retained["letters"]
    first, last, after = retained["crf"][0], retained["crf"][1], retained["crf"][2:]
    return Lac(
        characters, ids, int(retained["unknown"]), retained["table"],
        tuple((halves[k], halves[k + 1]) for k in range(0, len(halves), _HALVES)),
        retained["emission"], retained["emission_bias"], CRF(first, last, after),
        _lines(retained["tags"]), _lines(retained["sentences"]),
    )  # fmt: skip


def _letters(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


def _lines(characters: np.ndarray) -> tuple[str, ...]:
    return tuple(characters.tobytes().decode().split("\n"))
