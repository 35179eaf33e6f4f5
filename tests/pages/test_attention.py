"""The lesson on attention: eight words by hand, and all heads of real models."""

from __future__ import annotations

import io

import numpy as np
import pytest
from attention_page import (
    ENCODER,
    Passage,
    drawn,
    note,
    opened,
    read_by,
    said,
    shown,
    traces,
)
from looking import bench, figures

from seqviz.compute.attention import scaled, walkthrough
from seqviz.compute.attention.saturation import saturation
from seqviz.experiments import attention
from seqviz.figures.attention.heads import heads_by_measure
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.figures.attention.scale import QUANTITIES, saturation_lines
from seqviz.figures.attention.steps import walk_basic, walk_stage
from seqviz.lessons.bench.show import Show
from seqviz.models import forward_cache
from seqviz.text import literal, number

STAGES = ("embed", "basic", "project", "scores", "scale", "mask", "softmax", "sum", "concat")
WALKS = (
    ("en", {}, {}),
    ("zh", {"causal": True, "operator": "multiply", "scale": "none", "seed": 7}, {}),
    ("en", {"heads": 8, "width": "split", "scale": "d", "temperature": 5.0}, {"head": 7}),
    ("zh", {"heads": 2, "d_k": 64, "causal": True, "operator": "multiply"}, {"head": 1}),
)


# ----------------------------------------------------------------------------------------- by hand
@pytest.mark.parametrize(("lang", "settings", "more"), WALKS)
def test_every_stage_by_hand(visit, lang, settings, more):
    walk = walkthrough.walk(**settings)
    head, query, key = more.get("head", 0), 6, 4
    page = opened(
        visit, lang,
        **{f"by_hand__{name}": v for name, v in {**settings, **more, "query": query}.items()},
        by_hand__key=key,
    )  # fmt: skip
    words = walkthrough.WORDS[query - 1], walkthrough.WORDS[key - 1]
    leaks = settings.get("operator") == "multiply"
    for stage, name in enumerate(STAGES, 1):
        page.run(at__by_hand__stage=stage)
        draw = (walk_basic, walk) if name == "basic" else (walk_stage, walk, name, head)
        assert drawn(page, "by_hand") == traces(page, *draw, query, key), name
        scores, weights = walk.attention.scores[head], walk.attention.weights[head]
        if name == "basic":
            scores, weights = walk.embeddings @ walk.embeddings.T, walk.basic.weights
        values = shown(page, "by_hand")
        score, of = values.pop("score")
        assert of == " · ".join(words)
        assert score == number(float(scores[query - 1, key - 1]), 6)
        assert values == {
            "weight": (number(float(weights[query - 1, key - 1]), 4), ""),
            "row_sum": (number(1.0, 4), ""),
            "column_sum": (number(float(weights[:, key - 1].sum()), 4), ""),
        }, name
        sentences = said(page, "by_hand")
        assert note(page, f"stage_{name}", stage=stage, all=len(STAGES)) in sentences
        start = note(page, "leak", share="@").split("@")[0]
        leak = [sentence for sentence in sentences if sentence.startswith(start)]
        assert len(leak) == leaks, name
        if leaks:  # by hand: what a row gives to the words behind it
            share = sum(weights[row, row + 1 :].sum() for row in range(8)) / 8
            assert leak == [note(page, "leak", share=f"{100 * share:.1f} %")]


def test_a_projection_can_be_chosen(visit):
    page = opened(visit, by_hand__stage=3)
    walk = walkthrough.walk()
    for part in ("query", "key", "value"):
        page.run(at__by_hand__part=part)
        assert drawn(page, "by_hand") == traces(
            page, walk_stage, walk, "project", 0, 2, 3, part=part
        )


