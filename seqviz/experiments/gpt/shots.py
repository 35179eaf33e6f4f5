"""Film reviews judged by a decoder behind solved examples: in-context learning, and one prompt.

The examples are read once for all questions behind them (`KVCacheTree.score_suffixes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.gpt.shots import CONDITIONS, FewShotAccuracy
from seqviz.data.reviews import Labeled, sentiment_split
from seqviz.jobs import Report, no_progress
from seqviz.models.kv_tree import KVCacheTree
from seqviz.models.pretrained import Pretrained, decoder
from seqviz.models.texts import ModelText

AMOUNTS = (0, 1, 2, 4, 8)
QUESTIONS, DRAWS = 60, 8
LABELS = ("negative", "positive")
TASK = "Decide whether each film review is positive or negative."
MAX_REVIEW_CHARS = 120  # characters of a review: eight of them and a question are one text
Example = tuple[str, int]  # a review, and the place of its label


def few_shots(
    model: str, questions: int = QUESTIONS, draws: int = DRAWS, described: bool = False,
    amounts: tuple[int, ...] = AMOUNTS, report: Report = no_progress,
) -> FewShotAccuracy:  # fmt: skip
    """A job: the same short reviews of the test set behind examples of the training set.

    questions: half of them positive. described: whether `TASK` stands first. Raises what `decoder`
    raises, and ValueError for an odd number of questions.
    """
    if questions % 2:
        raise ValueError("As many questions are positive as negative: their number is even.")
    pretrained = decoder(model)
    request = _short(sentiment_split()[1], questions)
    shape = len(CONDITIONS), len(amounts), draws
    answers = np.zeros((*shape, questions), int)
    named, mass = np.zeros((*shape, questions), bool), np.zeros(shape)
    cells = [(draw, index, condition)
             for draw in range(draws)
             for index, amount in enumerate(amounts)
             for condition in (CONDITIONS if amount else CONDITIONS[: draw == 0])]  # fmt: skip
    for done, (draw, position, condition) in enumerate(cells):
        start = beginning(draw, amounts[position], condition, described)
        result = _judged(pretrained, start, [review for review, _ in request])
        at: Any = (CONDITIONS.index(condition), position, draw)
        if not amounts[position]:  # without examples all conditions and draws are one
            at = np.s_[:, position]
        answers[at], named[at], mass[at] = result[0], result[1], result[2].mean()
        report((done + 1) / len(cells), (done + 1) / len(cells))
    return FewShotAccuracy(
        np.array(amounts), answers == [label for _, label in request], answers == 1, named, mass
    )


def beginning(draw: int, amount: int, condition: str = "right", described: bool = False) -> str:
    """What stands before a question: the task if it is described, then the examples.

    Of each two examples one is positive. A draw with more examples begins with those of fewer.
    """
    parts = [TASK] if described else []
    coin = np.random.RandomState([draw, 1])
    for review, label in examples(draw)[:amount]:
        given = int(coin.randint(2)) if condition == "random" else label
        other = f"{review} ({LABELS[given]})"
        parts.append(other if condition == "other" else f"{question(review)} {LABELS[given]}")
    return "\n\n".join(parts)


def question(review: str) -> str:
    """A question as it is put; the answer would be the next word."""
    return f"Review: {review}\nSentiment:"


def examples(draw: int) -> list[Example]:
    """The solved examples of a draw, the most that are asked for."""
    random = np.random.RandomState([draw, 0])
    pool = _short(sentiment_split()[0], 2000)
    by_label = [[item for item in pool if item[1] == label] for label in (0, 1)]
    examples: list[Example] = []
    for pair in zip(*(random.permutation(len(part)) for part in by_label), strict=False):
        two = [by_label[label][int(position)] for label, position in enumerate(pair)]
        examples += two if random.randint(2) else two[::-1]
        if len(examples) >= max(AMOUNTS):
            break
    return examples


def build_prompt(review: str, amount: int = 0, condition: str = "right", draw: int = 0) -> str:
    """A review with the question behind `amount` solved examples, see `beginning`."""
    before = beginning(draw, amount, condition)
    return f"{before}\n\n{question(review)}" if before else question(review)


def in_template(model: str, text: ModelText) -> str:
    """A text as the message of a user, with the special tokens that the model was tuned on.

    Raises the refusals of `decoder`.
    """
    pretrained = decoder(model)
    messages = [{"role": "user", "content": text}]
    with pretrained.lock:
        template = pretrained.tokenizer.apply_chat_template
        return str(template(messages, tokenize=False, add_generation_prompt=True))


def special(model: str, ids: tuple[int, ...]) -> tuple[bool, ...]:
    """Which tokens stand for no text but for the form of it. Raises the refusals of `decoder`."""
    existing = set(decoder(model).tokenizer.all_special_ids)
    return tuple(item in existing for item in ids)


def _short(part: Labeled, count: int) -> list[Example]:
    """The first short reviews of a set, as many positive as negative, in its order."""
    left, result = [count // 2, count // 2], []
    for text, positive in zip(part.texts, part.positive, strict=True):
        label = int(positive)
        if left[label] and len(text) <= MAX_REVIEW_CHARS:
            left[label] -= 1
            result.append((text, label))
    return result


def _judged(
    pretrained: Pretrained, start: str, reviews: list[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each review the likelier label, whether a label is likeliest of all, and their mass."""
    with pretrained.lock:
        read = pretrained.tokenizer
        labels = [read(f" {word}")["input_ids"][0] for word in LABELS]
        before = read(start)["input_ids"]
        gap = "\n\n" if start else ""
        rows = [read(gap + question(review))["input_ids"] for review in reviews]

    def work(network: Any, device: str) -> np.ndarray:
        if before:
            tree = KVCacheTree(network, device, np.array(before))
            return np.asarray(tree.score_suffixes(rows).softmax(-1).cpu().numpy())
        alone = [KVCacheTree(network, device, np.array(row)).logits.softmax(-1) for row in rows]
        return np.stack([item.cpu().numpy() for item in alone])

    probabilities = pretrained.run(work)
    return (
        probabilities[:, labels].argmax(1),
        np.isin(probabilities.argmax(1), labels),
        probabilities[:, labels].sum(1),
    )
