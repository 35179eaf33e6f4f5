"""One copy of a model's weights for all processes of a machine: pages of one file, mapped by each.

What the processes read is in the system's page cache once. A file that is cut short in place would
end those that read it: they are replicas of a cluster, which begins them again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqviz.core.atomic_write import atomic_write
from seqviz.models import store
from seqviz.models.pretrained import Pretrained


def share(model: Pretrained) -> Path | None:
    """Put the model's weights and buffers into such a file, or take them from there, bit for bit.

    Returns the file; None for a model on a GPU, where each process has its own.
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
    there = load_file(path)  # maps it: nothing is read before it is used
    for name, entry in mine.items():
        entry.data = there[name]
    return path


def _sum(tensors: dict[str, Any]) -> str:
    """Of names and bytes: what differs has a file of its own."""
    import hashlib

    text = hashlib.sha256()
    for name, tensor in tensors.items():
        text.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        text.update(tensor.detach().contiguous().numpy().data)
    return text.hexdigest()[:16]
