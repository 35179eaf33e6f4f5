"""What the gates lesson draws of an observation is that observation's arrays."""

from __future__ import annotations

import numpy as np
import pytest
from gate_drawings import labels, sound

from seqviz.compute.gates import counting, tasks
from seqviz.compute.gates.activations import SIGNED, activation, symbols
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import one_step
from seqviz.experiments import gates
from seqviz.figures.gates.cell_diagram import gru_cell, lstm_cell
from seqviz.figures.gates.effects import distance_by_variant, free_and_forced
from seqviz.figures.gates.maps import gate_map, gate_saturation
from seqviz.figures.gates.networks import agreement, parameter_bars
from seqviz.figures.gates.traces import unit_traces
from seqviz.figures.grammar.style import Style
from seqviz.text import LANGUAGES, Text, number

REVIEW = "This <b>film</b> isn't good at all, but I loved 我 & it."
TEXTS = {"sentiment": REVIEW, "characters": REVIEW, "count": tasks.EXAMPLES["count"]}
NAMES = [f"{kind}_{cell}" for kind in TEXTS for cell in ("lstm", "gru")]
EVERY = pytest.mark.parametrize("name", NAMES)
# Every network once; each kind and each cell in both languages.
SPOKEN = pytest.mark.parametrize(
    ("name", "lang"), list(zip(NAMES, ("en", "zh", "zh", "en", "en", "zh"), strict=True))
)
CELLS = {"lstm": lstm_cell, "gru": gru_cell}
LANG = pytest.mark.parametrize("lang", LANGUAGES)


def observed(name: str, *more, **keywords):
    return gates.observe(name, TEXTS[name.split("_")[0]], *more, **keywords)


def lines(figure) -> dict[str, np.ndarray]:
    """The values of each trace by its name; a name that comes twice has both, one after another."""
    found: dict[str, list[np.ndarray]] = {}
    for trace in figure.data:
        found.setdefault(trace.name, []).append(np.asarray(trace.y, float))
    return {name: np.squeeze(values) for name, values in found.items()}


@SPOKEN
def test_the_map_has_every_value_in_its_row(name, lang):
    seen = observed(name)
    for symbol in symbols(seen.trace):
        seen = observed(name, symbol, "time", "vowel")
        figure = gate_map(seen, 3, 5, Style(lang=lang))
        sound(figure)
        (heat,) = figure.data
        z = np.asarray(heat.z)
        assert z.shape == (seen.hidden, len(seen.pieces))
        for row, unit in enumerate(seen.order):
            np.testing.assert_array_equal(z[row], seen.values[:, unit])
        assert (heat.zmin < 0) == (symbol in SIGNED)
        assert heat.name == Text(lang)(f"figure.gate_{symbol}")
        assert any(number(float(seen.values[4, 2])) in words for words in labels(figure))


@SPOKEN
def test_one_unit_has_its_gates_above_and_its_states_below(name, lang):
    seen = observed(name)
    unit = seen.hidden
    figure = unit_traces(seen, unit, 2, Style(lang=lang))
    sound(figure)
    found = lines(figure)
    text = Text(lang)
    assert list(found) == [text(f"figure.gate_{s}") for s in ("ifogch" if "i" in symbols(seen.trace)
                                                             else "rznh")]  # fmt: skip
    for trace, symbol in zip(figure.data, symbols(seen.trace), strict=True):
        values = activation(seen.trace, symbol)[:, unit - 1]
        np.testing.assert_array_equal(found[text(f"figure.gate_{symbol}")], values)
        assert (trace.yaxis == "y2") == (symbol in SIGNED)
        assert tuple(trace.selectedpoints) == (1,)


@SPOKEN
def test_the_cell_has_the_numbers_of_one_step(name, lang):
    seen = observed(name)
    for unit, step in ((1, 1), (seen.hidden, len(seen.pieces))):
        for update in ("keep", "write"):
            v = one_step(seen, unit, step, update)
            figure = CELLS[seen.cell](v, style=Style(lang=lang))
            sound(figure)
            (trace,) = figure.data
            found = dict(zip(trace.x, trace.y, strict=True))
            if seen.cell == "lstm":
                assert found == {
                    "c(t−1)": v.c_before, "f": v.f, "i": v.i, "g": v.g, "i g": v.i * v.g,
                    "f c(t−1)": v.f * v.c_before, "c(t)": v.c, "tanh c(t)": v.tanh_c,
                    "o": v.o, "h(t)": v.h,
                }  # fmt: skip
                assert found["f c(t−1)"] + found["i g"] == pytest.approx(v.c, rel=1e-5, abs=1e-6)
            else:
                assert (found["z"], found["r"], found["n"]) == (v.z, v.r, v.n)
                assert found["r (U h + b′)"] == v.r * v.past
                old, new = ("z", "(1 − z)") if update == "keep" else ("(1 − z)", "z")
                parts = found[f"{old} h(t−1)"] + found[f"{new} n"]
                assert parts == pytest.approx(v.h, rel=1e-5, abs=1e-6)  # the network is float32
                share = v.z if update == "keep" else 1 - v.z
                assert found[f"{old} h(t−1)"] == share * v.h_before
            assert trace.name == Text(lang)(f"option.{seen.cell}")
            assert figure.alt.count(number(v.h)) >= 1


def test_the_two_names_of_the_update_gate_draw_the_same_flows():
    seen = observed("sentiment_gru")
    keep, write = (gru_cell(one_step(seen, 4, 6, u)).data[0] for u in ("keep", "write"))
    differ = [k for k, (a, b) in enumerate(zip(keep.y, write.y, strict=True)) if a != b]
    (z,) = (k for k, name in enumerate(keep.x) if name == "z")
    assert differ == [z]
    assert keep.y[z] + write.y[z] == pytest.approx(1)


