"""Captured CUDA graphs: repeated GPU work is launched as one graph instead of kernel by kernel.

A step of a small network consists of hundreds of kernels of a few microseconds, and launching each
takes longer than that (`benchmarks.gpu`, row "a small LSTM's step"). A `CapturedCall` runs a
function eagerly for the first inputs of a shape, then captures its kernels once and replays them
with other inputs. What cannot be captured stays eager. Imported only where a CUDA device is used;
`SEQVIZ_CUDA_GRAPHS=0` switches it off.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from seqviz.models import device

MAX_GRAPHS = 64
MEMORY_SHARE = 0.125  # of the device's memory, for all graphs
WARM_UP = 2  # eager calls of a shape before its capture, as PyTorch asks for
log = logging.getLogger(__name__)
R = TypeVar("R", bound="Tensor | tuple[Tensor, ...]")


@dataclass
class CapturedGraph:
    """Kernels of one function for one shape.

    Attributes:
        inputs: tensors that the kernels read.
        replay: runs the kernels and returns the tensor, or the tensors, that they write.
        bytes: device memory that the graph holds.
    """

    inputs: tuple[Tensor, ...]
    replay: Callable[[], Any]
    bytes: int


class GraphPool:
    """LRU pool of captured graphs, bounded in number and bytes.

    Args:
        max_graphs: maximum number of graphs.
        max_bytes: maximum bytes of all graphs; None for `MEMORY_SHARE` of the device.
    """

    def __init__(self, max_graphs: int = MAX_GRAPHS, max_bytes: int | None = None):
        self._max_graphs, self._max_bytes = max_graphs, max_bytes
        self._graphs: OrderedDict[tuple[int, Hashable], CapturedGraph] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._graphs)

    @property
    def bytes(self) -> int:
        """Bytes that all graphs hold."""
        with self._lock:
            return sum(graph.bytes for graph in self._graphs.values())

    def get(self, owner: int, key: Hashable) -> CapturedGraph | None:
        """Return a graph, and mark it as used; None where there is none.

        Args:
            owner: `id` of the call.
            key: shape of the inputs.
        """
        with self._lock:
            if (owner, key) in self._graphs:
                self._graphs.move_to_end((owner, key))
            return self._graphs.get((owner, key))

    def put(self, owner: int, key: Hashable, graph: CapturedGraph) -> None:
        """Add a graph; release the least recently used ones beyond the limits, never this one.

        Args:
            owner: `id` of the call.
            key: shape of the inputs.
            graph: the graph.
        """
        limit = self._max_bytes
        if limit is None:
            limit = int(MEMORY_SHARE * torch.cuda.mem_get_info()[1])
        with self._lock:
            self._graphs[owner, key] = graph
            while len(self._graphs) > 1 and (
                len(self._graphs) > self._max_graphs
                or sum(item.bytes for item in self._graphs.values()) > limit
            ):
                self._graphs.popitem(last=False)

    def drop(self, owner: int) -> None:
        """Release all graphs of a call that is no more."""
        with self._lock:
            for key in [key for key in self._graphs if key[0] == owner]:
                del self._graphs[key]

    def clear(self) -> None:
        """Release all graphs."""
        with self._lock:
            self._graphs.clear()


POOL = GraphPool()
_capturing = threading.Lock()


def capture(work: Callable[..., Any], inputs: tuple[Tensor, ...]) -> CapturedGraph:
    """Capture the kernels of `work(*inputs)`; none of them runs.

    Other threads may use the device meanwhile.

    Args:
        work: the function.
        inputs: tensors of the device, which each replay reads.
    """
    graph = torch.cuda.CUDAGraph()
    before = torch.cuda.memory_reserved()
    with _capturing, torch.cuda.graph(graph, capture_error_mode="thread_local"):
        output = work(*inputs)

    def replay() -> Any:
        graph.replay()
        return output

    return CapturedGraph(inputs, replay, max(0, torch.cuda.memory_reserved() - before))


def run_beside(work: Callable[..., R], inputs: tuple[Tensor, ...], location: Any) -> R:
    """Run `work(*inputs)` eagerly on a side stream, as PyTorch asks for before a capture.

    Args:
        work: the function.
        inputs: tensors of the device.
        location: the device.
    """
    if location.type != "cuda":
        return work(*inputs)
    present, beside = torch.cuda.current_stream(), torch.cuda.Stream()
    beside.wait_stream(present)
    with torch.cuda.stream(beside):
        output = work(*inputs)
    present.wait_stream(beside)
    for tensor in (output,) if isinstance(output, Tensor) else output:
        tensor.record_stream(present)
    return output


class CapturedCall:
    """Function of tensors that is replayed once its shape was captured.

    Each call has the effect of exactly one eager call. After a failed capture all calls are eager.
    Threads may share it: each waits until another has put its work on the device.

    Args:
        location: device of the inputs.
        pool: the graphs of all calls.
    """

    def __init__(self, location: Any, pool: GraphPool = POOL):
        self._location, self._pool = location, pool
        self._n_calls: Counter[Hashable] = Counter()
        self._is_eager = False
        self._lock = threading.Lock()
        weakref.finalize(self, pool.drop, id(self))

    def __call__(self, work: Callable[..., R], *inputs: Tensor, constants: Hashable = ()) -> R:
        """Return `work(*inputs)`, captured or eager; the result is not overwritten later.

        Args:
            work: the function; it must not read values back from the device.
            *inputs: tensors of any device.
            constants: Python values on which the kernels depend, such as a learning rate or the
                name of the function.

        Raises:
            RuntimeError: torch's error, for a lost device.
        """
        with self._lock:
            return self._run(work, inputs, constants)

    def _run(self, work: Callable[..., R], inputs: tuple[Tensor, ...], constants: Hashable) -> R:
        key = (constants, *((item.shape, item.dtype) for item in inputs))
        graph = self._pool.get(id(self), key)
        if graph is None:
            self._n_calls[key] += 1
            there = tuple(item.to(self._location) for item in inputs)
            if self._is_eager or self._n_calls[key] <= WARM_UP:
                return run_beside(work, there, self._location)
            graph = self._captured(work, there)
            if graph is None:
                return run_beside(work, there, self._location)
            self._pool.put(id(self), key, graph)
        else:
            for static, item in zip(graph.inputs, inputs, strict=True):
                static.copy_(item)
        try:
            output = graph.replay()
            # Copies, because the next replay writes over these.
            copied = (
                output.clone() if isinstance(output, Tensor) else tuple(map(torch.clone, output))
            )
            return copied  # type: ignore[return-value]
        except RuntimeError as error:
            self._give_up(error)
            raise

    def _captured(
        self, work: Callable[..., Any], inputs: tuple[Tensor, ...]
    ) -> CapturedGraph | None:
        """Return the captured graph; None where the capture fails on a device that works."""
        try:
            # Copies, because the kernels keep reading these.
            return capture(work, tuple(item.clone() for item in inputs))
        except RuntimeError as error:
            trouble = self._give_up(error)
            if trouble == "lost":
                raise
        # After the except block: its traceback keeps tensors of the device alive.
        if trouble == "memory":
            device.release()
        return None

    def _give_up(self, error: RuntimeError) -> device.Trouble:
        """Stay eager from now on, and release graphs where that may help."""
        trouble = device.classify_error(error)
        if error.__context__ is not None:  # the end of a capture fails after memory has ended in it
            trouble = trouble or device.classify_error(error.__context__)
        self._is_eager = True
        if trouble:
            self._pool.clear()
        else:
            self._pool.drop(id(self))
        log.warning("cuda_graphs: stays eager: %s", str(error).partition("\n")[0])
        return trouble


_calls: weakref.WeakKeyDictionary[torch.nn.Module, CapturedCall] = weakref.WeakKeyDictionary()


def call_of(network: torch.nn.Module, location: Any) -> CapturedCall:
    """Return the call that replays the passes of a network, shared by all its users.

    Args:
        network: the network.
        location: device of its weights.
    """
    with _capturing:
        if network not in _calls:
            _calls[network] = CapturedCall(location)
        return _calls[network]


class CapturedUpdate:
    """Update of an optimizer, replayed; see `seqviz.compute.training.step.capture_hook`.

    The optimizer's state and learning rates move to the device, so that the kernels read them.

    Args:
        optimizer: a torch optimizer before its first step.
        location: device of its weights.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, location: Any):
        self._groups = optimizer.param_groups
        self._call = CapturedCall(location)
        for group in self._groups:
            if "capturable" in group:
                group["capturable"] = location.type == "cuda"
                group["lr"] = torch.tensor(float(group["lr"]), device=location)

    def __call__(
        self,
        work: Callable[..., Tensor],
        *inputs: Tensor,
        rate: float | Sequence[float] | None = None,
    ) -> Tensor:
        """Set the learning rate and return `work(*inputs)`.

        Args:
            work: the update.
            *inputs: tensors of any device.
            rate: learning rate of all groups, or that of each; None keeps the present ones.
        """
        if rate is not None:
            rates = [rate] * len(self._groups) if isinstance(rate, int | float) else list(rate)
            for group, new in zip(self._groups, rates, strict=True):
                if isinstance(group["lr"], Tensor):
                    group["lr"].fill_(new)
                else:
                    group["lr"] = new
        # A rate that is no tensor becomes part of the kernels.
        constants = tuple(g["lr"] for g in self._groups if not isinstance(g["lr"], Tensor))
        return self._call(work, *inputs, constants=constants)
