"""The lesson on accuracy: every bench and view against the shipped results and the library."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

from seqviz.compute.bert_accuracy import counting, reported
from seqviz.compute.bert_accuracy.results import METHODS, ORDERS, SIDES, TuneSettings
from seqviz.core.errors import MessageError
from seqviz.core.i18n import LANGUAGES, Text, number
from seqviz.core.units import unbroken
from seqviz.data import precomputed
from seqviz.experiments.bert_accuracy import (
    features,
    fill,
    heads,
    modes,
    padding,
    shipped,
    systems,
    word_masking,
)
from seqviz.figures.bert_accuracy.compare import (
    confusion_matrices,
    paired_answers,
    running_accuracy,
)
from seqviz.figures.bert_accuracy.counts import parameter_counts
from seqviz.figures.bert_accuracy.curves import learning_curves
from seqviz.figures.bert_accuracy.direction import accuracy_by_direction
from seqviz.figures.bert_accuracy.fill import (
    best_guesses,
    fill_in_accuracy,
    fill_in_accuracy_by_share,
)
from seqviz.figures.bert_accuracy.ids import token_ids
from seqviz.figures.bert_accuracy.modes import train_and_eval
from seqviz.figures.bert_accuracy.padding import padding_effect, sentence_padding
from seqviz.figures.bert_accuracy.regimes import system_accuracies
from seqviz.figures.bert_accuracy.search import best_so_far, search_trials
from seqviz.figures.bert_accuracy.word_masking import accuracy_under_masking, sentence_under_masking
from seqviz.lessons.bert_accuracy.lesson import lesson
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.output import ColoredText, Table
from seqviz.stats import proportions
from tests.pages.scenes import Scene, check
from tests.tiers import first_only

pytestmark = pytest.mark.usefixtures("vectors")
REVIEW = "The film is not good."
PARIS = "the capital of france is paris"
TRUTH = systems.truth()
MAJORITY = proportions.majority(features.parts()["train"].positive, TRUTH)
VALIDATION = proportions.majority(
    features.parts()["train"].positive, features.parts()["validation"].positive
)
MEASURED = ("accuracy", "flipped", "drift", "on_pads")


def result(name: str) -> Any:
    """A shipped result by the name of its experiment."""
    there = precomputed.find(*shipped.calls()[name])
    assert there is not None, name
    return there.result


def right(probability: np.ndarray) -> np.ndarray:
    """Which answers are right, of the sentences that were tried."""
    tried = ~np.isnan(probability)
    return (probability[tried] > 0.5) == TRUTH[: len(probability)][tried]


def percent(cases: np.ndarray) -> str:
    return f"{100 * np.mean(cases):.1f}%"


class Compared(NamedTuple):
    """Two systems by the keys of their names, and on which sentences each is right."""

    names: tuple[str, str]
    first: np.ndarray
    second: np.ndarray

    def sentence(self, text: Text) -> str:
        """McNemar's test by the binomial distribution written out here."""
        a, b = (int((x & ~y).sum()) for x, y in (self[1:], self[:0:-1]))
        p = min(1.0, 2 * float(binom.cdf(min(a, b), a + b, 0.5))) if a + b else 1.0
        verdict = "no_difference" if a + b == 0 else "real" if p < 0.05 else "chance"
        first, second = (text(f"bert_accuracy.{name}") for name in self.names)
        return text(
            "readout.mcnemar", first=first, second=second, verdict=text(f"readout.{verdict}"),
            pair=proportions.Paired(0, a, b, 0, len(self.first), p),
        )  # fmt: skip


class View(NamedTuple):
    """What a bench shows at some settings: a scene, what it says of two systems, what is beside."""

    values: dict[str, Any]
    figure: Callable[..., Any]
    readouts: Mapping[str, str] = {}
    compared: Compared | None = None
    notes: tuple[str, ...] = ()
    beside: Mapping[str, str] = {}


