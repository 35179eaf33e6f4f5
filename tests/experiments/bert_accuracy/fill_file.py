"""A fill-in file for the real MiniLM as `tools` would make one, but small and random."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager

import pytest
import torch
from safetensors.torch import save_file

from seqviz.experiments.bert_accuracy import fill_head
from seqviz.models import checkpoints

RANK, ALPHA, LOW = 3, 6, 5


def linear(network):
    """The encoder's linear layers by their paths: what low-rank changes belong to."""
    modules = network.encoder.named_modules(prefix="encoder")
    return {path: module for path, module in modules if isinstance(module, torch.nn.Linear)}


def tensors(network, embedding=True):
    """Seeded random tensors, large enough that leaving one out is seen."""
    random = torch.Generator().manual_seed(0)

    def draw(*shape, size=1.0):
        return size * torch.randn(shape, generator=random)

    result = {
        "dense.weight": torch.eye(384) + draw(384, 384, size=0.02),
        "dense.bias": draw(384, size=0.1),
        "norm.weight": 1 + draw(384, size=0.1),
        "norm.bias": draw(384, size=0.1),
        "bias": draw(30522, size=0.5),
    }
    for path, layer in linear(network).items():
        result[f"{path}.lora_A.weight"] = draw(RANK, layer.in_features, size=0.05)
        result[f"{path}.lora_B.weight"] = draw(layer.out_features, RANK, size=0.05)
    if embedding:
        result["embedding.lora_A"] = draw(LOW, 384, size=0.05)
        result["embedding.lora_B"] = draw(30522, LOW, size=0.2)
    return {name: tensor.half() for name, tensor in result.items()}


@contextmanager
def installed(folder, network):
    """The only fill-in file there is, and not yet read."""
    write(folder, tensors(network))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "FOLDER", folder)
        patch.setattr(fill_head, "_heads", {})
        yield


def write(folder, result):
    """The file and its card; returns the file's path."""
    path = folder / "fill_in_minilm.safetensors"
    save_file(result, path, {"alpha": str(ALPHA), "rank": str(RANK)})
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    card = {"name": "fill_in_minilm", "kind": "fill_in", "sha256": sha256}
    path.with_suffix(".json").write_text(json.dumps(card), "utf-8")
    return path