@SPOKEN
def test_saturation_is_counted_over_the_steps(name, lang):
    seen = observed(name)
    figure = gate_saturation(seen, Style(lang=lang))
    sound(figure)
    symbols_ = ("i", "f", "o") if seen.cell == "lstm" else ("r", "z")
    _, *points, bars = figure.data
    assert [trace.name for trace in points] == [Text(lang)(f"figure.gate_{s}") for s in symbols_]
    for trace, symbol in zip(points, symbols_, strict=True):
        gate = activation(seen.trace, symbol)
        steps = len(seen.pieces)
        shut = [sum(value < 0.1 for value in gate[:, unit]) / steps for unit in range(seen.hidden)]
        wide = [sum(value > 0.9 for value in gate[:, unit]) / steps for unit in range(seen.hidden)]
        np.testing.assert_allclose(trace.x, shut, rtol=1e-15)
        np.testing.assert_allclose(trace.y, wide, rtol=1e-15)
    assert sum(bars.y) == seen.hidden
    left = np.asarray(bars.x) - np.asarray(bars.width) / 2
    right = np.asarray(bars.x) + np.asarray(bars.width) / 2
    for low, high, count in zip(left[1:-1], right[1:-1], bars.y[1:-1], strict=True):
        # Edges are 10 to the quarters; a time constant that is one of them to 1e-9 is none here.
        assert count == sum(low <= tau < high for tau in seen.time_constants)


@SPOKEN
@pytest.mark.parametrize("unit", [None, 5])
def test_forced_beside_free(name, lang, unit):
    gate, symbol = ("f", "c") if name.endswith("lstm") else ("z", "h")
    clamp = Clamp(gate, 0.25, unit, 3, 7)
    free, held = observed(name, symbol), observed(name, symbol, clamps=(clamp,))
    figure = free_and_forced(free, held, unit, 3, 7, Style(lang=lang))
    sound(figure)
    text = Text(lang)
    found = {trace.name: {} for trace in figure.data}
    for trace in figure.data:
        found[trace.name][trace.yaxis or "y"] = np.asarray(trace.y, float)
    for run, seen in (("free", free), ("forced", held)):
        state = np.linalg.norm(seen.values, axis=1) if unit is None else seen.values[:, unit - 1]
        drawn = found[text(f"figure.run_{run}")]
        np.testing.assert_array_equal(drawn["y"], state)
        np.testing.assert_array_equal(drawn["y2"], seen.probability)
    assert {(shape.x0, shape.x1) for shape in figure.layout.shapes} == {(2.5, 7.5)}
    which = "all" if unit is None else "one"
    assert figure.layout.yaxis.title.text == text(f"figure.state_{symbol}_{which}", unit=unit)
    kind = free.kind if free.kind in ("sentiment", "characters") else "task"
    assert figure.layout.yaxis2.title.text == text(f"figure.p_{kind}")


@SPOKEN
def test_conventions_are_the_distances(name, lang):
    found = gates.compare(name, TEXTS[name.split("_")[0]])
    figure = distance_by_variant(found, Style(lang=lang))
    sound(figure)
    text = Text(lang)
    drawn = lines(figure)
    wanted = {text("figure.own_length"): found.size}
    for variant, distance in zip(found.variants, found.distance, strict=True):
        wanted[text(f"figure.variant_{variant}")] = distance
    assert list(drawn) == list(wanted)
    for key, values in wanted.items():
        np.testing.assert_array_equal(drawn[key], values)


@LANG
def test_agreement_draws_bits_of_the_second_word_over_the_first(lang):
    found = gates.expect(("characters_lstm", "characters_gru"), "The <b> flights", "was", "were")
    figure = agreement(found, Style(lang=lang))
    sound(figure)
    drawn = lines(figure)
    for name, bits in zip(found.networks, found.bits, strict=True):
        label = Text(lang)(f"option.{name.split('_')[1]}")
        np.testing.assert_allclose(drawn[label], bits, rtol=1e-12)
    assert list(figure.layout.xaxis.ticktext) == ["The", "&lt;b&gt;", "flights"]


@LANG
@pytest.mark.parametrize("biases", counting.BIASES)
def test_the_bars_are_the_counted_parameters(lang, biases):
    found = counting.table(7, 11, biases)
    figure = parameter_bars(found, Style(lang=lang))
    sound(figure)
    assert [tuple(trace.x) for trace in figure.data] == [
        tuple(getattr(one, part) for one in found.counted)
        for part in ("input", "recurrent", "biases")
    ]
    names = [Text(lang)(f"option.{cell}") for cell in found.cells]
    assert all(list(trace.y) == names for trace in figure.data)
    assert labels(figure) == [f"<b>{one.total:,}</b>" for one in found.counted]


@EVERY
def test_a_students_text_is_never_markup_on_an_axis(name):
    seen = observed(name)
    figures = (
        gate_map(seen, 1, 1),
        unit_traces(seen, 1, 1),
        free_and_forced(seen, seen, None, 1, 1),
        distance_by_variant(gates.compare(name, TEXTS[name.split("_")[0]])),
    )
    for figure in figures:
        axis = figure.layout.xaxis
        shown = [*(axis.ticktext or ()), *(axis.labelalias or {}).values()]
        assert len(shown) >= len(seen.pieces)
        assert not any("<" in label for label in shown)
        if name.startswith(("sentiment", "characters")):
            assert "&lt;" in shown