@pytest.mark.parametrize(("lang", "quantity"), [("en", QUANTITIES[0]), ("zh", QUANTITIES[-1])])
def test_why_a_square_root(visit, lang, quantity):
    page = opened(visit, lang, scale__quantity=quantity, scale__keys=8, scale__temperature=2.0)
    found = saturation(keys=8, temperature=2.0, seed=1)
    assert drawn(page, "scale") == traces(page, saturation_lines, found, quantity)
    at = list(found.d_k).index(64)
    largest = dict(zip(found.scalings, found.largest[:, at], strict=True))
    values = {key: value for key, (value, _) in shown(page, "scale").items()}
    assert [values[key] for key in ("unscaled", "divided", "too_much")] == [
        number(float(largest[name])) for name in ("none", "d_k", "d")
    ]
    # 64 products of variance 1, divided by 2 squared; of some hundreds of draws, within 20 %
    assert float(values["variance"]) == pytest.approx(16, rel=0.2)


def test_the_exercise_takes_the_softmax_of_the_divided_scores(visit):
    page = opened(visit)
    for variant, (a, b, d_k) in enumerate(((8, 4, 16), (6, 3, 9), (10, 4, 4), (5, 5, 64))):
        right = 1 / (1 + np.exp((b - a) / np.sqrt(d_k)))
        page.app.number_input(key=f"at.exercise.weight.{variant}").set_value(round(right, 2)).run()
        assert page.app.success[0].value.startswith(f"**{page.text('frame.right')}**")
        page.app.button(key="at.exercise.weight.next").click().run()
        assert not page.app.success


# ------------------------------------------------------------------------------------ real models
READ = (
    ("en", "minilm", "", 3, 1),
    ("zh", "minilm", "It slept all day.", 5, 11),
    ("en", "smollm2", "", 29, 8),
)


@pytest.mark.parametrize(("lang", "model", "other", "layer", "head"), READ)
def test_every_view_of_all_heads(visit, lang, model, other, layer, head):
    text = read_by(model)
    query, key = 9, 2
    page = opened(
        visit, lang, real__model=model, real__other=other, real__layer=layer, real__head=head
    )
    mosaic = attention.mosaic(model, text, other)
    one = attention.head(model, text, other, layer, head)
    means = {over: attention.average(model, text, other, over, layer) for over in ("layer", "all")}
    paths = attention.average(model, text, other, "rollout", layer)
    assert drawn(page, "real") == traces(page, head_mosaic, mosaic, layer, head)
    page.run(at__real__view="heads", at__real__measure="previous")
    ranked = (heads_by_measure, mosaic, "previous", layer, head)
    assert drawn(page, "real") == traces(page, *ranked)
    assert not bench(page.app, "real").get("html")
    page.run(at__real__view="head", at__real__query=query, at__real__key=key)
    assert drawn(page, "real") == traces(page, attention_map, one, query, key)
    check_passage(page, one, query)
    for over, mean in means.items():
        page.run(at__real__view="mean", at__real__over=over)
        assert drawn(page, "real") == traces(page, attention_map, mean, query, key)
        check_passage(page, mean, query)
    page.run(at__real__view="rollout")
    assert drawn(page, "real") == traces(page, rollout_map, paths, query, key)
    check_passage(page, paths, query)


def check_passage(page, found, query: int) -> None:
    passage = Passage(page)
    assert passage.text.split() == " ".join(found.text.pieces).split()
    assert passage.outlined() == [query]
    np.testing.assert_allclose(passage.deep(), 0.7 * found.weights[query - 1], atol=0.0051)


