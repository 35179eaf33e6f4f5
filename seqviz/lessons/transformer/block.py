"""Benches on the Transformer block: tensors, masks, norms, depth, translation, cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqviz.compute.transformer import cost, flow, masking, normalization
from seqviz.compute.transformer.depth import MOST_BLOCKS, QUANTITIES
from seqviz.compute.transformer.depth_signal import depth as by_depth
from seqviz.compute.transformer.learning import SCHEDULES, StackSettings
from seqviz.compute.transformer.pair import FED, INPUTS, TEST, PairSettings
from seqviz.compute.transformer.pair import HEADS as PAIR_HEADS
from seqviz.compute.transformer.pair_training import say, train_pair
from seqviz.compute.transformer.spelling import END, LANGUAGES
from seqviz.compute.transformer.stack_training import train_stacks
from seqviz.experiments.transformer import architectures
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
from seqviz.lessons.framework.controls import (
    choice,
    on,
    seed,
    slider,
    step_slider,
    text_input,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.models.registry import MODELS

CELLS = 200  # limit of a typed tensor
MAX_PASTED_CHARS = 200  # limit of a text, of which at most 16 words are read
EPS = (1e-12, 1e-5, 1e-3, 0.1)
STACKS = {"two": 2, "six": 6, "twelve": 12}  # blocks
WIDTH = 512  # of S0's encoder
RATES = (0.0, 0.1, 0.3, 0.5)  # of dropout
DROPPED = on(dropout=RATES[1:])
INSIDE = on(step=tuple(range(4, len(flow.STEPS))))  # steps inside each layer


def shape(v: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return the shape of the typed tensor, or of S0's where it cannot be parsed."""
    try:
        result = normalization.read(v["tensor"])
    except ValueError:
        result = normalization.read()
    sentences, words, features = result.shape
    return sentences, words, features


@dataclass(frozen=True)
class NormsParams:
    """Controls of the bench on one small tensor under three norms."""

    tensor: str = text_input(normalization.PRINTED, CELLS)
    row: int = slider(1, normalization.MOST_WORDS, 1, within=lambda v: shape(v)[0] * shape(v)[1])
    feature: int = slider(
        1, normalization.MOST_FEATURES, 1, within=lambda v: shape(v)[2], more=True
    )
    added: float = slider(-10.0, 10.0, 0.0, 0.1)
    given: str = choice(normalization.NORM_AXES, "all", more=True)
    eps: float = stops(EPS, 1e-5, more=True)


@dataclass(frozen=True)
class EncoderFlowParams:
    """Controls of the bench on a text in an untrained encoder of S0's size."""

    step: int = step_slider(1, len(flow.STEPS), 5)
    words: str = text_input(flow.TEXT, MAX_PASTED_CHARS)
    depth: int = slider(1, flow.MOST_LAYERS, 6, more=True)
    layer: int = slider(0, flow.MOST_LAYERS - 1, 0, within=lambda v: v["depth"] - 1, when=INSIDE)
    dropout: float = stops(RATES, 0.0, more=True)
    places: str = choice(tuple(flow.SCHEMES), "vaswani", menu=True, when=DROPPED, more=True)
    zeros: int = seed(0, more=True, when=DROPPED)
    hidden: int = stops((256, 512, 1024, 2048, 4096), 2048, more=True)
    split: int = stops((1, 2, 4, 8, 16, 32), 8, more=True)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class MaskedSoftmaxParams:
    """Controls of the bench on a mask that is added or multiplied."""

    scores: str = text_input(masking.SCORES, CELLS)
    mask: str = choice(masking.MASK_KINDS, "causal", menu=True)
    pads: int = slider(
        1, 5, 1, within=lambda v: max(1, shape({"tensor": v["scores"]})[1] - 1),
        when=on(mask=("padding", "both")),
    )  # fmt: skip
    key: int = slider(
        1, 6, 2, within=lambda v: shape({"tensor": v["scores"]})[1], when=on(mask="token")
    )


@dataclass(frozen=True)
class DepthsParams:
    """Controls of the bench on stacks of blocks, untrained and in training."""

    view: str = view((*QUANTITIES[::-1], "training"), "gradient")
    blocks: int = slider(2, MOST_BLOCKS, 24, when=on(view=QUANTITIES))
    gain: float = slider(0.5, 1.2, 1.0, 0.05, when=on(view=QUANTITIES))
    preset: str = choice(tuple(STACKS), "six", when=on(view="training"))
    rate: float = stops((5e-4, 1e-3, 2e-3, 4e-3), 2e-3, when=on(view="training"))
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class PairParams:
    """Controls of the bench on a trained encoder-decoder that spells numbers."""

    view: str = view(LANGUAGES, LANGUAGES[0])
    number: str = text_input("342", 8)
    kind: str = choice(INPUTS, INPUTS[0])
    fed: str = choice(FED, FED[0], more=True)
    look: int = slider(0, PAIR_HEADS, 0, more=True)
    seed: int = seed(0, more=True)


