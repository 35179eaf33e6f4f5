"""Two tasks that need only memory, and the scores of answers to them.

Both were designed to test how far back a recurrent network can learn to look, and both ask once,
after the last step. All sequences of a batch have delay + 1 steps.

"first": the first input is one of four symbols, every later one a distractor, drawn from four other
symbols; at the end, name the first one. It is the latching task of Bengio, Simard & Frasconi
(1994), with the one-hot alphabet of experiment 2 of Hochreiter & Schmidhuber (1997).

"adding": each input is a number from U(0, 1) and a marker, 1 at one step of the first half and one
of the second (of an odd length the second half has the extra step), else 0; at the end, give the
sum of the two marked numbers. Experiment 4 of Hochreiter & Schmidhuber (1997) in the form of Le,
Jaitly & Hinton (2015), with the markers placed as by Arjovsky, Shah & Bengio (2016).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped

TASKS = ("first", "adding")
SYMBOLS = 4
DISTRACTORS = 4
# Hochreiter and Schmidhuber accept a sum within 0.04, with its range scaled to [0, 1]; here
# the sum itself is the target, and its range is [0, 2].
TOLERANCE = 0.08
LEARNED = 0.95

_INPUTS = {"first": SYMBOLS + DISTRACTORS, "adding": 2}
_OUTPUTS = {"first": SYMBOLS, "adding": 1}


@dataclass(frozen=True)
class RecallExamples:
    """Input sequences and their answers after the last step: a symbol 0 ... 3, or a sum."""

    inputs: Float[np.ndarray, "time batch input"]
    targets: Shaped[np.ndarray, "batch"]


@dataclass(frozen=True)
class Score:
    """Share of correct answers in [0, 1] and mean loss (cross-entropy in nats, squared error)."""

    accuracy: float
    loss: float


def draw(task: str, delay: int, count: int, random: np.random.RandomState) -> RecallExamples:
    """Draw `count` sequences of delay + 1 steps, in float32.

    Args:
        task: one of `TASKS`.
        delay: steps from the first input to the last.
        count: number of sequences.
        random: source of the draws; its state advances.
    """
    steps, every = delay + 1, np.arange(count)
    if task == "first":
        symbols = SYMBOLS + random.randint(DISTRACTORS, size=(steps, count))
        symbols[0] = random.randint(SYMBOLS, size=count)
        return RecallExamples(np.eye(_INPUTS[task], dtype=np.float32)[symbols], symbols[0])
    half = steps // 2
    inputs = np.zeros((steps, count, 2), np.float32)
    inputs[..., 0] = random.uniform(size=(steps, count))
    early = random.randint(half, size=count)
    late = half + random.randint(steps - half, size=count)
    inputs[early, every, 1] = inputs[late, every, 1] = 1
    return RecallExamples(inputs, inputs[early, every, 0] + inputs[late, every, 0])


def sizes(task: str) -> tuple[int, int]:
    """Return the numbers of input features and of outputs."""
    return _INPUTS[task], _OUTPUTS[task]


def score(
    task: str, answers: Float[np.ndarray, "batch output"], targets: Shaped[np.ndarray, "batch"]
) -> Score:
    """Score answers: correct is the largest of four logits, or a sum within `TOLERANCE`.

    Args:
        task: one of `TASKS`.
        answers: outputs of the network.
        targets: the symbols or sums.
    """
    if task == "first":
        logs = _log_softmax(answers)
        right = answers.argmax(axis=1) == targets
        return Score(float(right.mean()), float(-logs[np.arange(len(targets)), targets].mean()))
    misses = answers[:, 0].astype(float) - targets
    return Score(float((np.abs(misses) < TOLERANCE).mean()), float((misses**2).mean()))


def slope(
    task: str, answers: Float[np.ndarray, "batch output"], targets: Shaped[np.ndarray, "batch"]
) -> Float[np.ndarray, "batch output"]:
    """Return the derivative of the mean loss with respect to the answers.

    Args:
        task: one of `TASKS`.
        answers: outputs of the network.
        targets: the symbols or sums.
    """
    if task == "first":
        return (np.exp(_log_softmax(answers)) - np.eye(SYMBOLS)[targets]) / len(targets)
    return 2 * (answers.astype(float) - targets[:, None]) / len(targets)


def baseline(task: str) -> Score:
    """Return the score without memory: one symbol in four by chance, or always the mean sum 1.

    The sum of two U(0, 1) has variance 1/6 (Le et al. misprint 0.1767) and lies within d of 1 with
    probability 1 - (1 - d)^2.
    """
    if task == "first":
        return Score(1 / SYMBOLS, float(np.log(SYMBOLS)))
    return Score(1 - (1 - TOLERANCE) ** 2, 1 / 6)


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    logits = logits.astype(float)
    return logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
