"""GPT and decoding: from the scores of a next token to a text."""

from seqviz.lessons.gpt.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("scores")
lesson.prose("scores")
lesson.prose("steps")
lesson.bench("steps")
lesson.prose("draws")
lesson.bench("draws")
lesson.prose("futures")
lesson.bench("futures")
lesson.prose("likely")
lesson.bench("likely")
lesson.prose("again")
lesson.bench("again")
lesson.prose("shots")
lesson.sketch("coin")
lesson.bench("shots")
lesson.prose("cost")
lesson.bench("cost")
lesson.exercise("readings")
lesson.prose("equations")
lesson.code()
lesson.end()