@pytest.mark.parametrize(("lang", "model", "other", "layer", "head"), READ)
def test_what_a_head_does_and_what_was_read(visit, lang, model, other, layer, head):
    page = opened(
        visit, lang, real__model=model, real__other=other, real__layer=layer, real__head=head
    )
    found = forward_cache.read(model, read_by(model), other)
    weights = found.weights[layer, head].astype(float)
    places = np.arange(len(weights))
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -np.nansum(weights * np.log2(weights), 1)
    far = (weights * abs(places[:, None] - places)).sum(1)
    habits = attention.mosaic(model, read_by(model), other).habits
    values = shown(page, "real")
    assert values["habit"] == (
        page.text(f"figure.name_{habits.name(layer, head)}"),
        page.text("figure.head_label", layer=layer, head=head),
    )
    # What a head does is a mean over the queries that have a choice: all but the first.
    assert values["entropy"][0] == number(float(bits[1:].mean()))
    assert values["distance"][0] == number(float(far[1:].mean()))
    on_first_or_separator = weights[1:, found.tokens.special | (places == 0)].sum(1).mean()
    assert values["special"][0] == f"{100 * on_first_or_separator:.1f} %"
    tokens = note(page, "tokens", count=len(places))
    pairs = zip(found.tokens.pieces, found.tokens.ids, strict=True)
    assert f"{tokens} " + " ".join(f"{literal(p)}&nbsp;`{i}`" for p, i in pairs) in said(
        page, "real"
    )


def test_the_file_holds_every_weight(visit, monkeypatch):
    saved = {}
    monkeypatch.setattr(
        Show, "download", lambda show, key, content, name, mime: saved.update({name: content})
    )
    opened(visit, real__other="It slept.")
    opened(visit, real__model="smollm2")
    texts = {"minilm": (ENCODER, "It slept."), "smollm2": (read_by("smollm2"), "")}
    assert set(saved) == {f"attention-{model}.npz" for model in texts}
    for model, text in texts.items():
        found = forward_cache.read(model, *text)
        with np.load(io.BytesIO(saved[f"attention-{model}.npz"]()), allow_pickle=False) as file:
            assert set(file) == {"attention", "tokens", "ids"}
            np.testing.assert_array_equal(file["attention"], found.weights)
            assert tuple(file["tokens"]) == found.tokens.pieces
            np.testing.assert_array_equal(file["ids"], found.tokens.ids)


# ------------------------------------------------------------- what the words of the lesson claim
def test_the_pronoun_looks_at_the_animal(visit):
    """The reveal, and the places that are chosen when the page opens."""
    page = opened(visit, real__view="head")
    it, animal = page.value("real", "query"), page.value("real", "key")
    found = forward_cache.read("minilm", ENCODER)
    assert [found.tokens.pieces[n - 1] for n in (it, animal)] == ["it", "animal"]
    row = found.weights[:, :, it - 1]
    assert row[3, 1, animal - 1] == pytest.approx(0.69, abs=0.005)
    assert row[5, 11, animal - 1] == pytest.approx(0.66, abs=0.005)
    most = row.argmax(-1)
    assert 2 <= (most == animal - 1).sum() <= 10  # "in a few heads" of 72
    assert (most == 0).mean() > 0.5  # "in most other heads at [CLS]"


def test_heads_that_are_named_in_the_prose(visit):
    for text in (ENCODER, "We went home early.", "one two three four five six seven"):
        habits = attention.mosaic("minilm", text).habits
        assert habits.previous[0, 2] > 0.8  # "nearly everything to the token before"
    for model in ("minilm", "smollm2"):
        found = attention.mosaic(model, read_by(model))
        later = found.habits.first[found.text.layers // 2 :]
        assert np.median(later) > 0.4, model
    page = opened(visit)
    assert "layer 0, head 2" in " ".join(element.value for element in page.app.markdown)


def test_what_multiplying_by_zero_gives():
    """The reveal: the first score is 2, all later ones become 0."""
    first = scaled.softmax(np.array([[2.0, 0.0, 0.0]]))[0]
    assert [round(float(w), 3) for w in first[:2]] == [0.787, 0.107]


def test_one_head_is_hardly_missed():
    """The reveal: a sentence vector hardly changes when one head, any one, is off."""
    kept = [
        attention.ablate("minilm", ENCODER, "", ((layer, head),)).sentence
        for layer in range(0, 6)
        for head in range(0, 12, 4)
    ]
    assert np.median(kept) > 0.99


def test_benches_without_a_model_are_drawn_without_one(visit):
    page = opened(visit)
    for name in ("by_hand", "scale"):
        assert len(figures(bench(page.app, name))) == 1
