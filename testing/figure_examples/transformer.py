"""Examples of figures of the block: norms, masks, depth, cost, and contributions of parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seqviz.compute.transformer import components, cost, flow, masking, normalization
from seqviz.compute.transformer.depth import ARRANGEMENTS, RUNS, Depth
from seqviz.compute.transformer.interpretability.account import (
    CapitalAttributions,
    LogitAttribution,
    Split,
)
from seqviz.compute.transformer.interpretability.induction import Induction
from seqviz.compute.transformer.interpretability.lens import Lens
from seqviz.compute.transformer.interpretability.removal import (
    CHANGES,
    Ablation,
    AblationSweep,
    of_change,
)
from seqviz.compute.transformer.learning import CHANCE, StackReport, StackResult, StackSettings
from seqviz.compute.transformer.pair import TranslatedNumber
from seqviz.experiments.transformer.interpretability.account import CAPITALS
from seqviz.figures.transformer import cost as costs
from seqviz.figures.transformer import depth, learning
from seqviz.figures.transformer.flow import step_tensor, two_operators
from seqviz.figures.transformer.interpretability import account, induction, lens, removal
from seqviz.figures.transformer.norms import three_norms
from seqviz.figures.transformer.pair import two_attentions
from seqviz.figures.transformer.stream_map import stream_map
from testing.fake import fake
from testing.figure_examples import Example, fake_example

WORDS = ("The", "␣capital", "␣of", "<b>", "␣is")


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    return (*_of_maps(), *_of_blocks(), *_of_training(), *_of_cost(), *_of_accounts(),
            *_of_removals(), *_of_lenses(), *_of_copies())  # fmt: skip


def _of_maps() -> tuple[Example, ...]:
    pair = components.encoder_decoder("<b>the cat&dog %{x} the")
    shapes = {"heads": (2, 5, 5), "hidden": (5, 40), "unembed": (5, 900)}
    random = np.random.default_rng(0)
    parts = []
    for name in components.DECODER_PARTS:
        n_layers = 1 if name in ("embed", "final_norm", "unembed") else 3
        x = random.normal(size=(n_layers, 5, 10 if name in ("heads", "unembed") else 24))
        has_share = name in components.ADDING or name.startswith("sum")
        part = components.tensor_part(
            name, "decoder", list(x), list(x) if has_share else (), list(x + 1)
        )
        parts.append(replace(part, shape=shapes.get(name, part.shape)))
    single = components.TransformerParts("decoder", (WORDS,), tuple(parts), 3, 2, WORDS * 2)
    return (
        *(
            Example(
                f"transformer: map, part {part}",
                stream_map,
                (single, layer, part),
                single.norm(1, layer),
            )
            for layer, part in ((0, 1), (1, 3), (2, 8), (2, 11))
        ),
        *(
            Example(f"transformer: pair, part {part}", stream_map, (pair, 1, part), pair.norm(1, 1))
            for part in (7, 9, 13)
        ),
    )


def _of_blocks() -> tuple[Example, ...]:
    full = normalization.compare()
    alone = normalization.compare(sentence=1, word=1, part="word")
    result = flow.flow("<b>the cat&dog %{x} the", d_model=16, heads=2, d_ff=24, layers=2)
    pair = fake(
        TranslatedNumber, source=("3", "0", "0"), reads=("<s>", *WORDS[:2]), writes=WORDS[:3],
        self_attention=np.tril(np.ones((2, 3, 3))) / np.arange(1, 4)[:, None], digit=3,
    )  # fmt: skip
    return (
        Example("transformer: norms", three_norms, (full, 1, 3), full.at("layer", 0, 0, 2)),
        Example("transformer: one word", three_norms, (alone, 4, 1), 4),
        *(
            Example(f"transformer: step {step}", step_tensor, (result, step), result.norm(step - 1))
            for step in (1, 2, 4, 5, 8, 10)
        ),
        Example("transformer: masks", two_operators, (masking.masked(),), 0.7870),
        Example("transformer: two attentions", two_attentions, (pair, 0), pair.sharpest(0)[2]),
        Example("transformer: one head", two_attentions, (pair, 1), pair.sharpest(1)[2]),
    )  # fmt: skip


def _of_training() -> tuple[Example, ...]:
    settings = StackSettings(updates=40, runs=2)
    deep = fake(Depth, arrangements=ARRANGEMENTS, run=RUNS, blocks=4, depth=5)
    result = fake(StackResult, settings=settings, updates=np.arange(10, 41, 10), schedule=2,
                  arrangement=len(ARRANGEMENTS), run=2)  # fmt: skip
    result.loss[2:, 0, 2] = np.nan  # diverged
    trail = [StackReport(10 * n, 40, loss) for n, loss in enumerate(result.loss[:2], 1)]
    return (
        Example("transformer: signal", depth.norms_by_depth, (deep, "signal"),
                10 ** np.median(deep.signal[-1, :, -1])),
        Example("transformer: gradient", depth.norms_by_depth, (deep, "gradient"),
                10 ** np.median(deep.gradient[-1, :, 0])),
        Example("transformer: losses", learning.losses, (result,),
                result.median("constant", "post")),
        Example("transformer: losses so far", learning.losses_so_far, (trail, settings), CHANCE),
    )  # fmt: skip


def _of_cost() -> tuple[Example, ...]:
    counts = np.zeros((len(cost.GROUPS), len(cost.COST_PARTS)), int)
    counts[0, 0], counts[2, 1:5] = 30, (400, 200, 250, 20)
    shared = fake(
        cost.Architecture, name="smollm2", counts=counts, heads=8, key_heads=2, weights=14_000
    )
    every = cost.operations(shared)
    return (
        Example("transformer: parameters", costs.parameter_map, (shared,), int(shared.total)),
        Example("transformer: operations", costs.operation_lines, (every, 128), 128),
        Example("transformer: cache", costs.cache_lines, ((shared,), 100),
                cost.cache_bytes(shared, 100) / 1e6),
        fake_example("transformer: time", costs.measured_passes,
                     lambda times: float(np.median(1000 * times.seconds[0, :, -1])),
                     {"minilm": "<b>MiniLM", "smollm2": "SmolLM2"}, models=("minilm", "smollm2")),
    )  # fmt: skip


def _of_accounts() -> tuple[Example, ...]:
    parts = np.random.RandomState(0).normal(0.4, 1, 13)
    result, other = (
        fake(LogitAttribution, parts=parts, logit=parts.sum(), target="␣Paris", against=against)
        for against in ("", "␣<i>")
    )
    heads, draw = fake(Split, part=3, kind="attention", others=0), account.logit_account
    neurons = fake(Split, part=4, kind="mlp", values=parts[:3])
    embedding = fake(Split, part=0, kind="embedding", unit=1, others=0)
    largest = parts[result.largest]
    capitals = CapitalAttributions(
        tuple(CAPITALS), np.abs(np.random.RandomState(1).normal(1, 0.5, (len(CAPITALS), 13))),
        np.arange(len(CAPITALS)) > 1,
    )  # fmt: skip
    return (
        Example("capitals", account.capital_shares, (capitals,), 100 * capitals.attention_mean),
        Example("account", draw, (result, heads), largest),
        Example("account, MLP", draw, (result, neurons), largest),
        Example("account, embedding", draw, (result, embedding), largest),
        Example("account of a difference", draw, (other, heads), largest),
    )


def removals_of(*after: str) -> tuple[Ablation, ...]:
    """Return ablations of a text, given the top token after each layer; "" is not known yet."""
    unknown = [not piece for piece in after]
    result = tuple(
        fake(Ablation, n, change=change, before="␣Paris", after=after, layer=len(after))
        for n, change in enumerate(CHANGES)
    )
    for item in result:
        item.bits[unknown] = np.nan
    return result


def _of_removals() -> tuple[Example, ...]:
    result, some = removals_of("␣Paris", "<b>", "␣Paris", "<b>"), removals_of("", "", "<b>")
    many = fake(AblationSweep, change=len(CHANGES))
    many.bits[CHANGES.index("swap"), :, -1] = np.nan  # the last layer has no next one to swap with
    return (
        Example("removals", removal.removal_bars, (result, "skip"),
                of_change(result, "skip").largest_shift),
        Example("removals so far", removal.removal_so_far, ([some], "mlp"),
                of_change(some, "mlp").largest_shift),
        Example("removals, many", removal.removal_of_many, (many, "swap"),
                many.mean_of("swap", many.largest("swap")).mean),
    )  # fmt: skip


def _of_lenses() -> tuple[Example, ...]:
    few, deep = lens_of(7, WORDS), lens_of(31, (WORDS * 3)[:12])
    return (
        Example("lens, fitted", lens.lens_table, (few, 2, few), few.probability[-1, -2]),
        fake_example("lens, both", lens.lens_distance, "plain_most", lens=2, text=20),
        Example("lens", lens.lens_table, (few, 1), few.probability[-1, -1]),
        Example("lens, deep", lens.lens_table, (deep, 7), deep.probability[-1, 5]),
    )


def lens_of(rows: int, pieces: tuple[str, ...]) -> Lens:
    """Return a logit lens that reads the same tokens after each layer."""
    return fake(Lens, pieces=pieces, likeliest=(pieces,) * rows, row=rows, token=len(pieces))


def _of_copies() -> tuple[Example, ...]:
    sizes = {"kind": 2, "rank": 5, "off": 6, "token": 11, "query": 12, "key": 12}
    many = fake(Induction, sequence=8, pieces=(), **sizes)
    single = fake(Induction, sequence=1, pieces=(WORDS * 3)[:12], **sizes)
    lines = induction.induction_lines
    return (
        Example("copies", lines, (many, 3), many.gain("best", 3).mean),
        Example("copies, all heads on", lines, (many, 0), many.gain("best", 0).mean),
        Example("copies, one sequence", lines, (single, 5), single.gain("random", 5).mean),
    )
