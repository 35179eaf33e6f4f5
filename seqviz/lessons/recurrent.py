"""RNN: one cell used at every step, and the wirings that are made of it."""

from __future__ import annotations

from seqviz.compute.costs.counting import stacked_bidirectional
from seqviz.compute.wirings.influence import jacobian
from seqviz.compute.wirings.step import run
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.recurrent_bill import Bill, bill
from seqviz.lessons.recurrent_cell import Collapse, Step, Wirings, collapse, one, wirings
from seqviz.lessons.recurrent_reads import Readout, Writing, readout, write
from seqviz.lessons.recurrent_tagger import Tagger, tagger
from seqviz.lessons.recurrent_tagging import Tagging, class_tagging, tagging

lesson = Lesson("recurrent", code=(run, jacobian, "seqviz.compute.states.model:RNNModel"))

# ---- step, wirings, collapse
lesson.bench("step", Step)(one)
lesson.bench("wirings", Wirings)(wirings)
lesson.bench("collapse", Collapse)(collapse)
# ---- tagging
lesson.bench("tagging", Tagging, replicate=class_tagging)(tagging)
# ---- tagger
lesson.bench("tagger", Tagger)(tagger)
# ---- writing, readout
lesson.bench("writing", Writing)(write)
lesson.bench("readout", Readout)(readout)
# ---- bill
lesson.bench("bill", Bill)(bill)

lesson.exercise(
    "count",
    cases=[
        {"inputs": inputs, "hidden": hidden, "layers": layers}
        for inputs, hidden, layers in ((1, 32, 2), (10, 8, 3), (5, 16, 2), (64, 32, 4), (3, 4, 2))
    ],
    answer=stacked_bidirectional,
    within=0.5,
)
