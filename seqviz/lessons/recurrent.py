"""RNN: one cell used at every step, and the wirings that are made of it."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.recurrent_cell import Collapse, Step, Wirings, collapse, one, wirings

lesson = Lesson("recurrent")

# ---- step, wirings, collapse
lesson.bench("step", Step)(one)
lesson.bench("wirings", Wirings)(wirings)
lesson.bench("collapse", Collapse)(collapse)
# ---- tagging
# ---- tagger
# ---- writing, readout
# ---- bill
