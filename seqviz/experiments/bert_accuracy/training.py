"""One training run of a classifier: an encoder of one's own, a head, and every step of it.

Training is BERT's (Devlin et al. 2019, appendix A.3): AdamW, a tenth of the steps to warm up, then
learning rates that fall evenly to zero, dropout; sentences of like length share a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.bert_accuracy.results import TuneRecord, TuneSettings
from seqviz.experiments.bert_accuracy import heads
from seqviz.experiments.bert_accuracy.encoding import buckets, hidden, pad, pooled
from seqviz.experiments.bert_accuracy.trainable_copy import DropoutGenerator, make_trainable
from seqviz.jobs import Report
from seqviz.models import device
from seqviz.models.pretrained import Pretrained

T = TypeVar("T")
WARMUP = 0.1  # of the steps
CLIP = 1.0  # length of the gradient at the most
SAMPLE = 800  # training sentences that tell how it was before training
_POOL = 16  # batches that are sorted by length together
_CPU = 512  # tokens in one pass of a CPU: a batch goes in portions, between which one can leave
_BACKWARD = 3  # a training pass takes as long as so many passes without a gradient


@dataclass(frozen=True)
class Sentences:
    """Token ids and labels."""

    ids: Sequence[np.ndarray]
    positive: Bool[np.ndarray, "sentence"]

    def first(self, count: int) -> Sentences:
        """The first so many."""
        return Sentences(self.ids[:count], self.positive[:count])


@dataclass(frozen=True)
class Data:
    """What is trained on, what is set apart, and what the result is tested with."""

    train: Sentences
    validation: Sentences
    test: Sentences


@dataclass(frozen=True)
class Course:
    """How one run went, by epoch, 0 is before training; and the trained one's test answers."""

    loss: Float[np.ndarray, "epoch"]
    accuracy: Float[np.ndarray, "epoch"]
    validation: Float[np.ndarray, "epoch"]
    probability: Float[np.ndarray, "sentence"]


class Progress:
    """Reports how far all runs are, counted in passes of one sentence."""

    def __init__(self, report: Report, settings: TuneSettings, data: Data):
        count, valid = len(data.train.ids), len(data.validation.ids)
        once = min(SAMPLE, count) + valid + len(data.test.ids)
        self._total = settings.runs * (once + settings.epochs * (_BACKWARD * count + valid))
        self._report, self._done = report, 0
        self.last = TuneRecord(0, 0, steps_of(settings, count), np.nan, np.nan, np.nan, 0.0)

    def passed(self, passes: int) -> None:
        """So many passes on; the last record is reported again, which is when one can leave."""
        self._done += passes
        self._tell(self.last)

    def note(self, run: int, step: int, loss: float, right: float, valid: float = np.nan) -> None:
        """A step, or an epoch, is done."""
        self._tell(TuneRecord(run, step, self.last.steps, loss, right, valid, 0.0))

    def _tell(self, record: TuneRecord) -> None:
        self.last = replace(record, fraction=self._done / self._total)
        self._report(self.last, self.last.fraction)


