"""The lesson on positional encodings: every bench and view against the library, without a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from seqviz.compute.positions import orders, relative, rotary, simple
from seqviz.compute.positions.clocks import clocks, embedding_scale
from seqviz.compute.positions.learned import ages, compare, path, spectrum, updates
from seqviz.compute.positions.offsets import dot_by_offset, similarity
from seqviz.compute.positions.sinusoidal import encoding, fit_rotation, rotation
from seqviz.compute.positions.tiny import OrderSettings, train
from seqviz.compute.positions.tiny.results import OrderReport
from seqviz.core.i18n import LANGUAGES, number
from seqviz.core.units import unbroken
from seqviz.experiments import positions
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.clocks import clock_hands, embedding_norms, wavelengths
from seqviz.figures.positions.effects import both_orders, moved_words
from seqviz.figures.positions.encoder import encoder_maps, encoder_variants
from seqviz.figures.positions.encodings import dot_products, rotation_matrices, similarity_by_offset
from seqviz.figures.positions.schemes import rotary_scores, shift_bars, term_maps
from seqviz.figures.positions.simple import code_demands, digits_and_waves
from seqviz.figures.positions.tables import (
    component_path,
    early_and_late,
    power_spectrum,
    row_updates,
    table_similarity,
)
from seqviz.figures.positions.tasks import accuracies, learning_curves, learning_progress
from seqviz.lessons.positions.lesson import lesson
from seqviz.lessons.positions.word_order import FIRST, SECOND
from seqviz.plotting.style import Style
from testing.figure_examples.positions import order_result
from tests.pages.page_assertions import Given
from tests.pages.scenes import Scene, as_json, check, each, same, words_of

MARKS = ("not_unique", "equivariant", "causal", "strangers")
EACH = pytest.mark.parametrize("language", LANGUAGES)


def told(output, key, language="en"):
    """The sentences under the figure that are the note of this key."""
    return [
        note for note in output.notes if words_of(lesson, f"note.{key}", language).fullmatch(note)
    ]


def beside(output) -> dict[str, str]:
    """What stands beside the read-outs that have something there."""
    return {
        readout.name: readout.caption for readout in output.readouts.values() if readout.caption
    }


# ------------------------------------------------------------------------- distances and schemes
def of_distance() -> Iterator[Scene]:
    for view, d_model, base, length in (
        ("offset", 64, 10_000.0, 64), ("matrix", 8, 100.0, 16), ("wavelengths", 2, 1.5, 64),
    ):  # fmt: skip
        sines = encoding(length, d_model, base)
        result, closed = (
            similarity(sines.table),
            dot_by_offset(sines.frequencies, np.arange(length)),
        )
        draw = {
            "offset": partial(similarity_by_offset, result, closed),
            "matrix": partial(dot_products, result),
            "wavelengths": partial(wavelengths, sines),
        }[view]
        values = {"view": view, "d_model": d_model, "base": base}
        values |= {"length": length} if view != "wavelengths" else {}
        yield Scene("distance", values, draw, {
            "norm": number(float(np.linalg.norm(sines.table[3])), 4),
            "shortest": number(2 * np.pi, 4),
            "longest": number(2 * np.pi * base ** ((d_model - 2) / d_model), 4),
        })  # fmt: skip
    table = encoding(251, 16)
    pointers = partial(clock_hands, clocks(table, 200), clocks(table, 250))
    values = {"view": "clocks", "d_model": 16, "place": 200, "offset": 50}
    yield Scene("distance", values, pointers, {
        "fastest": number(50 * 180 / np.pi),
        "slowest": number(50 * 180 / np.pi * 10_000 ** (-14 / 16)),
    })  # fmt: skip
    for d_model, base, offset in ((64, 10_000.0, 3), (8, 100.0, 50)):
        formula = rotation(offset, d_model, base)
        solved = fit_rotation(encoding(512, d_model, base).table, offset)
        values = {"view": "rotation", "d_model": d_model, "base": base, "offset": offset}
        yield Scene("distance", values, partial(rotation_matrices, formula, solved, offset), {
            "residual": number(solved.residual, 2),
            "rank": unbroken(f"{solved.rank} / {d_model}"),
            "gap": number(float(np.abs(solved.matrix - formula).max()), 2),
        }, () if d_model == 8 else ("not_unique",))  # fmt: skip


def of_schemes() -> Iterator[Scene]:
    for tokens, base, d_k in ((24, 100_000.0, 64), (4, 1.5, 2)):
        q, k = np.random.RandomState(5).standard_normal((2, d_k))
        offset = rotary.score_by_offset(q, k, np.arange(tokens), base, "halves")
        values = {"tokens": tokens, "base": base, "d_k": d_k, "seed": 5}
        at = rotary.turned(d_k, 13, 10, base, 5)
        yield Scene("schemes", values, partial(rotary_scores, offset, at), {
            "spread": number(float((offset.by_offset.high - offset.by_offset.low).max()), 2),
            "error": number(float(np.abs(offset.by_offset.mean - offset.closed_form).max()), 2),
            "pairs": str(d_k // 2),
        })  # fmt: skip
    # Press et al. (2022): for 8 heads 1/2, 1/4, ... 1/256; for 12 also those between of 16 heads
    for heads, head, ends in ((1, 0, (2**-8,) * 2), (8, 7, (1 / 2, 2**-8)),
                              (12, 3, (2**-0.5, 2**-8))):  # fmt: skip
        values = {"view": "alibi", "heads": heads, "causal": True, "tokens": 9}
        values |= {"head": head} if heads > 1 else {}
        draw = partial(
            alibi, relative.alibi_slopes(heads), relative.alibi_bias(heads, 9, True), head
        )
        readouts = {"steepest": number(ends[0], 4), "flattest": number(ends[1], 4)}
        yield Scene("schemes", values, draw, readouts)
    for causal, buckets, farthest in ((False, 32, 128), (True, 8, 64)):
        indices = relative.t5_map(40, not causal, buckets, farthest)
        values = {"causal": causal, "buckets": buckets, "farthest": farthest}
        used = unbroken(f"{len(set(indices.ravel()))} / {buckets}")
        yield Scene("schemes", {"view": "t5", "tokens": 40, **values},
                    partial(t5_buckets, indices), {"used": used})  # fmt: skip
    for shift in (0, 1000):
        changes = {name: relative.shift_change(name, 16, shift, 64, 2) for name in relative.SCHEMES}
        values = {"view": "shift", "shift": shift, "seed": 2}
        yield Scene("schemes", values, partial(shift_bars, tuple(changes.values())), {
            "absolute": number(changes["sinusoidal"].largest),
            "turned": number(changes["rotary"].largest, 2),
            "beyond": unbroken("16 / 16" if shift else "0 / 16"),  # of 512 rows
        })  # fmt: skip


def of_simple() -> Iterator[Scene]:
    for view, words in (("demands", 32), ("demands", 8), ("digits", 100)):
        result, binary = simple.demands(words), simple.code("binary", words)
        draw = partial(code_demands, result)
        if view == "digits":
            draw = partial(digits_and_waves, binary, simple.code("waves", words))
        top = (words - 1).bit_length()  # digits that change at the largest power of two
        yield Scene("simple", {"view": view, "words": words}, draw, {
            "drowned": unbroken(f"{words - 5} / {words}"),  # the norm of a word is 4
            "moved": number(1 - (words - 1) / (2 * words - 1)),
            "jump": number(np.sqrt(top)),
            "stride": number(np.sqrt(np.sum(2 - 2 * np.cos(0.5 ** np.arange(8.0))))),
        })  # fmt: skip
    terms = relative.position_terms(9, 64, 4)
    yield Scene("schemes", {"view": "terms", "tokens": 9, "seed": 4}, partial(term_maps, terms), {
        f"spread_{name}": number(terms.spread_of(name), 2)
        for name in ("sinusoidal", "learned", "rotary")
    })  # fmt: skip


SCENES = (*of_distance(), *of_schemes(), *of_simple())


@pytest.mark.parametrize("place", range(len(SCENES)))
def test_bench_matches_scene(place):
    scene, language = SCENES[place], LANGUAGES[place % 2]
    output = check(lesson, scene, language)
    root = f"√({scene.values.get('d_model')}/2)"
    assert beside(output) == ({"norm": root} if "norm" in output.readouts else {})
    assert {mark for mark in MARKS if told(output, mark, language)} == set(scene.notes)


# ------------------------------------------------------------------------------------------ effect
EFFECTS: tuple[tuple[dict[str, Any], set[str]], ...] = (
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
def test_effect_bench_matches_order_comparison(place):
    values, expected = EFFECTS[place]
    language, scheme = LANGUAGES[place % 2], orders.SCHEMES[place % 4]
    first = values.get("first", FIRST)
    other = orders.shuffle(first, 7) if "how" in values else values.get("second", SECOND)
    order_comparison = orders.compare_orders(
        first, other, values.get("causal", False), values.get("seed", 0)
    )
    moved = np.nanmax(order_comparison.moved, axis=1, initial=-1)
    percents = {
        f"moved_{name}": "–" if far < 0 else f"{number(100 * far)}%" if far > 1e-9 else "0%"
        for name, far in zip(orders.SCHEMES, moved, strict=True)
    }
    for more, draw in (
        ({}, partial(moved_words, order_comparison)),
        ({"view": "maps", "scheme": scheme}, partial(both_orders, order_comparison, scheme)),
    ):
        output = check(lesson, Scene("effect", values | more, draw, percents), language)
        assert {key for key in MARKS if told(output, key, language)} == expected
        aside = told(output, "shuffled", language)
        assert [other in note for note in aside] == [True] * ("how" in values)


REFUSED = (
    Scene("effect", {"first": ""}, refuses="no_text"),
    Scene("effect", {"second": "  "}, refuses="no_text"),
    Scene("learned", {"model": "smollm2"}, refuses="no_position_table"),
)


@each(REFUSED)
def test_bench_rejects_missing_words_and_table(smollm2, scene, language):
    check(lesson, scene, language)


# ------------------------------------------------------------------------------------- real models
@EACH
def test_learned_bench_matches_position_table(minilm, language):
    result = positions.table("minilm")
    table, sines = result.table, encoding(512, 384).table
    views = {
        "late": partial(early_and_late, ages(table), ages(sines)),
        "similarity": partial(table_similarity, similarity(table), similarity(sines)),
        "updates": partial(row_updates, updates(positions.review_lengths("minilm"), 512, 128)),
        "path": partial(component_path, path(table)),
        "spectrum": partial(power_spectrum, spectrum(table), spectrum(sines)),
        "norms": partial(embedding_norms, embedding_scale(result.words, table)),
    }
    like = compare(table)
    # By hand: the share of the variance in the first eight principal components.
    values = np.linalg.svd(table - table.mean(0), compute_uv=False) ** 2
    readouts = {
        "size": unbroken("512 × 384"),
        "share": f"{100 * values[:8].sum() / values.sum():.0f}%",
        "cka": number(like.cka),
        "unlike": f"{100 * like.unlike:.0f}%",
    }
    share = f"{100 * like.sinusoidal_in_eight:.0f}%"
    for view in list(views)[LANGUAGES.index(language) :: 2]:
        given = {"view": view} if view != "similarity" else {}
        output = check(lesson, Scene("learned", given, views[view], readouts), language)
        message = beside(output)
        assert message["size"] == "all-MiniLM-L6-v2"
        assert message["share"] == {"en": f"sinusoidal: {share}", "zh": f"正弦：{share}"}[language]
        assert message["cka"].endswith(number(like.cka_chance))
        norms = told(output, "norms", language)
        assert [number(np.sqrt(192)) in note for note in norms] == [True] * (view == "norms")


@pytest.mark.parametrize(("how", "language"), [("own", "en"), ("shuffled", "zh")])
def test_encoder_bench_matches_reordered_text(minilm, how, language):
    above = {"effect.how": how} if how != "own" else {}
    second = orders.shuffle(FIRST, 1) if how == "shuffled" else SECOND
    for values in (
        {},
        {"view": "maps", "variant": "shuffled", "layer": 5, "head": 11},
        {"view": "maps", "variant": "sinusoidal", "layer": 3, "head": 0},
    ):
        chosen = values.get("layer", 0), values.get("head", 2)
        result = positions.reordered("minilm", FIRST, second, *chosen)
        draw = partial(encoder_variants, result)
        if values:
            draw = partial(encoder_maps, result, values["variant"])
        assert result.variants[:2] == ("own", "zero")
        output = check(lesson, Scene("encoder", above | values, draw, {
            "alike_own": number(float(result.alike[0]), 4),
            "alike_zero": number(1.0, 4),
            "kept_zero": number(float(result.original_cosine[1]), 3),
            "previous_zero": f"{100 * result.previous[1]:.0f}%",
        }), language)  # fmt: skip
        own = f"{100 * result.previous[0]:.0f}%"
        message = {"en": f"own: {own}", "zh": f"原来：{own}"}[language]
        assert beside(output) == {"previous_zero": message}


def test_encoder_bench_reports_text_longer_than_table(minilm):
    bench = lesson.benches["encoder"]
    assert told(bench.run({"effect.first": "a b " * 400}), "first_tokens")
    assert not told(bench.run(), "first_tokens")


# -------------------------------------------------------------------------------- tiny Transformers
@EACH
def test_task_bench_requests_training_and_shows_result(language):
    """What a training comes to is tested with the library; the button with that of ar_fitting."""
    values = {"task": "before", "letters": 6, "causal": True, "seed": 2}
    settings, result = OrderSettings("before", 6, True, 2), order_result()
    requests = []

    class Asked(Given):
        def training_result(self, function, keywords, so_far):
            requests.append((function, dict(keywords), so_far))
            return super().training_result(function, keywords, so_far)

    views = {"result": accuracies, "curves": learning_curves}
    for view, draw in views.items():
        output = lesson.benches["task"].run(values | {"view": view}, language, host=Asked(result))
        same(as_json(output.figure), as_json(draw(result, style=Style(lang=language))))
        assert {name: readout.value for name, readout in output.readouts.items()} == {
            **{
                f"task_{name}": f"{100 * result.test.accuracy.share[row].mean():.1f}%"
                for name, row in (("none", 0), ("sinusoidal", 1), ("rotary", 3))
            },
            "task_longer": f"{100 * np.nanmax(result.longer.accuracy.share.mean(axis=1)):.1f}%",
        }
        said = [told(output, key, language) for key in ("task", "task_bounds")]
        if view == "curves":
            assert said == [[], []]  # they speak of what only *Result* draws
        else:
            (note,), (bounds,) = said
            assert all(part in note + bounds for part in ("1,000", "16.7%", "36.5%")), note
        assert f"figure = {draw.__name__}(order_result" in output.code
    function, keywords, (draw, *chosen) = requests[0]
    assert (function, keywords) == (train, {"settings": settings})
    report = OrderReport(10, 500, result.curve[0])
    growing = draw([report], *chosen).to_json()
    assert json.loads(growing) == json.loads(learning_progress([report], settings).to_json())
    waits = lesson.benches["task"].run(values, language)
    assert waits.figure is None
    assert words_of(lesson, "hint.train", language).fullmatch(waits.waits)
