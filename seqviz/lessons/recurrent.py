"""RNN: one cell used at every step, and the wirings that are made of it."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.recurrent_tagger import Tagger, tagger

lesson = Lesson("recurrent")

# ---- step, wirings, collapse
# ---- tagging
# ---- tagger
lesson.bench("tagger", Tagger)(tagger)
# ---- writing, readout
# ---- bill
