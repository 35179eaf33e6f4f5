"""RNN: one cell used at every step, and the wirings that are made of it."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson

lesson = Lesson("recurrent")

# ---- step, wirings, collapse
# ---- tagging
# ---- tagger
# ---- writing, readout
# ---- bill
