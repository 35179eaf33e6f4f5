"""The lesson on gate activations: what each bench says at some settings."""

from __future__ import annotations

import re

import pytest

from seqviz.compute.gates import tasks
from seqviz.core.i18n import LANGUAGES, number, percent
from seqviz.core.units import unbroken
from seqviz.experiments import gates
from seqviz.figures.gates.cell_diagram import cell_map, gru_cell, lstm_cell
from seqviz.figures.gates.effects import distance_by_variant, free_and_forced
from seqviz.figures.gates.lengths import accuracy_by_length
from seqviz.figures.gates.maps import gate_map, gate_saturation
from seqviz.figures.gates.networks import agreement, parameter_bars, training_curve
from seqviz.figures.gates.searching import found_and_scored
from seqviz.figures.gates.tempering import gate_mask
from seqviz.figures.gates.traces import unit_traces
from seqviz.lessons.framework.output import ColoredText
from seqviz.lessons.gates.lesson import lesson
from seqviz.models import checkpoints
from tests.pages.gates_page import SAY
from tests.pages.page_assertions import colored
from tests.pages.scenes import Scene, check, each, words_of

WATCHED = ("value", "constant", "correlation", "answer")
HELD = ("free", "forced", "state", "largest")
OTHER = ("same", "furthest", "size")
BITS = ("bits_lstm", "bits_gru")
SOFT = ("answers", "saturated", "retained")
SEARCHED = ("r_found", "by_chance", "r_scored", "alone_by_chance")
COUNTS = ("count_rnn", "count_gru", "count_lstm")
LEARNED = ("usual", "twice", "whole", "parameters")

