"""Left side, both sides, whole sentences: a decoder and an encoder on the same gaps."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.gpt import draw
from seqviz.compute.language_models.sides import (
    PASS_KINDS,
    Gap,
    GapRanks,
    Judged,
    SideTimes,
    rank_gaps,
)
from seqviz.core.errors import UserError
from seqviz.data.reviews import editorials, sentiment_split
from seqviz.data.word_lists import uses
from seqviz.experiments.bert_accuracy.fill_head import head
from seqviz.experiments.gpt.surprise import expected
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.kv_tree import ROOT, KVCacheTree
from seqviz.models.pretrained import Pretrained, decoder
from seqviz.models.texts import ModelText, TokenizerText

N_CANDIDATES, N_GAPS = 100, 300
WORDS_BEFORE, WORDS_AFTER = 4, 3  # smallest and largest number of words around a bundled gap
MAX_RIGHT_TOKENS = 16  # each candidate is scored with all of them
GAP = re.compile(r"_{2,}")
LENGTHS = (1, 2, 4, 8, 16, 32, 64)
REPEATS = 5
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


@cache
def candidates() -> tuple[str, ...]:
    """Return the commonest words in lower case of the reviews for training, without marks."""
    words = (word for text in sentiment_split()[0].texts for word in _WORD.findall(text))
    common = Counter(word for word in words if word.isalpha() and word.islower())
    return tuple(word for word, _ in common.most_common(N_CANDIDATES))


@cache
def gaps() -> tuple[Gap, ...]:
    """Return test reviews without one word: the rarest candidate near the end of the sentence.

    At least `WORDS_BEFORE` words stand before it, and one to `WORDS_AFTER` after it.
    """
    rank = {word: k for k, word in enumerate(candidates())}
    result = []
    for text in sentiment_split()[1].texts:
        words = list(_WORD.finditer(text))
        near = words[max(WORDS_BEFORE, len(words) - 1 - WORDS_AFTER) : -1]
        here = [word for word in near if word[0] in rank]
        # A space in front, so that the word is one token.
        here = [word for word in here if text[word.start() - 1] == " "]
        if here:
            word = max(here, key=lambda item: rank[item[0]])
            left, right = text[: word.start()].rstrip(), text[word.end() :]
            result.append(Gap(left, word[0], right))
    return tuple(result[:N_GAPS])


def cut(text: TokenizerText) -> Gap:
    """Return a user's text as a gap, which two or more low lines mark.

    Args:
        text: the text; without a mark the gap is at its end.
    """
    left, *rest = GAP.split(text, maxsplit=1)
    right = GAP.sub("", rest[0]) if rest else ""
    return Gap(left.rstrip(), "", right.rstrip())


def fill_bundled(
    model: str, encoder: str, n_gaps: int = N_GAPS, report: Report = no_progress
) -> GapRanks:
    """Rank the candidates in bundled gaps (a job).

    Args:
        model: name of a decoder.
        encoder: name of a model with a fill-in head.
        n_gaps: number of gaps.
        report: receives the share done; may raise to stop.

    Raises:
        UserError: errors of `decoder` and `head`.
    """
    return _fill(model, encoder, gaps()[:n_gaps], report)


def fill(model: str, encoder: str, text: ModelText, report: Report = no_progress) -> GapRanks:
    """Rank the candidates in the gap of a user's text (a job).

    Args:
        model: name of a decoder.
        encoder: name of a model with a fill-in head.
        text: the text; see `cut`.
        report: receives the share done; may raise to stop.

    Raises:
        UserError: "no_left_side" where nothing stands before the gap; errors of `fill_bundled`.
    """
    gap = cut(text)
    if not gap.left:
        raise UserError("no_left_side", "Write a word or more before the gap.")
    return _fill(model, encoder, (gap,), report)


def _fill(model: str, encoder: str, given: tuple[Gap, ...], report: Report) -> GapRanks:
    reader, guesser, words = decoder(model), head(encoder), candidates()
    scores, seconds = [], []
    for number, gap in enumerate(given):
        left, sentences = _by_decoder(reader, gap, words)
        both = _by_encoder(guesser, gap, words)
        shuffled = _by_encoder(guesser, shuffle(gap, number), words)
        rows = (left, sentences, both, shuffled)
        scores.append([values for values, _ in rows])
        seconds.append([spent for _, spent in rows])
        report((number + 1) / len(given), (number + 1) / len(given))
    sequences = (1, len(words), 1, 1)
    truth = [gap.word for gap in given]
    return rank_gaps(np.array(scores), words, truth, sequences, np.array(seconds))


def shuffle(gap: Gap, seed: int) -> Gap:
    """Return a gap with all other words in random order, its place among them unchanged.

    Args:
        gap: the gap.
        seed: seed of the order.
    """
    before, after = gap.left.split(), gap.right.split()
    words = np.random.RandomState(seed).permutation([*before, *after]).tolist()
    left, right = words[: len(before)], words[len(before) :]
    return Gap(" ".join(left), gap.word, "".join(f" {word}" for word in right))


def _by_decoder(
    reader: Pretrained, gap: Gap, words: tuple[str, ...]
) -> tuple[tuple[Float[np.ndarray, "candidate"], float], ...]:
    """Return scores and seconds of the candidates: after the left side, and of whole sentences."""
    with reader.lock:
        read = reader.tokenizer
        left = read(gap.left)["input_ids"]
        right = read(gap.right)["input_ids"][:MAX_RIGHT_TOKENS] if gap.right else []
        ids = [read(f" {word}")["input_ids"][0] for word in words]

    def work(network: Any, device: str) -> tuple[tuple[np.ndarray, float], ...]:
        started = time.thread_time()
        tree = KVCacheTree(network, device, np.array(left))
        first = draw.log_probabilities(draw.scores(tree.logits.cpu().numpy()))[ids]
        once = time.thread_time() - started
        sums = tree.log_probabilities([[word, *right] for word in ids]).cpu().numpy()
        return (first, once), (sums, time.thread_time() - started)

    return reader.run(work)


def _by_encoder(
    guesser: Pretrained, gap: Gap, words: tuple[str, ...]
) -> tuple[Float[np.ndarray, "candidate"], float]:
    """Return scores and seconds of the candidates in place of one hidden token."""
    text = f"{gap.left} {guesser.tokenizer.mask_token}{gap.right}"
    tokens = texts.tokens(guesser, text)
    hidden = np.flatnonzero(tokens.ids == guesser.tokenizer.mask_token_id)[:1]
    with guesser.lock:
        ids = guesser.tokenizer.convert_tokens_to_ids(list(words))

    def work(network: Any, device: str) -> tuple[np.ndarray, float]:
        import torch

        started = time.thread_time()
        row = torch.from_numpy(tokens.ids[None]).to(device)
        vectors = network(row).last_hidden_state[:, hidden[0]]
        scores = network.fill_in(vectors)[0].float().cpu().numpy()
        return scores[ids], time.thread_time() - started

    return guesser.run(work)


def time_sides(
    model: str, encoder: str, lengths: tuple[int, ...] = LENGTHS, repeats: int = REPEATS,
    report: Report = no_progress,
) -> SideTimes:  # fmt: skip
    """Time a decoder that writes or reads N tokens, and an encoder that fills in N (a job).

    Each round covers all lengths; the first is a warmup. The decoder keeps keys and values.

    Args:
        model: name of a decoder.
        encoder: name of a model with a fill-in head.
        lengths: numbers of tokens.
        repeats: number of counted rounds.
        report: receives the share done; may raise to stop.

    Raises:
        UserError: errors of `decoder` and `head`.
    """
    reader, guesser = decoder(model), head(encoder)
    ids = texts.tokens(reader, " ".join(editorials().texts[:50])).ids
    works: dict[str, tuple[Pretrained, Callable[..., float]]] = {
        "write": (reader, _write), "read": (reader, _read), "fill": (guesser, _fill_in),
    }  # fmt: skip
    mask, cls, sep = (getattr(guesser.tokenizer, f"{kind}_token_id") for kind in
                      ("mask", "cls", "sep"))  # fmt: skip
    seconds = np.zeros((len(PASS_KINDS), repeats, len(lengths)))
    for repeat in range(-1, repeats):
        for index, n in enumerate(lengths):
            rows = {"write": ids[: n + 1], "read": ids[: n + 1],
                    "fill": np.array([cls, *[mask] * n, sep])}  # fmt: skip
            for kind, (pretrained, work) in works.items():
                spent = pretrained.run(work, rows[kind])
                if repeat >= 0:
                    seconds[PASS_KINDS.index(kind), repeat, index] = spent
        report((repeat + 2) / (repeats + 1), (repeat + 2) / (repeats + 1))
    return SideTimes(np.array(lengths), seconds)


def _write(network: Any, device: str, ids: np.ndarray) -> float:
    """Return the seconds of one pass per token after the first, each the likeliest."""
    started = time.thread_time()
    tree, node = KVCacheTree(network, device, ids[:1]), ROOT
    logits = tree.logits
    for _ in range(len(ids) - 2):
        (node,), (logits,) = tree.extend([node], [int(logits.argmax())])
    int(logits.argmax())
    return time.thread_time() - started


def _read(network: Any, device: str, ids: np.ndarray) -> float:
    """Return the seconds of one pass over given tokens, with all their distributions."""
    import torch

    started = time.thread_time()
    logits = network(input_ids=torch.tensor(ids[None, :-1], device=device), use_cache=False).logits
    int(logits[0, -1].argmax())
    return time.thread_time() - started


def _fill_in(network: Any, device: str, ids: np.ndarray) -> float:
    """Return the seconds of one pass that fills in all hidden tokens."""
    import torch

    started = time.thread_time()
    vectors = network(torch.tensor(ids[None], device=device)).last_hidden_state[0, 1:-1]
    int(network.fill_in(vectors)[-1].argmax())
    return time.thread_time() - started


def judge(model: str, report: Report = no_progress) -> Judged:
    """Compare the bits of two continuations of each bundled text (a job).

    Args:
        model: name of a decoder.
        report: receives the share done; may raise to stop.

    Raises:
        UserError: errors of `decoder`.
    """
    items = uses()
    rows = []
    for k, task in enumerate(items):
        rows.append([continuation_bits(model, item.text, item.right, item.wrong)
                     for item in items[task]])  # fmt: skip
        report((k + 1) / len(items), (k + 1) / len(items))
    return Judged(tuple(items), np.array(rows))


def continuation_bits(
    model: str, text: ModelText, first: ModelText, second: ModelText
) -> tuple[float, float]:
    """Return the bits of two continuations of a text, the tokens of each summed.

    Args:
        model: name of a decoder.
        text: the text.
        first: a continuation, without the space before it.
        second: another one.

    Raises:
        UserError: "empty_text" where a text is empty; errors of `decoder`.
    """
    pretrained = decoder(model)
    start = texts.tokens(pretrained, text.strip()).ids
    values = []
    for more in (first, second):
        ids = np.append(start, texts.tokens(pretrained, f" {more.strip()}").ids)
        if not more.strip():
            raise UserError("empty_text", "There is nothing to read yet: write a word or two.")
        bits = pretrained.run(expected, ids[-texts.MAX_TEXT_TOKENS :])[0][0]
        values.append(float(bits[len(start) - 1 :].sum()))
    return values[0], values[1]
