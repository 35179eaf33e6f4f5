"""Trainable copies of an encoder that share frozen tensors with the shared model.

The shared model is never trained and stays in evaluation mode. A copy has its own modules (so that
its dropout can be on) around the same tensors, and copies only the tensors that it trains.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from seqviz.models.pretrained import Pretrained

_generator = threading.Lock()


@dataclass(frozen=True)
class TrainableCopy:
    """Trainable copy of a network.

    Attributes:
        network: the network.
        device: torch device.
        trainable: number of trained parameters, with adapters, without a head.
        total: number of all parameters, likewise.
    """

    network: Any
    device: str
    trainable: int
    total: int


class DropoutGenerator:
    """Random state for dropout, which draws from torch's global generator.

    While it is installed, the global generator has its state; then the former state is restored. So
    the numbers of a run depend only on its seed, whatever else is being trained.

    Args:
        seed: random seed.
        device: torch device.
    """

    def __init__(self, seed: int, device: str):
        import torch

        self._gpu: Any = None if device == "cpu" else getattr(torch, device)  # its own generator
        with self._swapped(None):
            torch.manual_seed(seed)
            self._state = self._read()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Install this random state as torch's in the body of a `with` statement."""
        with self._swapped(self._state):
            yield
            self._state = self._read()

    @contextmanager
    def _swapped(self, state: tuple[Any, ...] | None) -> Iterator[None]:
        with _generator:
            before = self._read()
            if state is not None:
                self._write(state)
            try:
                yield
            finally:
                self._write(before)

    def _read(self) -> tuple[Any, ...]:
        import torch

        return torch.get_rng_state(), self._gpu and self._gpu.get_rng_state()

    def _write(self, state: tuple[Any, ...]) -> None:
        import torch

        torch.set_rng_state(state[0])
        if self._gpu:
            self._gpu.set_rng_state(state[1])


def make_trainable(
    pretrained: Pretrained, regime: str, layers: int = 2, rank: int = 8, feature: str = "mean"
) -> TrainableCopy:
    """Return a trainable copy of a shared model, in evaluation mode.

    Its attention is torch's own, which has dropout on the weights; `attention_hook`'s has none. The
    initial adapters are drawn from torch's generator (`DropoutGenerator`).

    Args:
        pretrained: the shared model.
        regime: "head" (nothing of the encoder is trained), "top" (its last `layers` layers), "lora"
            (Hu et al. 2022: adapters on every linear layer inside the encoder's layers, scaled by
            alpha / rank = 2) or "all".
        layers: number of trained layers of "top".
        rank: rank of the adapters of "lora".
        feature: what the head reads; the pooler is trained only in "top" and "all" with "pooler",
            as nothing else depends on it.
    """
    shared = pretrained.network
    stack = _layers(shared)
    if regime == "all":
        trained = list(shared.named_parameters())
    elif regime == "top":
        last = max(0, len(stack) - layers)
        trained = [pair for layer in stack[last:] for pair in layer.named_parameters()]
        trained += [(n, p) for n, p in shared.named_parameters() if n.startswith("pooler.")]
    else:
        trained = []
    own = {id(p) for n, p in trained if feature == "pooler" or not n.startswith("pooler.")}
    tensors = [*shared.parameters(), *shared.buffers()]
    network: Any = copy.deepcopy(
        shared, {id(tensor): tensor for tensor in tensors if id(tensor) not in own}
    )
    network.set_attn_implementation("sdpa")
    for before, now in zip(shared.parameters(), network.parameters(), strict=True):
        if now is not before:
            now.requires_grad_(True)
    if regime == "lora":
        _adapt(network, rank)
    counts = [(parameter.numel(), parameter.requires_grad) for parameter in network.parameters()]
    trainable = sum(count for count, learns in counts if learns)
    return TrainableCopy(
        network.eval(), pretrained.device, trainable, sum(count for count, _ in counts)
    )


def _layers(network: Any) -> Any:
    """Return the stack of layers of any architecture."""
    import torch

    count = network.config.num_hidden_layers
    stacks = [module for module in network.modules() if isinstance(module, torch.nn.ModuleList)]
    return next(stack for stack in stacks if len(stack) == count)


def _adapt(network: Any, rank: int) -> None:
    """Add adapters to the linear layers of every layer; peft handles them and their scale."""
    import torch
    from peft import LoraConfig, inject_adapter_in_model

    stack = _layers(network)
    inside = {id(part) for part in stack.modules() if isinstance(part, torch.nn.Linear)}
    names = [name for name, part in network.named_modules() if id(part) in inside]
    inject_adapter_in_model(
        LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules=names), network
    )
