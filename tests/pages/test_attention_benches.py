"""The lesson on attention: one head taken apart, masks, heads switched off, BertViz, the code."""

from __future__ import annotations

import json
import re
from functools import partial

import numpy as np
import pytest
from attention_page import DECODER, ENCODER, MODEL_BENCHES, drawn, opened, read_by, shown, traces
from looking import alerts, bench, figures
from scenes import Scene, check

from seqviz import jobs
from seqviz.compute.attention import patterns
from seqviz.experiments import attention, bertviz_page, head_effects
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.heads import head_importance
from seqviz.figures.attention.maps import attention_map
from seqviz.figures.attention.parts import query_key_products, scores_to_weights
from seqviz.lessons.attention import lesson
from seqviz.lessons.bench.output import Page
from seqviz.models import device, forward_cache
from seqviz.models.forward_cache import Masking
from seqviz.text import Text, literal, number

pytestmark = pytest.mark.usefixtures("minilm", "smollm2")

COMPARE = "The creature was exhausted, so it stayed where it was."


# --------------------------------------------------------------------------------- one head apart
@pytest.mark.parametrize(("lang", "model", "width"), [("zh", "minilm", 32), ("en", "smollm2", 64)])
def test_the_head_chosen_above_is_taken_apart(lang, model, width):
    query, key = 11, 6
    values = {"real.model": model, "real.layer": 4, "real.head": 7, "query": query, "key": key}
    found = attention.parts(model, read_by(model), "", 4, 7)
    q, k = found.queries[query - 1].astype(float), found.keys[key - 1].astype(float)
    score = float(q @ k)
    readouts = ("product", "divided_by", "divided_score", "weight")
    for view, draw in (("products", query_key_products), ("chain", scores_to_weights)):
        settings = values | ({"view": view} if view == "chain" else {})
        scene = Scene("apart", settings, partial(draw, found, query, key), readouts)
        output = check(lesson, scene, lang)
        read = output.readouts
        # Four digits of a sum of 64 float32 products: one more or less in the last.
        for name, wanted in (("product", score), ("divided_score", score / np.sqrt(width))):
            value = float(read[name].value.replace("−", "-").replace(",", ""))
            assert value == pytest.approx(wanted, rel=1.1e-3), name
        pieces = [literal(found.text.pieces[n - 1]) for n in (query, key)]
        assert read["product"].beside == " · ".join(pieces)
        assert read["divided_by"].value == number(float(np.sqrt(width)), 4)
        assert read["divided_by"].beside == f"√{width}"
        weight = forward_cache.read(model, read_by(model)).weights[4, 7, query - 1, key - 1]
        assert read["weight"].value == number(float(weight), 4)
        assert Text(lang)("figure.head_label", layer=4, head=7) in output.notes


def test_sliders_end_at_the_last_token_head_and_layer(visit):
    """Of the model and the text that are chosen; a value beyond moves to the end."""
    ends = {"minilm": (5, 11), "smollm2": (29, 8)}
    for model, (layer, head) in ends.items():
        tokens = len(forward_cache.read(model, read_by(model)).tokens.ids)
        page = opened(
            visit, real__model=model, real__view="head", real__layer=47, real__head=24,
            real__query=512, real__key=512, apart__query=512, apart__key=300,
        )  # fmt: skip
        tops = {slider.key: slider.max for slider in page.app.slider}
        wanted = {"real.layer": layer, "real.head": head}
        wanted |= {f"{b}.{n}": tokens for b in ("real", "apart") for n in ("query", "key")}
        for name, top in wanted.items():
            assert tops[f"at.{name}"] == top, name
            assert page.value(*name.split(".")) == top, name
        one = attention.head(model, read_by(model), "", layer, head)
        assert drawn(page, "real") == traces(page, attention_map, one, tokens, tokens)


# ------------------------------------------------------------------------------------------ masks
MASKS = (
    ("en", "minilm", {}, "causal"),
    ("zh", "minilm", {"kind": "none", "pads": 3, "told": False}, "none"),
    ("en", "minilm", {"kind": "own", "pads": 8, "cells": "2.5 3.1 40.2 0.3"}, "own"),
    ("en", "smollm2", {"kind": "reverse", "cells": "1.2"}, "reverse"),
)


