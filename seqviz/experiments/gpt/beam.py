"""Beam search over the continuations of a decoder, as in transformers."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.gpt import draw
from seqviz.compute.gpt.futures import Beams, Hypothesis
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.kv_tree import ROOT, KVCacheTree, ends
from seqviz.models.pretrained import Pretrained, decoder
from seqviz.models.texts import ModelText

Found = tuple[float, float, tuple[int, ...]]
Row = tuple[np.ndarray, np.ndarray, np.ndarray]  # parents, tokens, log-probabilities


def beam(
    model: str, text: ModelText, beams: int = 3, count: int = 8, penalty: float = 1.0,
    report: Report = no_progress,
) -> Beams:  # fmt: skip
    """Search for the `beams` best texts of at most `count` tokens (a job).

    As `generate(num_beams=beams, length_penalty=penalty, early_stopping=False)`: of the 2 * beams
    best candidates, those that end become hypotheses if they are among the first `beams`; the
    search stops when its best beam, divided by its present length, scores below all kept
    hypotheses.

    Args:
        model: name of the decoder.
        text: the prompt.
        beams: number of beams.
        count: maximum number of new tokens.
        penalty: length penalty, the power of the number of tokens that divides a log-probability.
        report: progress callback; receives the share done.

    Raises:
        UserError: errors of `next_token`.
        ValueError: beyond the limits of `KVCacheTree.extend`.
    """
    pretrained = decoder(model)
    prompt = texts.tokens(pretrained, text)
    last = ends(pretrained)

    def work(network: Any, device: str) -> Beams:
        tree = KVCacheTree(network, device, prompt.ids)
        done, rows = search(tree, last, beams, count, penalty, report)
        created = tuple(_hypothesis(pretrained, *item) for item in done)
        parent, token, log = (np.array(part) for part in zip(*rows, strict=True))
        pieces = tuple(tuple(texts.piece(pretrained, int(k)) for k in row) for row in token)
        return Beams(prompt, created, parent, token, pieces, log, penalty)

    return pretrained.run(work)


def search(
    tree: KVCacheTree, last: frozenset[int], beams: int, count: int, penalty: float,
    report: Report = no_progress,
) -> tuple[list[Found], list[Row]]:  # fmt: skip
    """Run a beam search on a tree that holds the prompt.

    Args:
        tree: the tree.
        last: ids of the tokens that end a text.
        beams: number of beams.
        count: maximum number of new tokens.
        penalty: length penalty.
        report: progress callback; receives the share done.

    Returns:
        Score, log-probability and token ids of each hypothesis, and parents, tokens and
        log-probabilities of the beams at each step.
    """
    nodes, running = [ROOT], np.zeros(1)
    logs = draw.log_probabilities(tree.logits[None].cpu().numpy())
    done: list[Found] = []
    rows: list[Row] = []
    for step in range(1, count + 1):
        total = (running[:, None] + logs).ravel()
        best = np.argpartition(-total, 2 * beams)[: 2 * beams]
        best = best[np.argsort(-total[best], kind="stable")]
        parents, tokens = np.divmod(best, logs.shape[1])
        final = [step == count or int(token) in last for token in tokens]
        for index in range(min(beams, len(best))):
            if final[index]:
                ids = (*tree.ids(nodes[parents[index]]), int(tokens[index]))
                complete = float(total[best[index]])
                done.append((complete / step**penalty, complete, ids))
        done = sorted(done, key=lambda item: -item[0])[:beams]
        on = [k for k in range(len(best)) if int(tokens[k]) not in last][:beams]
        running = total[best[on]]
        rows.append((parents[on], tokens[on], running))
        report(step / count, step / count)
        full = len(done) == beams
        if step == count or (full and running[0] / step**penalty <= done[-1][0]):
            break
        grown = [nodes[k] for k in parents[on]], [int(token) for token in tokens[on]]
        nodes, result = tree.extend(*grown)
        logs = draw.log_probabilities(result.cpu().numpy())
    return done, rows


def _hypothesis(
    pretrained: Pretrained, score: float, log: float, ids: tuple[int, ...]
) -> Hypothesis:
    pieces = tuple(texts.piece(pretrained, item) for item in ids)
    ended = ids[-1] in ends(pretrained)
    return Hypothesis(ids, pieces, texts.spelled(pretrained, ids), log, score, ended)
