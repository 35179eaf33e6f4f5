"""RNN: one cell used at every step, and the wirings that are made of it."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.recurrent_bill import Bill, bill

lesson = Lesson("recurrent")

# ---- step, wirings, collapse
# ---- tagging
# ---- tagger
# ---- writing, readout
# ---- bill
lesson.bench("bill", Bill)(bill)
