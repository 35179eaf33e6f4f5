"""RNN: one cell used at every step, and the wirings that are made of it."""

from seqviz.lessons.recurrent import lesson as declared
from seqviz.ui.page.lesson import begin

lesson = begin(declared)
lesson.prose("step")
lesson.prose("wirings")
lesson.prose("collapse")
lesson.prose("tagging")
lesson.prose("tagger")
lesson.bench("tagger")
lesson.prose("writing")
lesson.prose("readout")
lesson.prose("bill")
lesson.prose("equations")
lesson.code()
lesson.end()