own = on(design="own", view=("parameters", "operations"))


@dataclass(frozen=True)
class TransformerCostParams:
    """Controls of the bench on parameters, operations, cache and time."""

    view: str = view(("parameters", "operations", "cache", "time"), "parameters")
    design: str = choice(
        (*architectures.NAMES, "own"), "transformer", menu=True,
        when=on(view=("parameters", "operations")),
    )  # fmt: skip
    tokens: int = slider(8, cost.MAX_LENGTH_TOKENS, 512, 8, when=on(view=("operations", "cache")))
    width: int = stops((64, 128, 256, 512, 768, 1024, 2048), 512, when=own)
    heads: int = stops((1, 2, 4, 8, 16, 32, 64), 8, when=own)
    layers: int = slider(1, 24, 6, when=own)
    d_ff: int = stops((256, 512, 1024, 2048, 3072, 4096, 8192), 2048, when=own)
    tree: int = slider(
        0, 5, 0, when=on(view="parameters", design=("transformer", "own")), more=True
    )


def steps(p: EncoderFlowParams, show: Show) -> None:
    layer = min(p.layer, p.depth - 1)
    arguments = (p.words, layer, p.depth, WIDTH, p.split, p.hidden, p.seed)
    drop = flow.Dropout(p.dropout, p.places, p.zeros)
    result = show.run(flow.flow, *arguments, *((drop,) if p.dropout else ()))
    show.figure(step_tensor, result, p.step)
    step = p.step - 1
    name = result.steps[step].name
    show.readout("numbers", result.size, step)
    if name not in ("tokens", "weights"):
        show.readout("row_norm", result.norm, step)
    if name == "hidden":
        show.readouts(result, active="active")
    each = WIDTH // p.split
    show.facts(result.summary, step, note="steps", width=WIDTH, each=each, hidden=p.hidden)
    if p.dropout:
        say_dropped(result, step, show.run(flow.flow, *arguments, name="whole"), show)


def say_dropped(result: flow.Flow, step: int, full: flow.Flow, show: Show) -> None:
    """State what dropout sets to 0 at this step, and its effect on the output."""
    show.readout("dropped", result.dropped, step)
    effect = show.facts(result.dropout_effect, step, full, note="dropped")
    if effect.variant == "here" and result.steps[step].name == "weights":
        low, high = result.row_sums
        show.note("dropped.rows", low=low, high=high)


def masks(p: MaskedSoftmaxParams, show: Show) -> None:
    result = show.run(
        masking.masked, p.scores, p.mask, p.pads, min(p.key, shape({"tensor": p.scores})[1]),
    )  # fmt: skip
    show.figure(two_operators, result)
    show.readouts(result, leaked="leaked", most_leaked="worst")
    show.facts(result.compared, note="masks")
    if not result.allowed.any(axis=1).all():
        show.note("masks.blind")


def pair(p: PairParams, show: Show) -> None:
    result = show.job(train_pair, name="trained", settings=PairSettings(p.view, p.seed))
    summary = show.run(say, result, p.number, p.kind, p.fed, name="said")
    show.figure(two_attentions, summary, p.look)
    for how in ("forced", "written"):
        show.readout(how, result.right, p.kind, how)
    gap = " " if p.view == "english" else ""
    words = gap.join(word for word in summary.writes if word != END)
    facts = show.facts(summary.summary, p.look, note="pair", said=words)
    show.note("pair.argmax", **facts)
    show.note(
        "pair.trained" if summary.trained else "pair.unseen", number=summary.number, test=TEST
    )
    own = float(np.diagonal(summary.of_head("self_attention", p.look)).mean())
    shifted, unshifted = result.loss[-1].tolist()
    show.note(f"pair.{p.kind}", own=own, loss=unshifted, shifted_loss=shifted)


def depths(p: DepthsParams, show: Show) -> None:
    if p.view == "training":
        return say_training(StackSettings(STACKS[p.preset], p.rate, p.seed), show)
    result = show.run(by_depth, p.blocks, p.gain, p.seed)
    show.figure(norms_by_depth, result, p.view)
    end = p.blocks if p.view == "signal" else 0
    ends = {
        name: show.readout(f"arranged_{name}", result.at, p.view, name, end)
        for name in result.arrangements
    }
    show.note(f"depths.{p.view}", blocks=p.blocks, **ends)
    return None


