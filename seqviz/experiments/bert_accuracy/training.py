"""One training run of a classifier: a trainable encoder, a head, and every step.

Training follows BERT (Devlin et al. 2019, appendix A.3): AdamW, warmup over a tenth of the steps,
then linear decay of the learning rates to 0, dropout; batches of sentences of similar length.
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
from seqviz.models import device, placement
from seqviz.models.pretrained import Pretrained

T = TypeVar("T")
WARMUP = 0.1  # share of the steps
CLIP = 1.0  # maximum norm of the gradient
SAMPLE = 800  # training sentences for the values before training
_POOL = 16  # batches that are sorted by length together
_CPU = 512  # tokens of a pass on a CPU; a job can be cancelled between passes
_BACKWARD = 3  # time of a training pass, in passes without a gradient
# Lengths to which a replayed batch is padded, in tokens: each is captured once.
LENGTHS = (16, 32, 48, 64, 128, 256, 512)


@dataclass(frozen=True)
class Sentences:
    """Sentences with labels.

    Attributes:
        ids: token ids of each sentence.
        positive: the labels.
    """

    ids: Sequence[np.ndarray]
    positive: Bool[np.ndarray, "sentence"]

    def first(self, count: int) -> Sentences:
        """Return the first `count` sentences."""
        return Sentences(self.ids[:count], self.positive[:count])


@dataclass(frozen=True)
class Data:
    """Sentences for training, validation and test."""

    train: Sentences
    validation: Sentences
    test: Sentences


@dataclass(frozen=True)
class Course:
    """Learning curves of one run, by epoch with 0 before training, and its test answers.

    Attributes:
        loss: cross-entropy in nats, in training.
        accuracy: accuracy in training, in [0, 1].
        validation: accuracy on the validation sentences, in [0, 1].
        probability: probability of "positive" of each test sentence, after training.
    """

    loss: Float[np.ndarray, "epoch"]
    accuracy: Float[np.ndarray, "epoch"]
    validation: Float[np.ndarray, "epoch"]
    probability: Float[np.ndarray, "sentence"]


class Progress:
    """Progress of all runs, counted in forward passes of one sentence.

    Args:
        report: progress callback; receives a `TuneRecord`.
        settings: training settings.
        data: the sentences.
    """

    def __init__(self, report: Report, settings: TuneSettings, data: Data):
        count, valid = len(data.train.ids), len(data.validation.ids)
        once = min(SAMPLE, count) + valid + len(data.test.ids)
        self._total = settings.runs * (once + settings.epochs * (_BACKWARD * count + valid))
        self._report, self._done = report, 0
        self.last = TuneRecord(0, 0, steps_of(settings, count), np.nan, np.nan, np.nan, 0.0)

    def passed(self, passes: int) -> None:
        """Count passes and report the last record again, so that the job can be cancelled."""
        self._done += passes
        self._tell(self.last)

    def note(self, run: int, step: int, loss: float, right: float, valid: float = np.nan) -> None:
        """Report a finished step or epoch.

        Args:
            run: number of the run.
            step: number of the step, from 1.
            loss: cross-entropy in nats.
            right: accuracy in training, in [0, 1].
            valid: accuracy on the validation sentences after an epoch, else nan.
        """
        self._tell(TuneRecord(run, step, self.last.steps, loss, right, valid, 0.0))

    def _tell(self, record: TuneRecord) -> None:
        self.last = replace(record, fraction=self._done / self._total)
        self._report(self.last, self.last.fraction)


def steps_of(settings: TuneSettings, sentences: int) -> int:
    """Return the number of steps of one run; the last batch of an epoch may be smaller.

    Args:
        settings: training settings.
        sentences: number of training sentences.
    """
    return settings.epochs * -(-sentences // settings.batch)


def batches(
    lengths: Int[np.ndarray, "sentence"], size: int, random: np.random.RandomState
) -> list[Int[np.ndarray, "place"]]:
    """Return the random batches of an epoch, with sentences of similar length to save padding.

    The shuffled sentences are sorted by length within pools of 16 batches; the batches are shuffled
    again.

    Args:
        lengths: number of tokens of each sentence.
        size: sentences per batch.
        random: random generator.
    """
    order = random.permutation(len(lengths))
    results = []
    for start in range(0, len(order), _POOL * size):
        pool = order[start : start + _POOL * size]
        results += [pool[indices] for indices in buckets(lengths[pool], size)]
    return [results[i] for i in random.permutation(len(results))]


def share_of_rate(step: int, steps: int) -> float:
    """Return the factor of the learning rate at a step: linear warmup, then linear decay.

    Args:
        step: number of the step, from 0.
        steps: number of all steps.
    """
    warm = max(1, round(WARMUP * steps))
    return min((step + 1) / warm, (steps - step) / max(1, steps - warm), 1.0)


class ClassifierTraining:
    """Classifier with its optimizer.

    Args:
        pretrained: the shared model.
        settings: training settings.
        seed: random seed.
        length: tokens to which every sentence is padded; None for the longest of its batch.

    Attributes:
        trainable: number of trained parameters.
        total: number of all parameters.
    """

    def __init__(
        self, pretrained: Pretrained, settings: TuneSettings, seed: int, length: int | None = None
    ):
        import torch

        self.settings, self.seed, self.device = settings, seed, pretrained.device
        self.length = length
        self.most = 1 << 30  # sentences of a pass; fewer after a GPU ran out of memory
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
        self.replayed = placement.captured_update(self.optimizer, self.weight.device)

    def go(self, data: Data, progress: Progress) -> Course:
        """Train for all epochs and predict the test sentences.

        Args:
            data: the sentences.
            progress: progress of all runs.
        """
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
        """Take one step on a batch.

        When a GPU runs out of memory, the batch is split into halves: the same step except for
        dropout.

        Args:
            data: training sentences.
            positions: indices of the batch.
            share: factor of the learning rates.
            progress: progress of all runs.

        Returns:
            Loss and accuracy of the batch, with dropout.

        Raises:
            RuntimeError: torch's error if even one sentence exceeds the memory.
        """
        import torch

        rates = [rate * share for rate in self.rates]
        if self.replayed is not None:
            try:
                return self._replay(data, positions, rates, progress)
            except RuntimeError as error:
                if device.classify_error(error) != "memory":
                    raise
                self.replayed = None  # kernel by kernel from now on, in halves
            device.release()
        loss, right = self._halving(
            len(positions), partial(self._gradient, data, positions, progress)
        )
        torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss, right / len(positions)

    def _replay(
        self, data: Sentences, positions: np.ndarray, rates: Sequence[float], progress: Progress
    ) -> tuple[float, float]:
        """Take one step as captured kernels, with few lengths of a batch."""
        import torch

        ids = [data.ids[i] for i in positions]
        longest = max(self.length or 0, *(len(item) for item in ids))
        width = next((length for length in LENGTHS if length >= longest), longest)
        batch = pad(ids, self.padding, length=width)
        arrays = batch.ids, batch.real, data.positive[positions].astype(np.int64)
        assert self.replayed is not None
        with self.generator.installed():
            cost, right = self.replayed(
                self._update, *map(torch.from_numpy, arrays), rate=rates
            ).tolist()
        progress.passed(_BACKWARD * len(ids))
        return cost, right / len(ids)

    def _update(self, ids: Any, real: Any, truth: Any) -> Any:
        """Take one step on tensors and return loss and number of correct answers as one tensor."""
        import torch

        self.optimizer.zero_grad()
        logits = self._read(*self._encoded(ids, real), real, training=True)
        cost = torch.nn.functional.cross_entropy(logits, truth)
        cost.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
        self.optimizer.step()
        return torch.stack([cost.detach(), (logits.argmax(1) == truth).sum().to(cost.dtype)])

    def _encoded(self, ids: Any, real: Any) -> tuple[Any, Any]:
        output = self.network(input_ids=ids, attention_mask=real.long())
        return output.last_hidden_state, getattr(output, "pooler_output", None)

    def _gradient(
        self, data: Sentences, positions: np.ndarray, progress: Progress
    ) -> tuple[float, int]:
        """Compute the gradient of a batch and return its loss and number of correct answers."""
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
        """Return `work()`; halve the sentences of a pass while a GPU runs out of memory."""
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
        """Predict sentences without dropout.

        Args:
            data: the sentences.
            progress: progress of all runs.

        Returns:
            Loss, accuracy in [0, 1] and each sentence's probability of "positive".
        """
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
        """Return the logits, [sentence, class]."""
        import torch

        results = []
        for part in self._portions(data, positions):
            with torch.inference_mode():
                created = self.logits([data.ids[i] for i in part], training=False)
            results.append(created.float().cpu().numpy())
            progress.passed(len(part))
        return np.concatenate(results)

    def logits(self, ids: Sequence[np.ndarray], training: bool) -> Any:
        """Return the logits of sentences, [sentence, class].

        Args:
            ids: token ids of each sentence.
            training: True for dropout before the head.
        """
        import torch

        batch = pad(ids, self.padding, length=self.length)
        real = torch.from_numpy(batch.real).to(self.device)
        return self._read(*hidden(self.network, self.device, batch), real, training)

    def _read(self, last: Any, pooler: Any, real: Any, training: bool) -> Any:
        """Return the logits from the encoder's outputs."""
        import torch

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
