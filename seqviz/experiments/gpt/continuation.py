"""Next-token distributions of a decoder, and its greedy and sampled continuations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt import draw
from seqviz.compute.gpt.continuation import Continuation, NextToken
from seqviz.compute.gpt.draw import Filters
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.kv_tree import DEPTH, ROOT, KVCacheTree, ends
from seqviz.models.pretrained import Pretrained, decoder
from seqviz.models.texts import ModelText

CANDIDATES = 10  # tokens stored for each step
Choose = Callable[[Float[np.ndarray, "vocabulary"], Sequence[int], int], tuple[int, float]]


def next_token(model: str, text: ModelText, after: tuple[int, ...] = ()) -> NextToken:
    """Return the distribution of the token after a text.

    Args:
        model: name of the decoder.
        text: the text.
        after: ids of tokens to append to the text, at most `DEPTH`.

    Raises:
        UserError: errors of `decoder` and `texts.tokens`.
    """
    pretrained = decoder(model)
    prompt = texts.tokens(pretrained, text)
    after = after[:DEPTH]
    ids = np.array([*prompt.ids, *after])
    scores = draw.scores(_numpy(pretrained.run(KVCacheTree, ids).logits))
    first = draw.foremost(scores, draw.EXACT)
    pieces = tuple(texts.piece(pretrained, int(item)) for item in first)
    return NextToken(prompt, after, scores, first, pieces)


def pieces(model: str, ids: tuple[int, ...]) -> tuple[str, ...]:
    """Return the spelling of tokens.

    Args:
        model: name of the decoder.
        ids: token ids.

    Raises:
        UserError: errors of `decoder`.
    """
    pretrained = decoder(model)
    return tuple(texts.piece(pretrained, item) for item in ids)


def greedy(
    model: str, text: ModelText, count: int = 20, after: tuple[int, ...] = (),
    filters: Filters | None = None, report: Report = no_progress,
) -> Continuation:  # fmt: skip
    """Write up to `count` tokens greedily, or until the model ends the text (a job).

    Of equal scores the smaller id is taken.

    Args:
        model: name of the decoder.
        text: the prompt.
        count: maximum number of tokens after `after`.
        after: ids of forced tokens, with which the continuation begins.
        filters: filters of the scores, such as a repetition penalty; a removed token is never
            taken.
        report: progress callback; receives the `Continuation` so far with each token.

    Raises:
        UserError: errors of `next_token`.
        ValueError: more than `DEPTH` tokens.
    """

    def choose(scores: np.ndarray, ids: Sequence[int], _: int) -> tuple[int, float]:
        return int((scores if filters is None else filters(scores, ids)).argmax()), 1.0

    return _written(decoder(model), text, after, count, choose, report)


def sampled(
    model: str, text: ModelText, uniforms: tuple[float, ...], after: tuple[int, ...] = (),
    filters: Filters | None = None, report: Report = no_progress,
) -> Continuation:  # fmt: skip
    """Sample a token for each of the given uniform numbers (a job); see `draw.draw`.

    Args:
        model: name of the decoder.
        text: the prompt.
        uniforms: numbers in [0, 1).
        after: ids of forced tokens, with which the continuation begins; they use no number.
        filters: filters of the scores.
        report: progress callback; receives the `Continuation` so far with each token.

    Raises:
        UserError: errors of `next_token`.
        ValueError: more than `DEPTH` tokens.
    """

    def choose(scores: np.ndarray, ids: Sequence[int], step: int) -> tuple[int, float]:
        changed = scores if filters is None else filters(scores, ids)
        token = draw.draw(changed, uniforms[step - len(after)])
        return token, float(draw.probabilities(changed)[token])

    return _written(decoder(model), text, after, len(uniforms), choose, report)


def _written(
    pretrained: Pretrained, text: str, after: tuple[int, ...], count: int, choose: Choose,
    report: Report,
) -> Continuation:  # fmt: skip
    prompt = texts.tokens(pretrained, text)
    last, full = ends(pretrained), len(after) + count

    def work(network: Any, device: str) -> Continuation:
        tree = KVCacheTree(network, device, prompt.ids)
        node, logits, steps = ROOT, tree.logits, _Steps(pretrained, prompt, last)
        for step in range(full):
            scores = draw.scores(_numpy(logits))
            if step < len(after):
                token, probability = after[step], 1.0
            else:
                token, probability = choose(scores, [*prompt.ids.tolist(), *steps.ids], step)
            steps.take(scores, token, probability)
            report(steps.record(), (step + 1) / full)
            if token in last or step + 1 == full:
                break
            (node,), (logits,) = tree.extend([node], [token])
        return steps.record()

    return pretrained.run(work)


class _Steps:
    """Record of a continuation while it is written."""

    def __init__(self, pretrained: Pretrained, prompt: Tokens, last: frozenset[int]):
        self.pretrained, self.prompt, self.last = pretrained, prompt, last
        self.ids: list[int] = []
        self.pieces: list[str] = []
        self.names: list[tuple[str, ...]] = []
        self.rows: list[tuple[Any, ...]] = []

    def take(self, scores: Float[np.ndarray, "vocabulary"], token: int, probability: float) -> None:
        logs = draw.log_probabilities(scores)
        first = draw.foremost(scores, CANDIDATES)
        rank = 1 + int((scores > scores[token]).sum())
        self.rows.append((-logs[token] / np.log(2), probability, draw.entropy(scores), rank, first,
                          np.exp(logs[first])))  # fmt: skip
        self.ids.append(token)
        self.pieces.append(texts.piece(self.pretrained, token))
        self.names.append(tuple(texts.piece(self.pretrained, int(item)) for item in first))

    def record(self) -> Continuation:
        bits, p_drawn, entropy, rank, first, p = map(np.array, zip(*self.rows, strict=True))
        return Continuation(
            self.prompt, tuple(self.ids), tuple(self.pieces),
            texts.spelled(self.pretrained, self.ids), bits, p_drawn, entropy, rank, first, p,
            tuple(self.names), self.ids[-1] in self.last,
        )  # fmt: skip


def _numpy(logits: Any) -> np.ndarray:
    return np.asarray(logits.float().cpu().numpy())
