"""Masked or not: what the word means three times, and what each costs in accuracy."""

from seqviz.lessons.bert_accuracy.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.prose("guess")
lesson.bench("guess")
lesson.more("guess_notice")
lesson.more("guess_network")
lesson.exercise("replaced")
lesson.prose("knife")
lesson.bench("knife")
lesson.exercise("shift")
lesson.more("knife_notice")
lesson.prose("padding")
lesson.bench("padding")
lesson.more("padding_notice")
lesson.prose("direction")
lesson.bench("looks")
lesson.more("direction_notice")
lesson.more("data")
lesson.more("equations")
with lesson.deeper("fill"):
    lesson.prose("fill")
    lesson.bench("fill")
with lesson.deeper("heads", links=("weights",)):
    lesson.prose("heads")
    lesson.bench("heads")
    lesson.more("heads_notice")
with lesson.deeper("tune"):
    lesson.prose("tune")
    lesson.bench("tune")
with lesson.deeper("count"):
    lesson.prose("count")
    lesson.bench("count")
with lesson.deeper("search"):
    lesson.prose("search")
    lesson.bench("search")
with lesson.deeper("modes"):
    lesson.prose("modes")
    lesson.bench("modes")
with lesson.deeper("compare"):
    lesson.prose("compare")
    lesson.bench("compare")
    lesson.more("compare_notice")
lesson.code()
lesson.end()
