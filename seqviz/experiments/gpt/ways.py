"""Greedy decoding, beam search and draws behind one prompt, and the tree that they go through."""

from __future__ import annotations

from seqviz.compute.gpt.uniform import uniforms
from seqviz.compute.gpt.ways import DecodingComparison
from seqviz.experiments.gpt.beam import beam
from seqviz.experiments.gpt.continuation import greedy, sampled
from seqviz.experiments.gpt.futures import futures
from seqviz.jobs import Report, no_progress
from seqviz.models.texts import ModelText

SAMPLES, PASSES = 5, 24


def compare_decoding(
    model: str, text: ModelText, steps: int = 8, beams: int = 3, penalty: float = 1.0,
    seed: int = 0,
    report: Report = no_progress,
) -> DecodingComparison:  # fmt: skip
    """A job: the texts of `steps` tokens that each finds, and a tree that has them all.

    penalty: of length, see `beam`. seed: of the numbers the draws are made with. Reports the tree
    so far. Raises what `greedy` and `beam` raise.
    """
    likeliest = greedy(model, text, steps)
    result = beam(model, text, beams, steps, penalty)
    samples = tuple(
        sampled(model, text, uniforms(seed, steps, number)) for number in range(SAMPLES)
    )
    every = (likeliest.ids, result.best.ids, *(item.ids for item in samples))
    tree = futures(model, text, steps, PASSES, paths=every, report=report)
    return DecodingComparison(tree, likeliest, result, samples)
