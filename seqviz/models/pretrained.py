"""One object per pretrained model for the whole process: loaded once, shared by all students.

Nobody changes a shared model. What a student switches off or masks goes along with the forward pass
(`seqviz.models.tap`).
"""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from seqviz import garbage
from seqviz.models import device, interruptible, store, tap
from seqviz.models.registry import Model, model

R = TypeVar("R")
_locks: dict[str, threading.Lock] = {}
_loaded: dict[str, Pretrained] = {}
_guard = threading.Lock()
_importing = threading.Lock()


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
    _moving: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def run(self, work: Callable[[Any, str], R]) -> R:
        """`work(network, device)`; where the GPU's memory ends, once more on the CPU, for good."""
        import torch

        with self._moving:
            network, place = self.network, self.device
        try:
            with torch.inference_mode():
                return work(network, place)
        except torch.OutOfMemoryError:
            pass  # the traceback, which holds tensors of the GPU, ends here
        with self._moving:
            if self.device != "cpu":
                self.network, self.device = _on_cpu(self.network), "cpu"
                self.note = "out_of_gpu_memory"
        torch.cuda.empty_cache()
        with torch.inference_mode():
            return work(self.network, "cpu")


def library() -> Any:
    """transformers, imported by one thread after the other.

    Its modules are made on demand, and who imports it while another thread does finds no AutoModel.
    """
    with _importing:
        import transformers

        for name in ("AutoModel", "AutoModelForCausalLM", "AutoTokenizer"):
            getattr(transformers, name)
    return transformers


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


def all_loaded() -> tuple[Pretrained, ...]:
    """The models that are in memory."""
    return tuple(_loaded.values())


def loaded(name: str) -> bool:
    """Whether the model is in memory already."""
    return name in _loaded


def _load(record: Model) -> Pretrained:
    found = store.verify(record.name)
    device.prepare_torch()
    import torch

    tf = library()
    from transformers.utils import logging

    logging.disable_progress_bar()
    tap.register()
    chosen = device.choose()
    maker: Any = tf.AutoModel if record.kind == "encoder" else tf.AutoModelForCausalLM
    note = ""
    try:
        tokenizer = tf.AutoTokenizer.from_pretrained(found.folder, local_files_only=True)
        network: Any
        network, report = maker.from_pretrained(
            found.folder,
            local_files_only=True,
            use_safetensors=True,  # never a pickle, whatever lies in the folder
            dtype=torch.float32,
            attn_implementation=tap.NAME,
            output_loading_info=True,
        )
        _check(record, network, tokenizer, report)
        if record.half:
            network.set_input_embeddings(half_table(network.get_input_embeddings()))
        place = chosen.kind
        try:
            network.to(place)
        except torch.OutOfMemoryError:
            network.to("cpu")
            place, note = "cpu", "out_of_gpu_memory"
        unmapped(network)
    except MemoryError as error:
        raise store.no_memory(record) from error
    except Exception as error:  # of any kind: what is read are files, and they may say anything
        if interruptible.out_of_memory(str(error)):  # torch raises RuntimeError
            raise store.no_memory(record) from error
        raise store.broken(record) from error
    network.eval().requires_grad_(False)
    garbage.freeze()
    return Pretrained(record, network, tokenizer, place, "float32", found.origin, note)


def half_table(table: Any) -> Any:
    """A table of word vectors in half precision, which gives float32: half the memory."""
    import torch

    class HalfTable(torch.nn.Module):
        weight: torch.Tensor

        def __init__(self, weight: Any) -> None:
            super().__init__()
            self.register_buffer("weight", weight)

        def forward(self, ids: Any) -> Any:
            return torch.nn.functional.embedding(ids, self.weight).float()

    return HalfTable(table.weight.detach().half())


def unmapped(network: Any) -> None:
    """Put what lies in main memory into memory of its own, one tensor after the other.

    As read it lies in the file: were that cut short in place, the system would end the process.
    What is one tensor in two places (tied weights) stays one.
    """
    for one in (*network.parameters(), *network.buffers()):
        if one.device.type == "cpu":
            one.data = one.data.clone()


def _check(record: Model, network: Any, tokenizer: Any, report: dict[str, Any]) -> None:
    """Raise ValueError where transformers would only warn and go on with random or fewer weights.

    Allowed: a pooler that the file lacks (not every encoder has one, and no figure reads it), and
    what the file has for other tasks, such as the head of the masked language model.
    """
    lacking = [key for key in report["missing_keys"] if not key.startswith("pooler.")]
    layers, heads = network.config.num_hidden_layers, network.config.num_attention_heads
    numbers = [re.search(r"\.(\d+)\.", f".{key}") for key in report["unexpected_keys"]]
    deeper = [number for number in numbers if number and int(number[1]) >= layers]
    if lacking or deeper or report["mismatched_keys"]:
        raise ValueError("the weights are not those of this configuration")
    if record.layers and (layers, heads) != (record.layers, record.heads):
        raise ValueError("the configuration is not this model's")
    if len(tokenizer) > network.get_input_embeddings().num_embeddings:
        raise ValueError("the tokenizer has more words than the network")


def _on_cpu(network: Any) -> Any:
    """A copy in main memory; the network on the GPU stays whole for who is computing with it."""
    import torch

    here: dict[int, Any] = {
        id(one): torch.nn.Parameter(one.cpu(), requires_grad=False) for one in network.parameters()
    }
    here |= {id(one): one.cpu() for one in network.buffers()}
    return copy.deepcopy(network, here)