@pytest.mark.parametrize(("lang", "model", "settings", "kind"), MASKS)
def test_who_may_look_at_whom(lang, model, settings, kind):
    pads, told = settings.get("pads", 0), settings.get("told", True)
    # On the page from 1; a place 0 is none, and one beyond the text is nowhere.
    cells = [tuple(map(int, c.split("."))) for c in settings.get("cells", "").split()]
    cells = tuple((a - 1, b - 1) for a, b in cells if a and b)
    masking = Masking(kind, pads, told, cells)
    one = attention.head(model, read_by(model), "", 3, 1, masking)
    total = len(one.text.pieces)
    real = total - pads
    may = {"causal": np.tri(total), "reverse": np.tri(total).T}.get(kind, np.ones((total, total)))
    if told:
        may[:, real:] = 0
    for query, key in cells:
        if max(query, key) < total:
            may[query, key] = 1 - may[query, key]
    np.testing.assert_array_equal(one.allowed, may.astype(bool))
    on_pads = one.weights[:real, real:].sum(1).mean() if pads else 0
    assert (on_pads > 0) == (pads > 0 and not told)
    change = after(attention.masked(model, read_by(model), masking), lang)
    names = ("allowed", "on_pads", *change)
    values = {"real.model": model, **settings}
    read = check(lesson, Scene("masks", values, partial(attention_mask, one), names), lang).readouts
    assert read["allowed"].value == f"{100 * may.mean():.0f} %"
    assert read["on_pads"].value == f"{100 * on_pads:.1f} %"
    assert {name: (read[name].value, read[name].beside) for name in change} == change


def after(change, lang: str) -> dict[str, tuple[str, str | None]]:
    """The read-outs of a change, each with what is beside it."""
    if change.text.decoder:
        before, now = (literal(change.candidates[int(p.argmax())]) for p in change.probabilities)
        said_before = Text(lang)("attention.metric.next_after.before", piece=before)
        return {"next_after": (now, said_before), "bits": (number(change.bits), None)}
    most = int(change.moved.argmax())
    moved = (number(float(change.moved[most])), literal(change.text.pieces[most]))
    return {"sentence": (number(change.sentence, 4), None), "furthest": moved}


@pytest.mark.parametrize(("cells", "blind"), [("", False), ("1.1", True)])
def test_a_query_that_may_look_nowhere_is_said(cells, blind):
    """Under the causal mask all that the first token has."""
    notes = lesson.benches["masks"].run({"cells": cells}).notes
    assert (Text("en")("attention.note.blind") in notes) == blind


# ------------------------------------------------------------------------------------ heads off
OFF = (
    ("zh", "minilm", "0.0 5.11 3.1", COMPARE),
    ("en", "minilm", "", ""),
    ("en", "smollm2", "0.0 29.8 12.3", COMPARE),
)


@pytest.mark.parametrize(("lang", "model", "written", "compare"), OFF)
def test_heads_are_switched_off(lang, model, written, compare):
    off = tuple(sorted(tuple(map(int, pair.split("."))) for pair in written.split()))
    change = attention.ablate(model, read_by(model), compare, off)
    told = after(change, lang)
    both = model == "minilm" and compare
    names = ("off_count", *told, *(["pair"] if both else []))
    values = {"real.model": model, "off": written, "compare": compare}
    scene = Scene("ablate", values, partial(head_switches, change, off), names)
    read = check(lesson, scene, lang).readouts
    assert {name: (read[name].value, read[name].beside) for name in told} == told
    heads = {"minilm": 72, "smollm2": 270}[model]
    assert read["off_count"].value == f"{len(off)} / {heads}"
    if both:
        alone = (
            forward_cache.read(model, ENCODER).sentence
            @ forward_cache.read(model, compare).sentence
        )
        before = Text(lang)("attention.metric.pair.before", value=number(float(alone), 4))
        assert read["pair"].value == number(float(change.pair[1]), 4)
        assert read["pair"].beside == before
    if not off:
        assert told["sentence"][0] == number(1.0, 4)
        assert told["furthest"][0] == number(0.0)


WRONG = (
    ("0.2 x", "pairs", {"part": "x"}),
    ("**3**", "pairs", {"part": literal("**3**")}),
    ("[a](http://b.c)", "pairs", {"part": literal("[a](http://b.c)")}),
    ("6.0", "no_such_head", {"pair": literal("6.0"), "layers": 5, "heads": 11}),
    ("0.12", "no_such_head", {"pair": literal("0.12"), "layers": 5, "heads": 11}),
    (" ".join(f"0.{n}" for n in range(401)), "many_pairs", {"limit": 400}),
)


def test_what_is_no_head_is_one_sentence_on_its_bench(visit):
    page = opened(visit, "zh")
    for written, code, details in WRONG:
        page.run(at__ablate__off=written)
        assert page.warned() == [page.text(f"problem.{code}", **details)], written
        assert alerts(bench(page.app, "ablate"))["warning"] == page.warned()
        assert not figures(bench(page.app, "ablate"))
        for name in ("by_hand", "scale", "real", "apart", "masks"):
            assert len(figures(bench(page.app, name))) == 1
    page.run(at__ablate__off="1.2", at__masks__cells="2-3")
    assert alerts(bench(page.app, "masks"))["warning"] == [
        page.text("problem.pairs", part=literal("2-3"))
    ]
    assert len(figures(bench(page.app, "ablate"))) == 1


