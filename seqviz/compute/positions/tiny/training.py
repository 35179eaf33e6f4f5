"""Training and test of a tiny Transformer with each encoding, in seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from seqviz.compute.positions.tiny.results import (
    EXAMPLES,
    TEST_SEQUENCES,
    OrderReport,
    OrderResult,
    TaskScores,
)
from seqviz.compute.positions.tiny.settings import OrderSettings
from seqviz.compute.positions.tiny.tasks import (
    LETTERS,
    LetterExamples,
    chance_accuracy,
    draw,
    kinds,
    order_blind,
    slots,
)
from seqviz.compute.training import loop
from seqviz.compute.training.progress import Pulse
from seqviz.compute.training.step import TrainingStep
from seqviz.stats.proportions import of_share

if TYPE_CHECKING:
    from torch import Tensor

    from seqviz.compute.positions.tiny.network import TinyEncoder

BATCH = 32  # sequences per update and network
RATE = 5e-3  # maximum learning rate of Adam

_WARM_UP = 50  # updates
_CHUNK = 100  # test sequences per batch; the test can be canceled between batches
_WEIGHTS, _TRAIN, _TEST, _LONGER = range(4)  # streams of random numbers


def train(
    settings: OrderSettings,
    report: Callable[[OrderReport], None] | None = None,
    device: str = "cpu",
) -> OrderResult:
    """Train `settings.runs` networks with each encoding, all update by update side by side.

    The networks read the letters and then a "?" for each answer, and answer at the "?" (see
    `network.TinyEncoder`: 2 layers, 4 heads, d_model 32). Loss: mean cross-entropy of the answers.
    Adam, its rate rising over 50 updates and falling to zero in the second half. With every
    encoding, run k starts from the same weights and reads the same sequences, drawn anew for each
    update; a test sequence that is drawn is replaced, except for `count`, whose sequences with many
    a are too few. Deterministic for a seed on one machine; torch's global state is unchanged.

    Results with 8 letters and 500 updates, seeds 0 and 1, in 15 to 20 seconds on one core (22 to
    30 with 12 letters): Without encoding and mask all runs ended at `order_blind`. Sinusoidal and
    learned reached 1.00 in every task, rotary 0.99; symmetric ALiBi 1.00 in most runs, but 0.40
    (copy), 0.69 (reverse) and 0.86 (before) in the worst. With a causal mask and seed 0, "none"
    was enough for before and sort (1.00), not for copy and reverse (0.60 to 0.65), where ALiBi's
    0.60 to 0.67 was hardly better. Twice the length: no encoding solves copy or reverse there,
    whose slots stand at distances never trained; before is kept with a causal mask (0.98 and more).
    Count fails with all: attention averages, so networks know the share of a, not its number.

    Args:
        settings: settings of the training.
        report: called about fifty times, and every 0.4 s without news; may raise to stop.
        device: torch device.
    """
    import torch  # takes two seconds, so it is imported by the first training and not at start-up
    from torch.nn.functional import cross_entropy

    length, runs = settings.length, range(settings.runs)
    test = draw(settings.task, length, TEST_SEQUENCES, _stream(settings, 0, _TEST))
    sources = [_stream(settings, run, _TRAIN) for run in runs]
    networks = [_network(settings, encoding).to(device) for encoding in settings.encodings]
    right = torch.zeros(len(networks), settings.runs, device=device)
    pulse: Pulse[OrderReport] = Pulse(report)

    def loss(i: int, symbols: Tensor, answers: Tensor) -> Tensor:
        scores = networks[i](symbols)[:, :, length:]
        right[i] += (scores.argmax(-1) == answers).float().mean((1, 2))
        # The mean over one run's answers, summed over runs because they share no weight.
        return settings.runs * cross_entropy(scores.flatten(0, 2), answers.flatten())

    steps = [
        TrainingStep(torch.optim.Adam(network.parameters(), fused=True), partial(loss, i))
        for i, network in enumerate(networks)
    ]

    def update(number: int) -> None:
        batches = [training_batch(settings, random, test) for random in sources]
        symbols = np.stack([batch.symbols for batch in batches])
        answers = np.stack([batch.answers for batch in batches])
        for step in steps:
            step(symbols, answers, rate=rate(number, settings.updates))
            pulse.beat()

    def measure(done: int, new: int) -> OrderReport:
        record = OrderReport(done, settings.updates, (right / new).cpu().numpy())
        right.zero_()
        return record

    result = loop.run(update, measure, settings.updates, pulse, untrained=False)
    far = _longer(settings)
    near_answers = [_answer(network, test, pulse) for network in networks]
    able = [network.encoding != "learned" for network in networks]  # its table is too short
    far_answers = [
        _answer(n, far, pulse) if a else None for n, a in zip(networks, able, strict=True)
    ]
    return OrderResult(
        settings=settings,
        updates=np.array([r.update for r in result]),
        curve=np.array([r.accuracy for r in result]),
        test=_scores(settings, test, near_answers),
        longer=_scores(settings, far, far_answers),
        examples=LetterExamples(test.letters[:EXAMPLES], test.answers[:EXAMPLES]),
        given=np.stack(near_answers)[:, :, :EXAMPLES],
        parameters=np.array([sum(p[0].numel() for p in n.parameters()) for n in networks]),
        device=device,
    )


def _longer(settings: OrderSettings) -> LetterExamples:
    """Draw test sequences of twice the length; for `count` with no more a than in training."""
    length, random = settings.length, _stream(settings, 0, _LONGER)
    maximum = length if settings.task == "count" else None
    return draw(settings.task, 2 * length, TEST_SEQUENCES, random, maximum=maximum)


def rate(update: int, updates: int) -> float:
    """Return Adam's rate: linear warm-up over 50 updates, linear decay in the second half.

    Args:
        update: number of the update, from 0.
        updates: number of all updates.
    """
    return RATE * min(1.0, (update + 1) / _WARM_UP, 2 * (1 - update / updates))


def training_batch(
    settings: OrderSettings, random: np.random.RandomState, test: LetterExamples
) -> LetterExamples:
    """Draw new sequences, none of which is a test sequence; for `count` any.

    Args:
        settings: settings of the training.
        random: source of random numbers.
        test: the test sequences.
    """
    batch = draw(settings.task, settings.length, BATCH, random)
    if settings.task == "count":
        return batch
    letters, answers = batch.letters, batch.answers
    numbers = _numbered(test.letters)
    while (existing := np.isin(_numbered(letters), numbers)).any():
        other = draw(settings.task, settings.length, int(existing.sum()), random)
        letters[existing], answers[existing] = other.letters, other.answers
    return LetterExamples(letters, answers)


def _numbered(letters: np.ndarray) -> np.ndarray:
    """Return a unique number for each sequence; 6^12 is far below 2^63."""
    return letters @ (len(LETTERS) ** np.arange(letters.shape[1]))


def _stream(settings: OrderSettings, run: int, purpose: int) -> np.random.RandomState:
    return np.random.RandomState([settings.seed, run, purpose])


def _network(settings: OrderSettings, encoding: str) -> TinyEncoder:
    from seqviz.compute.positions.tiny.network import TinyEncoder

    return TinyEncoder(
        encoding,
        symbols=len(LETTERS) + 1,
        answers=kinds(settings.task, settings.length),
        rows=settings.length + slots(settings.task, settings.length),
        randoms=[_stream(settings, run, _WEIGHTS) for run in range(settings.runs)],
        causal=settings.causal,
    )


def _answer(
    network: TinyEncoder, examples: LetterExamples, pulse: Pulse[OrderReport]
) -> Int[np.ndarray, "run batch slot"]:
    """Return the answers of each run's network."""
    import torch

    symbols = torch.as_tensor(examples.symbols, device=network.embedding.device)
    parts = []
    for chunk in symbols.split(_CHUNK):
        with torch.no_grad():
            scores = network(chunk.expand(len(network.embedding), -1, -1))
        parts.append(scores[:, :, examples.letters.shape[1] :].argmax(-1).cpu().numpy())
        pulse.beat()
    return np.concatenate(parts, axis=1)


def _scores(
    settings: OrderSettings, examples: LetterExamples, given: Sequence[np.ndarray | None]
) -> TaskScores:
    length = examples.letters.shape[1]
    accuracy = np.full((len(given), settings.runs), np.nan)
    for i, answers in enumerate(given):
        if answers is not None:
            accuracy[i] = (answers == examples.answers).mean(axis=(1, 2))
    # In `count` the longer sequences have as many different answers as those of the training.
    guess = chance_accuracy(settings.task, settings.length if settings.task == "count" else length)
    shares = of_share(accuracy, len(examples.letters))
    return TaskScores(length, shares, guess, order_blind(settings.task, length))
