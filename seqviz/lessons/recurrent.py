"""RNN: one cell used at every step, and the wirings that are made of it."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.recurrent_tagging import Tagging, tagging

lesson = Lesson("recurrent")

# ---- step, wirings, collapse
# ---- tagging
lesson.bench("tagging", Tagging)(tagging)
# ---- tagger
# ---- writing, readout
# ---- bill
