"""Examples of figures of attention."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float32

from seqviz.compute.attention.hand_set import walk_features
from seqviz.compute.attention.results import (
    AttentionMap,
    Change,
    Effects,
    HeadParts,
    Mosaic,
    ReadText,
)
from seqviz.compute.attention.saturation import saturation
from seqviz.compute.attention.scaled import attend
from seqviz.compute.attention.trials import HeadTrials
from seqviz.compute.attention.walkthrough import STAGES, walk
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.heads import head_importance, heads_by_measure, importance_so_far
from seqviz.figures.attention.inside_head import query_key_products, scores_to_weights
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.figures.attention.scale import QUANTITIES, saturation_lines
from seqviz.figures.attention.steps import walk_basic, walk_stage
from seqviz.figures.attention.trials import head_on_pairs, head_on_texts, trials_so_far
from testing.fake import fake
from testing.figure_examples import Example

WORDS = ("[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]")
CANDIDATES = ("␣Paris", "␣the", "<b>", "⏎")


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    return (*_of_models(), *_of_values(), *_of_trials(), *_of_formulas())


def _of_models() -> tuple[Example, ...]:
    wide, deep = mosaic_of(3, 5), mosaic_of(5, 3)
    result, causal = map_of(), map_of(causal=True)
    parts, later = parts_of(), parts_of(causal=True)
    change, message = change_of(), change_of(decoder=True)
    existing, some = effects_of(3, 5, 3), effects_of(5, 3, 2)
    return (
        Example("mosaic", head_mosaic, (wide, 1, 4), wide.habits.entropy[1, 4]),
        Example("mosaic, deep", head_mosaic, (deep, 4, 1), deep.habits.entropy[4, 1]),
        Example("attention map", attention_map, (result, 3, 5), result.weights[2, 4]),
        Example("attention map, causal", attention_map, (causal, 5, 2), causal.weights[4, 1]),
        Example("rollout", rollout_map, (result, 3, 5), result.weights[2].max()),
        Example("ranked heads", heads_by_measure, (wide, "previous", 1, 1),
                wide.habits.previous.max()),
        Example("ranked heads, deep", heads_by_measure, (deep, "entropy", 1, 1),
                deep.habits.entropy.max()),
        Example("products", query_key_products, (parts, 3, 5), parts.weights[2, 4]),
        Example("products, causal", query_key_products, (later, 5, 2), later.scaled[4, 1]),
        Example("chain", scores_to_weights, (parts, 3, 5), parts.scores[2, 4]),
        Example("chain, causal", scores_to_weights, (later, 5, 2), later.weights[4, 1]),
        Example("switches", head_switches, (change, ((1, 2), (5, 11))), change.moved.max()),
        Example("switches of a decoder", head_switches, (message, ((1, 2),)),
                message.probabilities[1].max()),
        Example("effects", head_importance, (existing, 2, 2), np.nanmax(existing.change)),
        Example("effects, half done", head_importance, (some, 2, 2), np.nanmax(some.change)),
        Example("effects so far", importance_so_far, ([some], 2, 2), np.nanmax(some.change)),
        Example("permissions", attention_mask, (causal,), 8),
    )  # fmt: skip


def _of_values() -> tuple[Example, ...]:
    """Return examples of weights times value norms, and of mean ablation of heads."""
    wide, result, parts = mosaic_of(3, 5, by="value"), map_of(by="value"), parts_of()
    change, mean = change_of(), change_of(seed=1)
    message, retained = change_of(decoder=True), change_of(decoder=True, seed=1)
    return (
        Example("mosaic, values", head_mosaic, (wide, 1, 4), wide.habits.entropy[1, 4]),
        Example("attention map, values", attention_map, (result, 3, 5), result.weights[2, 4]),
        Example("products, values", query_key_products, (parts, 3, 5, "value"),
                parts.carried[2, 4]),
        Example("chain, values", scores_to_weights, (parts, 3, 5, "value"), parts.weights[2, 4]),
        Example("switches, mean", head_switches, (change, ((1, 2),), mean), change.moved.max()),
        Example("switches of a decoder, mean", head_switches, (message, ((1, 2),), retained),
                message.probabilities[1].max()),
    )  # fmt: skip


def _of_trials() -> tuple[Example, ...]:
    pairs, deep = trials_of("pronoun", 3, 5), trials_of("pronoun", 5, 3)
    read, twice = trials_of("previous", 3, 5), trials_of("repeated", 5, 3)
    return (
        Example("pairs", head_on_pairs, (pairs, 1, 4), 100 * pairs.mean_of(1, 4).mean),
        Example("pairs, deep", head_on_pairs, (deep, 4, 1), 100 * deep.mean_of(4, 1).mean),
        Example("texts", head_on_texts, (read, 1, 4), 100 * read.mean_of(1, 4).mean),
        Example("texts, deep", head_on_texts, (twice, 4, 1), 100 * twice.mean_of(4, 1).mean),
        Example("trials so far", trials_so_far, ([0.25],), 25),
    )


def _of_formulas() -> tuple[Example, ...]:
    item, several = walk(), walk(heads=8, d_k=4, causal=True, scale="d", temperature=2.0)
    leaky, result = walk(causal=True, operator="multiply"), saturation()
    turned, readable = walk(heads=2, order="reversed"), walk_features(causal=True)
    words = len(item.words)  # the description says how large each matrix is
    stages = [
        Example(
            f"walk, {stage}, {name}", walk_stage, (created, stage, created.heads - 1, 2, 3), words
        )
        for name, created in (("one head", item), ("eight heads", several), ("features", readable))
        for stage in STAGES
    ]
    return (
        *stages,
        Example("walk, one matrix", walk_stage, (several, "project", 3, 2, 3, "key", True), words),
        Example("walk, another order", walk_stage, (turned, "scores", 1, 2, 3), words),
        Example("walk, mask multiplied", walk_stage, (leaky, "mask", 0, 2, 3), words),
        Example("walk, without parameters", walk_basic, (item, 2, 3), words),
        Example("walk, without parameters, causal", walk_basic, (leaky, 2, 3), words),
        *(
            Example(f"saturation, {quantity}", saturation_lines, (result, quantity),
                    float(getattr(result, quantity)[0, -1]))
            for quantity in QUANTITIES
        ),
    )  # fmt: skip


# --- results as of a pretrained model -----------------------------------------------------------


def weights_of(*shape: int, causal: bool = False) -> Float32[np.ndarray, "..."]:
    """Return random weights [..., query, key] whose rows sum to 1."""
    weights = np.random.RandomState(0).gamma(0.4, size=shape) + 1e-6
    weights = np.tril(weights) if causal else weights
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def text_of(pieces: tuple[str, ...], decoder: bool, layers: int = 6, heads: int = 12) -> ReadText:
    """Return a text of these tokens, read by a model of this size."""
    return fake(ReadText, pieces=pieces, decoder=decoder, layers=layers, heads=heads)


def mosaic_of(
    layers: int, heads: int, pieces: tuple[str, ...] = WORDS, side: int = 51, by: str = "weight"
) -> Mosaic:
    """Return all heads of a model, as tiles of at most `side` cells per side."""
    count = len(pieces)
    return fake(
        Mosaic, text=text_of(pieces, False), layer=layers, head=heads, token=count, by=by,
        row=min(count, side), column=min(count, side), cells=max(1.0, count / side),
    )  # fmt: skip


def map_of(
    pieces: tuple[str, ...] = WORDS, layer: int = 2, head: int = 3, causal: bool = False,
    by: str = "weight",
) -> AttentionMap:  # fmt: skip
    """Return one head of a model with 6 layers of 12 heads."""
    count = len(pieces)
    weights = weights_of(count, count, causal=causal)
    return fake(
        AttentionMap, text=text_of(pieces, causal), layer=layer, head=head, by=by,
        weights=weights if by == "weight" else 3 * weights, allowed=_allowed(count, causal),
    )  # fmt: skip


def _allowed(count: int, causal: bool) -> Bool[np.ndarray, "query key"]:
    return np.tri(count, dtype=bool) if causal else np.ones((count, count), bool)


def parts_of(pieces: tuple[str, ...] = WORDS, d_k: int = 8, causal: bool = False) -> HeadParts:
    """Return one head whose stages are computed from its queries and keys."""
    q, k, v = np.random.RandomState(0).standard_normal((3, len(pieces), d_k)).astype(np.float32)
    allowed = _allowed(len(pieces), causal)
    result = attend(q, k, v, divide_by=float(np.sqrt(d_k)), allowed=allowed)
    return fake(
        HeadParts, text=text_of(pieces, causal), queries=q, keys=k, scores=result.scores,
        scaled=result.scaled, weights=result.weights, allowed=allowed,
    )  # fmt: skip


def change_of(
    layers: int = 6, heads: int = 12, pieces: tuple[str, ...] = WORDS, decoder: bool = False,
    seed: int = 0,
) -> Change:  # fmt: skip
    """Return the effect of head ablation on vectors, or on the next token of a decoder."""
    return fake(
        Change, seed, text=text_of(pieces, decoder, layers, heads), token=len(pieces),
        candidates=CANDIDATES if decoder else (),
    )  # fmt: skip


def trials_of(hypothesis: str, layers: int, heads: int) -> HeadTrials:
    """Return trials of a hypothesis with all heads of a small model."""
    return fake(
        HeadTrials, hypothesis=hypothesis, layer=layers, head=heads, trial=12, label=12, sentence=2
    )


def effects_of(layers: int, heads: int, done: int, decoder: bool = True) -> Effects:
    """Return the effects of the heads of the first `done` layers; the others are unknown."""
    effects = fake(Effects, layer=layers, head=heads, decoder=decoder)
    effects.change[done:] = np.nan
    return effects