def knife(order: str, share: int, all_lines: bool = False) -> View:
    outcome, at = result("knife"), round(share / 5)
    row = dict(zip(ORDERS, outcome.probability[:, at], strict=True))
    other = "random" if order != "random" else "function"
    return View(
        {"order": order, "share": share, "all_lines": all_lines},
        partial(accuracy_under_masking, outcome, order, share / 100, MAJORITY, result("controls"),
                all_lines),
        {
            "accuracy_here": percent(right(row[order])),
            "says_positive": percent(row[order] > 0.5),
            "accuracy_whole": percent(right(outcome.probability[0, 0])),
            "majority": percent((features.parts()["train"].positive.mean() >= 0.5) == TRUTH),
        },
        Compared((f"option.order.{order}", f"option.order.{other}"),
                 right(row[order]), right(row[other]))
        if all_lines or order != "random" else None,  # the other order is drawn
        notes=("fall.null" if at == 20 else "fall.shown",),  # all words masked: p is 0.195
        beside={"accuracy_here": f"{5 * at}%: "},
    )  # fmt: skip


def own_knife() -> View:
    masking = word_masking.mask_user_text("minilm", REVIEW)
    row = masking.probability[ORDERS.index("content")]
    turned = np.flatnonzero((row > 0.5) != (row[0] > 0.5))
    return View(
        {"view": "own", "text": REVIEW, "order": "content", "share": 40},
        partial(sentence_under_masking, masking, "content", 2),
        {
            "positive": percent(row[2]),
            "words_masked": unbroken("2 / 6"),
            "undecided": str(turned[0]) if len(turned) else "–",
        },
    )


def filled(view: str, selected: int) -> View:
    every = result("fill_by_share")
    draw, item = partial(fill_in_accuracy_by_share, every, selected / 100), result("fill")
    if view == "treatments":
        draw = partial(fill_in_accuracy, item)
    else:
        near = min(shipped.SELECTED, key=lambda share: (abs(100 * share - selected), share))
        item = every[shipped.SELECTED.index(near)]
    first = {
        f"top_{name}": percent(item.rank[item.treatment == treatment] == 1)
        for treatment, name in enumerate(("mask", "random", "kept"))
    }
    values = {"view": view, "selected": selected}
    return View(values, draw, first | {"top_frequent": percent(item.frequency == 1)})


def guess(text: str, index: int, last: int) -> View:
    """A place beyond the sentence is its last token: the slider ends there."""
    params = controls.parse_params(
        lesson.benches["guess"].declaration, {"text": text, "place": index}
    )
    assert params.place == last
    result = fill.guesses("minilm", text, last, seed=4)
    assert result.truth == text.lower().split()[last - 1]
    keys = ("rank", "rank_random", "rank_kept")
    return View(
        {"text": text, "place": last, "seed": 4},
        partial(best_guesses, result),
        {key: f"{rank:,}" for key, rank in zip(keys, result.rank, strict=True)},
        notes=("more_tokens",) if len(text.split()) > 60 else (),
        beside={
            key: percent(item) if item >= 0.0005 else "<\xa00.1%"
            for key, item in zip(keys, result.truth_probability, strict=True)
        },
    )


def padded(view: str, length: int, side: str) -> View:
    outcome = result("padding")
    s, at = SIDES.index(side), shipped.LENGTHS.index(length)
    payload, untold = outcome.probability[:, s, at]
    tried = ~np.isnan(untold)
    assert tried.sum() == (2000 if length <= padding.LONG else padding.FEW)
    return View(
        {"view": view, "length": length, "side": side},
        partial(
            padding_effect,
            outcome,
            view,
            length,
            side,
            MAJORITY,
            result("pads_in_mean") if side == "right" else None,
        ),
        {
            "told": percent(right(payload)),
            "untold": percent(right(untold)),
            "flipped": percent((untold[tried] > 0.5) != (outcome.unpadded[tried] > 0.5)),
            "on_pads": percent(outcome.on_pads[1, s, at][tried]),
        },
        Compared(("metric.told.label", "metric.untold.label"), right(payload), right(untold)),
        notes=(
            *{"drift": ("median_drift",), "on_pads": ("median_attention",)}.get(view, ()),
            *(("left_side",) if side == "left" else ()),
            *(("in_mean",) if side == "right" and view in ("accuracy", "flipped") else ()),
        ),
    )