# Bench, settings, figure, read-outs, what they say, notes, and words of the description and beside
# the read-outs.
SAID = (
    ("watch", {}, gate_map, WATCHED, ("−0.963", "0.455", "0.749", "2.27"), ("card_characters",),
     ("Unit 56 at step 12: −0.963", "unit 56, step 12: ␣", "bits per character; fewer is better")),
    ("watch", {"view": "unit", "kind": "sentiment", "cell": "gru", "gru": "z", "rank": 96,
               "step": 21, "order": "time", "feature": "negation"}, unit_traces, WATCHED,
     ("0.204", "0.899", "0.103", "正面"), ("card_sentiment",),
     ("第 79 号单元", "重置门 r: 0.740", "第 79 号单元，第 21 步：\\.", "否定词之后",
      f"{unbroken('P = 0.940')}（正面）")),
    ("watch", {"view": "cell", "kind": "latch", "lstm": "f", "rank": 3, "step": 5}, lstm_cell,
     WATCHED, ("0.988", "55.6", "0.524", "c"), ("card_task",),
     (unbroken("c(t−1) = 3.14; f = 0.988"), "unit 5, step 5: d", "after the last symbol")),
    ("watch", {"view": "cell", "kind": "count", "cell": "gru", "gru": "z", "writes": True},
     gru_cell, WATCHED, ("0.969", "0.505", "−0.878", "."), ("renamed",),
     (unbroken("z = 0.969; (1 − z) h(t−1) = −0.0198"), "第 4 号单元，第 12 步：b")),
    ("watch", {"view": "saturation", "kind": "parity", "lstm": "h", "order": "mean"},
     gate_saturation, WATCHED, ("0.497", "1.81", "0.343", "even"), (),
     ("median time constant is 0.951",)),
    ("watch", {"kind": "adding", "cell": "gru", "gru": "r", "order": "unit"}, gate_map,
     WATCHED, ("0.901", "0.260", "0.0806", "8"), (),
     ("第 1 号单元在第 11 步的值为 0.901", "在文中的位置")),
    ("watch", {"kind": "sentiment", "sentiment": "Never dull: a “great” film", "lstm": "o"},
     gate_map, WATCHED, ("0.558", "2.02", "0.881", "negative"), ("unknown",),
     ("output gate o", f"{unbroken('P = 0.113')} for positive")),
    ("watch", {"view": "saturation", "cell": "gru", "gru": "n", "characters": "x"},
     gate_saturation, WATCHED, ("0.507", "57.4", "0", "13.2"), (), ("第 1 号单元，第 1 步：x",)),
    ("force", {}, free_and_forced, HELD, ("2.27", "5.29", "95.4", "29.1"), (),
     ("from step 1 to step 148", "bits per character; fewer is better", "no intervention: 54.4")),
    ("force", {"cell": "gru", "gates_gru": ()}, free_and_forced, HELD,
     ("2.07", "2.07", "11.3", "0"), ("nothing_forced",), ("不干预：11.3",)),
    ("force", {"watch.kind": "sentiment", "f": 1.0}, free_and_forced, HELD,
     ("positive", "positive", "20.2", "4.97"), ("of_1997",),
     (f"{unbroken('P = 0.907')} for positive", f"{unbroken('P = 0.865')} for positive")),
    ("force", {"watch.kind": "count", "gates_lstm": ("i", "f"), "f": 0.0}, free_and_forced, HELD,
     (".", ".", "0", "10.2"), ("empty_cell",), ("不干预：15.0",)),
    ("force", {"gates_lstm": ("i", "f"), "f": 0.0}, free_and_forced, HELD,
     ("2.27", "6.27", "0", "37.9"), ("empty_cell",), ()),
    ("force", {"watch.kind": "latch", "cell": "gru", "gates_gru": ("z",), "z": 1.0},
     free_and_forced, HELD, ("c", "d", "0", "1.00"), ("kept_for_good",), ("不干预：2.62",)),
    ("force", {"watch.kind": "sentiment", "cell": "gru", "gates_gru": ("r", "n"), "r": 0.9,
               "n": -0.4, "first": 12, "last": 3}, free_and_forced, HELD,
     ("positive", "positive", "3.31", "0.976"), (), ("from step 3 to step 12",)),
    ("force", {"watch.kind": "adding", "units": "one", "unit": 256, "f": 1.0, "first": 4},
     free_and_forced, HELD, ("8", "8", "10.6", "1.00"), (), ("第 16 号单元的 c不干预为 −5.17",)),
    ("force", {"watch.kind": "parity", "watch.parity": "101", "gates_lstm": ("g", "o"), "g": -1.0,
               "o": 0.3, "first": 300, "last": 400}, free_and_forced, HELD,
     ("even", "odd", "2.37", "2.00"), (), ("from step 3 to step 3",)),
    # Another name of z, and one bias of an LSTM: nothing but rounding.
    ("conventions", {}, distance_by_variant, OTHER,
     (unbroken("改名 z′ = 1 − z"), "z 直接代入另一种公式", "13.8"), (), ("114%",)),
    ("conventions", {"cell": "lstm"}, distance_by_variant, OTHER,
     ("one bias per gate", "no tanh", "8.87"),
     ("off_scale",), ()),  # its per cent is what the last bit of a sum has grown to
    ("conventions", {"watch.kind": "adding", "cell": "lstm"}, distance_by_variant, OTHER,
     ("每个门一个偏置", "不用 tanh", "2.87"), (), ("278%",)),
    ("conventions", {"watch.kind": "sentiment"}, distance_by_variant, OTHER,
     (unbroken("renamed z′ = 1 − z"), "z put into the other equation", "3.33"), (), ("105%",)),
    ("agreement", {}, agreement, BITS, ("−0.691", "−0.142"), ("agreement", "effect.lasts"),
     ("was 更可能",)),
    ("agreement", {"text": "A"}, agreement, BITS, ("−2.40", "−2.53"), ("agreement", "no_pair"),
     ("after each of 1 words",)),
    ("agreement", {"text": "The *film*  is <b>我</b>", "singular": "[good](x)", "plural": "$b$"},
     agreement, BITS, ("32.0", "49.8"), ("agreement", "no_pair"), ("\\$b\\$ 更可能",)),
    ("agreement", {"singular": "were", "plural": "was"}, agreement, BITS, ("0.691", "0.142"),
     ("effect.lasts",), ("was is more likely",)),
    # g h (i + h + b), g = 1, 3, 4
    ("size", {"inputs": 1, "hidden": 32, "biases": "two"}, parameter_bars, COUNTS,
     ("1,120", "3,360", "4,480"), (), ("按公式：4,480",)),
    ("size", {"inputs": 512, "hidden": 1024, "biases": "none"}, parameter_bars, COUNTS,
     ("1,572,864", "4,718,592", "6,291,456"), (), ("by formula: 1,572,864",)),
    ("size", {"inputs": 4, "hidden": 1, "biases": "one"}, parameter_bars, COUNTS,
     ("6", "18", "24"), (), ("按公式：6",)),
    ("learn", {"view": "longer"}, accuracy_by_length, ("whole_lstm", "whole_gru", "majority"),
     ("95.0%", "57.5%", "86.4%"), ("longer.above", "longer.below", "counts"),
     ("of the answers 78.9%",)),
    ("one", {"view": "unit"}, unit_traces, SOFT, ("100.0%", "60.2%", "79.0%"),
     ("one_unit", "mask"),
     ("始终回答最常见的答案：30.0%",)),
    ("one", {"view": "mask", "task": "count", "temperature": 0.05, "gate_lstm": "o", "unit": 2},
     gate_mask, SOFT, ("92.7%", "99.0%", "0.0%"), ("sigmoid", "one_unit", "mask"),
     ("of the values of gate o",)),
    ("one", {"view": "cell", "cell": "gru", "task": "adding", "unit": 16, "added": -6.0},
     cell_map, SOFT, ("66.5%", "97.2%", "0.0%"), ("step_gru", "one_unit", "mask"), ()),
    ("meaning", {}, found_and_scored, SEARCHED, ("0.551", "35.1%", "−0.147", "34.0%"),
     ("first_text", "meaning.chance"), ("Unit 29",)),
    ("meaning", {"feature": "in_word"}, found_and_scored, SEARCHED,
     ("0.749", "0.7%", "0.615", "0.6%"), ("meaning.holds",), ()),
    ("meaning", {"cell": "gru"}, found_and_scored, SEARCHED,
     ("0.736", "2.0%", "−0.226", "65.4%"), ("meaning.lost",), ()),
    ("meaning", {"scored_on": "a plain text"}, found_and_scored, SEARCHED,
     ("0.551", "35.1%", "0", "100.0%"), ("meaning.constant",), ()),
    ("learn", {}, training_curve, LEARNED, ("100.0%", "99.2%", "93.5%", "443"), (),
     ("100.0% after update 1000",)),
    ("learn", {"view": "gates", "symbol": "f"}, gate_map, LEARNED,
     ("100.0%", "99.2%", "93.5%", "443"), (), ("第 5 号单元在第 13 步",)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("language", "bench", "values", "figure", "names", "readouts", "notes", "said"),
    [(LANGUAGES[index % 2], *row) for index, row in enumerate(SAID)],
)
def test_bench_matches_expected_output(
    language, bench, values, figure, names, readouts, notes, said
):
    expected = dict(zip(names, readouts, strict=True))
    out = check(lesson, Scene(bench, values, figure, expected, notes), language)
    beside = [readout.caption for readout in out.readouts.values() if readout.caption]
    for words in said:
        assert words in out.figure.alt or words in beside, (words, out.figure.alt, beside)
    payload = ("nothing_forced", "of_1997", "empty_cell", "kept_for_good", "renamed", "off_scale",
            "no_pair")  # fmt: skip
    sentences = [
        key for key in payload
        if any(words_of(lesson, f"note.{key}", language).fullmatch(note) for note in out.notes)
    ]  # fmt: skip
    assert sentences == [key for key in payload if key in notes]


def test_learn_bench_asks_for_training():
    check(lesson, Scene("learn", {"task": "latch", "seed": 3}, waits="train"))


def test_conventions_bench_code_computes_readouts():
    code = lesson.benches["conventions"].run({}).code
    assert "same = variant_comparison.same()" in code
    assert "furthest = variant_comparison.furthest()" in code


@pytest.mark.parametrize(
    ("lang", "kind", "view"),
    [("en", "characters", "map"), ("zh", "sentiment", "unit"), ("en", "adding", "cell")],
)
def test_watch_bench_colors_text_by_chosen_unit(lang, kind, view):
    values = {"kind": kind, "view": view, "rank": 2, "step": 4, "lstm": "h", "order": "mean"}
    (passage,) = colored(lesson.benches["watch"].run(values, lang))
    text = dict(vars(lesson.benches["watch"].declaration()))[kind]
    observation = gates.observe(f"{kind}_lstm", text, "h", "mean")
    assert passage.text.replace(" ", "") == "".join(observation.pieces).replace(" ", "")
    assert passage.with_look("outline").index(True) == 3
    for span, item in zip(passage.spans, observation.values[:, observation.order[1]], strict=True):
        assert number(item) in (span["title"] or "")
    assert not lesson.benches["watch"].run({"view": "saturation"}).of(ColoredText)


def test_meaning_bench_colors_both_texts_by_best_unit():
    out = lesson.benches["meaning"].run({"feature": "vowel", "scored_on": "A plain text."})
    first = lesson.benches["meaning"].declaration().found_on
    for passage, text in zip(colored(out), (first, "A plain text."), strict=True):
        read = gates.observe("characters_lstm", text, "c")
        assert passage.text == text
        unit = int(re.search(r"First text, colored by c of unit (\d+):", " ".join(out.notes))[1])
        for span, value in zip(passage.spans, read.values[:, unit - 1], strict=True):
            assert number(value) in (span["title"] or "")


@pytest.mark.parametrize(("lang", "cell"), [("en", "lstm"), ("zh", "gru")])
def test_watch_bench_quotes_model_card_metrics(lang, cell):
    for kind in ("characters", "sentiment", *tasks.TASKS):
        card = checkpoints.card(f"{kind}_{cell}")
        key = kind if kind in ("characters", "sentiment") else "task"
        value = card.alone or card.value
        sentence = SAY[lang](
            f"note.card_{key}", card=card, value=value, choices=2**value,
            five_gram=card.five_gram_alone or 0, verdict=SAY[lang]("note.card_worse"),
        )  # fmt: skip
        shares = () if kind == "characters" else (card.value, card.baseline_value)
        assert all(percent(share) in sentence for share in shares)
        assert sentence in lesson.benches["watch"].run({"kind": kind, "cell": cell}, lang).notes


@each([
    *(Scene("agreement", values, refuses=code) for values, code in (
        ({"text": ""}, "no_text"), ({"text": "  "}, "no_text"), ({"singular": ""}, "no_word"),
        ({"plural": "have been"}, "no_word"), ({"text": "", "plural": " "}, "no_word"),
    )),
    *(Scene(bench, {f"{stem}kind": kind, f"{stem}{kind}": text}, refuses="no_text")
      for kind, text in (("characters", ""), ("sentiment", "   "), ("parity", ""))
      for bench, stem in (("watch", ""), ("force", "watch."), ("conventions", "watch."))),
])  # fmt: skip
def test_bench_rejects_unreadable_text(scene, language):
    check(lesson, scene, language)
