"""The lesson on positional encodings: every bench and view against the library."""

from __future__ import annotations

import json

import numpy as np
import pytest
from looking import bench, figures
from positions_page import FIRST, SECOND, SLUG, drawn, figure, notes, opened, said, shown, warned

from seqviz.compute.positions import orders, relative, rotary
from seqviz.compute.positions.clocks import clocks, embedding_scale
from seqviz.compute.positions.learned import compare, path, spectrum
from seqviz.compute.positions.offsets import dot_by_offset, similarity
from seqviz.compute.positions.sinusoidal import encoding, found_rotation, rotation
from seqviz.experiments import positions
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.clocks import clock_hands, embedding_norms, wavelengths
from seqviz.figures.positions.effects import both_orders, moved_words
from seqviz.figures.positions.encoder import encoder_maps, encoder_variants
from seqviz.figures.positions.encodings import dot_products, rotation_matrices, similarity_by_offset
from seqviz.figures.positions.schemes import rotary_scores, shift_bars
from seqviz.figures.positions.tables import component_path, power_spectrum, table_similarity
from seqviz.text import LANGUAGES, literal, number

EACH = pytest.mark.parametrize("lang", LANGUAGES)


def same(page, name: str, draw, *args) -> None:
    """The bench draws this; the same to the last bit, as numbers are sent in base64."""
    assert figure(page, name) == drawn(page, draw, *args)


# ------------------------------------------------------------------------------------------- waves
@EACH
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
@EACH
@pytest.mark.parametrize(("d_model", "base", "length"), [(64, 10_000.0, 64), (8, 100.0, 16)])
def test_distance_by_offset_and_all_pairs(visit, lang, d_model, base, length):
    page = opened(
        visit, lang, distance__d_model=d_model, distance__base=base, distance__length=length
    )
    sines = encoding(length, d_model, base)
    found = similarity(sines.table)
    closed = dot_by_offset(sines.frequencies, np.arange(length))
    same(page, "distance", similarity_by_offset, found, closed)
    readouts = shown(page, "distance")
    assert readouts == {
        "norm": (number(float(np.linalg.norm(sines.table[3])), 4), f"√({d_model}/2)"),
        "shortest": number(2 * np.pi, 4),
        "longest": number(2 * np.pi * base ** ((d_model - 2) / d_model), 4),
    }
    page.run(po__distance__view="matrix")
    same(page, "distance", dot_products, found)
    assert shown(page, "distance") == readouts
    page.run(po__distance__view="wavelengths")
    assert figure(page, "distance")["data"] == drawn(page, wavelengths, sines)["data"]
    assert shown(page, "distance") == readouts
    assert not notes(page, "distance")


@EACH
@pytest.mark.parametrize(
    ("d_model", "base", "offset", "unique"),
    [(64, 10_000.0, 3, False), (8, 100.0, 50, True), (2, 1.5, 1, True), (256, 1e6, 7, False)],
)
def test_rotation(visit, lang, d_model, base, offset, unique):
    page = opened(
        visit, lang, distance__view="rotation", distance__d_model=d_model, distance__base=base,
        distance__offset=offset,
    )  # fmt: skip
    table, closed = encoding(512, d_model, base).table, rotation(offset, d_model, base)
    found = found_rotation(table, offset)
    same(page, "distance", rotation_matrices, closed, found, offset)
    readouts = shown(page, "distance")
    assert readouts == {
        "residual": number(found.residual, 2),
        "rank": f"{found.rank} / {d_model}",
        "gap": number(float(np.abs(found.matrix - closed).max()), 2),
    }
    # The matrix that was found carries every row; it is the formula's where it is the only one.
    np.testing.assert_allclose(table[:-offset] @ found.matrix.T, table[offset:], atol=1e-6)
    assert (found.rank == d_model) == unique
    assert notes(page, "distance") == (set() if unique else {"not_unique"})
    gap = np.abs(found.matrix - closed).max()
    assert (gap < 1e-4) == unique  # singular values down to 1e-10: rounding grows to 1e-6


def test_clocks(visit):
    page = opened(
        visit, distance__view="clocks", distance__d_model=16, distance__place=200,
        distance__offset=50,
    )  # fmt: skip
    table = encoding(251, 16)
    same(page, "distance", clock_hands, clocks(table, 200), clocks(table, 250))
    assert shown(page, "distance") == {
        "fastest": number(50 * 180 / np.pi),
        "slowest": number(50 * 180 / np.pi * 10_000 ** (-14 / 16)),
    }


