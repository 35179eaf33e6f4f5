"""The lesson on accuracy: every bench and view against the shipped results and the library."""

from __future__ import annotations

import re
from math import sqrt

import numpy as np
import pytest
from accuracy_page import (
    NEED_MODEL,
    SHIPPED,
    SLUG,
    VIEWS,
    badge,
    colored,
    drawn,
    figure,
    opened,
    ran,
    result,
    rows,
    said,
    shown,
)
from looking import PLACEHOLDER, alerts, bench, figures, sentences
from scipy.stats import binom

from seqviz.compute import proportions
from seqviz.compute.accuracy import counting, reported
from seqviz.compute.accuracy.findings import METHODS, ORDERS, SIDES, TuneSettings
from seqviz.data import precomputed
from seqviz.experiments.accuracy import (
    features,
    fill,
    heads,
    modes,
    padding,
    shipped,
    systems,
)
from seqviz.experiments.accuracy import (
    word_masking as knife,
)
from seqviz.figures.accuracy.compare import confusion_matrices, paired_answers, running_accuracy
from seqviz.figures.accuracy.counts import parameter_counts
from seqviz.figures.accuracy.curves import learning_curves
from seqviz.figures.accuracy.direction import accuracy_by_direction
from seqviz.figures.accuracy.fill import best_guesses, fill_in_accuracy, fill_in_accuracy_by_share
from seqviz.figures.accuracy.ids import token_ids
from seqviz.figures.accuracy.modes import train_and_eval
from seqviz.figures.accuracy.padding import padding_effect, sentence_padding
from seqviz.figures.accuracy.regimes import system_accuracies
from seqviz.figures.accuracy.search import best_so_far, search_trials
from seqviz.figures.accuracy.word_masking import accuracy_under_masking, sentence_under_masking
from seqviz.lessons.bench import controls
from seqviz.models import pretrained
from seqviz.text import LANGUAGES, number

__all__ = ["ran"]  # a fixture
EACH = pytest.mark.parametrize("lang", LANGUAGES)
REVIEW = "The film is not good."
TRUTH = systems.truth()


def majority(part: str = "test") -> proportions.Proportion:
    parts = features.parts()
    return proportions.majority(parts["train"].positive, parts[part].positive)


def percent(right: np.ndarray) -> tuple[str, str]:
    """An accuracy as the page writes it, by Wilson's formula written out here."""
    n, z = len(right), 1.959964
    p = right.sum() / n
    middle, half = p + z**2 / (2 * n), z * sqrt(p * (1 - p) / n + z**2 / (4 * n * n))
    low, high = ((middle + sign * half) / (1 + z**2 / n) for sign in (-1, 1))
    return f"{100 * p:.1f} %", f"{100 * low:.1f}–{100 * high:.1f} %, n = {n:,}"


def right(probability: np.ndarray) -> np.ndarray:
    """Which answers are right, of the sentences that were tried."""
    tried = ~np.isnan(probability)
    return (probability[tried] > 0.5) == TRUTH[: len(probability)][tried]


def same(page, name: str, draw, *args, **more) -> None:
    """The bench draws this; the same to the last bit, as numbers are sent in base64."""
    assert figure(page, name) == drawn(page, draw, *args, **more)


def test_the_views_are_those_of_the_page(visit):
    page = opened(visit)
    found = {
        name: getattr(dict(controls.controls(declaration)).get("view"), "options", ())
        for name, declaration in page.lesson.benches.items()
    }
    assert found == VIEWS
    assert set(page.lesson.parts) == set(VIEWS) - {"compare"}


# ------------------------------------------------------------------------------------ all at once
@EACH
def test_every_view_of_every_bench_draws(visit, lang):
    page = opened(visit, lang)
    for turn in range(max(map(len, VIEWS.values()))):
        state = {
            f"ba.{name}.view": views[min(turn, len(views) - 1)]
            for name, views in VIEWS.items() if views
        }  # fmt: skip
        page.run(**state)
        assert not page.app.warning
        assert not page.app.info
        for name in VIEWS:
            assert len(figures(bench(page.app, name))) == 1, (name, turn)
            assert figure(page, name)["layout"]["meta"]["alt"], (name, turn)
            assert badge(page, name)
        for sentence in sentences(page.app):
            assert not PLACEHOLDER.search(sentence), sentence
        for metric in page.app.metric:
            assert not re.search(r"nan|inf\b|None", f"{metric.value} {metric.delta}"), metric.label


