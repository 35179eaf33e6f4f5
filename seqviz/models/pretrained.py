"""One object per pretrained model for the whole process: loaded once, shared by all students.

Nobody changes a shared model. What a student switches off or masks goes along with the forward pass
(`seqviz.models.tap`).
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from seqviz.models import device, store, tap
from seqviz.models.registry import Model, model
from seqviz.refusal import Refusal

R = TypeVar("R")
_locks: dict[str, threading.Lock] = {}
_loaded: dict[str, Pretrained] = {}
_guard = threading.Lock()


@dataclass
class Pretrained:
    """A model in evaluation mode with its tokenizer, and where it runs.

    lock: to be held while the tokenizer is used (a fast tokenizer keeps settings of the last call).
    origin: "hub" or "wheel". note: empty, or why it runs on another device than it should.
    """

    card: Model
    network: Any
    tokenizer: Any
    device: str
    dtype: str
    origin: str
    note: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def run(self, work: Callable[[Any, str], R]) -> R:
        """`work(network, device)`; where the GPU's memory ends, once more on the CPU, for good."""
        import torch

        try:
            with torch.inference_mode():
                return work(self.network, self.device)
        except torch.OutOfMemoryError:
            with self.lock:
                self.network.to("cpu")
                self.device = "cpu"
                self.note = "out_of_gpu_memory"
            torch.cuda.empty_cache()
            with torch.inference_mode():
                return work(self.network, self.device)


def load(name: str) -> Pretrained:
    """A model by its name, one object for the whole process.

    Two students who ask at once wait for one loading. Raises ValueError for a model that is not
    allowed, and Refusal("not_fetched", "model_damaged", "no_memory", "model_broken").
    """
    record = model(name)
    with _guard:
        lock = _locks.setdefault(name, threading.Lock())
    with lock:
        if name not in _loaded:
            _loaded[name] = _load(record)
        return _loaded[name]


def loaded(name: str) -> bool:
    """Whether the model is in memory already."""
    return name in _loaded


def _load(record: Model) -> Pretrained:
    found = store.verify(record.name)
    device.prepare_torch()
    import torch
    from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    tap.register()
    chosen = device.choose()
    maker: Any = AutoModel if record.kind == "encoder" else AutoModelForCausalLM
    note = ""
    try:
        tokenizer = AutoTokenizer.from_pretrained(found.folder, local_files_only=True)
        network: Any = maker.from_pretrained(
            found.folder,
            local_files_only=True,
            dtype=torch.float32,
            attn_implementation=tap.NAME,
        )
        place = chosen.kind
        try:
            network.to(place)
        except torch.OutOfMemoryError:
            network.to("cpu")
            place, note = "cpu", "out_of_gpu_memory"
    except MemoryError as error:
        raise _no_memory(record) from error
    except RuntimeError as error:
        if "memory" in str(error):  # torch's own allocator does not raise MemoryError
            raise _no_memory(record) from error
        raise _broken(record) from error
    except (OSError, ValueError, KeyError) as error:
        raise _broken(record) from error
    network.eval().requires_grad_(False)
    gc.collect()
    gc.freeze()  # half a million objects that no collection need look at again
    return Pretrained(record, network, tokenizer, place, "float32", found.origin, note)


def _no_memory(record: Model) -> Refusal:
    return Refusal(
        "no_memory",
        f"This machine has not enough memory for {record.title}; choose a smaller model.",
        model=record.title,
    )


def _broken(record: Model) -> Refusal:
    return Refusal(
        "model_broken",
        f"{record.title} cannot be loaded: its files do not fit together. Run "
        f"`python -m seqviz.models fetch --again {record.name}`.",
        model=record.title,
        name=record.name,
    )
