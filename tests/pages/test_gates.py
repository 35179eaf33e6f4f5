"""The lesson on gate activations: each bench shows what the library computes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from gates_page import SAY, Colored, answer, settings, shown
from scenes import Scene, check, each

from seqviz.compute.gates import activations as act
from seqviz.compute.gates import counting, tasks
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import one_step
from seqviz.experiments import gates
from seqviz.figures.gates import cell_diagram, maps, networks
from seqviz.figures.gates import looks as look
from seqviz.figures.gates.effects import distance_by_variant, free_and_forced
from seqviz.figures.gates.traces import unit_traces
from seqviz.lessons.bench.output import Passage
from seqviz.lessons.gates import lesson
from seqviz.models import checkpoints
from seqviz.text import LANGUAGES, literal, number, percent

WATCHED = ("value", "constant", "correlation", "answer")
HELD = ("free", "forced", "state", "largest")


def scenes(bench: str, *values: dict) -> pytest.MarkDecorator:
    return each([Scene(bench, one) for one in values])


def run(bench: str, values: dict, language: str, draw, readouts, notes=()):
    """Hold a bench to its figure and its read-outs; gives the read-outs with what is beside."""
    found = check(lesson, Scene(bench, values, draw, readouts, notes), language)
    assert found is not None
    return found


# ------------------------------------------------------------------- every gate while it reads
@scenes(
    "watch",
    {},
    {"view": "unit", "kind": "sentiment", "cell": "gru", "gru": "z", "rank": 256, "step": 400,
     "order": "time", "feature": "negation"},
    {"view": "cell", "kind": "latch", "lstm": "f", "rank": 3, "step": 5},
    {"view": "cell", "kind": "count", "cell": "gru", "gru": "z", "writes": True},
    {"view": "saturation", "kind": "parity", "lstm": "h", "order": "mean"},
    {"kind": "adding", "cell": "gru", "gru": "r", "order": "unit", "feature": "position"},
    {"kind": "sentiment", "sentiment": "Never dull: a “great” film", "lstm": "o"},
    {"view": "saturation", "cell": "gru", "gru": "n", "characters": "x"},
)  # fmt: skip
def test_a_network_while_it_reads(scene, language):
    p, say = settings("watch", scene.values), SAY[language]
    symbol = p.lstm if p.cell == "lstm" else p.gru
    seen = gates.observe(f"{p.kind}_{p.cell}", getattr(p, p.kind), symbol, p.order, p.feature)
    unit = int(seen.order[min(p.rank, seen.hidden) - 1]) + 1
    step = min(p.step, len(seen.pieces))
    now = one_step(seen, unit, step, "write" if p.writes else "keep")
    draw = {
        "map": partial(maps.gate_map, seen, unit, step),
        "unit": partial(unit_traces, seen, unit, step),
        "cell": partial(getattr(cell_diagram, f"{p.cell}_cell"), now),
        "saturation": partial(maps.gate_saturation, seen),
    }[p.view]
    notes = ("renamed",) if p.writes else ()
    out = run("watch", scene.values, language, lambda style: draw(style=style), WATCHED, notes)
    value = seen.values[step - 1, unit - 1]
    gate = seen.trace.forget_gate if p.cell == "lstm" else seen.trace.update_gate
    feature = act.feature(p.feature, seen.pieces)
    varies = np.ptp(seen.values[:, unit - 1]) > 0 and np.ptp(feature) > 0
    r = np.corrcoef(seen.values[:, unit - 1].astype(float), feature)[0, 1] if varies else 0.0
    piece = literal(look.shown(seen.pieces)[step - 1])
    log = np.log(gate[:, unit - 1].astype(float)).mean()
    assert shown(out) == {
        "value": (number(1 - value if p.writes else value),
                  say("metric.value.at", unit=unit, step=step, piece=piece)),
        "constant": (number(-1 / log), ""),
        "correlation": (number(r), say.option("feature", p.feature)),
        "answer": answer(say, seen),
    }  # fmt: skip
    assert (say("note.renamed") in out.notes) == p.writes
    if p.view == "saturation":
        assert not out.of(Passage)
        return
    passage = Colored(out)
    assert passage.text.replace(" ", "") == "".join(seen.pieces).replace(" ", "")
    assert passage.with_look("outline").index(True) == step - 1
    for span, one in zip(passage.spans, seen.values[:, unit - 1], strict=True):
        assert number(one) in (span["title"] or "")


@pytest.mark.parametrize(("lang", "cell"), [("en", "lstm"), ("zh", "gru")])
def test_every_network_says_how_good_it_is(lang, cell):
    for kind in ("characters", "sentiment", *tasks.TASKS):
        card = checkpoints.card(f"{kind}_{cell}")
        written = number if kind == "characters" else percent
        key = kind if kind in ("characters", "sentiment") else "task"
        sentence = SAY[lang](
            f"note.card_{key}", value=written(card.value), baseline=written(card.baseline_value),
            five_gram=number(card.five_gram or 0), twice=percent(card.twice_as_long or 0.0),
            parameters=f"{card.parameters:,}", date=card.date,
        )  # fmt: skip
        assert sentence in lesson.benches["watch"].run({"kind": kind, "cell": cell}, lang).notes


# ------------------------------------------------------------------------------------ hold a gate
NOTES = ("nothing_forced", "of_1997", "empty_cell", "kept_for_good")
FORCED = (
    ({}, {}, None),
    ({}, {"cell": "gru", "gates_gru": ()}, "nothing_forced"),
    ({"kind": "sentiment"}, {"gates_lstm": ()}, "nothing_forced"),
    ({"kind": "count"}, {"cell": "gru"}, None),
    ({"kind": "sentiment"}, {"f": 1.0}, "of_1997"),
    ({}, {"f": 1.0}, "of_1997"),
    ({"kind": "count"}, {"gates_lstm": ("i", "f"), "f": 0.0}, "empty_cell"),
    ({}, {"gates_lstm": ("i", "f"), "f": 0.0}, "empty_cell"),
    ({"kind": "latch"}, {"cell": "gru", "gates_gru": ("z",), "z": 1.0}, "kept_for_good"),
    ({"kind": "sentiment", "cell": "gru"},
     {"cell": "gru", "gates_gru": ("r", "n"), "r": 0.9, "n": -0.4, "first": 12, "last": 3}, None),
    ({"kind": "adding"}, {"units": "one", "unit": 256, "f": 1.0, "first": 4}, None),
    ({"kind": "parity", "parity": "101"},
     {"gates_lstm": ("g", "o"), "g": -1.0, "o": 0.3, "first": 300, "last": 400}, None),
    ({"kind": "parity"}, {"cell": "gru", "gates_gru": ()}, "nothing_forced"),
    ({"kind": "sentiment"}, {"gates_lstm": ("i", "f"), "f": 0.0}, "empty_cell"),
    ({"kind": "adding"}, {"gates_lstm": ("i", "f"), "f": 0.0}, "empty_cell"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("language", "read", "held", "key"),
    [(LANGUAGES[place % 2], *one) for place, one in enumerate(FORCED)],
)
def test_a_gate_that_is_held(language, read, held, key):
    watch, p, say = settings("watch", read), settings("force", held), SAY[language]
    name, text = f"{watch.kind}_{p.cell}", getattr(watch, watch.kind)
    symbol = "c" if p.cell == "lstm" else "h"
    free = gates.observe(name, text, symbol)
    unit = min(p.unit, free.hidden) if p.units == "one" else None
    ends = [min(end, len(free.pieces)) for end in (p.first, p.last)]
    clamps = tuple(
        Clamp(gate, getattr(p, gate), unit, min(ends), max(ends))
        for gate in (p.gates_lstm if p.cell == "lstm" else p.gates_gru)
    )
    forced = gates.observe(name, text, symbol, clamps=clamps)
    values = held | {f"watch.{control}": value for control, value in read.items()}
    draw = partial(free_and_forced, free, forced, unit, min(ends), max(ends))
    out = run("force", values, language, lambda style: draw(style=style), HELD)
    sizes = [np.sqrt((seen.values[-1].astype(float) ** 2).sum()) for seen in (free, forced)]
    found = shown(out)
    assert found == {
        "free": answer(say, free),
        "forced": answer(say, forced),
        "state": (number(sizes[1]), say("metric.state.free", value=number(sizes[0]))),
        "largest": (number(np.abs(forced.values - free.values).max()), ""),
    }
    assert [one for one in NOTES if say(f"note.{one}") in out.notes] == ([key] if key else [])
    if key == "nothing_forced":
        assert found["free"] == found["forced"]
    assert (found["largest"][0] == number(0)) == (key == "nothing_forced")
    if key == "empty_cell":  # answered from the biases alone
        assert found["state"][0] == number(0)
        if watch.kind in tasks.TASKS:
            bias = checkpoints.load(name).head_bias
            assert found["forced"][0] == tasks.ANSWERS[watch.kind][int(bias.argmax())]


# ------------------------------------------------------------------- the same weights elsewhere
@scenes(
    "conventions",
    {},
    {"cell": "lstm"},
    {"watch.kind": "adding", "cell": "lstm"},
    {"watch.kind": "sentiment"},
)
def test_the_same_weights_in_other_equations(scene, language):
    p, say = settings("conventions", {k: v for k, v in scene.values.items() if k == "cell"}), SAY
    kind = scene.values.get("watch.kind", "characters")
    found = gates.compare(f"{kind}_{p.cell}", getattr(settings("watch", {}), kind))
    out = run(
        "conventions", scene.values, language,
        lambda style: distance_by_variant(found, style=style), ("same", "furthest", "size"),
    )  # fmt: skip
    words = {v: say[language](f"variant.{v}") for v in found.variants}
    largest = {v: row.max() for v, row in zip(found.variants, found.distance, strict=True)}
    far = max(largest, key=lambda v: largest[v])
    same = [v for v in found.variants if largest[v] < 1e-10 * found.size.max()]
    assert same  # one bias of an LSTM, another name of z: nothing but rounding
    assert shown(out) == {
        "same": (", ".join(words[v] for v in same), ""),
        "furthest": (words[far], f"{100 * largest[far] / found.size.max():,.0f} %"),
        "size": (number(found.size.max()), ""),
    }


# ------------------------------------------------------------------------------------ was or were
@scenes(
    "agreement",
    {},
    {"text": "A"},
    {"text": "The *film*  is <b>我</b>", "singular": "[good](x)", "plural": "$b$"},
    {"singular": "were", "plural": "was"},
)
def test_which_of_two_words_comes_next(scene, language):
    p, say = settings("agreement", scene.values), SAY[language]
    found = gates.expect(("characters_lstm", "characters_gru"), p.text, p.singular, p.plural)
    out = run(
        "agreement", scene.values, language,
        lambda style: networks.agreement(found, style=style), ("bits_lstm", "bits_gru"),
        ("agreement",),
    )  # fmt: skip
    log2 = np.log2(found.probability[:, -1])
    assert shown(out) == {
        f"bits_{cell}": (
            number(one[1] - one[0]),
            say("metric.bits.more", word=literal(p.plural if one[1] > one[0] else p.singular)),
        )
        for cell, one in zip(("lstm", "gru"), log2, strict=True)
    }
    words = {"first": literal(p.singular), "second": literal(p.plural)}
    assert say("note.agreement", **words) in out.notes
    assert (say("note.flights") in out.notes) == ("flights" in p.text)


@each([
    *(Scene("agreement", values, refuses=code) for values, code in (
        ({"text": ""}, "no_text"), ({"text": "  "}, "no_text"), ({"singular": ""}, "no_word"),
        ({"plural": "have been"}, "no_word"), ({"text": "", "plural": " "}, "no_word"),
    )),
    *(Scene(bench, {f"{stem}kind": kind, f"{stem}{kind}": text}, refuses="no_text")
      for kind, text in (("characters", ""), ("sentiment", "   "), ("parity", ""),
                         ("characters", " "))
      for bench, stem in (("watch", ""), ("force", "watch."), ("conventions", "watch."))),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(scene, language):
    check(lesson, scene, language)


# ------------------------------------------------------------------------------------------ counts
@scenes(
    "size",
    {"inputs": 1, "hidden": 32, "biases": "two"},
    {"inputs": 512, "hidden": 1024, "biases": "none"},
    {"inputs": 4, "hidden": 1, "biases": "one"},
)
def test_parameters_by_formula_and_by_counting(scene, language):
    inputs, hidden, biases = scene.values.values()
    extra = {"none": 0, "one": 1, "two": 2}[biases]
    wanted = {
        f"count_{cell}": f"{blocks * hidden * (inputs + hidden + extra):,}"
        for cell, blocks in (("rnn", 1), ("gru", 3), ("lstm", 4))
    }
    table = counting.table(inputs, hidden, biases)
    out = run(
        "size", scene.values, language,
        lambda style: networks.parameter_bars(table, style=style), wanted,
    )  # fmt: skip
    for count, beside in shown(out).values():
        assert beside == SAY[language]("metric.count.formula", count=count)