# ----------------------------------------------------------------------------------------- learned
@EACH
def test_learned(visit, lang):
    page = opened(visit, lang)
    found = positions.table("minilm")
    table, sines = found.table, encoding(512, 384).table
    cases = {
        "similarity": (table_similarity, similarity(table), similarity(sines)),
        "path": (component_path, path(table)),
        "spectrum": (power_spectrum, spectrum(table), spectrum(sines)),
        "norms": (embedding_norms, embedding_scale(found.words, table)),
    }
    like = compare(table)
    assert set(cases) == set(page.lesson.benches["learned"].__dataclass_fields__["view"]
                             .metadata["control"].options)  # fmt: skip
    for view, (draw, *args) in cases.items():
        page.run(po__learned__view=view)
        same(page, "learned", draw, *args)
        metric = f"{SLUG}.metric"
        assert shown(page, "learned") == {
            "size": ("512 × 384", "all-MiniLM-L6-v2"),
            "share": (
                f"{100 * like.share[1]:.0f} %",
                page.text(f"{metric}.share.sines", share=f"{100 * like.sinusoidal_share[1]:.0f}"),
            ),
            "cka": (
                number(like.cka),
                page.text(f"{metric}.cka.chance", value=number(like.cka_chance)),
            ),
            "unlike": f"{100 * like.unlike:.0f} %",
        }
    # By hand: the share of the variance in the first eight principal components.
    values = np.linalg.svd(table - table.mean(0), compute_uv=False) ** 2
    eight = values[:8].sum() / values.sum()
    assert shown(page, "learned")["share"][0] == f"{100 * eight:.0f} %"


@EACH
def test_a_model_without_a_table_says_so_in_one_sentence(visit, lang):
    page = opened(visit, lang, learned__model="smollm2")
    title = literal("SmolLM2-135M-Instruct")
    wanted = page.text(f"{SLUG}.problem.no_position_table", model=title)
    assert page.warned() == warned(page, "learned") == [wanted]
    assert not bench(page.app, "learned").metric
    assert page.charts() == len(page.lesson.benches) - 2  # nor has anybody trained