def own_padding() -> View:
    result = padding.pad_user_text("minilm", REVIEW, shipped.LENGTHS)
    return View(
        {"view": "own", "text": REVIEW, "length": 64, "side": "left"},
        partial(sentence_padding, result, 64),
        {
            "positive_plain": percent(result.unpadded),
            "positive_told": percent(result.probability[0, 1, 1]),
            "positive_untold": percent(result.probability[1, 1, 1]),
            "on_pads": percent(result.on_pads[1, 1, 1]),
        },
    )


def ids() -> View:
    short = padding.pad_user_text("minilm", REVIEW, shipped.LENGTHS[:1])
    return View({"view": "tokens", "text": REVIEW}, partial(token_ids, short), notes=("ids_real",))


def looks(feature: str = "mean") -> View:
    outcome = result("direction" if feature == "mean" else "by_cls")
    both, left = (right(outcome.probability[k]) for k in (0, 1))
    return View(
        {"feature": feature},
        partial(accuracy_by_direction, outcome, MAJORITY),
        {
            "look_both": percent(both),
            "look_left": percent(left),
            "look_refitted": percent(right(outcome.refitted[1])),
            "look_fill": percent(outcome.rank[1] == 1),
        },
        Compared(("metric.look_both.label", "metric.look_left.label"), both, left),
        notes=("looks", "looks_cls") if feature == "cls" else ("looks",),
    )


def own_looks(text: str, index: int, last: int) -> View:
    guesses = fill.guesses_by_direction("minilm", text, last)
    values = {"view": "own", "text": text, "place": last}
    return View(values, partial(best_guesses, guesses))


def trained(result: Any, curve: reported.Curve | None, **values: Any) -> View:
    runs = np.array([right(row).mean() for row in result.probability])
    mean = round(2000 * runs.mean()) / 2000  # of whole sentences
    ends = f"{100 * runs.min():.1f}–{100 * runs.max():.1f}%"
    return View(
        values,
        partial(learning_curves, result, curve, VALIDATION),
        {
            "trained": percent(mean),
            "spread": ends if len(runs) > 1 else "–",
            "trainable": f"{result.trainable:,}",
            "seconds": "",
        },
        beside={"trainable": f"/ {result.total:,}"},
    )


def head(feature: str, rate: float) -> View:
    settings = TuneSettings("minilm", "head", feature, 500, 2, head_rate=rate, runs=3)
    values = {"feature": feature, "head_rate": rate, "epochs": 2, "sentences": 500, "runs": 3}
    return trained(heads.train_head(settings), None, **values)._replace(notes=("adam",))


def standard_head() -> View:
    return trained(heads.train_head(shipped.HEAD), reported.CURVES[0], texts=True)


def count(network: str, regime: str, layers: int, **readouts: str) -> View:
    config = counting.CONFIGS[network]
    result = counting.count(config, regime, min(layers, config.layers))

    def draw(style):
        text = Text(style.lang)
        title = (text(f"bert_accuracy.option.{key}") for key in
                 (f"network.{network}", f"regime.{regime}"))  # fmt: skip
        return parameter_counts(result, ", ".join(title), style=style)

    values = {"network": network, "regime": regime}
    return View(values | ({"layers": layers} if regime == "top" else {}), draw, readouts)