@pytest.fixture
def nowhere(vectors, monkeypatch, tmp_path):
    """Nothing is loaded, the cache is empty, and no source answers."""
    monkeypatch.setattr(pretrained, "_loaded", {})
    monkeypatch.setattr(features, "_kept", type(features._kept)())
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


@EACH
def test_without_a_model_the_page_is_full_and_says_when_it_was_computed(visit, nowhere, lang):
    page = opened(visit, lang)
    for name in set(VIEWS) - set(NEED_MODEL):
        assert len(figures(bench(page.app, name))) == 1, name
        assert alerts(bench(page.app, name)) == {
            "error": [], "warning": [], "info": [], "success": [],
        }  # fmt: skip
    kind = page.text("frame.precomputed")
    for name in SHIPPED:
        assert re.search(rf"{kind} · 20\d\d-\d\d-\d\d · \S", badge(page, name)), name
    for name in NEED_MODEL:
        boxes = alerts(bench(page.app, name))
        assert not figures(bench(page.app, name))
        assert len(boxes["warning"] + boxes["info"]) == 1
    for name, views in VIEWS.items():  # and every other shipped view
        for view in set(views) - {"own", "tokens"}:
            page.run(**{f"ba.{name}.view": view})
            assert len(figures(bench(page.app, name))) == 1, (name, view)
            assert badge(page, name).split(kind)[1], (name, view)
    assert not pretrained.loaded("minilm")


# ----------------------------------------------------------------------------------- words hidden
@EACH
@pytest.mark.parametrize(("order", "share"), [("random", 35), ("function", 50), ("gradient", 98)])
def test_knife(ran, lang, order, share):
    page = opened(ran, lang, knife__order=order, knife__share=share)
    found = result("knife")
    same(page, "knife", accuracy_under_masking, found, order, share / 100, majority())
    at = round(share / 5)
    rows = {name: right(found.probability[k, at]) for k, name in enumerate(ORDERS)}
    value, ends = percent(rows[order])
    assert shown(page, "knife") == {
        "accuracy_here": (value, f"{5 * at} %: {ends}"),
        "accuracy_whole": percent(right(found.probability[0, 0])),
        "majority": percent((features.parts()["train"].positive.mean() >= 0.5) == TRUTH),
        "says_positive": f"{100 * (found.probability[ORDERS.index(order), at] > 0.5).mean():.1f} %",
    }
    other = "random" if order != "random" else "function"
    names = [page.text(f"{SLUG}.option.order.{one}") for one in (order, other)]
    mcnemar(page, "knife", names, rows[order], rows[other])


def mcnemar(page, name: str, names: list[str], first: np.ndarray, second: np.ndarray) -> float:
    """The sentence on two systems, by the binomial distribution written out here; p."""
    a, b = int((first & ~second).sum()), int((second & ~first).sum())
    p = min(1.0, 2 * float(binom.cdf(min(a, b), a + b, 0.5))) if a + b else 1.0
    verdict = "no_difference" if a + b == 0 else "real" if p < 0.05 else "chance"
    sentence = page.text(
        "readout.mcnemar", first=names[0], second=names[1], a=f"{a:,}", b=f"{b:,}",
        n=f"{len(first):,}", p="< 0.001" if p < 0.001 else f"= {p:.3f}",
        verdict=page.text(f"readout.{verdict}"),
    )  # fmt: skip
    assert sentence in said(page, name)
    return p


@EACH
def test_own_sentence_under_the_knife(ran, lang):
    page = opened(
        ran, lang, knife__view="own", knife__text=REVIEW, knife__order="content", knife__share=40
    )
    found = knife.own_knife("minilm", REVIEW)
    assert found.words == ("the", "film", "is", "not", "good", ".")
    same(page, "knife", sentence_under_masking, found, "content", 2)
    row = found.probability[ORDERS.index("content")]
    turned = np.flatnonzero((row > 0.5) != (row[0] > 0.5))
    assert shown(page, "knife") == {
        "positive": f"{100 * row[2]:.1f} %",
        "words_masked": "2 / 6",
        "undecided": str(turned[0]) if len(turned) else "–",
    }
    gone = [found.words[k] for k in np.flatnonzero(found.turns[ORDERS.index("content")] < 2)]
    assert sorted(gone) == ["film", "good"]
    words = re.sub(r"<[^>]+>", "", colored(page, "knife")).split()
    assert words == ["the", "[MASK]", "is", "not", "[MASK]", "."]


