"""GPT and decoding: from the scores of a next token to a text."""

from seqviz.lessons.gpt.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.prose("scores")
lesson.bench("scores")
lesson.more("scores_notice")
lesson.prose("steps")
lesson.bench("steps")
lesson.more("steps_notice")
lesson.prose("futures")
lesson.bench("futures")
lesson.more("futures_notice")
lesson.prose("likely")
lesson.bench("likely")
lesson.more("likely_notice")
lesson.prose("deeper")
with lesson.deeper("draws"):
    lesson.prose("draws")
    lesson.bench("draws")
    lesson.more("draws_notice")
with lesson.deeper("again"):
    lesson.prose("again")
    lesson.bench("again")
    lesson.more("again_notice")
with lesson.deeper("shots"):
    lesson.prose("shots")
    lesson.sketch("coin")
    lesson.bench("shots")
    lesson.more("shots_notice")
with lesson.deeper("cost"):
    lesson.prose("cost")
    lesson.bench("cost")
    lesson.exercise("readings")
    lesson.more("cost_notice")
lesson.more("equations")
lesson.code()
lesson.end()
