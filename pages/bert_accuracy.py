"""Masked or not: what the word means four times, and what each costs in accuracy."""

from seqviz.lessons.bert_accuracy.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
tabs = lesson.tabs()
with tabs["token"]:
    lesson.bench("knife")
    lesson.prose("knife")
    lesson.prose("fill")
    lesson.bench("fill")
    lesson.exercise("replaced")
    lesson.bench("guess")
with tabs["padding"]:
    lesson.prose("padding")
    lesson.bench("padding")
    lesson.prose("padding_notice")
with tabs["direction"]:
    lesson.prose("direction")
    lesson.bench("looks")
with tabs["weights"]:
    lesson.prose("weights")
    lesson.bench("heads")
    lesson.prose("tune")
    lesson.bench("tune")
    lesson.bench("count")
    lesson.prose("search")
    lesson.bench("search")
    lesson.prose("modes")
    lesson.bench("modes")
lesson.prose("compare")
lesson.bench("compare")
lesson.exercise("margin")
lesson.prose("equations")
lesson.code()
lesson.end()
