"""Declaration of the lesson "Gate activations"."""

from __future__ import annotations

from seqviz.compute.gates import activations, observation
from seqviz.compute.recurrent import run as run_cell
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.gates import changed_cells, gate_temperature, tiny_training, trained_network

lesson = Lesson(
    "gates",
    core=("one", "watch", "meaning", "force"),
    code=(run_cell, observation.observe, activations.time_constants),
)

single_gate = lesson.bench("one", gate_temperature.SingleGateParams)(gate_temperature.single_gate)
watch = lesson.bench("watch", trained_network.WatchParams, leads=True)(trained_network.watch)
meaning = lesson.bench("meaning", trained_network.MeaningParams)(trained_network.meaning)
force = lesson.bench("force", changed_cells.ForceParams, after=("watch",))(changed_cells.force)
learn = lesson.bench("learn", tiny_training.LearnParams)(tiny_training.learn)
agree = lesson.bench("agreement", trained_network.AgreementParams)(trained_network.agree)
conventions = lesson.bench("conventions", changed_cells.ConventionsParams, after=("watch",))(
    changed_cells.conventions
)
size = lesson.bench("size", tiny_training.SizeParams)(tiny_training.size)

lesson.exercise(
    "constant",
    cases=[{"gate": gate} for gate in (0.9, 0.98, 0.5, 0.995, 0.8)],
    answer=activations.time_constant,
    share=0.05,
)

lesson.question("quotes", "meaning")
lesson.question("force", "force", at={"f": 1.0})
lesson.question("count", "learn", at={"view": "longer"})
lesson.question("agreement", "agreement")