@EACH
def test_fill(ran, lang):
    page = opened(ran, lang)
    one, every = result("fill"), result("fill_by_share")
    for view, share in (("treatments", 15), ("share", 15), ("share", 100), ("share", 25)):
        page.run(ba__fill__view=view, ba__fill__selected=share if view == "share" else 15)
        if view == "treatments":
            same(page, "fill", fill_in_accuracy, one)
            here = one
        else:
            same(page, "fill", fill_in_accuracy_by_share, every, share / 100)
            nearest = min(shipped.SELECTED, key=lambda s: (abs(100 * s - share), s))
            here = every[shipped.SELECTED.index(nearest)]
        assert shown(page, "fill") == {
            "top_mask": percent(here.rank[here.treatment == 0] == 1),
            "top_random": percent(here.rank[here.treatment == 1] == 1),
            "top_kept": percent(here.rank[here.treatment == 2] == 1),
            "top_frequent": percent(here.frequency == 1),
        }


@EACH
def test_guess(ran, lang):
    text = "the capital of france is paris"
    page = opened(ran, lang, guess__text=text, guess__place=3, guess__seed=4)
    found = fill.guesses("minilm", text, 3, seed=4)
    assert found.truth == "of"
    same(page, "guess", best_guesses, found)
    ranked = [
        (f"{rank:,}", f"{100 * chance:.1f} %")
        for rank, chance in zip(found.rank, found.chance, strict=True)
    ]
    keys = ("rank", "rank_random", "rank_kept")
    assert shown(page, "guess") == dict(zip(keys, ranked, strict=True))


# --------------------------------------------------------------------------------- padding hidden
@EACH
@pytest.mark.parametrize(("length", "side"), [(128, "right"), (512, "left"), (32, "left")])
def test_padding(ran, lang, length, side):
    page = opened(ran, lang, padding__length=length, padding__side=side)
    found = result("padding")
    s, at = SIDES.index(side), shipped.LENGTHS.index(length)
    told, untold = found.probability[:, s, at]
    tried = ~np.isnan(untold)
    assert tried.sum() == (2000 if length <= padding.LONG else padding.FEW)
    readouts = {
        "told": percent(right(told)),
        "untold": percent(right(untold)),
        "flipped": percent((untold[tried] > 0.5) != (found.plain[tried] > 0.5)),
        "on_pads": f"{100 * np.nanmean(found.on_pads[1, s, at]):.1f} %",
    }
    for view in VIEWS["padding"][:4]:
        page.run(ba__padding__view=view)
        args = (found, view, length, side, majority())
        same(page, "padding", padding_effect, *args)
        assert shown(page, "padding") == readouts
    names = [page.text(f"{SLUG}.metric.{name}.label") for name in ("told", "untold")]
    mcnemar(page, "padding", names, right(told), right(untold))
    assert (page.text(f"{SLUG}.note.left_side") in said(page, "padding")) == (side == "left")


@EACH
def test_own_sentence_padded(ran, lang):
    page = opened(
        ran, lang, padding__view="own", padding__text=REVIEW, padding__length=64,
        padding__side="left",
    )  # fmt: skip
    found = padding.own_padding("minilm", REVIEW, shipped.LENGTHS)
    same(page, "padding", sentence_padding, found, 64)
    assert shown(page, "padding") == {
        "positive": f"{100 * found.plain:.1f} %",
        "positive_told": f"{100 * found.probability[0, 1, 1]:.1f} %",
        "positive_untold": f"{100 * found.probability[1, 1, 1]:.1f} %",
        "on_pads": f"{100 * found.on_pads[1, 1, 1]:.1f} %",
    }
    page.run(ba__padding__view="tokens")
    assert figure(page, "padding")["data"] == drawn(page, token_ids, found)["data"]
    note = page.text(f"{SLUG}.note.ids_real", real=8, length=512, pads=504)
    assert note in said(page, "padding")


# --------------------------------------------------------------------------- one direction hidden
@EACH
def test_direction(ran, lang):
    page = opened(ran, lang)
    found = result("direction")
    same(page, "looks", accuracy_by_direction, found, majority())
    both, left = (right(found.probability[k]) for k in (0, 1))
    readouts = shown(page, "looks")
    assert readouts["look_both"] == percent(both)
    assert readouts["look_left"] == percent(left)
    assert readouts["look_refitted"] == percent(right(found.refitted[1]))
    assert readouts["look_fill"] == percent(found.rank[1] == 1)
    names = [page.text(f"{SLUG}.metric.{name}.label") for name in ("look_both", "look_left")]
    mcnemar(page, "looks", names, both, left)
    text = "the capital of france is paris"
    page.run(ba__looks__view="own")
    page.run(ba__looks__place=4, ba__looks__text=text)
    wanted = fill.guesses_by_direction("minilm", text, 4)
    assert wanted.truth == "france"
    same(page, "looks", best_guesses, wanted)


