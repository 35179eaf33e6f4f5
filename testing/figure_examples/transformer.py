"""An example of every figure about the block: its norms, its masks, its depth and its cost."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer import cost, flow, masking, normalization
from seqviz.compute.transformer.depth import ARRANGEMENTS, RUNS, Depth
from seqviz.compute.transformer.learning import (
    CHANCE,
    SCHEDULES,
    StackReport,
    StackResult,
    StackSettings,
)
from seqviz.compute.transformer.pair import TranslatedNumber
from seqviz.figures.transformer.cost import (
    cache_lines,
    measured_passes,
    operation_lines,
    parameter_map,
)
from seqviz.figures.transformer.depth import norms_by_depth
from seqviz.figures.transformer.flow import step_tensor, two_operators
from seqviz.figures.transformer.learning import losses, losses_so_far
from seqviz.figures.transformer.norms import three_norms
from seqviz.figures.transformer.pair import two_attentions
from testing.figure_examples import Example


def examples() -> tuple[Example, ...]:
    """Every figure of the subject; several where its parts differ."""
    return (*_norms(), *_steps(), *_pair(), *_depth(), *_learning(), *_cost())


def _norms() -> tuple[Example, ...]:
    full = normalization.compare()
    alone = normalization.compare(sentence=1, word=1, part="word")
    return (
        Example("transformer: norms", three_norms, (full, 1, 3), full.at("layer", 0, 0, 2)),
        Example("transformer: one word", three_norms, (alone, 4, 1), 4),
    )


def _steps() -> tuple[Example, ...]:
    result = flow.flow("<b>the cat&dog %{x} the", d_model=16, heads=2, d_ff=24, layers=2)
    leaking = masking.masked()
    return (
        *(
            Example(f"transformer: step {step}", step_tensor, (result, step), result.norm(step - 1))
            for step in (1, 2, 4, 5, 8, 10)
        ),
        Example("transformer: masks", two_operators, (leaking,), 0.7870),
    )


def _pair() -> tuple[Example, ...]:
    weights = np.tril(np.ones((2, 3, 3))) / np.arange(1, 4)[:, None]
    cross = np.stack([np.eye(3), np.full((3, 3), 1 / 3)])
    words = ("three", "hundred", "</s>")
    translated_number = TranslatedNumber(
        300,
        ("3", "0", "0"),
        ("<s>", *words[:2]),
        words,
        np.full(3, 0.9),
        weights,
        cross,
        True,
        False,
    )
    return (
        Example("transformer: two attentions", two_attentions, (translated_number, 0), 2 / 3),
        Example("transformer: one head", two_attentions, (translated_number, 1), 1.0),
    )


def _depth() -> tuple[Example, ...]:
    slopes = np.array([0.0, 0.1, 0.3, -0.75])[:, None, None]
    runs = 0.01 * np.arange(RUNS)[:, None]
    depth = Depth(ARRANGEMENTS, 4, slopes * np.arange(5) + runs, slopes * np.arange(5)[::-1] + runs)
    return tuple(
        Example(f"transformer: {quantity}", norms_by_depth, (depth, quantity), 10**-2.98)
        for quantity in ("signal", "gradient")
    )


def _learning() -> tuple[Example, ...]:
    settings = StackSettings(updates=40, runs=2)
    updates = np.arange(10, 41, 10)
    falls = np.array([0.2, 1.0, 0.4, 0.0])[:, None] * updates[:, None, None, None] / 10
    loss = CHANCE * 10 ** -(falls + 0.1 * np.arange(2)) * np.ones((1, len(SCHEDULES), 1, 1))
    loss[2:, 0, 2] = np.nan  # no number any more
    result = StackResult(settings, updates, loss)
    trail = [StackReport(int(update), 40, item) for update, item in zip(updates, loss, strict=True)]
    return (
        Example("transformer: losses", losses, (result,), result.median("constant", "post")),
        Example("transformer: losses so far", losses_so_far, (trail[:2], settings), CHANCE),
    )


def _cost() -> tuple[Example, ...]:
    counts = np.zeros((len(cost.GROUPS), len(cost.COST_PARTS)), int)
    counts[0, 0], counts[2, 1:5] = 30, (400, 200, 250, 20)
    shared = cost.Architecture("smollm2", counts, 3, 3, 32, 8, 2, 4, 14_000, True)
    result = cost.operations(shared)
    tokens = np.array([8, 64, 512])
    seconds = 1e-3 * (3 + tokens / 8 + np.arange(2)[:, None] / 4 + (tokens / 99) ** 2)
    timed = cost.PassTimes(("minilm", "smollm2"), tokens, np.stack([seconds, 3 * seconds]))
    titles = {"minilm": "<b>MiniLM", "smollm2": "SmolLM2"}
    longest = float(np.median(1000 * timed.seconds[0, :, -1]))
    retained = cost.cache_bytes(shared, 100) / 1e6
    return (
        Example("transformer: parameters", parameter_map, (shared,), int(shared.total)),
        Example("transformer: operations", operation_lines, (result, 128), 128),
        Example("transformer: cache", cache_lines, ((shared,), 100), retained),
        Example("transformer: time", measured_passes, (timed, titles), longest),
    )
