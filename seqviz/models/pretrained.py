"""Loaded pretrained models: one object per model and process, shared by all students.

A shared model is never modified. Masks and ablations are passed with each forward pass
(`seqviz.models.attention_hook`). Entry point: `load`.
"""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from seqviz.core import gc_tuning
from seqviz.core.errors import UserError
from seqviz.models import attention_hook, device, interruptible, lac, store, word_vectors
from seqviz.models.registry import Model, model

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
# Kinds without a network of transformers: the function that reads them, and their file.
_PLAIN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "vectors": (word_vectors.read, word_vectors.FILE),
    "tagger": (lac.read, lac.FILE),
}
_locks: dict[str, threading.Lock] = {}
_loaded: dict[str, Pretrained] = {}
_guard = threading.Lock()
_importing = threading.Lock()


@dataclass
class Pretrained:
    """A model in evaluation mode with its tokenizer and its device.

    Attributes:
        card: the model's record in the registry.
        network: the network.
        tokenizer: the tokenizer; None for tables of word vectors and taggers.
        device: torch device type.
        dtype: name of the number type.
        origin: "hub" or "wheel".
        note: of `device.NOTES`, why the model runs on the CPU; else empty.
        lock: to be held while the tokenizer is used; a fast tokenizer keeps settings of its last
            call.
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

    @property
    def bytes(self) -> int:
        """Bytes of the weights in memory."""
        if self.card.kind in _PLAIN:
            return int(self.network.bytes)
        return sum(p.numel() * p.element_size() for p in self.network.parameters())

    def run(
        self, work: Callable[Concatenate[Any, str, P], R], *args: P.args, **keywords: P.kwargs
    ) -> R:
        """Return `work(network, device, ...)`; after a GPU failure, retry on the CPU.

        The model then stays on the CPU.

        Args:
            work: function of the network and its device.
            *args: further positional arguments.
            **keywords: keyword arguments.

        Raises:
            UserError: "no_memory" if the CPU runs out of memory.
        """
        import torch

        with self._moving:
            network, position = self.network, self.device
        if position != "cpu":
            try:
                with torch.inference_mode():
                    return work(network, position, *args, **keywords)
            except RuntimeError as error:
                if not (trouble := device.classify_error(error)):
                    raise
                self._move(trouble, error)
            # After the except block: its traceback keeps GPU tensors alive.
            device.release()
        try:
            with torch.inference_mode():
                return work(self.network, "cpu", *args, **keywords)
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, MemoryError) or interruptible.out_of_memory(str(error)):
                raise store.no_memory(self.card) from error
            raise

    def run_in_parts(
        self, work: Callable[[Any, str, Sequence[T]], R], rows: Sequence[T]
    ) -> list[R]:
        """Run `work(network, device, rows)`; halve the rows when GPU memory runs out.

        A single row that does not fit runs on the CPU, as in `run`.

        Args:
            work: function of the network, its device and some rows.
            rows: the rows.

        Returns:
            One result, or one per part, in the order of the rows.
        """
        import torch

        position = self.device
        if position == "cpu" or len(rows) == 1:
            return [self.run(work, rows)]
        try:
            with torch.inference_mode():
                return [work(self.network, position, rows)]
        except RuntimeError as error:
            trouble = device.classify_error(error)
            if not trouble:
                raise
            if trouble == "lost":
                self._move(trouble, error)
        device.release()
        half = len(rows) if trouble == "lost" else len(rows) // 2
        parts = [part for part in (rows[:half], rows[half:]) if len(part)]
        return [run_in_part for part in parts for run_in_part in self.run_in_parts(work, part)]

    def on_cpu(self) -> Pretrained:
        """Return the model in main memory: a copy, or itself where it is there."""
        if self.device == "cpu":
            return self
        return replace(self, network=_on_cpu(self.network), device="cpu")

    def _move(self, trouble: device.Trouble, error: BaseException) -> None:
        """Move the model to the CPU for good; reload it from disk where the device is lost."""
        if trouble == "lost":
            device.mark_lost(error)
        with self._moving:
            if self.device == "cpu":
                return
            if trouble == "lost":
                fresh = _load(self.card)
                self.network, self.tokenizer = fresh.network, fresh.tokenizer
            else:
                self.network = _on_cpu(self.network)
            self.device = "cpu"
            self.note = device.NOTES[trouble]


def library() -> Any:
    """Import transformers under a lock and return it.

    Its modules are created lazily; an import while another thread imports them finds no AutoModel.
    """
    with _importing:
        import transformers

        for name in ("AutoModel", "AutoModelForCausalLM", "AutoTokenizer"):
            getattr(transformers, name)
    return transformers


def load(name: str) -> Pretrained:
    """Return a model by name: one object per process; concurrent calls wait for one load.

    Raises:
        ValueError: for a model that is not allowed.
        UserError: "not_fetched", "model_damaged", "no_memory" or "model_broken".
    """
    record = model(name)
    with _guard:
        lock = _locks.setdefault(name, threading.Lock())
    with lock:
        if name not in _loaded:
            _loaded[name] = _load(record)
        elif _loaded[name].device != "cpu" and device.choose().note == "lost":
            _loaded[name]._move("lost", RuntimeError("lost in other work"))
        return _loaded[name]


def decoder(name: str) -> Pretrained:
    """Return a decoder by name; raise UserError("decoder_only") for an encoder."""
    result = load(name)
    if result.card.kind != "decoder":
        title = result.card.title
        sentence = f"{title} is an encoder: it has no next token."
        raise UserError("decoder_only", sentence, model=title)
    return result


def all_loaded() -> tuple[Pretrained, ...]:
    """Return the models in memory."""
    return tuple(_loaded.values())


def loaded(name: str) -> bool:
    """Return True where the model is in memory."""
    return name in _loaded


def _load(record: Model) -> Pretrained:
    result = store.verify(record.name)
    if record.kind in _PLAIN:
        return Pretrained(record, _plain(record, result), None, "cpu", "float16", result.origin)
    device.prepare_torch()
    import torch

    tf = library()
    from transformers.utils import logging

    logging.disable_progress_bar()
    attention_hook.register()
    chosen = device.choose()
    maker: Any = tf.AutoModel if record.kind == "encoder" else tf.AutoModelForCausalLM
    note = ""
    try:
        tokenizer = tf.AutoTokenizer.from_pretrained(
            result.folder, local_files_only=True, trust_remote_code=False
        )
        network: Any
        network, report = maker.from_pretrained(
            result.folder,
            local_files_only=True,
            use_safetensors=True,  # never a pickle, whatever files are in the folder
            trust_remote_code=False,  # no code; unset, transformers asks at a terminal
            dtype=torch.float32,
            attn_implementation=attention_hook.NAME,
            output_loading_info=True,
        )
        _check(record, network, tokenizer, report)
        if record.half:
            network.set_input_embeddings(half_table(network.get_input_embeddings()))
        position = chosen.kind
        try:
            network.to(position)
        except torch.OutOfMemoryError:
            network.to("cpu")
            position, note = "cpu", device.NOTES["memory"]
        unmapped(network)
    except MemoryError as error:
        raise store.no_memory(record) from error
    except Exception as error:  # invalid files can raise anything
        if interruptible.out_of_memory(str(error)):  # torch raises RuntimeError
            raise store.no_memory(record) from error
        raise store.broken(record) from error
    network.eval().requires_grad_(False)
    gc_tuning.collect_and_freeze()
    return Pretrained(record, network, tokenizer, position, "float32", result.origin, note)


def _plain(record: Model, stored: store.StoredModel) -> Any:
    """Return a model stored as plain arrays; raise UserError("model_broken") if invalid."""
    read, file = _PLAIN[record.kind]
    try:
        return read(stored.folder / file)
    except (OSError, ValueError, KeyError) as error:
        raise store.broken(record) from error


def half_table(table: Any) -> Any:
    """Return an embedding table stored in half precision with float32 output: half the memory."""
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
    """Copy memory-mapped tensors of a network to ordinary memory, one after another.

    Loaded tensors are mapped to the file; if it were truncated in place, the system would kill the
    process. Tied weights stay one tensor.
    """
    for item in (*network.parameters(), *network.buffers()):
        if item.device.type == "cpu":
            item.data = item.data.clone()


def _check(record: Model, network: Any, tokenizer: Any, report: dict[str, Any]) -> None:
    """Raise ValueError where transformers would only warn and use random or missing weights.

    Allowed: a missing pooler (not every encoder has one, and no figure reads it), and weights for
    other tasks, such as the head of the masked language model.
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
    """Return a copy in main memory; the GPU network stays intact for passes in progress."""
    import torch

    here: dict[int, Any] = {
        id(parameter): torch.nn.Parameter(parameter.cpu(), requires_grad=False)
        for parameter in network.parameters()
    }
    here |= {id(buffer): buffer.cpu() for buffer in network.buffers()}
    return copy.deepcopy(network, here)