# --------------------------------------------------------------------------------- weights frozen
@EACH
def test_heads_are_trained_while_one_watches(ran, lang):
    page = opened(ran, lang, heads__feature="cls", heads__epochs=2, heads__runs=3,
                  heads__sentences=500, heads__head_rate=0.01)  # fmt: skip
    settings = TuneSettings(
        "minilm", "head", "cls", sentences=500, epochs=2, head_rate=0.01, runs=3
    )
    wanted = heads.train_head(settings)
    validation = majority("validation")
    same(page, "heads", learning_curves, wanted, None, validation)
    runs = np.array([right(row).mean() for row in wanted.probability])
    readouts = shown(page, "heads")
    assert readouts["trained"][0] == f"{100 * runs.mean():.1f} %"
    assert readouts["spread"] == f"{100 * runs.min():.1f}–{100 * runs.max():.1f} %"
    assert readouts["trainable"] == ("770", f"/ {wanted.total:,}")
    assert badge(page, "heads").split(" · ")[0].endswith(page.text("frame.live"))
    reach = reported.adam_reach(0.01, 2 * 16)
    note = page.text(f"{SLUG}.note.adam", steps="32", rate="0.01", reach=number(reach, 2))
    assert note in said(page, "heads")


@EACH
def test_the_curves_of_the_texts_beside_ours(ran, lang):
    page = opened(ran, lang, heads__texts=True, tune__texts=True)
    ours = {"heads": heads.train_head(shipped.HEAD), "tune": result("all")}
    for (name, found), curve in zip(ours.items(), reported.CURVES[:2], strict=True):
        same(page, name, learning_curves, found, curve, majority("validation"))


@EACH
@pytest.mark.parametrize("regime", ["all", "top", "lora"])
def test_what_was_trained_for_minutes_is_there(ran, lang, regime):
    settings = {"lora": {"tune__rate": 3e-4}}.get(regime, {})
    page = opened(ran, lang, tune__regime=regime, **settings)
    found = result({"top": "top_2"}.get(regime, regime))
    validation = majority("validation")
    same(page, "tune", learning_curves, found, None, validation)
    readouts = shown(page, "tune")
    assert readouts["trained"] == percent(right(found.probability[0]))
    assert readouts["spread"] == "–"
    assert readouts["trainable"] == (f"{found.trainable:,}", f"/ {found.total:,}")


def test_the_count_of_the_text(ran):
    page = opened(ran)
    found = counting.count(counting.CONFIGS["bert_base"], "head")
    title = f"{page.text(f'{SLUG}.option.network.bert_base')}, " + page.text(
        f"{SLUG}.option.regime.head"
    )
    same(page, "count", parameter_counts, found, title)
    assert shown(page, "count") == {
        "total": "109,483,778", "trainable": "1,538", "share_trained": "0.0014 %",
    }  # fmt: skip
    page.run(ba__count__network="distilbert", ba__count__regime="top", ba__count__layers=12)
    assert shown(page, "count")["trainable"] == f"{6 * 7_087_872 + 590_592 + 1_538:,}"


@EACH
def test_search(ran, lang):
    page = opened(ran, lang)
    surface, race = result("surface"), result("race")
    for method in METHODS:
        page.run(ba__search__view="surface", ba__search__method=method)
        (found,) = result(f"search_{method}")
        same(page, "search", search_trials, found, surface)
        best = int(np.argmax(found.validation))
        readouts = shown(page, "search")
        assert readouts["best"] == percent(np.arange(800) < round(800 * found.validation[best]))
        assert readouts["best_rate"] == (number(float(found.rate[best]), 2), f"{found.batch[best]}")
        assert readouts["best_test"] == percent(right(found.probability))
    page.run(ba__search__view="race")
    same(page, "search", best_so_far, race)
    top = max(race, key=lambda one: one.validation.max())
    assert shown(page, "search")["best"] == percent(
        np.arange(800) < round(800 * top.validation.max())
    )


