"""Tree of a prompt's continuations with exact probabilities, the most probable first."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt import draw
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.gpt.futures import ContinuationTree, DecodingComparison
from seqviz.experiments.gpt.beam import beam
from seqviz.experiments.gpt.continuation import greedy, sampled
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.kv_tree import ROOT, ROWS, KVCacheTree, ends
from seqviz.models.pretrained import Pretrained, decoder
from seqviz.models.texts import ModelText

WIDTH = 8  # likeliest next tokens of a node in the tree
PASSES = 16  # each reads up to `ROWS` nodes
SAMPLES, COMPARISON_PASSES = 5, 24


def futures(
    model: str, text: ModelText, steps: int = 8, passes: int = PASSES, width: int = WIDTH,
    paths: tuple[tuple[int, ...], ...] = (), report: Report = no_progress,
) -> ContinuationTree:  # fmt: skip
    """Grow a tree of continuations at its most probable nodes (a job).

    Args:
        model: name of the decoder.
        text: the prompt.
        steps: depth of the tree in tokens.
        passes: number of forward passes, each over up to `ROWS` nodes.
        width: number of next tokens of a node.
        paths: token ids of texts (greedy, beams, samples) that are included whatever their
            probability; they are read first, in additional passes.
        report: progress callback; receives the tree so far after each pass.

    Raises:
        UserError: errors of `next_token`.
        ValueError: beyond the limits of `KVCacheTree.extend`.
    """
    pretrained = decoder(model)
    prompt = texts.tokens(pretrained, text)

    def work(network: Any, device: str) -> ContinuationTree:
        tree = KVCacheTree(network, device, prompt.ids)
        grown = _Grown(pretrained, prompt, steps, width, paths)
        grown.open(ROOT, tree.logits.cpu().numpy())
        for depth in range(1, steps):
            some = {path[:depth] for path in paths if len(path) > depth}
            grown.read(tree, [grown.at[item] for item in sorted(some)])
        for done in range(passes):
            if not (some_open := grown.likeliest()):
                break
            grown.read(tree, some_open)
            report(grown.record(), (done + 1) / passes)
        return grown.record()

    return pretrained.run(work)


def compare_decoding(
    model: str, text: ModelText, steps: int = 8, beams: int = 3, penalty: float = 1.0,
    seed: int = 0, report: Report = no_progress,
) -> DecodingComparison:  # fmt: skip
    """Compare greedy, beam and sampled texts of `steps` tokens in one tree (a job).

    Args:
        model: name of the decoder.
        text: the prompt.
        steps: number of tokens.
        beams: number of beams.
        penalty: length penalty, see `beam`.
        seed: seed of the samples.
        report: progress callback; receives the tree so far.

    Raises:
        UserError: errors of `greedy` and `beam`.
        ValueError: errors of `greedy` and `beam`.
    """
    likeliest = greedy(model, text, steps)
    result = beam(model, text, beams, steps, penalty)
    numbers = (uniforms(seed, steps, stream) for stream in range(SAMPLES))
    samples = tuple(sampled(model, text, row) for row in numbers)
    every = (likeliest.ids, result.best.ids, *(item.ids for item in samples))
    tree = futures(model, text, steps, COMPARISON_PASSES, paths=every, report=report)
    return DecodingComparison(tree, likeliest, result, samples)


class _Grown:
    """Numbered nodes of a growing tree; `branch` maps those that were read to the KV tree."""

    def __init__(
        self, pretrained: Pretrained, prompt: Tokens, steps: int, width: int,
        paths: tuple[tuple[int, ...], ...],
    ):  # fmt: skip
        self.pretrained, self.prompt = pretrained, prompt
        self.steps, self.width, self.ways, self.last = steps, width, paths, ends(pretrained)
        self.ids: list[tuple[int, ...]] = []
        self.at: dict[tuple[int, ...], int] = {(): ROOT}
        self.parent: list[int] = []
        self.log: list[float] = []
        self.branch: dict[int, int] = {ROOT: ROOT}
        self.passes = 0

    def open(self, node: int, logits: np.ndarray) -> None:
        """Add the likeliest next tokens of a node, and those on the given paths."""
        logs = draw.log_probabilities(logits)
        before, so_far = ((), 0.0) if node == ROOT else (self.ids[node], self.log[node])
        first = [int(item) for item in draw.foremost(logs, self.width)]
        depth = len(before)
        more = {path[depth] for path in self.ways if len(path) > depth and path[:depth] == before}
        for token in (*first, *sorted(more - set(first))):
            self.at[(*before, token)] = len(self.ids)
            self.ids.append((*before, token))
            self.parent.append(node)
            self.log.append(so_far + float(logs[token]))

    def likeliest(self) -> list[int]:
        """Return the nodes to read next: the most probable ones that can be continued."""
        some = [k for k in range(len(self.ids)) if k not in self.branch and not self._whole(k)]
        return sorted(some, key=lambda k: -self.log[k])[:ROWS]

    def read(self, tree: KVCacheTree, nodes: list[int]) -> None:
        """Read nodes whose parents have been read, in one forward pass."""
        nodes = [node for node in nodes if node not in self.branch and not self._whole(node)]
        if not nodes:
            return
        parents = [self.branch[self.parent[node]] for node in nodes]
        new, logits = tree.extend(parents, [self.ids[node][-1] for node in nodes])
        self.branch |= dict(zip(nodes, new, strict=True))
        self.passes += 1
        for item, row in zip(nodes, logits.cpu().numpy(), strict=True):
            self.open(item, row)

    def record(self) -> ContinuationTree:
        tokens = np.array([item[-1] for item in self.ids])
        names = {int(k): texts.piece(self.pretrained, int(k)) for k in np.unique(tokens)}
        return ContinuationTree(
            self.prompt, np.array(self.parent), tokens, tuple(names[int(k)] for k in tokens),
            np.array([len(item) for item in self.ids]), np.array(self.log),
            np.array([k in self.branch for k in range(len(self.ids))]),
            np.isin(tokens, sorted(self.last)), self.steps, self.width, self.passes,
        )  # fmt: skip

    def _whole(self, node: int) -> bool:
        return len(self.ids[node]) == self.steps or self.ids[node][-1] in self.last