def searched(method: str) -> View:
    """One method on the map of all trials, or (of none) the three beside one another."""
    outcome = result(f"search_{method}") if method else result("race")
    draw = partial(search_trials, outcome[0], result("surface"))
    item = max(outcome, key=lambda each: each.validation.max())
    best = int(np.argmax(item.validation))
    return View(
        {"view": "surface", "method": method} if method else {"view": "race"},
        draw if method else partial(best_so_far, outcome),
        {
            "best": percent(item.validation[best]),
            "best_rate": number(float(item.rate[best]), 2),
            "best_test": percent(right(item.probability)),
        },
        beside={"best": unbroken("n = 800"), "best_rate": f"{item.batch[best]}"},
    )


def both_modes() -> View:
    mode_comparison = modes.modes("minilm", REVIEW, 7, 3)
    spread = np.ptp(mode_comparison.probability, axis=1)
    return View(
        {"text": REVIEW, "repeats": 7, "seed": 3},
        partial(train_and_eval, mode_comparison),
        {"spread_eval": "0.0%", "spread_train": percent(spread[1])},
    )


def all_systems() -> View:
    args = (systems.answers(), TRUTH, "lstm", MAJORITY, reported.REPORTED)
    return View({"first": "lstm"}, partial(system_accuracies, *args), notes=("seeds",))


def pair(view: str, first: str, second: str, n: int) -> View:
    existing = {answer.system: answer.probability[0] for answer in systems.answers()}
    a, b = right(existing[first]), right(existing[second])
    keys = (f"option.first.{first}", f"option.second.{second}")

    def draw(style):
        names = tuple(Text(style.lang)(f"bert_accuracy.{key}") for key in keys)
        if view == "running":
            curves = (proportions.running(item) for item in (a, b))
            return running_accuracy(*curves, names, n, style=style)
        if view == "paired":
            return paired_answers(proportions.mcnemar(a[:n], b[:n]), names, style=style)
        label = (existing[item][:n] > 0.5 for item in (first, second))
        tables = (proportions.confusion(TRUTH[:n], item) for item in label)
        return confusion_matrices(*tables, names, style=style)

    paired = proportions.mcnemar(a[:n], b[:n])
    return View(
        {"view": view, "first": first, "second": second, "sentences": n},
        draw,
        {
            "system_a": percent(a[:n]),
            "system_b": percent(b[:n]),
            "p_value": unbroken("< 0.001") if paired.p < 0.001 else f"{paired.p:.3f}",
            "needed": "∞" if first == second else "",
        },
        Compared(keys, a[:n], b[:n]),
        notes=() if first == second else ("disagree",),
        beside={"system_a": unbroken(f"n = {n:,}")},
    )


# bench, and its view; those that read a sentence or train are made when their turn comes
VIEWS = (
    *(("knife", partial(knife, *at))
      for at in (("random", 35), ("function", 50), ("gradient", 98, True))),
    ("knife", own_knife),
    *(("fill", partial(filled, *at)) for at in (("treatments", 15), ("share", 100), ("share", 25))),
    ("guess", partial(guess, PARIS, 3, 3)),
    ("guess", partial(guess, "we love it", 60, 3)),
    ("guess", partial(guess, ("a " * 100).strip(), 60, 60)),
    *(("padding", partial(padded, view, 128, "right")) for view in MEASURED),
    ("padding", partial(padded, "accuracy", 512, "left")),
    ("padding", partial(padded, "flipped", 32, "left")),
    ("padding", own_padding),
    ("padding", ids),
    ("looks", looks),
    ("looks", partial(looks, "cls")),
    ("looks", partial(own_looks, PARIS, 4, 4)),
    ("looks", partial(own_looks, "we love it", 60, 3)),
    ("heads", partial(head, "cls", 0.01)),
    ("heads", standard_head),
    ("tune", lambda: trained(result("all"), reported.CURVES[1], texts=True)),
    ("tune", lambda: trained(result("top_2"), None, regime="top")),
    ("tune", lambda: trained(result("lora"), None, regime="lora", lora_rate=3e-4)),
    ("count", partial(count, "bert_base", "head", 2, total="109,483,778", trainable="1,538",
                      share_trained="0.00140%")),
    ("count", partial(count, "distilbert", "top", 12, total="66,955,010",
                      trainable=f"{6 * 7_087_872 + 590_592 + 1_538:,}", share_trained="")),
    *(("search", partial(searched, method)) for method in (*METHODS, "")),
    ("modes", both_modes),
    ("compare", all_systems),
    ("compare", partial(pair, "running", "all", "head_mean", 2000)),
    ("compare", partial(pair, "paired", "lstm", "gru", 2000)),
    ("compare", partial(pair, "confusion", "all", "random_head", 20)),
    ("compare", partial(pair, "running", "gru", "lstm", 500)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "view", "language"),
    [(*view, LANGUAGES[turn % 2]) for turn, view in enumerate(VIEWS)],
    ids=[f"{name}-{turn}" for turn, (name, _) in enumerate(VIEWS)],
)
def test_view_matches_figure_readouts_notes_and_code(name, view, language):
    expected: View = view()
    readouts = expected.readouts
    if "" in readouts.values():  # not the same twice, or of a test of its own
        readouts = tuple(readouts)
    scene = Scene(name, expected.values, expected.figure, readouts, expected.notes)
    visible = check(lesson, scene, language)
    for key, value in expected.readouts.items():
        assert visible.readouts[key].value == value or not value, key
    for key, words in expected.beside.items():
        assert words in visible.readouts[key].caption, key
    if expected.compared is not None:
        assert expected.compared.sentence(Text(language)) in visible.notes