@EACH
def test_modes(ran, lang):
    page = opened(ran, lang, modes__text=REVIEW, modes__repeats=7, modes__seed=3)
    found = modes.modes("minilm", REVIEW, 7, 3)
    same(page, "modes", train_and_eval, found)
    spread = np.ptp(found.probability, axis=1)
    assert shown(page, "modes") == {
        "spread_eval": "0.0 %",
        "spread_train": f"{100 * spread[1]:.1f} %",
    }
    assert spread[1] > 0.005


# ---------------------------------------------------------------------------------- any two systems
@EACH
def test_all_systems(ran, lang):
    page = opened(ran, lang, compare__first="lstm")
    args = (systems.answers(), TRUTH, "lstm", majority(), reported.REPORTED)
    same(page, "compare", system_accuracies, *args)
    assert not shown(page, "compare")
    assert page.text(f"{SLUG}.note.seeds", n="2,000") in said(page, "compare")


PAIRS = (
    ("all", "head_mean", 2000, "real"),
    ("lstm", "gru", 2000, "chance"),
    ("all", "random_head", 20, None),
    ("gru", "gru", 500, "no_difference"),
)


@EACH
@pytest.mark.parametrize(("first", "second", "n", "verdict"), PAIRS)
def test_two_systems(ran, lang, first, second, n, verdict):
    page = opened(ran, lang, compare__view="running", compare__first=first,
                  compare__second=second, compare__sentences=n)  # fmt: skip
    known = {one.system: one.probability[0] for one in systems.answers()}
    a, b = right(known[first]), right(known[second])
    names = (
        page.text(f"{SLUG}.option.first.{first}"),
        page.text(f"{SLUG}.option.second.{second}"),
    )
    running = [proportions.running(one) for one in (a, b)]
    same(page, "compare", running_accuracy, *running, names, n)
    readouts = shown(page, "compare")
    assert readouts["system_a"] == percent(a[:n])
    assert readouts["system_b"] == percent(b[:n])
    p = mcnemar(page, "compare", list(names), a[:n], b[:n])
    if verdict:
        words = page.text(f"readout.{verdict}")
        assert any(words in sentence for sentence in said(page, "compare"))
    assert readouts["p_value"] == ("< 0.001" if p < 0.001 else f"{p:.3f}")
    if first == second:
        assert readouts["needed"] == "∞"
    page.run(ba__compare__view="paired")
    pair = proportions.mcnemar(a[:n], b[:n])
    same(page, "compare", paired_answers, pair, names)
    page.run(ba__compare__view="confusion")
    tables = [proportions.confusion(TRUTH[:n], known[one][:n] > 0.5) for one in (first, second)]
    same(page, "compare", confusion_matrices, *tables, names)
    read(page, known[first][:n], known[second][:n])


def read(page, first: np.ndarray, second: np.ndarray) -> None:
    """The sentences on which just one of the two is right, to read."""
    differ = np.flatnonzero(right(first) != right(second))
    table = rows(page, "compare")
    assert len(table) == min(30, len(differ))
    words = [
        page.text(f"{SLUG}.column.{name}") for name in ("sentence", "truth", "first", "second")
    ]
    texts = features.parts()["test"].texts
    for row, i in zip(table, differ, strict=False):
        truth = page.text(f"{SLUG}.class.{'positive' if TRUTH[i] else 'negative'}")
        shares = (f"{100 * first[i]:.0f} %", f"{100 * second[i]:.0f} %")
        assert row == dict(zip(words, (texts[i], truth, *shares), strict=True))
    caption = page.text(f"{SLUG}.note.disagree", shown=len(table), count=f"{len(differ):,}")
    assert caption in said(page, "compare")


@EACH
def test_a_missing_result_is_one_sentence_in_its_bench(visit, monkeypatch, tmp_path, lang):
    """A broken installation: the others are computed on demand, the page stays whole."""
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path)
    for remembered in (precomputed._read, systems.answers, heads.standard_head):
        remembered.cache_clear()
    try:
        page = opened(visit, lang)
        assert alerts(bench(page.app, "compare"))["warning"] == page.warned()
        assert len(page.warned()) == 1
        for name in ("knife", "fill", "padding", "looks", "tune", "search"):
            hint = page.text(f"{SLUG}.hint.train")
            assert alerts(bench(page.app, name))["info"] == [hint], name
            assert page.app.button(key=f"ba.{name}.start").label == page.text(f"{SLUG}.work.start")
        assert len(figures(bench(page.app, "count"))) == 1
    finally:
        monkeypatch.undo()
        for remembered in (precomputed._read, systems.answers, heads.standard_head):
            remembered.cache_clear()
