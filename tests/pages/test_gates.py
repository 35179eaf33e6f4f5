"""The lesson on gate activations: a trained network read and forced, as the library computes it."""

from __future__ import annotations

import numpy as np
import pytest
from gates_page import (
    Passage,
    answer,
    drawn,
    metric,
    note,
    opened,
    option,
    said,
    settings,
    shown,
    traces,
)
from looking import bench

from seqviz.compute.gates import activations as act
from seqviz.compute.gates import tasks
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import one_step
from seqviz.experiments import gates
from seqviz.figures.gates import cell_diagram, maps
from seqviz.figures.gates import looks as look
from seqviz.figures.gates.effects import free_and_forced
from seqviz.figures.gates.traces import unit_traces
from seqviz.models import checkpoints
from seqviz.text import literal, number

# ------------------------------------------------------------------- every gate while it reads
WATCHED = (
    ("en", {}),
    ("zh", {"view": "unit", "kind": "sentiment", "cell": "gru", "gru": "z", "rank": 256,
            "step": 400, "order": "time", "feature": "negation"}),
    ("en", {"view": "cell", "kind": "latch", "lstm": "f", "rank": 3, "step": 5}),
    ("zh", {"view": "cell", "kind": "count", "cell": "gru", "gru": "z", "writes": True}),
    ("en", {"view": "saturation", "kind": "parity", "lstm": "h", "order": "mean"}),
    ("zh", {"kind": "adding", "cell": "gru", "gru": "r", "order": "unit", "feature": "position"}),
    ("en", {"kind": "sentiment", "sentiment": "Never dull: a “great” film", "lstm": "o"}),
    ("zh", {"view": "saturation", "cell": "gru", "gru": "n", "characters": "x"}),
)  # fmt: skip


@pytest.mark.parametrize(("lang", "wanted"), WATCHED)
def test_a_network_while_it_reads(visit, lang, wanted):
    page = opened(visit, lang, **{f"watch__{name}": value for name, value in wanted.items()})
    p = settings(page, "watch")
    assert {name: getattr(p, name) for name in wanted if name != "rank"} == {
        name: value for name, value in wanted.items() if name != "rank"
    }
    name, text = f"{p.kind}_{p.cell}", getattr(p, p.kind)
    symbol = p.lstm if p.cell == "lstm" else p.gru
    seen = gates.observe(name, text, symbol, p.order, p.feature)
    unit = int(seen.order[min(p.rank, seen.hidden) - 1]) + 1
    step = min(p.step, len(seen.pieces))
    draw, args = {
        "map": (maps.gate_map, (seen, unit, step)),
        "unit": (unit_traces, (seen, unit, step)),
        "cell": (
            getattr(cell_diagram, f"{p.cell}_cell"),
            (one_step(seen, unit, step, "write" if p.writes else "keep"),),
        ),
        "saturation": (maps.gate_saturation, (seen,)),
    }[p.view]
    assert drawn(page, "watch") == traces(page, draw, *args)
    value = seen.values[step - 1, unit - 1]
    gate = seen.trace.forget_gate if p.cell == "lstm" else seen.trace.update_gate
    feature = act.feature(p.feature, seen.pieces)
    varies = np.ptp(seen.values[:, unit - 1]) > 0 and np.ptp(feature) > 0
    r = np.corrcoef(seen.values[:, unit - 1].astype(float), feature)[0, 1] if varies else 0.0
    found = shown(page, "watch")
    piece = look.shown(seen.pieces)[step - 1]
    assert found["value"] == (
        number(1 - value if p.writes else value),
        metric(page, "value.at", unit=unit, step=step, piece=literal(piece)),
    )
    log = np.log(gate[:, unit - 1].astype(float)).mean()
    assert found["constant"] == (number(-1 / log), "")
    assert found["correlation"] == (number(r), option(page, "feature", p.feature))
    assert found["answer"] == answer(page, seen)
    assert (note(page, "renamed") in said(page, "watch")) == p.writes
    if p.view == "saturation":
        assert not bench(page.app, "watch").get("html")
    else:
        passage = Passage(page)
        assert passage.text.replace(" ", "") == "".join(seen.pieces).replace(" ", "")
        assert passage.with_look("outline").index(True) == step - 1
        for span, one in zip(passage.spans, seen.values[:, unit - 1], strict=True):
            assert number(one) in (span["title"] or "")


def percent(value: float | None) -> str:
    return f"{100 * (value or 0.0):.1f} %"


