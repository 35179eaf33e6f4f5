"""Declaration of the lesson "RNN"."""

from __future__ import annotations

from seqviz.compute.recurrent.costs.counting import stacked_bidirectional
from seqviz.compute.recurrent.wirings.influence import jacobian
from seqviz.compute.recurrent.wirings.step import run
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.recurrent import cell, cost, lac_tagger, language_model, letter_tagging

lesson = Lesson(
    "recurrent",
    code=(run, jacobian, "seqviz.compute.recurrent.states.model:RNNModel"),
    core=("wirings", "step", "tagging", "bill"),
)

wirings = lesson.bench("wirings", cell.WiringsParams)(cell.wirings)
read_steps = lesson.bench("step", cell.StepParams)(cell.read_steps)
tagging = lesson.bench(
    "tagging", letter_tagging.TaggingParams, replicate=letter_tagging.class_tagging
)(letter_tagging.tagging)
bill = lesson.bench("bill", cost.CellCostParams)(cost.bill)
collapse = lesson.bench("collapse", cell.CollapseParams)(cell.collapse)
tagger = lesson.bench("tagger", lac_tagger.TaggerParams)(lac_tagger.tagger)
write = lesson.bench("writing", language_model.WritingParams)(language_model.write)
readout = lesson.bench("readout", language_model.ReadoutParams)(language_model.readout)

lesson.exercise(
    "count",
    cases=[
        {"inputs": inputs, "hidden": hidden, "layers": layers}
        for inputs, hidden, layers in ((1, 32, 2), (10, 8, 3), (5, 16, 2), (64, 32, 4), (3, 4, 2))
    ],
    answer=stacked_bidirectional,
    within=0.5,
)

lesson.question("wirings", "wirings", at={"view": "beside"}, veils=False)
lesson.question("tagging", "tagging")
lesson.question("bill", "bill", at={"view": "time", "n_steps": 512})
