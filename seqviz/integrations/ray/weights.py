"""Model weights shared by all processes of a machine through one memory-mapped file.

The system's page cache holds the file once. Truncating the file in place would kill the processes
that map it; they are replicas of a cluster, which restarts them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqviz.core.atomic_write import atomic_write
from seqviz.models import store
from seqviz.models.pretrained import Pretrained


def share(model: Pretrained) -> Path | None:
    """Replace the model's weights and buffers by the same values, mapped from a file.

    The file is written if missing. The values are equal bit for bit. Returns the file; None for a
    model on a GPU, where each process has a copy.
    """
    if model.device != "cpu":
        return None
    from safetensors.torch import load_file, save_file

    network = model.network
    mine: dict[str, Any] = {**dict(network.named_parameters()), **dict(network.named_buffers())}
    path = store.cache() / "mapped" / f"{model.card.name}-{_sum(mine)}.safetensors"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            save_file({name: item.detach().contiguous() for name, item in mine.items()}, file)
    there = load_file(path)  # memory-mapped: pages are read on first use
    for name, entry in mine.items():
        entry.data = there[name]
    return path


def _sum(tensors: dict[str, Any]) -> str:
    """Return a hash of names, types, shapes and bytes of tensors, for the name of the file."""
    import hashlib

    text = hashlib.sha256()
    for name, tensor in tensors.items():
        text.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        text.update(tensor.detach().contiguous().numpy().data)
    return text.hexdigest()[:16]
