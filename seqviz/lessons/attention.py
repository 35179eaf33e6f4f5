"""Attention heatmaps: who looks at whom, how strongly, and what for?"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np

from seqviz.compute.attention import masks, patterns, scaled, walkthrough
from seqviz.compute.attention.saturation import saturation
from seqviz.experiments import attention, bertviz_page, head_effects
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.heads import head_importance, heads_by_measure, importance_so_far
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.figures.attention.parts import query_key_products, scores_to_weights
from seqviz.figures.attention.scale import QUANTITIES, saturation_lines
from seqviz.figures.attention.steps import PARTS, walk_basic, walk_stage
from seqviz.lessons.bench.controls import choice, seed, sentence, slider, stepper, toggle, view
from seqviz.lessons.bench.controls import steps as stops
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.bench.show import Show
from seqviz.models import forward_cache, ready, registry, store, tap, texts
from seqviz.models.forward_cache import Masking
from seqviz.text import literal, number

STAGES = ("embed", "basic", *walkthrough.STAGES[1:])
WORDS = len(walkthrough.WORDS)
PASTED = 10_000  # characters that a text field takes; LONGEST tokens of them are read
IDS_SHOWN = 40
IN_SIGHT = 80  # tokens of the colored text, those around the query
CELLS = 10 * masks.MOST_CELLS  # characters: "512.512 " is the longest pair
MODELS = {record.name: record for record in store.offered()}
MOST_LAYERS, MOST_HEADS = 48, 25  # of any model that a teacher may allow (GPT-2 XL has these)
DEFAULT = next((m for m in registry.DEFAULTS.values() if m in MODELS), next(iter(MODELS)))
ENCODER_TEXT = "The animal did not cross the street because it was too tired."
DECODER_TEXT = "When Mary and John went to the store, John gave a drink to"

lesson = Lesson("attention", code=(scaled.attend, tap.attention, patterns.habits, patterns.rollout))


def at_stage(*names):
    """A control that belongs to some stages of the walk."""
    return lambda v: STAGES[v["stage"] - 1] in names


@dataclass(frozen=True)
class ByHand:
    """Eight words, numbers drawn with the seed of the text, and every choice on the way."""

    stage: int = stepper(1, len(STAGES), 1)
    query: int = slider(1, WORDS, 2)
    key: int = slider(1, WORDS, 3)
    part: str = choice(PARTS, "query", when=at_stage("project"))
    # Both hold at every stage: the read-outs are those of the whole way.
    scale: str = choice(scaled.SCALES, "d_k")
    causal: bool = toggle(False)
    operator: str = choice(scaled.OPERATORS, "add", when=lambda v: v["causal"])
    heads: int = stops((1, 2, 4, 8), 1, more=True)
    head: int = slider(
        0, 7, 0, more=True, when=lambda v: v["heads"] > 1, within=lambda v: v["heads"] - 1
    )
    width: str = choice(walkthrough.WIDTHS, "full", more=True, when=lambda v: v["heads"] > 1)
    d_k: int = stops((1, 2, 4, 8, 16, 32, 64), 16, more=True, when=lambda v: v["width"] == "full")
    temperature: float = slider(0.1, 5.0, 1.0, 0.1, more=True)
    seed: int = seed(123, more=True)


@dataclass(frozen=True)
class Scale:
    """What the length of the vectors does to the softmax."""

    quantity: str = view(QUANTITIES, "entropy")
    temperature: float = slider(0.1, 5.0, 1.0, 0.1)
    keys: int = stops((2, 4, 8, 16, 32, 64, 128), 16)
    seed: int = seed(1, more=True)


def kind(name):
    """A control for one kind of model."""
    return lambda v: MODELS[v["model"]].kind == name


def last_layer(v):
    return (MODELS[v["model"]].layers or MOST_LAYERS) - 1


def last_head(v):
    return (MODELS[v["model"]].heads or MOST_HEADS) - 1


def last_token(v):
    """How many tokens there are, as soon as the model is here to say so."""
    return attention.count(v["model"], *read_by(v["model"], v["encoder"], v["decoder"], v["other"]))


def read_by(model, encoder, decoder, other):
    """The texts that a model reads: an encoder may have a second one."""
    return (encoder, other) if MODELS[model].kind == "encoder" else (decoder, "")


@dataclass(frozen=True)
class Real:
    """A pretrained model and what it reads; the benches below read it too."""

    view: str = view(("mosaic", "head", "mean", "rollout", "heads"), "mosaic")
    model: str = choice(tuple(MODELS), DEFAULT, menu=True)
    encoder: str = sentence(ENCODER_TEXT, PASTED, above=True, when=kind("encoder"))
    decoder: str = sentence(DECODER_TEXT, PASTED, above=True, when=kind("decoder"))
    other: str = sentence("", PASTED, more=True, when=kind("encoder"))
    layer: int = slider(0, MOST_LAYERS - 1, 3, within=last_layer)
    head: int = slider(0, MOST_HEADS - 1, 1, within=last_head)
    over: str = choice(("layer", "all"), "layer", when=lambda v: v["view"] == "mean")
    measure: str = choice(
        (*patterns.HABITS, "entropy", "distance"), "first", menu=True,
        when=lambda v: v["view"] == "heads",
    )  # fmt: skip
    query: int = slider(
        1, texts.LONGEST, 10, within=last_token, more=True,
        when=lambda v: v["view"] in ("head", "mean", "rollout"),
    )  # fmt: skip
    key: int = slider(
        1, texts.LONGEST, 3, within=last_token, more=True,
        when=lambda v: v["view"] in ("head", "mean", "rollout"),
    )  # fmt: skip


@dataclass(frozen=True)
class Apart:
    """One query and one key of the head chosen above."""

    view: str = view(("products", "chain"), "products")
    query: int = slider(1, texts.LONGEST, 10, within=lambda v: tokens_above())
    key: int = slider(1, texts.LONGEST, 3, within=lambda v: tokens_above())


def tokens_above():
    p = lesson.values("real")
    return attention.count(p.model, *chosen(p))


@dataclass(frozen=True)
class Masks:
    """Who may look at whom."""

    kind: str = choice(masks.KINDS, "causal", menu=True)
    pads: int = slider(0, 8, 0)
    told: bool = toggle(True, when=lambda v: v["pads"] > 0)
    cells: str = sentence("", CELLS)


@dataclass(frozen=True)
class Ablate:
    """Which heads are switched off."""

    view: str = view(("switches", "each"), "switches")
    off: str = sentence("0.2", CELLS, when=lambda v: v["view"] == "switches")
    compare: str = sentence("The creature was exhausted, so it stayed where it was.", PASTED)


@dataclass(frozen=True)
class Bertviz:
    """BertViz itself."""

    picture: str = choice(("off", *bertviz_page.VIEWS), "off")


def chosen(p: Real) -> tuple[str, str]:
    """The text, and the second one, that the model reads."""
    return read_by(p.model, p.encoder, p.decoder, p.other)


def one_way(p: Real) -> bool:
    """Whether the model reads from left to right only."""
    return MODELS[p.model].kind == "decoder"


def say_what_was_read(found, show: Show) -> None:
    """Tokens with their ids, and what had to be left out."""
    pairs = " ".join(
        f"{literal(piece)}&nbsp;`{token}`"
        for piece, token in zip(found.pieces[:IDS_SHOWN], found.ids[:IDS_SHOWN], strict=True)
    )
    more = len(found.pieces) - IDS_SHOWN
    show.caption(
        show.words("note.tokens", count=len(found.pieces))
        + f" {pairs}"
        + (f" … +{more}" if more > 0 else "")
    )
    if found.left_out:
        show.note("cut", limit=texts.LONGEST, left=f"{found.left_out:,}")
    if found.note:
        show.note(found.note)


def draw_passage(found, query: int, show: Show) -> None:
    """The text, each token on a color that tells how much the query looks at it."""
    last = min(query, len(found.text.pieces))
    start = max(0, min(last - IN_SIGHT // 2, len(found.text.pieces) - IN_SIGHT))
    near = slice(start, start + IN_SIGHT)
    show.passage(
        [f"{piece} " for piece in found.text.pieces[near]],
        found.weights[last - 1][near],
        signed=False,
        title=show.words("note.query_weights", query=found.text.pieces[last - 1]),
        selected=last - start,
    )


def tensor(model: str, text: str, other: str) -> bytes:
    """Everything as a NumPy file: attention [layer, head, query, key], tokens, ids."""
    found = forward_cache.read(model, text, other)
    buffer = io.BytesIO()
    np.savez(
        buffer, attention=found.weights, tokens=np.array(found.tokens.pieces), ids=found.tokens.ids
    )
    return buffer.getvalue()


def after_change(change, show: Show) -> dict[str, tuple[str, str] | str]:
    """Read-outs of a change: of a decoder the next token, of an encoder the sentence vector."""
    if not change.text.decoder:
        return {
            "sentence": number(change.sentence, 4),
            "furthest": (
                number(float(change.moved.max()), 3),
                literal(change.text.pieces[int(change.moved.argmax())]),
            ),
        }
    before, after = (literal(change.candidates[int(row.argmax())]) for row in change.probabilities)
    return {
        "next_after": (after, show.words("metric.next_after.before", piece=before)),
        "bits": number(change.bits),
    }


def each(above: Real, text: str, show: Show) -> None:
    """Every head alone, as a job."""
    found = show.job(
        head_effects.each_head,
        name="effects",
        model=above.model,
        text=text,
        then=(head_importance, above.layer, above.head),
        so_far=(importance_so_far, above.layer, above.head),
    )
    layer, head = patterns.ranked(found.change, 1)[0]
    show.metrics(
        worth=(
            number(float(found.change[layer, head])),
            show.text("figure.head_label", layer=layer, head=head),
        ),
        half=f"{100 * float((found.change < found.change.max() / 10).mean()):.0f} %",
    )


@lesson.bench("by_hand", ByHand)
def by_hand(p: ByHand, show: Show) -> None:
    name = STAGES[p.stage - 1]
    walk = show.run(
        walkthrough.walk,
        name="walk",
        seed=p.seed,
        d_k=p.d_k,
        heads=p.heads,
        scale=p.scale,
        temperature=p.temperature,
        operator=p.operator,
        causal=p.causal,
        width=p.width,
    )
    head = min(p.head, p.heads - 1)
    if name == "basic":
        show.figure(walk_basic, walk, p.query, p.key, picks=("key", "query"))
    else:
        show.figure(
            walk_stage, walk, name, head, p.query, p.key, part=p.part, picks=("key", "query")
        )
    show.note(f"stage_{name}", stage=p.stage, all=len(STAGES))
    found = walk.attention
    scores, weights = found.scores[head], found.weights[head]
    if name == "basic":  # words themselves in place of queries and keys
        scores, weights = walk.basic.scores, walk.basic.weights
    row, column = p.query - 1, p.key - 1
    words = walk.words
    show.metrics(
        score=(number(float(scores[row, column]), 6), f"{words[row]} · {words[column]}"),
        weight=number(float(weights[row, column]), 4),
        row_sum=number(float(weights[row].sum()), 4),
        column_sum=number(float(weights[:, column].sum()), 4),
    )
    future = np.triu(np.ones((WORDS, WORDS), bool), 1)
    if p.causal and p.operator == "multiply":
        leak = float(weights[future].sum() / WORDS)
        show.note("leak", share=f"{100 * leak:.1f} %")


@lesson.bench("scale", Scale)
def scale(p: Scale, show: Show) -> None:
    found = show.run(saturation, name="found", keys=p.keys, temperature=p.temperature, seed=p.seed)
    show.figure(saturation_lines, found, p.quantity)
    at = int(np.flatnonzero(found.d_k == 64)[0])
    by = dict(zip(found.scalings, range(3), strict=True))
    show.metrics(
        variance=number(float(found.variance[by["none"], at])),
        unscaled=number(float(found.largest[by["none"], at])),
        divided=number(float(found.largest[by["d_k"], at])),
        too_much=number(float(found.largest[by["d"], at])),
    )


@lesson.bench("real", Real, leads=True)
def real(p: Real, show: Show) -> None:
    text, other = chosen(p)
    show.model(p.model, text, other)
    found = show.run(attention.mosaic, p.model, text, other, name="found")
    layer, head = min(p.layer, found.text.layers - 1), min(p.head, found.text.heads - 1)
    across = found.text.layers > found.text.heads
    grid = ("layer", "head") if across else ("head", "layer")
    one = None
    if p.view == "mosaic":
        show.figure(head_mosaic, found, layer, head, picks=grid, opens=("view", "head"))
    elif p.view == "heads":
        show.figure(heads_by_measure, found, p.measure, layer, head, picks=grid)
    elif p.view == "head":
        one = show.run(attention.head, p.model, text, other, layer, head, name="one")
        show.figure(attention_map, one, p.query, p.key, picks=("key", "query"))
    elif p.view == "mean":
        one = show.run(attention.average, p.model, text, other, p.over, layer, name="mean")
        show.figure(attention_map, one, p.query, p.key, picks=("key", "query"))
    else:
        one = show.run(attention.average, p.model, text, other, "rollout", layer, name="rollout")
        show.figure(rollout_map, one, p.query, p.key, picks=("key", "query"))
    if one is not None:
        draw_passage(one, p.query, show)
    habits = found.habits
    special = float(habits.first[layer, head] + habits.separator[layer, head])
    show.metrics(
        habit=(
            show.text(f"figure.name_{habits.name(layer, head)}"),
            show.text("figure.head_label", layer=layer, head=head),
        ),
        entropy=number(float(habits.entropy[layer, head])),
        distance=number(float(habits.distance[layer, head])),
        special=f"{100 * special:.1f} %",
    )
    say_what_was_read(found.text, show)
    show.download(
        "tensor",
        lambda: tensor(p.model, text, other),
        f"attention-{p.model}.npz",
        "application/octet-stream",
    )


@lesson.bench("apart", Apart, after=("real",))
def apart(p: Apart, show: Show) -> None:
    above = lesson.values("real")
    text, other = chosen(above)
    show.model(above.model, text, other)
    found = show.run(
        attention.parts, above.model, text, other, above.layer, above.head, name="found"
    )
    last = len(found.text.pieces)
    query, key = min(p.query, last), min(p.key, last)
    if p.view == "products":
        show.figure(query_key_products, found, query, key)
    else:
        show.figure(scores_to_weights, found, query, key)
    pair = (found.text.pieces[query - 1], found.text.pieces[key - 1])
    score = float(found.scores[query - 1, key - 1])
    show.metrics(
        product=(number(score, 4), " · ".join(map(literal, pair))),
        divided_by=(number(found.divisor, 4), f"√{found.keys.shape[1]}"),
        divided_score=number(score / found.divisor, 4),
        weight=number(float(found.weights[query - 1, key - 1]), 4),
    )
    show.caption(show.text("figure.head_label", layer=found.layer, head=found.head))


@lesson.bench("masks", Masks, after=("real",))
def mask(p: Masks, show: Show) -> None:
    above = lesson.values("real")
    text, _ = chosen(above)
    # On the axes places count from 1, in a mask from 0.
    cells = tuple((a - 1, b - 1) for a, b in masks.pairs(p.cells) if a and b)
    show.model(above.model, text)
    if p.kind not in ("own", "causal" if one_way(above) else "none") or p.pads or cells:
        ready.check_live(above.model, text)
    masking = Masking(p.kind, p.pads, p.told, cells)
    one = show.run(
        attention.head, above.model, text, "", above.layer, above.head, masking, name="one"
    )
    change = show.run(attention.masked, above.model, text, masking, name="change")
    show.figure(attention_mask, one, toggles=("cells", "yx"))
    real = one.text.real
    on_pads = float(one.weights[real][:, ~real].sum(1).mean()) if p.pads else 0.0
    after = after_change(change, show)
    show.metrics(
        allowed=f"{100 * float(one.allowed.mean()):.0f} %",
        on_pads=f"{100 * on_pads:.1f} %",
        **after,
    )
    if (~one.allowed).all(1).any():
        show.note("blind")


@lesson.bench("ablate", Ablate, after=("real",))
def ablate(p: Ablate, show: Show) -> None:
    above = lesson.values("real")
    text, _ = chosen(above)
    off = masks.pairs(p.off)
    show.model(above.model, text)
    ready.check_live(above.model, text)
    if p.view == "each":
        each(above, text, show)
        return
    encoder = MODELS[above.model].kind == "encoder"
    compare = p.compare if encoder else ""
    change = show.run(attention.ablate, above.model, text, compare, off, name="change")
    order = "xy" if change.text.layers > change.text.heads else "yx"
    show.figure(head_switches, change, off, toggles=("off", order))
    shown = dict(after_change(change, show))
    if encoder and compare.strip():
        shown["pair"] = (
            number(float(change.pair[1]), 4),
            show.words("metric.pair.before", value=number(float(change.pair[0]), 4)),
        )
    show.metrics(off_count=f"{change.off} / {change.text.layers * change.text.heads}", **shown)


@lesson.bench("bertviz", Bertviz, after=("real",))
def bertviz(p: Bertviz, show: Show) -> None:
    above = lesson.values("real")
    text, other = chosen(above)
    if p.picture == "off":
        show.hint("bertviz")
        return
    show.model(above.model, text, other)
    found = forward_cache.read(above.model, text, other)
    layer = min(above.layer, len(found.weights) - 1)
    made = bertviz_page.page(
        p.picture,
        found.weights,
        found.tokens.pieces,
        layer,
        found.tokens.second or None,
        show.dark,
    )
    show.page(made.html, made.height, show.words("note.bertviz_alt", tokens=len(found.tokens.ids)))
    show.caption(show.words("note.bertviz", kilobytes=f"{made.bytes / 1000:,.0f}", layer=layer))


SCORES = ((8, 4, 16), (6, 3, 9), (10, 4, 4), (5, 5, 64), (2, 8, 36))


def first_weight(first: float, second: float, d_k: int) -> float:
    """The weight of the first of two keys with these scores."""
    return float(scaled.softmax(np.array([[first, second]]) / np.sqrt(d_k))[0, 0])


lesson.exercise(
    "weight",
    cases=[dict(zip(("first", "second", "d_k"), case, strict=True)) for case in SCORES],
    answer=first_weight,
    within=0.006,
)
