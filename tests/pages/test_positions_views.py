"""The lesson on positional encodings: every bench and view against the library."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from looking import bench
from positions_page import (
    FIRST,
    SECOND,
    SLUG,
    figure,
    notes,
    opened,
    said,
    shown,
    warned,
)
from scenes import Scene, check, words_of

from seqviz.compute.positions import orders, relative, rotary
from seqviz.compute.positions.clocks import clocks, embedding_scale
from seqviz.compute.positions.learned import compare, path, spectrum
from seqviz.compute.positions.offsets import dot_by_offset, similarity
from seqviz.compute.positions.sinusoidal import encoding, found_rotation, rotation
from seqviz.experiments import positions
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.clocks import clock_hands, embedding_norms, wavelengths
from seqviz.figures.positions.effects import both_orders, moved_words
from seqviz.figures.positions.encoder import encoder_maps, encoder_variants
from seqviz.figures.positions.encodings import dot_products, rotation_matrices, similarity_by_offset
from seqviz.figures.positions.schemes import rotary_scores, shift_bars
from seqviz.figures.positions.tables import component_path, power_spectrum, table_similarity
from seqviz.lessons.bench import controls
from seqviz.lessons.positions import lesson
from seqviz.text import LANGUAGES, literal, number

pytestmark = pytest.mark.usefixtures("minilm", "smollm2")


def told(output, key, language="en"):
    """The sentences under the figure that are the note of this key."""
    return [one for one in output.notes if words_of(lesson, f"note.{key}", language).fullmatch(one)]


def seen(name, values, draw, readouts, language="en"):
    """The bench at these settings draws and says this; gives what stands beside each read-out, and
    which of the notes without numbers are there."""
    output = check(lesson, Scene(name, values, draw, readouts), language)
    marks = ("not_unique", "equivariant", "causal", "strangers")
    beside = {one.name: one.beside for one in output.readouts.values()}
    return beside, {mark for mark in marks if told(output, mark, language)}


# ----------------------------------------------------------------------- the page and its benches
OPENED = (
    ("en", {}),
    ("zh", {"distance__view": "rotation", "distance__offset": 7, "learned__view": "path",
            "schemes__view": "alibi", "schemes__heads": 12, "effect__view": "maps",
            "effect__causal": True, "encoder__view": "maps", "encoder__head": 3}),
)  # fmt: skip


@pytest.mark.parametrize(("lang", "settings"), OPENED)
def test_the_page_shows_what_the_benches_give(visit, lang, settings):
    page = opened(visit, lang, **settings)
    given = {key.replace("__", "."): value for key, value in settings.items()}
    for name, declared in lesson.benches.items():
        if name == "waves":
            continue
        values = {key if of != name else key.removeprefix(f"{name}."): value
                  for key, value in given.items()
                  if (of := key.partition(".")[0]) in (name, *declared.after)}  # fmt: skip
        output = declared.run(values, style=Style(LIVE, lang))
        assert figure(page, name) == json.loads(output.figure.to_json()), name
        assert shown(page, name) == {
            one.name: (one.value, one.beside) if one.beside else one.value
            for one in output.readouts.values()
        }, name
        assert set(output.notes) <= set(said(page, name)), name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_waves_are_left_to_the_browser(visit, lang):
    page = opened(visit, lang, waves__d_model=9, waves__layout="halves")
    sent = figure(page, "waves")
    assert sent["values"] == {
        "positions": 64, "d_model": 9, "base": 10_000.0, "layout": "halves", "position": 20,
        "dimension": 8,
    }  # fmt: skip
    assert sent["words"] == page.text.table(f"{SLUG}.client.sinusoid")
    assert all(sent["words"].values())
    for kind in ("slider", "select_slider", "button_group", "metric"):
        assert not bench(page.app, "waves").get(kind), kind


# ---------------------------------------------------------------------------------------- distance
@pytest.mark.parametrize(
    ("d_model", "base", "length", "lang"),
    [(64, 10_000.0, 64, "en"), (8, 100.0, 16, "zh"), (2, 1.5, 8, "en")],
)
def test_distance_by_offset_and_all_pairs(d_model, base, length, lang):
    sines = encoding(length, d_model, base)
    found = similarity(sines.table)
    closed = dot_by_offset(sines.frequencies, np.arange(length))
    readouts = {
        "norm": number(float(np.linalg.norm(sines.table[3])), 4),
        "shortest": number(2 * np.pi, 4),
        "longest": number(2 * np.pi * base ** ((d_model - 2) / d_model), 4),
    }
    size = {"d_model": d_model, "base": base}
    whole = {**size, "length": length}
    for values, draw in (
        (whole, partial(similarity_by_offset, found, closed)),
        ({**whole, "view": "matrix"}, partial(dot_products, found)),
        ({**size, "view": "wavelengths"}, partial(wavelengths, encoding(64, d_model, base))),
    ):
        beside, stand = seen("distance", values, draw, readouts, lang)
        assert beside == {"norm": f"√({d_model}/2)", "shortest": None, "longest": None}
        assert not stand


@pytest.mark.parametrize(
    ("d_model", "base", "offset", "unique", "lang"),
    [(64, 10_000.0, 3, False, "en"), (8, 100.0, 50, True, "zh"), (2, 1.5, 1, True, "en"),
     (256, 1e6, 7, False, "zh")],
)  # fmt: skip
def test_rotation(d_model, base, offset, unique, lang):
    table, closed = encoding(512, d_model, base).table, rotation(offset, d_model, base)
    found = found_rotation(table, offset)
    gap = np.abs(found.matrix - closed).max()
    values = {"view": "rotation", "d_model": d_model, "base": base, "offset": offset}
    _, stand = seen("distance", values, partial(rotation_matrices, closed, found, offset), {
        "residual": number(found.residual, 2),
        "rank": f"{found.rank} / {d_model}",
        "gap": number(float(gap), 2),
    }, lang)  # fmt: skip
    # The matrix that was found carries every row; it is the formula's where it is the only one.
    np.testing.assert_allclose(table[:-offset] @ found.matrix.T, table[offset:], atol=1e-6)
    assert (found.rank == d_model) == unique
    assert stand == (set() if unique else {"not_unique"})
    assert (gap < 1e-4) == unique  # singular values down to 1e-10: rounding grows to 1e-6


def test_clocks():
    table = encoding(251, 16)
    values = {"view": "clocks", "d_model": 16, "place": 200, "offset": 50}
    seen("distance", values, partial(clock_hands, clocks(table, 200), clocks(table, 250)), {
        "fastest": number(50 * 180 / np.pi),
        "slowest": number(50 * 180 / np.pi * 10_000 ** (-14 / 16)),
    })  # fmt: skip


# ----------------------------------------------------------------------------------------- learned
def test_learned():
    found = positions.table("minilm")
    table, sines = found.table, encoding(512, 384).table
    cases = {
        "similarity": partial(table_similarity, similarity(table), similarity(sines)),
        "path": partial(component_path, path(table)),
        "spectrum": partial(power_spectrum, spectrum(table), spectrum(sines)),
        "norms": partial(embedding_norms, embedding_scale(found.words, table)),
    }
    declared = lesson.benches["learned"].declaration
    assert set(cases) == set(dict(controls.controls(declared))["view"].options)
    like = compare(table)
    # By hand: the share of the variance in the first eight principal components.
    values = np.linalg.svd(table - table.mean(0), compute_uv=False) ** 2
    readouts = {
        "size": "512 × 384",
        "share": f"{100 * values[:8].sum() / values.sum():.0f} %",
        "cka": number(like.cka),
        "unlike": f"{100 * like.unlike:.0f} %",
    }
    for place, (view, draw) in enumerate(cases.items()):
        given = {"view": view} if view != "similarity" else {}
        lang = LANGUAGES[place % 2]
        beside, _ = seen("learned", given, draw, readouts, lang)
        assert beside["size"] == "all-MiniLM-L6-v2"
        share = f"{100 * like.sinusoidal_share[1]:.0f} %"
        said_of = {"en": f"sinusoidal: {share}", "zh": f"正弦：{share}"}
        assert beside["share"] == said_of[lang]
        assert beside["cka"].endswith(number(like.cka_chance))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_model_without_a_table_says_so_in_one_sentence(visit, lang):
    page = opened(visit, lang, learned__model="smollm2")
    title = literal("SmolLM2-135M-Instruct")
    wanted = page.text(f"{SLUG}.problem.no_position_table", model=title)
    assert page.warned() == warned(page, "learned") == [wanted]
    assert not bench(page.app, "learned").metric
    assert page.charts() == len(page.lesson.benches) - 1


# ----------------------------------------------------------------------------------------- schemes
@pytest.mark.parametrize(
    ("tokens", "base", "d_k", "lang"), [(24, 100_000.0, 64, "en"), (4, 1.5, 2, "zh")]
)
def test_rotary(tokens, base, d_k, lang):
    q, k = np.random.RandomState(5).standard_normal((2, d_k))
    found = rotary.score_by_offset(q, k, np.arange(tokens), base, "halves")
    spread = found.by_offset.high - found.by_offset.low
    error = np.abs(found.by_offset.mean - found.closed_form)
    values = {"tokens": tokens, "base": base, "d_k": d_k, "seed": 5}
    seen("schemes", values, partial(rotary_scores, found), {
        "spread": number(float(spread.max()), 2),
        "error": number(float(error.max()), 2),
        "pairs": str(d_k // 2),
    }, lang)  # fmt: skip
    assert max(spread.max(), error.max()) < 1e-10  # only the offset decides, as the formula says


# Press et al. (2022): for 8 heads 1/2, 1/4, ... 1/256; for 12 also those between of 16 heads
@pytest.mark.parametrize(
    ("heads", "head", "ends", "lang"),
    [(1, 0, (2**-8, 2**-8), "en"), (8, 7, (1 / 2, 2**-8), "zh"), (12, 3, (2**-0.5, 2**-8), "en")],
)
def test_alibi(heads, head, ends, lang):
    values = {"view": "alibi", "heads": heads, "causal": True, "tokens": 9}
    values |= {"head": head} if heads > 1 else {}
    slopes, bias = relative.alibi_slopes(heads), relative.alibi_bias(heads, 9, True)
    readouts = {"steepest": number(ends[0], 4), "flattest": number(ends[1], 4)}
    seen("schemes", values, partial(alibi, slopes, bias, head), readouts, lang)


def test_a_head_that_is_there_no_more(visit):
    """The slider of heads is moved below the chosen head."""
    page = opened(visit, schemes__view="alibi", schemes__heads=12, schemes__head=11)
    for heads in (5, 1, 3):
        page.run(po__schemes__heads=heads)
        assert figure(page, "schemes")["data"]


@pytest.mark.parametrize(
    ("causal", "buckets", "farthest", "lang"), [(False, 32, 128, "en"), (True, 8, 64, "zh")]
)
def test_t5(causal, buckets, farthest, lang):
    values = {"view": "t5", "tokens": 40, "causal": causal, "buckets": buckets,
              "farthest": farthest}  # fmt: skip
    found = relative.t5_map(40, not causal, buckets, farthest)
    used = f"{len(set(found.ravel()))} / {buckets}"
    seen("schemes", values, partial(t5_buckets, found), {"used": used}, lang)


@pytest.mark.parametrize(("shift", "lang"), [(0, "en"), (40, "zh"), (1000, "en")])
def test_shift(shift, lang):
    changes = [relative.shift_change(name, 16, shift, 64, 2) for name in relative.SCHEMES]
    by = {change.scheme: change for change in changes}
    seen("schemes", {"view": "shift", "shift": shift, "seed": 2}, partial(shift_bars, changes), {
        "absolute": number(np.abs(by["sinusoidal"].after - by["sinusoidal"].before).max()),
        "turned": number(by["rotary"].largest, 2),
        "beyond": "16 / 16" if shift == 1000 else "0 / 16",  # of 512 rows
    }, lang)  # fmt: skip
    moved = by["sinusoidal"].largest
    assert moved > 0.1 if shift else moved == 0
    assert by["rotary"].largest < 1e-10


# ------------------------------------------------------------------------------------------ effect
EFFECTS = (
    ({}, {"equivariant"}),
    ({"causal": True, "seed": 3}, {"causal"}),
    ({"how": "shuffled", "draw": 7}, {"equivariant"}),
    ({"second": f"{SECOND} today"}, {"strangers"}),  # a word more in the second
    ({"first": f"{FIRST} today", "causal": True}, {"strangers"}),
    ({"second": FIRST, "causal": True}, set()),  # the same order: the mask changes nothing
    ({"second": FIRST}, {"equivariant"}),
    ({"first": "one two", "second": "three four"}, {"strangers"}),
)


@pytest.mark.parametrize("place", range(len(EFFECTS)))
def test_two_orders(place):
    values, wanted = EFFECTS[place]
    lang = LANGUAGES[place % 2]
    first = values.get("first", FIRST)
    other = orders.shuffle(first, 7) if "how" in values else values.get("second", SECOND)
    found = orders.compare_orders(first, other, values.get("causal", False), values.get("seed", 0))
    names = tuple(f"moved_{scheme}" for scheme in orders.SCHEMES)
    for scheme in orders.SCHEMES:
        maps = values | {"view": "maps", "scheme": scheme}
        assert seen("effect", maps, partial(both_orders, found, scheme), names, lang)[1] == wanted
    output = check(lesson, Scene("effect", values, partial(moved_words, found), names), lang)
    assert {key for key in ("equivariant", "causal", "strangers") if told(output, key, lang)} == (
        wanted
    )
    assert [other in note for note in told(output, "shuffled", lang)] == [True] * ("how" in values)
    read = {name: one.value for name, one in output.readouts.items()}
    assert "nan" not in output.figure.to_json().lower()
    if not found.paired.size:
        assert set(read.values()) == {"–"}
        return
    for name, largest in zip(names, np.nanmax(found.moved, axis=1), strict=True):
        percent = float(read[name].removesuffix(" %"))
        assert percent == pytest.approx(100 * largest, rel=5e-3, abs=1e-9), name
    if place < 3:
        assert (read["moved_none"] == "0 %") != values.get("causal", False)


def test_a_sentence_of_ones_own_is_put_aside_and_comes_back(visit):
    page = opened(visit, "zh", effect__how="shuffled", effect__draw=7)
    assert notes(page, "effect") == {"equivariant"}
    assert page.value("effect", "second") is None
    page.run(po__effect__how="own")
    assert page.value("effect", "second") == SECOND


# ----------------------------------------------------------------------------------------- encoder
@pytest.mark.parametrize(("how", "lang"), [("own", "en"), ("shuffled", "zh")])
def test_a_real_encoder(how, lang):
    above = {"effect.how": how} if how != "own" else {}
    second = orders.shuffle(FIRST, 1) if how == "shuffled" else SECOND
    found = positions.reordered("minilm", FIRST, second)
    assert found.variants[:2] == ("own", "zero")
    readouts = {
        "alike_own": number(float(found.alike[0]), 4),
        "alike_zero": number(1.0, 4),
        "kept_zero": number(float(found.kept[1]), 3),
        "previous_zero": f"{100 * found.previous[1]:.0f} %",
    }
    beside, _ = seen("encoder", above, partial(encoder_variants, found), readouts, lang)
    own = f"{100 * found.previous[0]:.0f} %"
    assert beside["previous_zero"] == {"en": f"own: {own}", "zh": f"原来：{own}"}[lang]
    for variant, layer, head in (("zero", 0, 2), ("shuffled", 5, 11), ("sinusoidal", 3, 0)):
        values = {"view": "maps", "variant": variant, "layer": layer, "head": head}
        found = positions.reordered("minilm", FIRST, second, layer, head)
        seen("encoder", above | values, partial(encoder_maps, found, variant), readouts, lang)


def test_a_text_longer_than_the_table_is_said():
    long = {"effect.first": "a b " * 400}
    output = lesson.benches["encoder"].run(long)
    assert told(output, "first_tokens")
    assert not told(lesson.benches["encoder"].run(), "first_tokens")
