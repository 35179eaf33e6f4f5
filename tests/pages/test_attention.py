"""The lesson on attention: eight words by hand, all heads of real models, and what is claimed."""

from __future__ import annotations

import io
from functools import partial

import numpy as np
import pytest

from seqviz.compute.attention import walkthrough
from seqviz.compute.attention.saturation import saturation
from seqviz.core.i18n import Text, escape_markdown, number
from seqviz.experiments import attention
from seqviz.figures.attention.heads import heads_by_measure
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.figures.attention.scale import QUANTITIES, saturation_lines
from seqviz.figures.attention.steps import walk_basic, walk_stage
from seqviz.lessons.attention.lesson import lesson
from seqviz.lessons.framework.output import Download
from seqviz.models import forward_cache
from tests.pages.attention_page import ENCODER, opened, read_by
from tests.pages.page_assertions import colored, every_bench_shows
from tests.pages.scenes import Scene, check

pytestmark = pytest.mark.usefixtures("minilm", "smollm2")

STAGES = ("embed", "basic", "project", "scores", "scale", "mask", "softmax", "sum", "concat")
READOUTS = ("score", "weight", "row_sum", "column_sum")
# From the stage on that makes it, a number is shown; "basic" makes all of them.
SHOWN = {"scores": 1, "scale": 1, "mask": 1, "basic": 4, "softmax": 4, "sum": 4, "concat": 4}
# Controls that have no effect yet at a stage.
LATER = {"embed": ("scale", "temperature", "causal", "operator"), "basic": ("scale",),
         "scale": ("causal", "operator")}  # fmt: skip
LATER |= {"project": LATER["embed"], "scores": LATER["embed"]}
WALKS = (
    ("en", {}, {}),
    ("zh", {"causal": True, "operator": "multiply", "scale": "none", "seed": 7}, {}),
    ("en", {"heads": 8, "width": "split", "scale": "d", "temperature": 5.0}, {"head": 7}),
    ("zh", {"heads": 2, "d_k": 64, "causal": True, "operator": "multiply"}, {"head": 1}),
)


@pytest.mark.parametrize(
    ("lang", "settings"),
    [
        ("en", {}),
        ("zh", {"by_hand.stage": 6, "by_hand.causal": True, "scale.keys": 8, "real.view": "head",
                "real.query": 9, "apart.view": "chain", "masks.pads": 2,
                "ablate.off": "0.0 5.11", "bertviz.picture": "head"}),
    ],
)  # fmt: skip
def test_page_matches_bench_output(visit, lang, settings):
    page = opened(visit, lang, **{key.replace(".", "__"): v for key, v in settings.items()})
    every_bench_shows(page, lesson, settings, lang)


# ----------------------------------------------------------------------------------------- by hand
@pytest.mark.parametrize(("lang", "settings", "more"), WALKS)
def test_by_hand_bench_matches_walkthrough_at_each_stage(lang, settings, more):
    text, chosen = Text(lang), settings
    head, query, key = more.get("head", 0), 6, 4
    words = walkthrough.WORDS[query - 1], walkthrough.WORDS[key - 1]
    for stage, name in enumerate(STAGES, 1):
        settings = {item: chosen[item] for item in chosen if item not in LATER.get(name, ())}
        walk = walkthrough.walk(**settings)
        scores, weights = walk.attention.scores[head], walk.attention.weights[head]
        draw = partial(walk_stage, walk, name, head, query, key, joined=True)
        if name == "basic":
            scores, weights = walk.embeddings @ walk.embeddings.T, walk.basic.weights
            draw = partial(walk_basic, walk, query, key)
        values = {**settings, **more, "query": query, "key": key, "stage": stage}
        readouts = {
            "score": number(float(scores[query - 1, key - 1]), 4),
            "weight": number(float(weights[query - 1, key - 1]), 4),
            "row_sum": number(1.0, 4),
            "column_sum": number(float(weights[:, key - 1].sum()), 4),
        }
        shown = {item: readouts[item] for item in READOUTS[: SHOWN.get(name, 0)]}
        output = check(lesson, Scene("by_hand", values, draw, shown), lang)
        assert list(output.readouts) == list(shown)
        if shown:
            assert output.readouts["score"].caption == " · ".join(words)
        step, *others = output.notes
        same = name == "scale" and walk.divide_by * walk.temperature == 1
        message = f"attention.note.stage.{name}" + ("_by_one" if same else "")
        if name == "mask":
            message += "_multiplied" if "operator" in settings else "_open"
        facts = walk.numbers(name, head, query - 1)
        assert facts["largest"] == pytest.approx(np.abs(scores).max())
        assert facts["share"] == weights[query - 1].max()
        assert step == text(message, stage=stage, all=len(STAGES), **facts)
        # By hand: what a row gives to the words behind it.
        share = sum(weights[row, row + 1 :].sum() for row in range(8)) / 8
        expected = text("attention.note.leak", share=share)
        assert (expected in others) == ("operator" in settings), name


@pytest.mark.parametrize("part", ["query", "key", "value"])
def test_by_hand_bench_shows_chosen_projection(part):
    draw = partial(walk_stage, walkthrough.walk(), "project", 0, 2, 3, part=part)
    check(lesson, Scene("by_hand", {"stage": 3, "part": part}, draw, ()))


