"""The lesson on attention: one head taken apart, masks, heads switched off, BertViz."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import Text, escape_markdown, number
from seqviz.core.units import unbroken
from seqviz.experiments import attention
from seqviz.experiments.attention import head_effects
from seqviz.experiments.bertviz import page as bertviz_page
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.heads import head_importance
from seqviz.figures.attention.inside_head import query_key_products, scores_to_weights
from seqviz.figures.attention.maps import attention_map
from seqviz.lessons.attention.lesson import lesson
from seqviz.lessons.framework.output import FramedPage
from seqviz.models import forward_cache
from seqviz.models.forward_cache import Masking
from tests.pages.attention_page import ENCODER, opened, read_by
from tests.pages.page_assertions import alerts, bench, figures
from tests.pages.scenes import Scene, check
from tests.sliders import sliders

pytestmark = pytest.mark.usefixtures("minilm", "smollm2")

COMPARE = "The creature was exhausted, so it stayed where it was."
OWN = ("off_count", "sentence", "furthest")


def read(scene: Scene, lang: str) -> dict[str, tuple[str, str | None]]:
    """The read-outs of a scene that holds what it says."""
    readouts = check(lesson, scene, lang).readouts
    return {name: (readout.value, readout.caption) for name, readout in readouts.items()}


# --------------------------------------------------------------------------------- one head apart
@pytest.mark.parametrize(("lang", "model", "width"), [("zh", "minilm", 32), ("en", "smollm2", 64)])
def test_apart_bench_matches_chosen_head(lang, model, width):
    query, key = 11, 6
    values = {"real.model": model, "real.layer": 4, "real.head": 7, "query": query, "key": key}
    result = attention.parts(model, read_by(model), "", 4, 7)
    at = query - 1, key - 1
    weight = forward_cache.read(model, read_by(model)).weights[4, 7, *at]
    pieces = (escape_markdown(result.text.pieces[position]) for position in at)
    expected = {
        "product": (number(result.product_at(*at), 4), " · ".join(pieces)),
        "divided_by": (number(float(np.sqrt(width)), 4), f"√{width}"),
        "divided_score": (number(result.divided_at(*at), 4), None),
        "weight": (number(float(weight), 4), None),
    }
    for view, draw in (("products", query_key_products), ("chain", scores_to_weights)):
        settings = values | ({"view": view} if view == "chain" else {})
        scene = Scene("apart", settings, partial(draw, result, query, key), [*expected])
        assert read(scene, lang) == expected


@pytest.mark.parametrize(("model", "layer", "head"), [("minilm", 5, 11), ("smollm2", 29, 8)])
def test_sliders_end_at_last_token_head_and_layer(visit, model, layer, head):
    """Of the model and the text that are chosen; a value beyond moves to the end."""
    tokens = len(forward_cache.read(model, read_by(model)).tokens.ids)
    page = opened(
        visit, real__model=model, real__view="head", real__layer=47, real__head=24,
        real__query=512, real__key=512, apart__query=512, apart__key=300,
    )  # fmt: skip
    tops = {key: slider.get("high") for key, slider in sliders(page.app).items()}
    expected = {"real.layer": layer, "real.head": head}
    expected |= {f"{b}.{n}": tokens for b in ("real", "apart") for n in ("query", "key")}
    for name, top in expected.items():
        assert tops[f"at.{name}"] == page.value(*name.split(".")) == top, name
    item = attention.head(model, read_by(model), "", layer, head)
    (there,) = figures(bench(page.app, "real"))
    alt = attention_map(item, tokens, tokens).alt
    assert there["layout"]["meta"]["alt"] == alt


# ------------------------------------------------------------------------- masks, and heads off
def after(change, lang: str) -> dict[str, tuple[str, str | None]]:
    """The read-outs of a change, each with what is beside it."""
    if change.text.decoder:
        before, now = (
            escape_markdown(change.candidates[int(p.argmax())]) for p in change.probabilities
        )
        said_before = Text(lang)("attention.metric.next_after.before", piece=before)
        return {"next_after": (now, said_before), "bits": (number(change.bits), None)}
    largest_at = int(change.moved.argmax())
    far, piece = float(change.moved[largest_at]), change.text.pieces[largest_at]
    again = change.text.pieces.count(piece) > 1
    position = Text(lang)("attention.note.at", at=largest_at + 1) if again else ""
    moved = (number(far), escape_markdown(piece) + position) if far > 1e-9 else ("0", None)
    return {"sentence": (number(change.sentence, 4), None), "furthest": moved}


MASKS = (
    ("en", "minilm", {}, "causal"),
    ("zh", "minilm", {"kind": "none", "pads": 3, "told": False}, "none"),
    ("en", "minilm", {"kind": "own", "pads": 8, "cells": "2.5 3.1 40.2 0.3"}, "own"),
    ("en", "smollm2", {"kind": "reverse", "cells": "1.2"}, "reverse"),
)


@pytest.mark.parametrize(("lang", "model", "settings", "kind"), MASKS)
def test_masks_bench_matches_masked_attention(lang, model, settings, kind):
    pads, payload = settings.get("pads", 0), settings.get("told", True)
    # On the page from 1; a place 0 is none, and one beyond the text is nowhere.
    cells = [tuple(map(int, c.split("."))) for c in settings.get("cells", "").split()]
    cells = tuple((a - 1, b - 1) for a, b in cells if a and b)
    masking = Masking(kind, pads, payload, cells)
    item = attention.head(model, read_by(model), "", 3, 1, masking)
    real = len(item.text.pieces) - pads
    on_pads = item.weights[:real, real:].sum(1).mean()
    assert (on_pads > 0) == (pads > 0 and not payload)
    expected = {
        "allowed": (f"{100 * item.allowed.mean():.1f}%", None),
        **({"on_pads": (f"{100 * on_pads:.1f}%", None)} if pads else {}),
        **after(attention.masked(model, read_by(model), masking), lang),
    }
    values = {"real.model": model, **settings}
    assert (
        read(Scene("masks", values, partial(attention_mask, item), [*expected]), lang) == expected
    )


@pytest.mark.parametrize(("cells", "blind"), [("", False), ("1.1", True)])
def test_masks_bench_reports_query_without_keys(cells, blind):
    """Under the causal mask all that the first token has."""
    notes = lesson.benches["masks"].run({"cells": cells}).notes
    assert (Text("en")("attention.note.blind") in notes) == blind


OFF = (
    ("zh", "minilm", "0.0 5.11 3.1", COMPARE),
    ("en", "minilm", "", ""),
    ("en", "smollm2", "0.0 29.8 12.3", COMPARE),
)


@pytest.mark.parametrize(("lang", "model", "written", "compare"), OFF)
def test_ablate_bench_matches_ablation(lang, model, written, compare):
    off = tuple(sorted(tuple(map(int, pair.split("."))) for pair in written.split()))
    change = attention.ablate(model, read_by(model), compare, off)
    heads = {"minilm": 72, "smollm2": 270}[model]
    expected = {"off_count": (unbroken(f"{len(off)} / {heads}"), None), **after(change, lang)}
    if model == "minilm" and compare:
        item, two = (forward_cache.read(model, text).sentence for text in (ENCODER, compare))
        before = Text(lang)("attention.metric.pair.before", value=float(item @ two))
        expected["pair"] = (number(float(change.pair[1]), 4), before)
    if not off:
        assert expected["sentence"][0] == number(1.0, 4)
        assert expected["furthest"][0] == number(0.0)
    values = {"real.model": model, "off": written, "compare": compare}
    draw = partial(head_switches, change, off)
    assert read(Scene("ablate", values, draw, [*expected]), lang) == expected


@pytest.mark.parametrize(
    ("name", "values", "code", "details"),
    [
        ("ablate", {"off": "0.2 x"}, "pairs", {"part": "x"}),
        ("masks", {"cells": "2-3"}, "pairs", {"part": "2-3"}),
        ("ablate", {"off": "6.0"}, "no_such_head", {"pair": "6.0", "layers": 5, "heads": 11}),
        ("ablate", {"off": "0.12"}, "no_such_head", {"pair": "0.12", "layers": 5, "heads": 11}),
        ("ablate", {"off": " ".join(f"0.{n}" for n in range(401))}, "many_pairs", {"limit": 400}),
        ("bertviz", {"picture": "model", "real.encoder": "word " * 70}, "bertviz_too_long",
         {"tokens": 72, "limit": bertviz_page.most_tokens("model", 6, 12)}),
        *((name, {"real.model": "smollm2", "real.decoder": ""}, "empty_text", {})
          for name in ("apart", "masks", "ablate", "bertviz", "real")),
    ],
)  # fmt: skip
def test_bench_rejects_impossible_values(name, values, code, details):
    if name == "real":
        values = {key.removeprefix("real."): value for key, value in values.items()}
    elif name == "bertviz":
        values = {"picture": "head"} | values
    with pytest.raises(UserError) as caught:
        lesson.benches[name].run(values)
    assert (caught.value.code, caught.value.details) == (code, details)


@pytest.mark.parametrize("part", ["**3**", "[a](http://b.c)"])
def test_page_shows_refusal_per_bench_without_markup(visit, part):
    page = opened(visit, "zh", ablate__off=part, masks__cells="2-3")
    for name, wrong in (("ablate", part), ("masks", "2-3")):
        sentence = page.text("problem.pairs", part=escape_markdown(wrong))
        assert alerts(bench(page.app, name))["warning"] == [sentence]
        assert not figures(bench(page.app, name))
    assert len(page.warned()) == 2
    # Those of the other benches; BertViz is no chart of a page.
    assert page.charts() == len(lesson.benches) - 3


def test_ablate_bench_matches_effect_of_each_head():
    """Also without a page, where nobody asks for reports: the code under the figure failed."""
    model, text = "minilm", "It slept all day."  # what opens the page came with the app
    values = {"view": "each", "real.encoder": text}
    check(lesson, Scene("ablate", values, waits="train"), "zh")
    effects = head_effects.each_head(model, text)
    change = effects.change
    (layer, head) = np.unravel_index(change.argmax(), change.shape)
    expected = {
        "worth": (number(float(change.max())),
                  Text("zh")("figure.head_label", layer=layer, head=head)),
        "half": (f"{100 * (change < change.max() / 10).mean():.0f}%", None),
    }  # fmt: skip
    draw = partial(head_importance, effects, 3, 1)
    assert read(Scene("ablate", values, draw, [*expected], train=True), "zh") == expected


# ---------------------------------------------------------------------------------------- BertViz
@pytest.mark.parametrize(
    ("lang", "view", "model", "other"),
    [("en", "head", "minilm", ""), ("zh", "model", "minilm", "It slept."),
     ("zh", "head", "smollm2", "")],
)  # fmt: skip
def test_bertviz_bench_shows_same_forward_pass(lang, view, model, other):
    above = {"real.model": model, "real.layer": 2} | ({"real.other": other} if other else {})
    words = Text(lang)
    assert lesson.benches["bertviz"].run(above, lang).notes == [words("attention.hint.bertviz")]
    output = lesson.benches["bertviz"].run(above | {"picture": view}, lang)
    result = forward_cache.read(model, read_by(model), other)
    second = result.tokens.second or None
    created = bertviz_page.page(view, result.weights, result.tokens.pieces, 2, second, False)
    (page,) = output.of(FramedPage)
    assert page.html == created.html
    size = created.bytes / 1000
    assert words("attention.note.bertviz", kilobytes=size, layer=2) in output.notes
