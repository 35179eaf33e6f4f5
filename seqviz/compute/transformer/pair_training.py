"""Training of two encoder-decoders on number words: decoder input shifted, or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from seqviz.compute.positions import sinusoidal
from seqviz.compute.training import loop
from seqviz.compute.training.progress import Pulse
from seqviz.compute.training.step import TrainingStep
from seqviz.compute.transformer.pair import (
    FED,
    HEADS,
    HIDDEN,
    INPUTS,
    TEST,
    WIDTH,
    PairReport,
    PairResult,
    PairSettings,
    TranslatedNumber,
)
from seqviz.compute.transformer.spelling import (
    DIGITS,
    END,
    MAX_NUMBER,
    MAX_NUMBER_WORDS,
    SOURCE,
    VOCABULARY,
    read,
    spoken,
)

if TYPE_CHECKING:
    from torch import Tensor

BATCH, RATE, WARM_UP = 64, 3e-3, 100
_SIZES = ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, HIDDEN), (HIDDEN, WIDTH))


def train_pair(
    settings: PairSettings,
    report: Callable[[PairReport], None] | None = None,
    device: str = "cpu",
) -> PairResult:
    """Train two pairs on 800 of the numbers 0 to 999; the other 200 are the test.

    Each has one encoder and one decoder layer, post-norm as in Vaswani et al. (2017), width 32, 4
    heads, 64 hidden units, sinusoidal positions, no bias and no dropout; the output matrix is the
    decoder's embedding table (their 3.4). Sources shorter than three digits are padded, and the
    padding is masked. Loss: mean cross-entropy of the words and the end token under teacher
    forcing; the decoder reads the previous word ("shifted", with a start token in front) or the
    word at the position itself ("unshifted"). Both start from the same weights and read the same
    numbers. Adam, linear warm-up over 100 updates, then linear decay to zero. Deterministic for a
    seed on one machine; torch's global random state is not changed.

    Args:
        settings: settings of the training.
        report: called about fifty times, and again with the latest report after 0.4 s without a new
            one; may raise to stop the training.
        device: torch device.
    """
    import torch  # Imported on first use, because it takes two seconds.

    random = np.random.default_rng(settings.seed)
    order = random.permutation(MAX_NUMBER + 1)
    test, existing = np.sort(order[:TEST]), order[TEST:]
    samples = _drawn(settings.language, random)
    weights = [item.float().to(device).requires_grad_() for item in samples]
    observed = torch.zeros(len(INPUTS), device=device)

    def losses(source: Tensor, words: Tensor) -> Tensor:
        scores = _passed(weights, source, fed(words))[0]
        targets = words.expand(len(INPUTS), -1, -1).flatten()
        loss = torch.nn.functional.cross_entropy(
            scores.flatten(0, 2), targets, ignore_index=-1, reduction="none"
        )
        return loss.view(len(INPUTS), -1).sum(1) / (words >= 0).sum()

    step = TrainingStep(torch.optim.Adam(weights, fused=True), losses)

    def update(number: int) -> None:
        batch = coded(random.choice(existing, BATCH), settings.language)
        rate = RATE * min((number + 1) / WARM_UP, (settings.updates - number) / settings.updates)
        observed.add_(step(*batch, rate=rate))

    def measure(done: int, new: int) -> PairReport:
        loss = (observed / new).double().cpu().numpy()
        observed.zero_()
        return PairReport(done, settings.updates, loss)

    result = loop.run(update, measure, settings.updates, Pulse(report), untrained=False)
    fixed = [weight.detach() for weight in weights]
    forced, written = _judged(fixed, test, settings.language)
    return PairResult(
        settings, np.array([record.update for record in result]),
        np.stack([record.loss for record in result]), test, forced, written,
        tuple(item.cpu().numpy() for item in fixed),
    )  # fmt: skip


def say(
    result: PairResult, text: str = "342", kind: str = "shifted", words: str = "own"
) -> TranslatedNumber:
    """Translate one number with one of the two pairs, by greedy decoding.

    With its own words, an unshifted decoder reads the start token at the position that it is about
    to fill, because its word does not exist yet.

    Args:
        result: the trained pairs.
        text: the number, see `spelling.read`.
        kind: one of `INPUTS`.
        words: one of `FED`.

    Raises:
        UserError: "no_number" (`spelling.read`).
        ValueError: kind or words are unknown.
    """
    import torch

    if words not in FED:
        raise ValueError(f"The words are one of {', '.join(FED)}, not {words!r}.")
    language, number, at = result.settings.language, read(text), INPUTS.index(kind)
    weights = [torch.from_numpy(np.asarray(weight, np.float32)) for weight in result.weights]
    source, targets = map(torch.from_numpy, coded(np.array([number]), language))
    reads, scores, own, cross = _write(weights, source, language)
    if words == "right":
        reads = fed(targets)
        scores, own, cross = _passed(weights, source, reads)
    vocabulary = VOCABULARY[language]
    written = [vocabulary[item] for item in scores[at, 0].argmax(-1).tolist()]
    length = written.index(END) + 1 if END in written else len(written)
    return TranslatedNumber(
        number, tuple(SOURCE[item] for item in source[0].tolist()),
        tuple(vocabulary[read] for read in reads[at, 0, :length].tolist()), tuple(written[:length]),
        scores[at, 0, :length].softmax(-1).max(-1).values.numpy(),
        own[at, 0, :, :length, :length].numpy(), cross[at, 0, :, :length].numpy(),
        tuple(written[:length]) == (*spoken(number, language), END), number not in result.test,
    )  # fmt: skip


def coded(
    numbers: Int[np.ndarray, "number"], language: str
) -> tuple[Int[np.ndarray, "number digit"], Int[np.ndarray, "number place"]]:
    """Return digits and words as vocabulary indices; padding is 0 for digits and -1 for words.

    Args:
        numbers: the numbers.
        language: one of `LANGUAGES`.
    """
    positions = {word: at for at, word in enumerate(VOCABULARY[language])}
    source = np.zeros((len(numbers), DIGITS), int)
    words = np.full((len(numbers), MAX_NUMBER_WORDS[language] + 1), -1)
    for row, number in enumerate(numbers.tolist()):
        digits = [SOURCE.index(digit) for digit in str(number)]
        messages = [positions[word] for word in (*spoken(number, language), END)]
        source[row, : len(digits)], words[row, : len(messages)] = digits, messages
    return source, words


def fed(words: Tensor) -> Tensor:
    """Return both decoder inputs under teacher forcing, [input, number, place]: shifted and not.

    Positions behind the end token never affect a position that counts.
    """
    import torch

    filled = words.clamp(min=0)
    start = torch.zeros_like(filled[:, :1])
    return torch.stack([torch.cat([start, filled[:, :-1]], 1), filled])


def _drawn(language: str, random: np.random.Generator) -> list[Tensor]:
    """Draw embedding tables (variance 1 / width) and matrices, the same for both pairs.

    Matrices: encoder, 4; decoder: self-attention, 2, cross-attention, 2, feed-forward, 2.
    """
    import torch

    from seqviz.compute.transformer.stack import glorot

    tables = [
        torch.from_numpy(random.standard_normal((1, size, WIDTH)) / math.sqrt(WIDTH))
        for size in (len(SOURCE), len(VOCABULARY[language]))
    ]
    sizes = (*_SIZES, *_SIZES[:2], *_SIZES)
    matrices = [glorot(random, 1, *size) for size in sizes]
    return [item.repeat(len(INPUTS), 1, 1) for item in (*tables, *matrices)]


def _passed(
    weights: Sequence[Tensor], source: Tensor, reads: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the scores of all words at all positions, and the decoder's two attentions.

    Args:
        weights: tables and matrices as in `_drawn`.
        source: [number, digit].
        reads: [input, number, place].

    Returns:
        [input, number, place, word], [input, number, head, place, place] and [input, number, head,
        place, digit].
    """
    import torch

    from seqviz.compute.transformer.stack import attend, linear, norm

    table, words, *matrices = weights
    encode, own, cross, forward = (matrices[a:b] for a, b in ((0, 4), (4, 6), (6, 8), (8, 10)))
    there = (source > 0)[None, :, None, None]  # padding is masked
    memory = _embedded(table, source.expand(len(words), -1, -1))
    mixed = attend(memory, memory, encode[:2], HEADS, there)[0]
    memory = norm(memory + mixed)
    memory = norm(memory + linear(linear(memory, encode[2]).relu(), encode[3]))
    x = _embedded(words, reads)
    past = torch.ones(x.shape[2], x.shape[2], dtype=torch.bool, device=x.device).tril()
    mixed, looked = attend(x, x, own, HEADS, past)
    x = norm(x + mixed)
    mixed, result = attend(x, memory, cross, HEADS, there)
    x = norm(x + mixed)
    x = norm(x + linear(linear(x, forward[0]).relu(), forward[1]))
    return linear(x, words.transpose(1, 2)), looked, result


