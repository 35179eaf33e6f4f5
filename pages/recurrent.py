"""RNN: one cell used at every step, and the wirings that are made of it."""

from seqviz.lessons.recurrent.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("wirings")
lesson.more("wirings_notice")
lesson.prose("step")
lesson.bench("step")
lesson.more("step_notice")
lesson.prose("tagging")
lesson.bench("tagging")
lesson.more("tagging_notice")
lesson.more("tagging_networks")
lesson.prose("bill")
lesson.bench("bill")
lesson.more("bill_notice")
lesson.exercise("count")
lesson.more("equations")
with lesson.deeper("collapse"):
    lesson.prose("collapse")
    lesson.bench("collapse")
    lesson.more("collapse_notice")
with lesson.deeper("tagger"):
    lesson.prose("tagger")
    lesson.bench("tagger")
    lesson.more("tagger_notice")
    lesson.more("tagger_network")
with lesson.deeper("writing"):
    lesson.prose("writing")
    lesson.bench("writing")
    lesson.more("writing_notice")
    lesson.more("writing_training")
with lesson.deeper("readout"):
    lesson.prose("readout")
    lesson.bench("readout")
    lesson.more("readout_notice")
lesson.code()
lesson.end()