def say_training(settings: StackSettings, show: Show) -> None:
    """Show the loss of the four arrangements, and how many of their runs learn."""
    progress = (losses_so_far, settings)
    result = show.job(train_stacks, settings=settings, then=(losses,), so_far=progress)
    for arrangement in ("post", "pre"):
        for schedule in SCHEDULES:
            show.readout(f"{arrangement}_{schedule}", result.learned, schedule, arrangement)
    show.facts(result.summary, note="depths.training")


def norms(p: NormsParams, show: Show) -> None:
    sentences, words, features = show.derive(normalization.read, p.tensor, name="tensor").shape
    row = min(p.row, sentences * words) - 1
    position = (*divmod(row, words), min(p.feature, features) - 1)
    result = show.run(normalization.compare, p.tensor, *position, p.added, p.given, p.eps)
    show.figure(three_norms, result, row + 1, position[2] + 1, picks=("feature", "row"))
    for kind in normalization.NORM_KINDS:
        show.readout(kind, result.at, kind, *position)
    summary = show.facts(result.shared, *position, note="norms")
    if summary.variant == "shared" and p.given != "all":
        arguments = (p.tensor, *position, p.added, "all", p.eps)
        full = show.run(normalization.compare, *arguments, name="whole")
        show.facts(result.compared, full, *position, note="norms.part")


def bill(p: TransformerCostParams, show: Show) -> None:
    if p.view == "time":
        return say_time(show)
    if p.view == "cache":
        return say_cache(p, show)
    sizes = (p.width, p.heads, p.layers, p.d_ff) if p.design == "own" else ()
    if p.design == "own":
        architecture = show.run(architectures.seq2seq, *sizes)
    else:
        architecture = show.run(architectures.architecture, p.design)
    title = show.option("design", p.design)
    if p.view == "parameters":
        show.figure(parameter_map, architecture)
        show.readouts(architecture, parameters="total")
        for part in ("self_attention", "cross_attention", "feed_forward", "table"):
            if architecture.share(part):
                show.readout(part, architecture.share, part)
        show.facts(architecture.summary, note="bill.parameters", model=title)
        if p.tree and p.design in ("transformer", "own"):
            say_tree(show.run(architectures.module_tree, p.tree, *sizes), show)
        return None
    work = show.run(cost.operations, architecture, name="work")
    show.figure(operation_lines, work, p.tokens)
    show.readout("quadratic", work.share_at, p.tokens)
    show.readouts(work, crossing="crossing")
    show.facts(work.compared, p.tokens, note="bill.operations", model=title)
    waits = show.readout("in_a_row", cost.in_a_row, architecture)
    recurrent = show.readout("recurrent", cost.in_a_row, architecture, p.tokens)
    show.note("bill.in_a_row", waits=waits, recurrent=recurrent)
    return None


def say_tree(modules: cost.ModuleTree, show: Show) -> None:
    """List the modules of a network, as PyTorch prints them."""
    calls = [f"{kind}({settings})" for kind, settings in
             zip(modules.kinds, modules.settings, strict=True)]  # fmt: skip
    counts = [f"{count:,}" for count in modules.parameters.tolist()]
    columns = {"tree_name": modules.names, "tree_parameters": counts, "tree_module": calls}
    show.rows("tree", columns)
    show.facts(modules.summary, note="bill.tree")


def say_cache(p: TransformerCostParams, show: Show) -> None:
    """Show the cache of three decoders, and the savings of shared keys."""
    models = tuple(
        show.run(architectures.architecture, name, name=name) for name in architectures.DECODERS
    )
    show.figure(cache_lines, models, p.tokens)
    shared = next(model for model in models if model.key_heads < model.heads)
    retained, full = (
        show.derive(cost.cache_bytes, shared, p.tokens, heads, name=name) / 1e6
        for name, heads in (("kept", shared.key_heads), ("full", shared.heads))
    )
    show.note(
        "bill.cache", tokens=p.tokens, kept=retained, full=full,
        heads=shared.heads, key_heads=shared.key_heads,
        weights=4 * shared.total / 1e6,
    )  # fmt: skip


def say_time(show: Show) -> None:
    """Show measured times, and the share that grows with the square of the length."""
    pass_times = show.job(architectures.time_passes, name="timed")
    titles = {model.name: model.title for model in MODELS if model.name in pass_times.models}
    show.figure(measured_passes, pass_times, titles)
    for at, name in enumerate(pass_times.models):
        built = show.run(architectures.architecture, name, name=f"built_{at}")
        work = show.run(cost.operations, built, name=f"work_{at}")
        counted = work.share_at(int(pass_times.tokens[-1]))
        show.facts(pass_times.summary, at, note="bill.time", model=titles[name], counted=counted)