def test_each_head_alone(visit):
    model, text = "minilm", "It slept all day."  # what opens the page came with the app
    page = opened(visit, "zh", ablate__view="each", real__encoder=text)
    untrained = page.lesson.sources()["ablate"]
    assert alerts(bench(page.app, "ablate"))["info"] == [page.text("attention.hint.train")]
    page.app.button(key="at.ablate.start").click().run()
    queue = jobs.default(device.choose().kind)
    job = queue.find(head_effects.each_head, model=model, text=text, device=device.choose().kind)
    assert job.wait(60)
    page.run()
    assert drawn(page, "ablate") == traces(page, head_importance, job.result, 3, 1)
    # The code is the same before and after; only the numbers that are read off come after it.
    trained = page.lesson.sources()["ablate"].replace("figure\n", "")
    assert trained.startswith(untrained.removesuffix("figure\n"))
    change = job.result.change
    (layer, head) = np.unravel_index(change.argmax(), change.shape)
    assert [(int(a), int(b)) for a, b in patterns.ranked(change, 1)] == [(layer, head)]
    alone = attention.ablate(model, text, "", ((int(layer), int(head)),))
    # One pass for a batch of twelve is not one for each: the order of float32 sums differs.
    assert change.max() == pytest.approx(1 - alone.sentence, rel=1e-3, abs=1e-6)
    label = page.text("figure.head_label", layer=layer, head=head)
    assert shown(page, "ablate") == {
        "worth": (number(float(change.max())), label),
        "half": (f"{100 * (change < change.max() / 10).mean():.0f} %", ""),
    }


# ---------------------------------------------------------------------------------------- BertViz
@pytest.mark.parametrize(
    ("lang", "view", "model", "other"),
    [("en", "head", "minilm", ""), ("zh", "model", "minilm", "It slept."),
     ("zh", "head", "smollm2", "")],
)  # fmt: skip
def test_bertviz_shows_the_same_reading(lang, view, model, other):
    above = {"real.model": model, "real.layer": 2} | ({"real.other": other} if other else {})
    words = Text(lang)
    assert lesson.benches["bertviz"].run(above, lang).notes == [words("attention.hint.bertviz")]
    output = lesson.benches["bertviz"].run(above | {"picture": view}, lang)
    found = forward_cache.read(model, read_by(model), other)
    second = found.tokens.second or None
    made = bertviz_page.page(view, found.weights, found.tokens.pieces, 2, second, False)
    (page,) = output.of(Page)
    assert page.html == made.html
    size = f"{made.bytes / 1000:,.0f}"
    assert words("attention.note.bertviz", kilobytes=size, layer=2) in output.notes


def test_bertviz_stands_on_the_page(visit):
    page = opened(visit, "zh")
    assert alerts(bench(page.app, "bertviz"))["info"] == [page.text("attention.hint.bertviz")]
    page.run(at__bertviz__picture="head")
    (frame,) = figures(bench(page.app, "bertviz"))
    (alone,) = lesson.benches["bertviz"].run({"picture": "head"}, "zh").of(Page)
    assert frame == {"page": alone.html}


def test_a_text_too_long_for_bertviz_is_one_sentence(visit):
    text = "word " * 70
    page = opened(visit, bertviz__picture="model", real__encoder=text)
    limit = bertviz_page.most_tokens("model", 6, 12)
    sentence = page.text("problem.bertviz_too_long", limit=limit, tokens=72)
    assert page.warned() == [sentence]
    assert not figures(bench(page.app, "bertviz"))
    for name in MODEL_BENCHES:
        assert len(figures(bench(page.app, name))) == 1
    page.run(at__bertviz__picture="head")
    assert not page.warned()
    assert len(figures(bench(page.app, "bertviz"))) == 1


# --------------------------------------------------------------------------- the code under them
CODES = (  # of each bench and view alone: in its scenes
    ("zh", {"real__view": "rollout", "apart__view": "chain", "masks__cells": "2.3 4.1",
            "masks__pads": 2, "ablate__off": "", "by_hand__stage": 6, "by_hand__causal": True}),
    ("en", {"real__view": "mean", "real__over": "all", "real__other": "It's \"so\" {tired}\\n."}),
)  # fmt: skip


@pytest.mark.parametrize(("lang", "settings"), CODES)
def test_the_code_gives_the_figure(visit, lang, settings):
    page = opened(visit, lang, **settings)
    compared = 0
    for name, source in page.lesson.sources().items():
        on_page = figures(bench(page.app, name))
        if not on_page:
            continue
        assert len(source) < 3000, name
        assert "streamlit" not in source
        space: dict = {}
        exec(compile(source, f"<code under {name}>", "exec"), space)
        assert essence(json.loads(space["figure"].to_json())) == essence(on_page[0]), name
        compared += 1
    assert compared == len(page.lesson.benches) - 1  # BertViz is off


def essence(spec: dict) -> list:
    """Words and numbers of a figure; colors and sizes are the page's own."""
    return [
        spec["layout"]["meta"]["alt"],
        *([trace.get(part) for part in ("name", "x", "y", "z")] for trace in spec["data"]),
    ]


def test_the_code_names_the_head_and_the_text():
    values = {"view": "head", "model": "smollm2", "head": 4}
    source = lesson.benches["real"].run(values).code
    assert DECODER in source
    assert re.search(r"head\(.*'smollm2'", source, re.S)
