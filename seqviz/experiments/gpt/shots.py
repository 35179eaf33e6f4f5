"""In-context learning: a decoder judges film reviews after solved examples.

The examples are read once for all questions after them (`KVCacheTree.score_suffixes`).
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
INSTRUCTIONS = ("none", "judge", "translate")
TASK = "Decide whether each film review is positive or negative."
MAX_REVIEW_CHARS = 120  # limit of a review: eight of them and a question are one text
Example = tuple[str, int]  # a review, and the index of its label


def few_shots(
    model: str, questions: int = QUESTIONS, draws: int = DRAWS, described: bool = False,
    amounts: tuple[int, ...] = AMOUNTS, report: Report = no_progress,
) -> FewShotAccuracy:  # fmt: skip
    """Measure the accuracy on short test reviews after examples of the training set (a job).

    Args:
        model: name of the decoder.
        questions: number of reviews; half of them are positive.
        draws: number of random draws of the examples.
        described: True to begin with `TASK`.
        amounts: numbers of examples.
        report: progress callback; receives the share done.

    Raises:
        UserError: errors of `decoder`.
        ValueError: an odd number of questions.
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
        if not amounts[position]:  # without examples, all conditions and draws are equal
            at = np.s_[:, position]
        answers[at], named[at], mass[at] = result[0], result[1], result[2].mean()
        report((done + 1) / len(cells), (done + 1) / len(cells))
    return FewShotAccuracy(
        np.array(amounts), answers == [label for _, label in request], answers == 1, named, mass
    )


def beginning(draw: int, amount: int, condition: str = "right", described: bool = False) -> str:
    """Return the text before a question: the task if described, then the examples.

    One of every two examples is positive. A draw with more examples begins with those of fewer.

    Args:
        draw: number of the draw.
        amount: number of examples.
        condition: of `CONDITIONS`: "right", "random" labels, or an "other" format.
        described: True to begin with `TASK`.
    """
    parts = [TASK] if described else []
    coin = np.random.RandomState([draw, 1])
    for review, label in examples(draw)[:amount]:
        given = int(coin.randint(2)) if condition == "random" else label
        other = f"{review} ({LABELS[given]})"
        parts.append(other if condition == "other" else f"{question(review)} {LABELS[given]}")
    return "\n\n".join(parts)


def question(review: str) -> str:
    """Return a review as a question; the next word would be the answer."""
    return f"Review: {review}\nSentiment:"


def examples(draw: int) -> list[Example]:
    """Return the solved examples of a draw, as many as the largest of `AMOUNTS`."""
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


def build_prompt(
    review: str, amount: int = 0, condition: str = "right", draw: int = 0,
    instruction: str = "none",
) -> str:  # fmt: skip
    """Return a question about a review after `amount` solved examples; see `beginning`.

    GPT-2 takes its task from the text alone, p(output | input, task). "translate" has the form that
    Radford et al. (2019) give for it, without examples.

    Args:
        review: the review.
        amount: number of examples.
        condition: of `CONDITIONS`.
        draw: number of the draw.
        instruction: of `INSTRUCTIONS`.
    """
    if instruction == "translate":
        return f"translate to French, {review},"
    before = beginning(draw, amount, condition, instruction == "judge")
    return f"{before}\n\n{question(review)}" if before else question(review)


def in_template(model: str, text: ModelText) -> str:
    """Return a text as a user message in the chat template of the model's tuning.

    Args:
        model: name of the decoder.
        text: the text.

    Raises:
        UserError: errors of `decoder`.
    """
    pretrained = decoder(model)
    messages = [{"role": "user", "content": text}]
    with pretrained.lock:
        template = pretrained.tokenizer.apply_chat_template
        return str(template(messages, tokenize=False, add_generation_prompt=True))


def special(model: str, ids: tuple[int, ...]) -> tuple[bool, ...]:
    """Return True for special tokens, which stand for the format and not for text.

    Args:
        model: name of the decoder.
        ids: token ids.

    Raises:
        UserError: errors of `decoder`.
    """
    existing = set(decoder(model).tokenizer.all_special_ids)
    return tuple(item in existing for item in ids)


def _short(part: Labeled, count: int) -> list[Example]:
    """Return the first short reviews of a set in its order, half of them positive."""
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
    """Return each review's likelier label, True if a label is likeliest, and the labels' mass."""
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
