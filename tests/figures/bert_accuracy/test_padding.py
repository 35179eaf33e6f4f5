"""Padding and direction: the figures are the answers counted again, at every size."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.core.units import unbroken
from seqviz.figures.bert_accuracy.direction import accuracy_by_direction
from seqviz.figures.bert_accuracy.ids import token_ids
from seqviz.figures.bert_accuracy.padding import MEASURES, padding_effect, sentence_padding
from seqviz.plotting.style import LIGHT
from seqviz.stats.proportions import proportion
from testing.figure_examples.bert_accuracy import (
    BASELINE,
    LENGTHS,
    PIECES,
    direction_of,
    own_padding_of,
    padding_of,
)
from tests.figures.markup_samples import HOSTILE, plainly
from tests.figures.trace_helpers import bands, sound
from tests.figures.trace_helpers import said as notes
from tests.figures.trace_helpers import trace as named

PADDED = padding_of()


# --- padding --------------------------------------------------------------------------------------


def test_padding_accuracy_counts_only_known_answers():
    figure = padding_effect(PADDED, "accuracy", 64, "left")
    line = named(figure, "mask left out, left")
    right = (PADDED.probability[1, 1] >= 0.5) == PADDED.positive
    np.testing.assert_allclose(line.y[:5], 100 * right[:5].mean(axis=-1))
    np.testing.assert_allclose(line.y[6:], 100 * right[6:, :400].mean(axis=-1))
    assert line.customdata[0].endswith(unbroken("n = 2,000"))
    assert line.customdata[-1].endswith(unbroken("n = 400"))
    low, high = np.split(np.asarray(bands(figure)[1].y), 2)
    last = proportion(right[-1, :400])
    assert (low[-1], high[0]) == pytest.approx((100 * last.low, 100 * last.high))
    assert "2,000 sentences" in figure.alt
    given = padding_effect(PADDED, "accuracy", 64, "left", BASELINE)
    name = "always the more frequent class of the training sentences"
    assert set(named(given, name).y) == {100 * BASELINE.share}
    assert "first 400 sentences" in notes(padding_effect(PADDED, "accuracy", 512, "left"))


def test_padding_flips_compare_with_unpadded_answers():
    figure = padding_effect(PADDED, "flipped", 64, "right")
    flips = (PADDED.probability[:, 0] >= 0.5) != (PADDED.unpadded >= 0.5)
    for row, name in zip(flips, ("mask given, right", "mask left out, right"), strict=True):
        line = named(figure, name)
        np.testing.assert_allclose(line.y[:5], 100 * row[:5].mean(axis=-1))
    assert f"{line.y[2]:.1f}% without" in " ".join(notes(figure))


@pytest.mark.parametrize("measure", ["drift", "on_pads"])
def test_padding_medians_have_quartile_bands(measure: str):
    figure = padding_effect(PADDED, measure, 128, "right")
    values = PADDED.drift if measure == "drift" else 100 * PADDED.on_pads
    line = named(figure, "mask left out, right")
    expected = np.nanpercentile(values[1, 0], [25, 50, 75], axis=-1)
    np.testing.assert_allclose(line.y, expected[1])
    low, high = np.split(np.asarray(bands(figure)[1].y), 2)
    np.testing.assert_allclose([low, high[::-1]], expected[[0, 2]])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_lines_differ_in_dash_color_and_opacity(measure: str, side: str):
    figure = padding_effect(PADDED, measure, 128, side)
    sound(figure)
    lines = {t.name: t for t in figure.data if t.mode and "markers" in t.mode}
    assert len(lines) == 4
    for name, line in lines.items():
        assert (line.line.dash == "dash") == name.endswith("left")
        assert (line.line.color == LIGHT.prediction) == name.startswith("mask given")
        assert (line.opacity == 1) == name.endswith(side)
    assert set(lines) <= set(notes(figure))
    assert figure.layout.xaxis.type == "log"
    assert list(figure.layout.xaxis.tickvals) == [32, 64, 128, 256, 512]
    assert figure.layout.shapes[0].x0 == 128
    bottom, top = figure.layout.yaxis.range
    assert all(bottom < mark.y < top for mark in figure.layout.annotations if mark.text in lines)


def test_padding_leaves_gap_at_length_without_answers():
    empty = padding_of(30, n_sentences=0)
    for measure in MEASURES:
        figure = padding_effect(empty, measure, 512, "right")
        sound(figure)
        assert np.isnan(named(figure, "mask left out, right").y[-1])
    assert "– with mask, – without" in " ".join(notes(figure))


def test_padding_rejects_unknown_measure_or_side():
    with pytest.raises(ValueError, match="loss"):
        padding_effect(PADDED, "loss", 64, "right")
    with pytest.raises(ValueError, match="middle"):
        padding_effect(PADDED, "accuracy", 64, "middle")


def test_sentence_padding_draws_answer_and_attention():
    padding = own_padding_of()
    figure = sentence_padding(padding, 128)
    for axis, values in (("x", padding.probability), ("x2", padding.on_pads)):
        for t, masking in enumerate(("mask given", "mask left out")):
            for s, side in enumerate(("right", "left")):
                lines = [t for t in figure.data if (t.xaxis or "x") == axis]
                (line,) = [t for t in lines if t.name == f"{masking}, {side}"]
                np.testing.assert_allclose(line.y, 100 * values[t, s])
    assert [shape.x0 for shape in figure.layout.shapes] == [128, 128]
    assert f"{100 * padding.on_pads[1, 0, 4]:.1f}% of the attention" in figure.alt
    sound(sentence_padding(own_padding_of(lengths=LENGTHS[:1]), 32))


def test_token_ids_align_ids_and_mask_with_tokens():
    padding = own_padding_of()
    figure = token_ids(padding)
    ids, mask = figure.data
    np.testing.assert_array_equal(ids.z[0], padding.ids)
    np.testing.assert_array_equal(mask.z[0], padding.real)
    cells = {(mark.x, mark.y): mark for mark in figure.layout.annotations}
    assert plainly(cells[3, 1].text) == PIECES[2]
    assert cells[3, 2].text == str(padding.ids[2])
    assert [cells[x, 3].text for x in (1, 12, 13, 20)] == ["1", "1", "0", "0"]
    assert cells[12, 1].font.color == LIGHT.truth
    assert cells[13, 1].font.color == LIGHT.baseline
    assert figure.layout.meta["names"]["x"] == list(padding.pieces)
    assert "20 tokens" in figure.alt
    assert "12 of them real" in figure.alt


@pytest.mark.parametrize("count", [1, 5, 16, 17, 64])
def test_token_ids_show_at_most_24_columns(count: int):
    padding = own_padding_of(tuple(f"w{n}" for n in range(count)))
    figure = token_ids(padding)
    sound(figure)
    visible = figure.layout.meta["names"]["x"]
    assert len(visible) == min(count + 8, 24)
    assert visible[-8:] == ["[PAD]"] * 8
    assert ("…" in visible) == (count + 8 > 24)
    assert visible[0] == "w0"
    assert f"{count + 8} tokens" in figure.alt


def test_token_ids_escape_hostile_pieces():
    for mark in token_ids(own_padding_of(HOSTILE)).layout.annotations:
        assert "<" not in mark.text
        assert "%{" not in mark.text


# --- direction ------------------------------------------------------------------------------------


def test_direction_bars_match_answers_refitted_answers_and_ranks():
    attention_directions = direction_of()
    figure = accuracy_by_direction(attention_directions, BASELINE)
    for axis, right in (
        ("x", (attention_directions.probability >= 0.5) == attention_directions.positive),
        ("x2", (attention_directions.refitted >= 0.5) == attention_directions.positive),
        ("x3", attention_directions.rank == 1),
    ):
        for row, name in enumerate(("both directions", "left only", "right only")):
            bar, expected = named(figure, name, axis), proportion(right[row])
            assert bar.y[0] == pytest.approx(100 * expected.share)
            assert bar.y[0] + bar.error_y.array[0] == pytest.approx(100 * expected.high)
            assert f"{100 * expected.share:.1f}%" in figure.alt
    lines = [t for t in figure.data if t.name == "training majority"]
    assert [line.xaxis or "x" for line in lines] == ["x", "x2"]
    assert {y for line in lines for y in line.y} == {100 * BASELINE.share}
    assert figure.layout.xaxis.title.text.endswith(unbroken("(n = 2,000)"))
