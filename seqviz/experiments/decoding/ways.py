"""Greedy decoding, beam search and draws behind one prompt, and the tree that they go through."""

from __future__ import annotations

from seqviz.compute.decoding.uniform import uniforms
from seqviz.compute.decoding.ways import Ways
from seqviz.experiments.decoding.beam import beam
from seqviz.experiments.decoding.continuation import greedy, sampled
from seqviz.experiments.decoding.futures import futures
from seqviz.jobs import Report, silent
from seqviz.models.texts import Read

SAMPLES, PASSES = 5, 24


def ways(
    model: str, text: Read, steps: int = 8, beams: int = 3, penalty: float = 1.0, seed: int = 0,
    report: Report = silent, device: str = "cpu",
) -> Ways:  # fmt: skip
    """A job: the texts of `steps` tokens that each finds, and a tree that has them all.

    penalty: of length, see `beam`. seed: of the numbers the draws are made with. Reports the tree
    so far. Raises what `greedy` and `beam` raise. (`device` names the queue.)
    """
    likeliest = greedy(model, text, steps, device=device)
    found = beam(model, text, beams, steps, penalty, device=device)
    drawn = tuple(
        sampled(model, text, uniforms(seed, steps, number), device=device)
        for number in range(SAMPLES)
    )
    every = (likeliest.ids, found.best.ids, *(one.ids for one in drawn))
    tree = futures(model, text, steps, PASSES, ways=every, report=report, device=device)
    return Ways(tree, likeliest, found, drawn)