@pytest.mark.parametrize(("lang", "cell"), [("en", "lstm"), ("zh", "gru")])
def test_every_network_says_how_good_it_is(visit, lang, cell):
    page = opened(visit, lang, watch__cell=cell)
    for kind in ("characters", "sentiment", *tasks.TASKS):
        page.run(ga__watch__kind=kind)
        card = checkpoints.card(f"{kind}_{cell}")
        written = number if kind == "characters" else percent
        key = kind if kind in ("characters", "sentiment") else "task"
        sentence = note(
            page, f"card_{key}", value=written(card.value), baseline=written(card.baseline_value),
            five_gram=number(card.five_gram or 0), twice=percent(card.twice_as_long),
            parameters=f"{card.parameters:,}", date=card.date,
        )  # fmt: skip
        assert sentence in said(page, "watch")


# ------------------------------------------------------------------------------------ hold a gate
NOTES = ("nothing_forced", "of_1997", "empty_cell", "kept_for_good")
FORCED = (
    ("en", {}, {}, None),
    ("zh", {}, {"cell": "gru", "gates_gru": ()}, "nothing_forced"),
    ("en", {"kind": "sentiment"}, {"gates_lstm": ()}, "nothing_forced"),
    ("zh", {"kind": "count"}, {"cell": "gru"}, None),
    ("en", {"kind": "sentiment"}, {"f": 1.0}, "of_1997"),
    ("zh", {}, {"f": 1.0}, "of_1997"),
    ("zh", {}, {"gates_lstm": ("i", "f"), "f": 0.0}, "empty_cell"),
    ("en", {"kind": "count"}, {"gates_lstm": ("i", "f"), "f": 0.0}, "empty_cell"),
    ("en", {"kind": "latch"}, {"cell": "gru", "gates_gru": ("z",), "z": 1.0}, "kept_for_good"),
    ("zh", {"kind": "sentiment", "cell": "gru"},
     {"cell": "gru", "gates_gru": ("r", "n"), "r": 0.9, "n": -0.4, "first": 12, "last": 3}, None),
    ("en", {"kind": "adding"}, {"units": "one", "unit": 256, "f": 1.0, "first": 4}, None),
    ("zh", {"kind": "parity", "parity": "101"},
     {"gates_lstm": ("g", "o"), "g": -1.0, "o": 0.3, "first": 300, "last": 400}, None),
)  # fmt: skip


@pytest.mark.parametrize(("lang", "read", "held", "key"), FORCED)
def test_a_gate_that_is_held(visit, lang, read, held, key):
    page = opened(
        visit, lang, **{f"watch__{name}": value for name, value in read.items()},
        **{f"force__{name}": value for name, value in held.items()},
    )  # fmt: skip
    watch, p = settings(page, "watch"), settings(page, "force")
    assert {name: getattr(p, name) for name in held} == held
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
    sizes = [np.sqrt((seen.values[-1].astype(float) ** 2).sum()) for seen in (free, forced)]
    assert shown(page, "force") == {
        "free": answer(page, free),
        "forced": answer(page, forced),
        "state": (number(sizes[1]), metric(page, "state.free", value=number(sizes[0]))),
        "largest": (number(np.abs(forced.values - free.values).max()), ""),
    }
    wanted = traces(page, free_and_forced, free, forced, unit, min(ends), max(ends))
    assert drawn(page, "force") == wanted
    sentences = said(page, "force")
    assert [one for one in NOTES if note(page, one) in sentences] == ([key] if key else [])


@pytest.mark.parametrize("kind", ["characters", "sentiment", "adding"])
def test_nothing_kept_and_nothing_written_leaves_no_state(visit, kind):
    page = opened(visit, "en", watch__kind=kind, force__gates_lstm=("i", "f"), force__f=0.0)
    found = shown(page, "force")
    assert found["state"][0] == number(0)
    network = checkpoints.load(f"{kind}_lstm")
    if kind == "adding":  # answered from the biases alone
        assert found["forced"][0] == tasks.ANSWERS[kind][int(network.head_bias.argmax())]


@pytest.mark.parametrize(
    ("lang", "kind"), [("en", "characters"), ("zh", "sentiment"), ("en", "parity")]
)
def test_forcing_nothing_changes_nothing(visit, lang, kind):
    page = opened(visit, lang, watch__kind=kind, force__cell="gru", force__gates_gru=())
    found = shown(page, "force")
    assert found["free"] == found["forced"]
    assert found["largest"][0] == number(0)
    assert note(page, "nothing_forced") in said(page, "force")
    page.run(ga__force__gates_gru=["z"])
    assert note(page, "nothing_forced") not in said(page, "force")
    assert shown(page, "force")["largest"][0] != number(0)