def test_knife_passage_shows_masked_words():
    (passage,) = lesson.benches["knife"].run(own_knife().values).of(ColoredText)
    words = re.sub(r"<[^>]+>", "", passage.html).split()
    assert words == ["the", "[MASK]", "is", "not", "[MASK]", "."]


@pytest.mark.parametrize("language", LANGUAGES)
def test_compare_table_lists_texts_where_one_system_is_right(language):
    view = pair("paired", "all", "random_head", 200)
    first, second = (systems.first_run(item).probability[:200] for item in ("all", "random_head"))
    (table,) = lesson.benches["compare"].run(view.values, language).of(Table)
    differ = np.flatnonzero(view.compared.first != view.compared.second)[:30]
    text, texts = Text(language), features.parts()["test"].texts
    classes = [text(f"bert_accuracy.class.{name}") for name in ("negative", "positive")]
    assert list(zip(*table.columns.values(), strict=True)) == [
        (texts[i], classes[int(TRUTH[i])], f"{100 * first[i]:.0f}%", f"{100 * second[i]:.0f}%")
        for i in differ
    ]


TEXTS = {
    "the tokenizer's own": "[MASK] [CLS] [SEP] [PAD] [UNK]",
    "one word": "Good",
    "2,000 characters": "x" * 2000,
    "a long text": "not a bad film " * 133,
    "chinese": "这部电影很好看，我喜欢。",
    "emoji": "\U0001f3ac great \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "points": "...!?",
}
OWN = (("knife", "own"), ("guess", ""), ("padding", "own"), ("padding", "tokens"), ("looks", "own"),
       ("modes", ""))  # fmt: skip


def own(text: str) -> list[tuple[str, dict[str, Any]]]:
    """A text in every bench and view that reads one."""
    return [(name, {"text": text} | ({"view": view} if view else {})) for name, view in OWN]


@pytest.mark.parametrize("kind", first_only(list(TEXTS), retained=2))
def test_view_accepts_any_text(kind):
    for turn, (name, values) in enumerate(own(TEXTS[kind])):
        visible = lesson.benches[name].run(values, LANGUAGES[turn % 2])
        assert visible.figure is not None, name
        for readout in visible.readouts.values():
            assert not re.search(r"nan|inf\b|None", f"{readout.value} {readout.caption or ''}"), (
                readout
            )


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b"])
def test_view_rejects_blank_text(text):
    for name, values in own(text):
        with pytest.raises(MessageError) as problem:
            lesson.benches[name].run(values)
        assert problem.value.code == "empty_text", name
