"""RNN: one cell used at every step, and the wirings that are made of it."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.recurrent_reads import Readout, Writing, readout, write

lesson = Lesson("recurrent")

# ---- step, wirings, collapse
# ---- tagging
# ---- tagger
# ---- writing, readout
lesson.bench("writing", Writing)(write)
lesson.bench("readout", Readout)(readout)
# ---- bill