def _embedded(table: Tensor, ids: Tensor) -> Tensor:
    """Return embedding rows for each pair, times sqrt(width), plus positions."""
    import torch

    first = table.shape[1] * torch.arange(len(table), device=ids.device)[:, None, None]
    rows = table.flatten(0, 1)[ids + first] * math.sqrt(WIDTH)
    return rows + _positions(ids.shape[-1], rows.dtype, rows.device)


@cache  # digits and words have few lengths; a captured update must not copy from the CPU
def _positions(length: int, dtype: Any, device: Any) -> Tensor:
    """Return the sinusoidal encoding of some positions on a device."""
    import torch

    return torch.from_numpy(sinusoidal.encoding(length, WIDTH).table).to(device, dtype)


def _write(
    weights: Sequence[Tensor], source: Tensor, language: str
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Decode greedily; return the decoder's input at each step and the output of `_passed`."""
    import torch

    positions = MAX_NUMBER_WORDS[language] + 1
    ids = torch.zeros(len(INPUTS), len(source), positions, dtype=torch.long, device=source.device)
    start = torch.zeros_like(ids[:1, :, :1])
    retained: list[tuple[Tensor, ...]] = []
    for index in range(positions):
        reads = torch.cat([torch.cat([start, ids[:1, :, :-1]], 2), ids[1:]])
        scores, own, cross = _passed(weights, source, reads)
        retained.append(
            (reads[:, :, index], scores[:, :, index], own[..., index, :], cross[..., index, :])
        )
        ids[:, :, index] = scores[:, :, index].argmax(-1)
    reads, scores, own, cross = (
        torch.stack(rows, axis)
        for rows, axis in zip(zip(*retained, strict=True), (2, 2, 3, 3), strict=True)
    )
    return reads, scores, own, cross


def _judged(
    weights: Sequence[Tensor], test: Int[np.ndarray, "number"], language: str
) -> tuple[Int[np.ndarray, "input"], Int[np.ndarray, "input"]]:
    """Count the correct test numbers under teacher forcing and in free-running mode."""
    import torch

    device = weights[0].device
    source, words = (torch.from_numpy(item).to(device) for item in coded(test, language))
    forced = _passed(weights, source, fed(words))[0].argmax(-1)
    written = _write(weights, source, language)[1].argmax(-1)
    beyond = words < 0
    right = [((item == words) | beyond).all(-1).sum(-1).cpu().numpy() for item in (forced, written)]
    return right[0], right[1]
