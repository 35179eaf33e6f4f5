"""RNN: one cell used at every step, and the wirings that are made of it."""

from seqviz.lessons.recurrent.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.prose("step")
lesson.bench("step")
lesson.prose("wirings")
lesson.bench("wirings")
lesson.prose("collapse")
lesson.bench("collapse")
lesson.prose("tagging")
lesson.bench("tagging")
lesson.prose("tagger")
lesson.bench("tagger")
lesson.prose("writing")
lesson.bench("writing")
lesson.prose("readout")
lesson.bench("readout")
lesson.prose("bill")
lesson.bench("bill")
lesson.exercise("count")
lesson.prose("equations")
lesson.code()
lesson.end()
