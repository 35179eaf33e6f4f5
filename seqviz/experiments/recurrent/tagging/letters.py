"""Letter taggers: three architectures of equal parameter count on the bundled sentences.

A batch has sentences of one length, so there is no padding, which a backward cell would read before
the sentence.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.recurrent.tagging.letters import (
    JOINED,
    TAGS,
    WIRINGS,
    TaggedExample,
    TaggedText,
    TrainedTagger,
    boundaries,
    parameters,
    rounded,
    width_of,
    without_spaces,
)
from seqviz.compute.recurrent.tagging.letters_compared import Compared, TrainedAhead, TrainedJoined
from seqviz.compute.training.step import TrainingStep
from seqviz.core.errors import UserError
from seqviz.data.chinese import reviews_split
from seqviz.data.reviews import characters_split
from seqviz.experiments.text.tokenization.vocabularies import dictionary
from seqviz.jobs import Report, no_progress
from seqviz.models.texts import TokenizerText

TASKS = ("spaces", "words")  # of an English text, and of a Chinese one
AHEAD = (0, 1, 2, 3, 5, 10, 20)
LEARNED_AHEAD = AHEAD[:-1]  # one network is trained for each
READERS = ("uni", "bi")  # for a user's text
MAX_SENTENCE_SIGNS = 48  # signs of a user's sentence
SEEDS, SEEDS_AHEAD = 5, 3
SHORT = 100  # updates of a training in a lesson: thirty seeds of 600 take ten minutes
_LONGEST = 60  # maximum signs of a sentence in training and test
_BATCH = 128
_RATE = 1e-2


class Sizes(NamedTuple):
    """Sizes of a task's networks and of their training.

    Attributes:
        min_count: minimum count of a symbol with an id of its own.
        read: dimension of a symbol's vector.
        parameters: number of parameters.
        updates: number of updates.
    """

    min_count: int
    read: int
    parameters: int
    updates: int


SIZES = {"spaces": Sizes(20, 12, 9_560, 600), "words": Sizes(20, 12, 16_100, 600)}


class LengthGroup(NamedTuple):
    """Sentences of one length.

    Attributes:
        ids: ids of the symbols.
        tags: true tags; -1 for none.
        indices: indices of the sentences.
    """

    ids: Int[np.ndarray, "time sentence"]
    tags: Int[np.ndarray, "time sentence"]
    indices: Int[np.ndarray, "sentence"]


def tagged(task: str, text: TokenizerText) -> TaggedExample:
    """Return a text with the true tags of a task.

    Args:
        task: one of `TASKS`.
        text: the text, truncated to `MAX_SENTENCE_SIGNS` signs.

    Raises:
        UserError: "nothing_to_tag" for a text without letters, or Chinese characters.
    """
    result = _tagged(task, text)
    result = TaggedExample(result.symbols[:MAX_SENTENCE_SIGNS], result.tags[:MAX_SENTENCE_SIGNS])
    if not (result.tags >= 0).any():
        raise UserError("nothing_to_tag", "There is no letter to tag. Write a sentence.")
    return result


def tag_text(
    task: str, taggers: tuple[TrainedTagger, ...], text: TokenizerText, ahead: int
) -> TaggedText:
    """Tag a user's text with several networks, and with the last one at a limited lookahead.

    Args:
        task: one of `TASKS`.
        taggers: the networks.
        text: the text, truncated to `MAX_SENTENCE_SIGNS` signs.
        ahead: signs that the last network's backward cell reads in an additional last row.

    Raises:
        UserError: errors of `tagged`.
    """
    result = tagged(task, text)
    rows = [tagger.probabilities(tagger.ids(result.symbols)) for tagger in taggers]
    rows.append(taggers[-1].probabilities(taggers[-1].ids(result.symbols), ahead))
    unknown = int((taggers[0].ids(result.symbols)[result.tags >= 0] == 0).sum())
    return TaggedText(task, result.symbols, result.tags, np.array(rows), unknown)


def _tagged(task: str, text: str) -> TaggedExample:
    return without_spaces(text) if task == "spaces" else boundaries(text, dictionary().words)


@cache
def _sentences(task: str) -> tuple[list[TaggedExample], list[TaggedExample]]:
    """Return the sentences for training and the held-out ones."""
    parts = characters_split() if task == "spaces" else reviews_split()
    train, held = ([_tagged(task, item) for item in part] for part in parts)
    short = [item for item in train if len(item.symbols) <= _LONGEST]
    return short, [
        item for item in held if len(item.symbols) <= _LONGEST and (item.tags >= 0).any()
    ]


@cache
def known_symbols(task: str) -> str:
    """Return the symbols with an id, the most frequent first."""
    count = Counter("".join(sentence.symbols for sentence in _sentences(task)[0]))
    return "".join(item for item, n in count.most_common() if n >= SIZES[task].min_count)


def _groups(task: str, sentences: Sequence[TaggedExample]) -> list[LengthGroup]:
    anchor = {known_symbol: k + 1 for k, known_symbol in enumerate(known_symbols(task))}
    lengths = np.array([len(sentence.symbols) for sentence in sentences])
    results = []
    for length in np.unique(lengths):
        indices = np.flatnonzero(lengths == length)
        some = [sentences[k] for k in indices.tolist()]
        ids = np.array([[anchor.get(sign, 0) for sign in item.symbols] for item in some])
        results.append(LengthGroup(ids.T, np.array([item.tags for item in some]).T, indices))
    return results


def _learn(
    task: str, wiring: str, seed: int, device: str, each: Callable[[list[float], float], object],
    updates: int = 0, ahead: int | None = None,
) -> TrainedTagger:  # fmt: skip
    """Train one network.

    Args:
        task: one of `TASKS`.
        wiring: one of `WIRINGS` or `JOINED`; all of `JOINED` draw the same weights and batches.
        seed: random seed.
        device: torch device.
        each: called with the losses so far and the share done.
        updates: number of updates, in place of that of `SIZES`.
        ahead: maximum signs to the right that the backward cell of "bi" reads; by default all.
    """
    import torch

    started = time.process_time()
    size, symbols = SIZES[task], known_symbols(task)
    size = size._replace(updates=updates or size.updates)
    both = wiring in JOINED
    width = width_of("bi" if both else wiring, size.parameters, len(symbols) + 1, size.read)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        table = torch.nn.Embedding(len(symbols) + 1, size.read)
        cells = torch.nn.GRU(size.read, width, 2 if wiring == "two" else 1,
                             bidirectional=both)  # fmt: skip
        head = torch.nn.Linear(width * (1 + (wiring == "bi")), len(TAGS))
    network = torch.nn.ModuleList([table, cells, head]).to(device)
    weights = list(network.parameters())
    random = np.random.default_rng([seed, WIRINGS.index("bi" if both else wiring)])
    batches: list[Any] = []
    lately: list[Any] = []
    losses: list[float] = []

    def loss(ids: Any, truth: Any) -> Any:
        read = table(ids)
        hidden = cells(read)[0] if ahead is None else _cut_states(cells, read, ahead)
        if wiring in JOINED[1:]:
            hidden = hidden.unflatten(-1, (2, width))
            hidden = hidden.sum(-2) if wiring == "sum" else hidden.prod(-2)
        return torch.nn.functional.cross_entropy(
            head(hidden).flatten(0, 1), truth.flatten(), ignore_index=-1
        )

    step = TrainingStep(torch.optim.Adam(weights, lr=_RATE), loss, weights)
    for update in range(size.updates):
        batches = batches or _batches(_groups_of_training(task), random)
        rate = _RATE * 0.5 * (1 + np.cos(np.pi * update / size.updates))  # cosine decay to 0
        lately.append(step(*batches.pop(), rate=rate))
        if (update + 1) % max(size.updates // 25, 1) == 0:
            losses.append(float(torch.stack(lately).mean()))
            lately.clear()
        each(losses, (update + 1) / size.updates)
    levels, steps = rounded([weight.detach().cpu().numpy() for weight in weights])
    return TrainedTagger(
        task,
        wiring,
        width,
        size.read,
        np.array([ord(symbol) for symbol in symbols]),
        levels,
        steps,
        np.array(losses),
        time.process_time() - started,
    )


def _cut_states(cells: Any, read: Any, ahead: int) -> Any:
    """Return `states` with `ahead` as tensors, for training."""
    import torch

    weights = list(cells.parameters())
    begin = read.new_zeros(1, read.shape[1], cells.hidden_size)
    forward = torch.gru(read, begin, weights[:4], True, 1, 0.0, True, False, False)[0]
    backward = begin[:0]
    for right in range(min(ahead, len(read) - 1), -1, -1):
        new = begin.expand(len(read) - right - len(backward), -1, -1)
        before = torch.cat([backward, new]).flatten(0, 1)
        step = torch.gru_cell(read[right:].flatten(0, 1), before, *weights[4:])
        backward = step.unflatten(0, (-1, read.shape[1]))
    return torch.cat([forward, backward], -1)


@cache
def _groups_of_training(task: str) -> list[LengthGroup]:
    return _groups(task, _sentences(task)[0])


def _batches(groups: list[LengthGroup], random: np.random.Generator) -> list[Any]:
    """Return all sentences once, in batches of one length and in random order."""
    results = []
    for group in groups:
        order = random.permutation(len(group.indices))
        for k in range(0, len(order), _BATCH):
            some = order[k : k + _BATCH]
            results.append((group.ids[:, some], group.tags[:, some]))
    return [results[k] for k in random.permutation(len(results))]


def train_taggers(
    task: str, seed: int, report: Report = no_progress, device: str = "cpu"
) -> tuple[TrainedTagger, ...]:
    """Train the networks of `READERS` with one seed (a job).

    Args:
        task: one of `TASKS`.
        seed: random seed.
        report: progress callback; receives the losses so far of each network that has begun.
        device: torch device.
    """
    trained_taggers: list[TrainedTagger] = []
    for wiring in READERS:

        def each(losses: list[float], share: float) -> None:
            curves = (*(tuple(item.losses.tolist()) for item in trained_taggers), tuple(losses))
            if curves[0]:
                report(tuple(filter(len, curves)), (len(trained_taggers) + share) / len(READERS))

        trained_taggers.append(_learn(task, wiring, seed, device, each))
    return tuple(trained_taggers)


def errors_of_seeds(
    seeds: Sequence[int], task: str, updates: int = SHORT, report: Report = no_progress
) -> Float[np.ndarray, "seed wiring"]:
    """Measure the percentage of held-out letters that `READERS` tag wrongly, per seed (a job).

    A seed draws initial weights and batches as in `compare_taggers`, with fewer updates.

    Args:
        seeds: the seeds.
        task: one of `TASKS`.
        updates: number of updates.
        report: progress callback; receives (finished, number of trainings).
    """
    held = _sentences(task)[1]
    groups = _groups(task, held)
    characters = sum(int((group.tags >= 0).sum()) for group in groups)
    values: Float[np.ndarray, "seed wiring"] = np.zeros((len(seeds), len(READERS)))
    for done, (row, column) in enumerate(np.ndindex(values.shape)):
        each = _report_share(report, done, values.size)
        tagger = _learn(task, READERS[column], seeds[row], "cpu", each, updates)
        values[row, column] = 100 * _wrong(groups, len(held), tagger).sum() / characters
    return values


def _report_share(report: Report, done: int, count: int) -> Callable[[list[float], float], None]:
    """Return the progress callback of one of `count` trainings, after `done` finished ones."""
    return lambda _, share: report((done, count), (done + share) / count)


def _wrong(
    groups: list[LengthGroup], sentences: int, tagger: TrainedTagger, ahead: int | None = None
) -> Int[np.ndarray, "tag sentence"]:
    return _counted(
        groups, sentences, lambda group: tagger.probabilities(group.ids, ahead).argmax(-1)
    )


def _counted(
    groups: list[LengthGroup], sentences: int, answer: Callable[[LengthGroup], np.ndarray]
) -> Int[np.ndarray, "tag sentence"]:
    """Count wrong answers by true tag and sentence; `answer` returns the tags of a group."""
    result = np.zeros((len(TAGS), sentences), int)
    for group in groups:
        wrong = (answer(group) != group.tags) & (group.tags >= 0)
        for tag in range(len(TAGS)):
            result[tag, group.indices] = (wrong & (group.tags == tag)).sum(0)
    return result


def compare_taggers(
    task: str, seeds: int = SEEDS, report: Report = no_progress, device: str = "cpu"
) -> Compared:
    """Train three networks per seed and count their wrong tags on held-out sentences (a job).

    "majority" and "alone" are counted in the training sentences.

    Args:
        task: one of `TASKS`.
        seeds: number of seeds.
        report: progress callback; receives (finished, number of trainings).
        device: torch device.
    """
    held = _sentences(task)[1]
    groups = _groups(task, held)
    every: list[list[TrainedTagger]] = [[] for _ in WIRINGS]
    steps = len(WIRINGS) * seeds
    for seed in range(seeds):
        for wiring, row in zip(WIRINGS, every, strict=True):
            each = _report_share(report, sum(map(len, every)), steps)
            row.append(_learn(task, wiring, seed + 1, device, each))
    symbols = np.array([0, *range(1, len(known_symbols(task)) + 1)])
    count: Float[np.ndarray, "symbol tag"] = np.zeros((len(symbols), len(TAGS)))
    for group in _groups_of_training(task):
        there = group.tags >= 0
        np.add.at(count, (group.ids[there], group.tags[there]), 1)
    commonest = int(count.sum(0).argmax())
    of_symbol = np.where(count.sum(1) > 0, count.argmax(1), commonest)
    widths = np.array([row[0].width for row in every])
    size = SIZES[task]
    return Compared(
        task,
        _counted(groups, len(held), lambda group: np.full_like(group.tags, -2)),
        np.array([[_wrong(groups, len(held), item) for item in row] for row in every]),
        _counted(groups, len(held), lambda group: np.full_like(group.tags, commonest)),
        _counted(groups, len(held), lambda group: of_symbol[group.ids]),
        np.array(AHEAD),
        np.array([[_wrong(groups, len(held), item, ahead) for item in every[-1]]
                  for ahead in AHEAD]),
        widths,
        np.array([parameters(wiring, int(width), len(symbols), size.read)
                  for wiring, width in zip(WIRINGS, widths, strict=True)]),
        np.array([[item.seconds for item in row] for row in every]),
    )  # fmt: skip


def compare_ahead(
    task: str, seeds: int = SEEDS_AHEAD, report: Report = no_progress, device: str = "cpu"
) -> TrainedAhead:
    """Train bidirectional networks with a lookahead of each of `LEARNED_AHEAD` signs (a job).

    A seed draws the same initial weights and batches as in `compare_taggers` for "bi".

    Args:
        task: one of `TASKS`.
        seeds: number of seeds.
        report: progress callback; receives (finished, number of trainings).
        device: torch device.
    """
    held = _sentences(task)[1]
    groups = _groups(task, held)
    wrong = np.zeros((len(LEARNED_AHEAD), seeds, len(TAGS), len(held)), int)
    seconds = np.zeros(wrong.shape[:2])
    for done, (seed, row) in enumerate(np.ndindex(seeds, len(LEARNED_AHEAD))):
        ahead, each = LEARNED_AHEAD[row], _report_share(report, done, seconds.size)
        tagger = _learn(task, "bi", seed + 1, device, each, ahead=ahead)
        wrong[row, seed] = _wrong(groups, len(held), tagger, ahead)
        seconds[row, seed] = tagger.seconds
    characters = _counted(groups, len(held), lambda group: np.full_like(group.tags, -2))
    return TrainedAhead(task, characters, np.array(LEARNED_AHEAD), wrong, seconds)


def compare_joined(
    task: str, seeds: int = SEEDS_AHEAD, report: Report = no_progress, device: str = "cpu"
) -> TrainedJoined:
    """Train networks whose two directions are added, and multiplied, at each step (a job).

    A seed draws the same cells and batches as in `compare_taggers` for "bi".

    Args:
        task: one of `TASKS`.
        seeds: number of seeds.
        report: progress callback; receives (finished, number of trainings).
        device: torch device.
    """
    held = _sentences(task)[1]
    groups = _groups(task, held)
    wrong = np.zeros((len(JOINED) - 1, seeds, len(TAGS), len(held)), int)
    seconds = np.zeros(wrong.shape[:2])
    for done, (seed, row) in enumerate(np.ndindex(seeds, len(JOINED) - 1)):
        each = _report_share(report, done, seconds.size)
        tagger = _learn(task, JOINED[row + 1], seed + 1, device, each)
        wrong[row, seed] = _wrong(groups, len(held), tagger)
        seconds[row, seed] = tagger.seconds
    characters = _counted(groups, len(held), lambda group: np.full_like(group.tags, -2))
    return TrainedJoined(task, characters, wrong, seconds)