def steps_of(settings: TuneSettings, sentences: int) -> int:
    """Steps of one run: an epoch's last batch may be a small one."""
    return settings.epochs * -(-sentences // settings.batch)


def batches(
    lengths: Int[np.ndarray, "sentence"], size: int, random: np.random.RandomState
) -> list[Int[np.ndarray, "place"]]:
    """An epoch's batches: random, but sentences of like length together, so little is padding.

    The shuffled sentences are sorted within pools of 16 batches; the batches are shuffled again.
    """
    order = random.permutation(len(lengths))
    results = []
    for start in range(0, len(order), _POOL * size):
        pool = order[start : start + _POOL * size]
        results += [pool[indices] for indices in buckets(lengths[pool], size)]
    return [results[i] for i in random.permutation(len(results))]


def share_of_rate(step: int, steps: int) -> float:
    """What the learning rate is multiplied with at a step, which counts from 0."""
    warm = max(1, round(WARMUP * steps))
    return min((step + 1) / warm, (steps - step) / max(1, steps - warm), 1.0)


class ClassifierTraining:
    """A classifier with its optimizer; `trainable` and `total` count its parameters.

    length: tokens that every sentence is padded to, or None for the longest of its batch.
    """

    def __init__(
        self, pretrained: Pretrained, settings: TuneSettings, seed: int, length: int | None = None
    ):
        import torch

        self.settings, self.seed, self.device = settings, seed, pretrained.device
        self.length = length
        self.most = 1 << 30  # sentences in a pass; less where a GPU's memory has ended
        self.generator = DropoutGenerator(seed, self.device)
        with self.generator.installed():
            trainable_copy = make_trainable(
                pretrained, settings.regime, settings.layers, settings.rank, settings.feature
            )
        self.network, config = trainable_copy.network, trainable_copy.network.config
        self.dropout = getattr(config, "hidden_dropout_prob", getattr(config, "dropout", 0.1))
        self.padding = pretrained.tokenizer.pad_token_id
        start = heads.new_head(config.hidden_size, seed)
        self.weight, self.bias = (
            torch.nn.Parameter(torch.tensor(array, device=self.device))
            for array in (start.weight, start.bias)
        )
        self.encoder = [
            parameter for parameter in self.network.parameters() if parameter.requires_grad
        ]
        head = [self.weight, self.bias]
        size = sum(item.numel() for item in head)
        self.trainable, self.total = trainable_copy.trainable + size, trainable_copy.total + size
        groups: list[dict[str, Any]] = [
            {"params": self.encoder, "lr": settings.rate},
            {"params": head, "lr": settings.head_rate},
        ]
        self.parameters = [*self.encoder, *head]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=heads.DECAY, fused=True)
        self.rates = [group["lr"] for group in groups]

    def go(self, data: Data, progress: Progress) -> Course:
        """All epochs, and the test."""
        epochs, count = self.settings.epochs, len(data.train.ids)
        lengths = np.array([len(item) for item in data.train.ids])
        random = np.random.RandomState(self.seed)
        loss, accuracy, valid = (np.zeros(epochs + 1) for _ in range(3))
        loss[0], accuracy[0], _ = self.judge(data.train.first(SAMPLE), progress)
        _, valid[0], _ = self.judge(data.validation, progress)
        progress.note(self.seed, 0, loss[0], accuracy[0], valid[0])
        step, steps = 0, steps_of(self.settings, count)
        for epoch in range(1, epochs + 1):
            self.network.train()
            for indices in batches(lengths, self.settings.batch, random):
                now = self.step(data.train, indices, share_of_rate(step, steps), progress)
                step += 1
                progress.note(self.seed, step, *now)
                share = len(indices) / count
                loss[epoch] += now[0] * share
                accuracy[epoch] += now[1] * share
            _, valid[epoch], _ = self.judge(data.validation, progress)
            progress.note(self.seed, step, *now, valid[epoch])
        return Course(loss, accuracy, valid, self.judge(data.test, progress)[2])

    def step(
        self, data: Sentences, positions: np.ndarray, share: float, progress: Progress
    ) -> tuple[float, float]:
        """One step on the batch at these places; its loss and accuracy, with dropout on.

        Where a GPU's memory ends the batch is taken in halves, which is the same step but for the
        dropout; raises what torch raises where it ends with one sentence.
        """
        import torch

        loss, right = self._halving(
            len(positions), partial(self._gradient, data, positions, progress)
        )
        torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * share
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss, right / len(positions)

    def _gradient(
        self, data: Sentences, positions: np.ndarray, progress: Progress
    ) -> tuple[float, int]:
        """The gradient of a batch, its loss, and on how many it is right."""
        import torch

        self.optimizer.zero_grad()
        loss, right = 0.0, 0
        for part in self._portions(data, positions):
            truth = torch.tensor(data.positive[part], device=self.device).long()
            with self.generator.installed():
                logits = self.logits([data.ids[i] for i in part], training=True)
            cost = torch.nn.functional.cross_entropy(logits, truth, reduction="sum") / len(
                positions
            )
            cost.backward()
            loss += cost.item()
            right += int((logits.argmax(1) == truth).sum())
            progress.passed(_BACKWARD * len(part))
        return loss, right

    def _halving(self, size: int, work: Callable[[], T]) -> T:
        """`work()`, again with half as many sentences in a pass while a GPU's memory ends."""
        while True:
            try:
                return work()
            except RuntimeError as error:
                size = min(self.most, size) // 2
                if device.classify_error(error) != "memory" or size == 0:
                    raise
                self.most = size
            device.release()

    def judge(
        self, data: Sentences, progress: Progress
    ) -> tuple[float, float, Float[np.ndarray, "sentence"]]:
        """Loss, accuracy and the probability of "positive", without dropout."""
        self.network.eval()
        logits = np.zeros((len(data.ids), 2))
        for indices in buckets([len(item) for item in data.ids]):
            logits[indices] = self._halving(
                len(indices), partial(self._answers, data, indices, progress)
            )
        ahead = logits[:, 1] - logits[:, 0]
        loss = np.logaddexp(0, np.where(data.positive, -ahead, ahead)).mean()
        return float(loss), float(((ahead > 0) == data.positive).mean()), 1 / (1 + np.exp(-ahead))

    def _answers(self, data: Sentences, positions: np.ndarray, progress: Progress) -> np.ndarray:
        """The logits, [sentence, class]."""
        import torch

        results = []
        for part in self._portions(data, positions):
            with torch.inference_mode():
                created = self.logits([data.ids[i] for i in part], training=False)
            results.append(created.float().cpu().numpy())
            progress.passed(len(part))
        return np.concatenate(results)

    def logits(self, ids: Sequence[np.ndarray], training: bool) -> Any:
        """Two numbers a sentence, [sentence, class]."""
        import torch

        batch = pad(ids, self.padding, length=self.length)
        real = torch.from_numpy(batch.real).to(self.device)
        last, pooler = hidden(self.network, self.device, batch)
        vector = getattr(pooled(last, pooler, real), self.settings.feature)
        read = torch.nn.functional.dropout(vector, self.dropout, training)
        return torch.nn.functional.linear(read, self.weight, self.bias)

    def _portions(self, data: Sentences, indices: np.ndarray) -> Iterator[np.ndarray]:
        size = min(self.most, len(indices))
        if self.device == "cpu":
            longest = max(self.length or 0, *(len(data.ids[i]) for i in indices))
            size = min(size, max(1, _CPU // longest))
        for start in range(0, len(indices), size):
            yield indices[start : start + size]
