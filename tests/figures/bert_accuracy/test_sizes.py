"""The figures about accuracy at every size, down to nothing: JSON and words without nan."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from seqviz.compute.bert_accuracy.counting import MINILM, count
from seqviz.compute.bert_accuracy.reported import REPORTED
from seqviz.compute.bert_accuracy.results import DIRECTIONS, ORDERS
from seqviz.figures.bert_accuracy.compare import confusion_matrices, running_accuracy
from seqviz.figures.bert_accuracy.counts import parameter_counts
from seqviz.figures.bert_accuracy.direction import accuracy_by_direction
from seqviz.figures.bert_accuracy.fill import fill_in_accuracy_by_share
from seqviz.figures.bert_accuracy.modes import train_and_eval
from seqviz.figures.bert_accuracy.padding import MEASURES, padding_effect
from seqviz.figures.bert_accuracy.regimes import system_accuracies
from seqviz.figures.bert_accuracy.search import best_so_far
from seqviz.figures.bert_accuracy.word_masking import accuracy_under_masking
from seqviz.plotting.style import Style
from seqviz.stats.proportions import Confusion, of, running
from testing.figure_examples import bert_accuracy as made
from tests.figures.trace_helpers import said as notes
from tests.figures.trace_helpers import sound

NONE = of(0, 0)


def masked(sentences, shares, orders):
    curve = made.knife_of(sentences, shares, orders)
    baseline = made.BASELINE if sentences else NONE
    figure = accuracy_under_masking(curve, "attention", 0.5, baseline)
    assert figure.data[0].name.startswith("usual head" if "random" in orders else "most attention")
    return figure


def padded(measure, sentences, lengths):
    return padding_effect(made.padding_of(sentences, lengths), measure, 100, "right")


def directed(sentences, directions):
    baseline = made.BASELINE if sentences else NONE
    return accuracy_by_direction(made.direction_of(sentences, directions), baseline)


def compared(sentences):
    a, b = (running(made.right(0.8, seed, sentences)) for seed in (8, 9))
    return running_accuracy(a, b, made.NAMES, sentences)


def systems(sentences):
    truth, baseline = made.truth(sentences), made.baseline(sentences)
    guess = made.system_of("all", sentences=sentences)
    return system_accuracies((guess,), truth, "all", baseline, REPORTED)


LENGTHS = made.LENGTHS
SIZES = (
    *(partial(masked, *size, orders) for size in ((1, 1), (1, 21), (0, 3), (50, 2))
      for orders in (ORDERS[::-1], ("attention",))),
    *(partial(padded, measure, *size) for measure in MEASURES
      for size in ((1, LENGTHS), (3, LENGTHS[:1]), (2, LENGTHS[-2:]), (0, LENGTHS))),
    *(partial(directed, *size)
      for size in ((0, DIRECTIONS), (0, ("both",)), (1, DIRECTIONS), (40, ("both",)))),
    *(partial(fill_in_accuracy_by_share, made.fills(shares), 0.15) for shares in (0, 1, 2)),
    *(partial(compared, sentences) for sentences in (1, 2, 25)),
    *(partial(systems, sentences) for sentences in (0, 1)),
    partial(train_and_eval, made.modes_of(1)),
    partial(best_so_far, ()),
    partial(best_so_far, (made.searched("grid", 3), made.searched("bayes", 12))),
)  # fmt: skip


@pytest.mark.parametrize("draw", SIZES, ids=range(len(SIZES)))
def test_figures_render_at_every_size(draw):
    sound(draw())


def test_confusion_matrices_omit_percent_for_empty_class():
    figure = confusion_matrices(
        Confusion(np.array([[0, 0], [1, 3]])), Confusion(np.zeros((2, 2), int)), made.NAMES
    )
    sound(figure)
    assert figure.data[0].text[0][0] == "<b>0</b><br>–"


def test_majority_line_has_value_and_name():
    figure = systems(2000)
    share = 100 * made.baseline().share
    (line,) = (
        trace
        for trace in figure.data
        if trace.name == "always the more frequent class of the training sentences"
    )
    assert set(line.x) == {share}
    assert any(f"{share:.1f}%" in text for text in notes(figure))
    figure = accuracy_under_masking(made.knife_of(), "random", 0.2, made.BASELINE)
    (line,) = (
        trace
        for trace in figure.data
        if trace.name == "always the more frequent class of the training sentences"
    )
    assert set(line.y) == {100 * made.BASELINE.share}
    assert "always the training majority: 50.1%" in notes(figure)


def test_parameter_counts_escape_title_and_use_language():
    figure = parameter_counts(count(MINILM), "<b>&", Style(lang="zh"))
    assert figure.layout.title.text.startswith("&lt;b&gt;&amp;：")
    assert "第 1 层" in figure.layout.yaxis.ticktext
