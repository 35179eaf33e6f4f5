"""RNN: one cell used at every step, and the wirings that are made of it."""

from __future__ import annotations

from seqviz.compute.recurrent.costs.counting import stacked_bidirectional
from seqviz.compute.recurrent.wirings.influence import jacobian
from seqviz.compute.recurrent.wirings.step import run
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.recurrent.cell import (
    CollapseParams,
    StepParams,
    WiringsParams,
    collapse,
    read_steps,
    wirings,
)
from seqviz.lessons.recurrent.cost import CellCostParams, bill
from seqviz.lessons.recurrent.lac_tagger import TaggerParams, tagger
from seqviz.lessons.recurrent.language_model import ReadoutParams, WritingParams, readout, write
from seqviz.lessons.recurrent.tagging import TaggingParams, class_tagging, tagging

lesson = Lesson("recurrent", code=(run, jacobian, "seqviz.compute.recurrent.states.model:RNNModel"))

# ---- step, wirings, collapse
lesson.bench("step", StepParams)(read_steps)
lesson.bench("wirings", WiringsParams)(wirings)
lesson.bench("collapse", CollapseParams)(collapse)
# ---- tagging
lesson.bench("tagging", TaggingParams, replicate=class_tagging)(tagging)
# ---- tagger
lesson.bench("tagger", TaggerParams)(tagger)
# ---- writing, readout
lesson.bench("writing", WritingParams)(write)
lesson.bench("readout", ReadoutParams)(readout)
# ---- bill
lesson.bench("bill", CellCostParams)(bill)

lesson.exercise(
    "count",
    cases=[
        {"inputs": inputs, "hidden": hidden, "layers": layers}
        for inputs, hidden, layers in ((1, 32, 2), (10, 8, 3), (5, 16, 2), (64, 32, 4), (3, 4, 2))
    ],
    answer=stacked_bidirectional,
    within=0.5,
)