# ----------------------------------------------------------------------------------------- schemes
@EACH
@pytest.mark.parametrize(("tokens", "base", "d_k"), [(24, 100_000.0, 64), (4, 1.5, 2)])
def test_rotary(visit, lang, tokens, base, d_k):
    page = opened(
        visit, lang, schemes__tokens=tokens, schemes__base=base, schemes__d_k=d_k, schemes__seed=5
    )
    q, k = np.random.RandomState(5).standard_normal((2, d_k))
    found = rotary.score_by_offset(q, k, np.arange(tokens), base, "halves")
    same(page, "schemes", rotary_scores, found)
    readouts = shown(page, "schemes")
    assert readouts.pop("pairs") == str(d_k // 2)
    spread, error = found.by_offset.spread, np.abs(found.by_offset.mean - found.closed_form).max()
    assert readouts == {"spread": number(spread, 2), "error": number(float(error), 2)}
    assert max(spread, error) < 1e-10  # only the offset decides, and as the formula says


@EACH
@pytest.mark.parametrize(("heads", "head"), [(1, 0), (8, 7), (12, 3)])
def test_alibi(visit, lang, heads, head):
    settings = {"schemes__head": head} if heads > 1 else {}
    page = opened(
        visit, lang, schemes__view="alibi", schemes__heads=heads, schemes__causal=True,
        schemes__tokens=9, **settings,
    )  # fmt: skip
    slopes = relative.alibi_slopes(heads)
    same(page, "schemes", alibi, slopes, relative.alibi_bias(heads, 9, True), head)
    # Press et al. (2022): for 8 heads 1/2, 1/4, ... 1/256; for 12 also those between of 16 heads
    ends = {1: (2**-8, 2**-8), 8: (1 / 2, 2**-8), 12: (2**-0.5, 2**-8)}[heads]
    assert shown(page, "schemes") == {
        "steepest": number(ends[0], 4),
        "flattest": number(ends[1], 4),
    }


def test_a_head_that_is_there_no_more(visit):
    """The slider of heads is moved below the chosen head."""
    page = opened(visit, schemes__view="alibi", schemes__heads=12, schemes__head=11)
    for heads in (5, 1, 3):
        page.run(po__schemes__heads=heads)
        assert len(figures(bench(page.app, "schemes"))) == 1


@EACH
@pytest.mark.parametrize(("causal", "buckets", "farthest"), [(False, 32, 128), (True, 8, 64)])
def test_t5(visit, lang, causal, buckets, farthest):
    page = opened(
        visit, lang, schemes__view="t5", schemes__tokens=40, schemes__causal=causal,
        schemes__buckets=buckets, schemes__farthest=farthest,
    )  # fmt: skip
    found = relative.t5_map(40, not causal, buckets, farthest)
    same(page, "schemes", t5_buckets, found)
    assert shown(page, "schemes") == {"used": f"{len(set(found.ravel()))} / {buckets}"}


@EACH
@pytest.mark.parametrize("shift", [0, 40, 1000])
def test_shift(visit, lang, shift):
    page = opened(visit, lang, schemes__view="shift", schemes__shift=shift, schemes__seed=2)
    changes = [relative.shift_change(name, 16, shift, 64, 2) for name in relative.SCHEMES]
    same(page, "schemes", shift_bars, changes)
    readouts = shown(page, "schemes")
    moved = float(readouts["absolute"])
    assert moved > 0.1 if shift else moved == 0
    by = {change.scheme: change for change in changes}
    assert by["rotary"].largest < 1e-10
    assert readouts["turned"] == number(by["rotary"].largest, 2)
    assert readouts["beyond"] == ("16 / 16" if shift == 1000 else "0 / 16")  # of 512 rows


# ------------------------------------------------------------------------------------------ effect
def percents(page) -> dict[str, float]:
    return {
        key.removeprefix("moved_"): float(value.removesuffix(" %"))
        for key, value in shown(page, "effect").items()
    }


@EACH
@pytest.mark.parametrize("causal", [False, True])
def test_two_orders(visit, lang, causal):
    page = opened(visit, lang, effect__causal=causal, effect__seed=3)
    found = orders.compare_orders(FIRST, SECOND, causal, 3)
    same(page, "effect", moved_words, found)
    values = percents(page)
    for scheme, gaps in zip(found.schemes, found.moved, strict=True):
        assert values[scheme] == pytest.approx(100 * gaps.max(), rel=5e-3, abs=1e-9), scheme
    assert (values["none"] == 0) != causal
    assert notes(page, "effect") == {"causal" if causal else "equivariant"}
    for scheme in orders.SCHEMES:
        page.run(po__effect__view="maps", po__effect__scheme=scheme)
        same(page, "effect", both_orders, found, scheme)


@EACH
def test_shuffled(visit, lang):
    page = opened(visit, lang, effect__how="shuffled", effect__draw=7)
    second = orders.shuffle(FIRST, 7)
    same(page, "effect", moved_words, orders.compare_orders(FIRST, second))
    assert page.text(f"{SLUG}.note.shuffled", text=second) in said(page, "effect")
    assert notes(page, "effect") == {"equivariant"}
    assert page.value("effect", "second") is None  # the sentence of one's own is put aside
    page.run(po__effect__how="own")
    assert page.value("effect", "second") == SECOND


@pytest.mark.parametrize(
    ("first", "second", "causal", "wanted"),
    [
        (FIRST, f"{SECOND} today", False, {"strangers"}),  # a word more in the second
        (f"{FIRST} today", SECOND, True, {"strangers"}),
        (FIRST, FIRST, True, set()),  # the same order: the mask changes nothing
        (FIRST, FIRST, False, {"equivariant"}),
    ],
)
def test_notes_say_only_what_the_figure_shows(visit, first, second, causal, wanted):
    page = opened(visit, effect__first=first, effect__second=second, effect__causal=causal)
    assert notes(page, "effect") == wanted
    same(page, "effect", moved_words, orders.compare_orders(first, second, causal))
    assert "nan" not in json.dumps(figure(page, "effect")).lower()
    largest = np.nanmax(orders.compare_orders(first, second, causal).moved, axis=1)
    assert list(percents(page).values()) == pytest.approx(100 * largest, rel=5e-3, abs=1e-9)


@EACH
def test_no_word_in_common(visit, lang):
    page = opened(visit, lang, effect__first="one two", effect__second="three four")
    assert set(shown(page, "effect").values()) == {"–"}
    assert notes(page, "effect") == {"strangers"}
    assert "nan" not in json.dumps(figure(page, "effect")).lower()


# ----------------------------------------------------------------------------------------- encoder
@EACH
@pytest.mark.parametrize("how", ["own", "shuffled"])
def test_a_real_encoder(visit, lang, how):
    page = opened(visit, lang, effect__how=how)
    second = orders.shuffle(FIRST, 1) if how == "shuffled" else SECOND
    found = positions.reordered("minilm", FIRST, second)
    same(page, "encoder", encoder_variants, found)
    assert found.variants[:2] == ("own", "zero")
    assert shown(page, "encoder") == {
        "alike_own": number(float(found.alike[0]), 4),
        "alike_zero": number(1.0, 4),
        "kept_zero": number(float(found.kept[1]), 3),
        "previous_zero": (
            f"{100 * found.previous[1]:.0f} %",
            page.text(f"{SLUG}.metric.previous_zero.own", share=f"{100 * found.previous[0]:.0f}"),
        ),
    }
    page.run(po__encoder__view="maps")
    for variant, layer, head in (("zero", 0, 2), ("shuffled", 5, 11), ("sinusoidal", 3, 0)):
        page.run(po__encoder__variant=variant, po__encoder__layer=layer, po__encoder__head=head)
        found = positions.reordered("minilm", FIRST, second, layer, head)
        same(page, "encoder", encoder_maps, found, variant)
