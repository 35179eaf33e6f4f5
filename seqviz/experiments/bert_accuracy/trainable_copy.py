"""A network to train that shares what is frozen with the model that everybody reads.

The shared model is never trained and never leaves evaluation mode. A copy has modules of its own
(so its dropout can be on) around the very same tensors, and copies only of those it trains.
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
    """A network of one's own. trainable, total: its parameters, adapters among them, no head."""

    network: Any
    device: str
    trainable: int
    total: int


class DropoutGenerator:
    """Random numbers of one's own for dropout, which takes them from torch's global generator.

    Whoever draws takes the generator, sets it to where it left off, and puts it back as it was: a
    run's numbers depend on its seed alone, whoever else is training.
    """

    def __init__(self, seed: int, device: str):
        import torch

        self._gpu: Any = None if device == "cpu" else getattr(torch, device)  # has its own
        with self._swapped(None):
            torch.manual_seed(seed)
            self._state = self._read()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Within the body torch's random numbers are this one's."""
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
    """A copy around the shared model, in evaluation mode, ready for training.

    regime: "head" (nothing of the encoder is trained), "top" (its last `layers` layers), "lora"
    (Hu et al. 2022: adapters of `rank` on every linear layer inside the encoder's layers, scaled by
    alpha / rank = 2), "all". The pooler is trained along in "top" and "all" where `feature` is the
    pooler; elsewhere nothing depends on it. The initial adapters come from torch's generator
    (`DropoutGenerator`). Attention is torch's own, which has dropout on the weights; the tap's has
    none.
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
    """The stack of layers, wherever the architecture keeps it."""
    import torch

    count = network.config.num_hidden_layers
    stacks = [module for module in network.modules() if isinstance(module, torch.nn.ModuleList)]
    return next(stack for stack in stacks if len(stack) == count)


def _adapt(network: Any, rank: int) -> None:
    """Put adapters around the linear layers of every layer; peft keeps them and their scale."""
    import torch
    from peft import LoraConfig, inject_adapter_in_model

    stack = _layers(network)
    inside = {id(part) for part in stack.modules() if isinstance(part, torch.nn.Linear)}
    names = [name for name, part in network.named_modules() if id(part) in inside]
    inject_adapter_in_model(
        LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules=names), network
    )
