"""Training of a tiny LSTM or GRU on a small task; the only module here with torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.gates.activations import retention
from seqviz.compute.gates.networks import GatedNetwork, accuracy, sequence_accuracy, trace
from seqviz.compute.gates.tasks import (
    ANSWERS,
    EXAMPLES,
    SYMBOLS,
    SymbolBatch,
    draw,
    majority,
    majority_whole,
)
from seqviz.compute.gates.tiny_results import Tiny, TinyReport, TinySettings, recommended
from seqviz.compute.recurrent import RecurrentWeights
from seqviz.compute.training.loop import run
from seqviz.compute.training.progress import Pulse
from seqviz.compute.training.step import TrainingStep
from seqviz.core import deprecated
from seqviz.core.units import Share

TESTED = 400  # sequences
_UNSCORED = -100  # answer at a step that is not scored
__all__ = [
    "Longer",
    "Tiny",
    "TinyReport",
    "TinySettings",
    "longer",
    "recommended",
    "train_tiny",
    "usual_majority",
]


@dataclass(frozen=True)
class Longer:
    """Accuracy on sequences longer than those of the training, beside the majority baseline.

    Attributes:
        accuracy: share of right answers.
        majority: accuracy of the most frequent answer.
        exact_match: share of sequences without a wrong answer.
        majority_whole: largest share of sequences that one constant answer gets right throughout.
    """

    accuracy: Share
    majority: Share
    exact_match: Share
    majority_whole: Share
    whole = deprecated.alias("exact_match")


def longer(network: GatedNetwork, length: int, seed: int = 0) -> Longer:
    """Test a network on 400 new sequences twice as long as those of the training.

    Args:
        network: the network.
        length: length of the training sequences.
        seed: seed of the sequences.
    """
    batch = draw(network.kind, 2 * length, TESTED, np.random.RandomState([seed, 2]))
    return Longer(
        accuracy(network, batch),
        majority(batch),
        sequence_accuracy(network, batch),
        majority_whole(batch),
    )


def usual_majority(settings: TinySettings) -> Share:
    """Return the accuracy of the most frequent answer on the test sequences of `train_tiny`."""
    random = np.random.RandomState([settings.seed, 1])
    return majority(draw(settings.task, settings.length, TESTED, random))


def train_tiny(
    settings: TinySettings,
    report: Callable[[TinyReport], None] | None = None,
    device: str = "cpu",
) -> Tiny:
    """Train a tiny network by Adam on new sequences; symbols enter as one-hot vectors.

    The loss is the mean cross-entropy of the answers at the scored steps. Deterministic for a seed
    on one machine; torch's global random state is neither read nor written.

    Args:
        settings: settings of the training.
        report: called about fifty times; may raise to stop the run.
        device: torch device.
    """
    import torch  # takes two seconds, so it is imported by the first training and not at start-up

    symbols, width = len(SYMBOLS[settings.task]), len(ANSWERS[settings.task])
    kind: Any = torch.nn.LSTM if settings.cell == "lstm" else torch.nn.GRU
    # On the meta device because the modules' own initialization draws from the global generator.
    with torch.device("meta"):
        layer, head = kind(symbols, settings.hidden), torch.nn.Linear(settings.hidden, width)
    layer, head = layer.to_empty(device="cpu"), head.to_empty(device="cpu")
    random = np.random.RandomState([settings.seed, 0])
    bound = settings.hidden**-0.5
    with torch.no_grad():
        for tensor in (*layer.parameters(), *head.parameters()):
            tensor.copy_(torch.as_tensor(random.uniform(-bound, bound, tuple(tensor.shape))))
        # The second block of rows is the gate that keeps: f of an LSTM, z of a GRU.
        layer.bias_hh_l0[settings.hidden : 2 * settings.hidden] = settings.keep_bias
    layer, head = layer.to(device), head.to(device)
    one_hot = torch.eye(symbols, device=device)

    def scores(symbols: torch.Tensor, scored: torch.Tensor) -> torch.Tensor:
        out, _ = layer(one_hot[symbols])
        return head(out[scored])

    def loss_on_cpu(
        symbols: torch.Tensor, scored: torch.Tensor, answers: torch.Tensor
    ) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(scores(symbols, scored), answers)

    def loss_on_device(symbols: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
        # The same mean. To choose the scored steps would wait for the device, and give each batch
        # another shape.
        every = head(layer(one_hot[symbols])[0]).flatten(0, 1)
        return torch.nn.functional.cross_entropy(every, answers.flatten(), ignore_index=_UNSCORED)

    test = draw(settings.task, settings.length, TESTED, np.random.RandomState([settings.seed, 1]))
    *inputs, answers = (torch.as_tensor(item, device=device) for item in _arrays(test))
    step = TrainingStep(
        torch.optim.Adam([*layer.parameters(), *head.parameters()], settings.rate),
        loss_on_cpu if device == "cpu" else loss_on_device,
        [*layer.parameters()],
    )

    def update(number: int) -> None:
        batch = draw(settings.task, settings.length, settings.batch, random)
        step(*(_arrays(batch) if device == "cpu" else _marked(batch)))

    def measure(done: int, new: int) -> TinyReport:
        with torch.no_grad():
            right = (scores(*inputs).argmax(-1) == answers).float().mean().item()
        gate = _mean_gate(_network(settings, layer, head))
        return TinyReport(done, settings.updates, right, gate)

    result = run(update, measure, settings.updates, Pulse(report))

    return Tiny(
        settings,
        _network(settings, layer, head),
        np.array([r.update for r in result]),
        np.array([r.accuracy for r in result]),
        np.array([r.gate for r in result]),
    )


def _mean_gate(network: GatedNetwork) -> Float[np.ndarray, "step"]:
    """Return the gate that keeps after each symbol of the task's example, mean over units."""
    ids = network.encode(EXAMPLES[network.kind]).ids
    return np.asarray(retention(trace(network, ids)).mean(axis=-1))


def _network(settings: TinySettings, layer: Any, head: Any) -> GatedNetwork:
    """Return the trained network as arrays."""

    def array(tensor: Any) -> np.ndarray:
        return np.array(tensor.detach().cpu().numpy())

    symbols = SYMBOLS[settings.task]
    return GatedNetwork(
        f"{settings.task}_{settings.cell}",
        settings.cell,
        settings.task,
        symbols,
        np.eye(len(symbols), dtype=np.float32),
        RecurrentWeights(*map(array, layer.parameters())),
        array(head.weight),
        array(head.bias),
    )


def _arrays(batch: SymbolBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return batch.symbols, batch.scored, batch.answers[batch.scored]


def _marked(batch: SymbolBatch) -> tuple[np.ndarray, np.ndarray]:
    return batch.symbols, np.where(batch.scored, batch.answers, _UNSCORED)