@pytest.mark.parametrize(("lang", "quantity"), [("en", QUANTITIES[0]), ("zh", QUANTITIES[-1])])
def test_scale_bench_matches_saturation(lang, quantity):
    result = saturation(keys=8, temperature=2.0, seed=1)
    at = list(result.d_k).index(64)
    largest = dict(zip(result.scalings, result.largest[:, at], strict=True))
    scene = Scene(
        "scale",
        {"quantity": quantity, "keys": 8, "temperature": 2.0},
        partial(saturation_lines, result, quantity),
        {
            "variance": number(float(result.variance[result.scalings.index("none"), at])),
            "unscaled": number(float(largest["none"])),
            "divided": number(float(largest["d_k"])),
            "too_much": number(float(largest["d"])),
        },
    )
    # 64 products of variance 1, divided by 2 squared; of some hundreds of draws, within 20%
    variance = check(lesson, scene, lang).readouts["variance"].value
    assert float(variance) == pytest.approx(16, rel=0.2)


def test_exercise_uses_softmax_of_divided_scores():
    for variant, (a, b, d_k) in enumerate(((8, 4, 16), (6, 3, 9), (10, 4, 4), (5, 5, 64))):
        case, answer, within = lesson.exercises["weight"].variant_of(variant)
        assert case == {"first": a, "second": b, "d_k": d_k}
        assert answer == pytest.approx(1 / (1 + np.exp((b - a) / np.sqrt(d_k))))
        assert 0.005 < within < 0.01  # two decimals are an answer


# ------------------------------------------------------------------------------------ real models
READ = (
    ("en", "minilm", "", 3, 1),
    ("zh", "minilm", 'It\'s "so" {tired}\\n.', 5, 11),
    ("en", "smollm2", "", 29, 8),
)


@pytest.mark.parametrize(("lang", "model", "other", "layer", "head"), READ)
def test_real_bench_matches_attention_in_every_view(lang, model, other, layer, head):
    text, query, key = read_by(model), 9, 2
    chosen = {"model": model, "layer": layer, "head": head} | ({"other": other} if other else {})
    mosaic = attention.mosaic(model, text, other)
    item = attention.head(model, text, other, layer, head)
    means = {over: attention.average(model, text, other, over, layer) for over in ("layer", "all")}
    paths = attention.average(model, text, other, "rollout", layer)
    anchor = {"query": query, "key": key}
    views = (
        ({}, partial(head_mosaic, mosaic, layer, head), None),
        ({"view": "heads", "measure": "previous"},
         partial(heads_by_measure, mosaic, "previous", layer, head), None),
        ({"view": "head", **anchor}, partial(attention_map, item, query, key), item),
        *(({"view": "mean", "over": over, **anchor}, partial(attention_map, mean, query, key), mean)
          for over, mean in means.items()),
        ({"view": "rollout", **anchor}, partial(rollout_map, paths, query, key), paths),
    )  # fmt: skip
    words, habits = Text(lang), mosaic.habits
    on_special = habits.first[layer, head] + habits.separator[layer, head]
    readouts = {
        "habit": words(f"figure.name_{habits.name(layer, head)}"),
        "entropy": number(float(habits.entropy[layer, head])),
        "distance": number(float(habits.distance[layer, head])),
        "special": f"{100 * on_special:.1f}%",
    }
    tokens = words("attention.note.tokens", count=len(item.text.pieces), unknown=0)
    pairs = zip(item.text.pieces, item.text.ids, strict=True)
    listed = f"{tokens} " + " ".join(f"{escape_markdown(p)}&nbsp;`{i}`" for p, i in pairs)
    for values, draw, weights in views:
        output = check(lesson, Scene("real", {**chosen, **values}, draw, readouts), lang)
        label = words("figure.head_label", layer=layer, head=head)
        assert output.readouts["habit"].caption == label
        assert listed in output.notes
        for passage in colored(output):
            expected = 0.7 * weights.weights[query - 1]
            np.testing.assert_allclose(passage.deep(), expected, atol=0.0051)
        assert len(colored(output)) == (weights is not None)


@pytest.mark.parametrize(("model", "other"), [("minilm", "It slept."), ("smollm2", "")])
def test_real_bench_download_contains_every_weight(model, other):
    values = {"model": model} | ({"other": other} if other else {})
    (saved,) = lesson.benches["real"].run(values).of(Download)
    assert saved.file_name == f"attention-{model}.npz"
    result = forward_cache.read(model, read_by(model), other)
    with np.load(io.BytesIO(saved.content()), allow_pickle=False) as file:
        assert set(file) == {"attention", "tokens", "ids"}
        np.testing.assert_array_equal(file["attention"], result.weights)
        assert tuple(file["tokens"]) == result.tokens.pieces
        np.testing.assert_array_equal(file["ids"], result.tokens.ids)


# ------------------------------------------------------------- what the words of the lesson claim
def test_prose_claims_about_heads_hold(untouched):
    prose = " ".join(element.value for element in untouched("attention").app.markdown)
    assert "layer 0, head 2" in prose
    for text in (ENCODER, "We went home early.", "one two three four five six seven"):
        habits = attention.mosaic("minilm", text).habits
        assert habits.previous[0, 2] > 0.8
        assert habits.previous.argmax() == 2
    for model in ("minilm", "smollm2"):
        result = attention.mosaic(model, read_by(model))
        later = result.habits.first[result.text.layers // 2 :]
        assert np.median(later) > 0.4, model  # "many heads give the first token much weight"
