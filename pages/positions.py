"""Positional encodings: not only the picture, the effect."""

from seqviz.lessons.positions.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("effect")
lesson.more("effect_notice")
lesson.prose("simple")
lesson.bench("simple")
lesson.more("simple_notice")
lesson.prose("waves")
lesson.bench("waves")
lesson.more("waves_notice")
lesson.exercise("wavelength")
lesson.prose("schemes")
lesson.bench("schemes")
lesson.more("schemes_notice")
lesson.prose("deeper")
with lesson.deeper("distance"):
    lesson.prose("distance")
    lesson.bench("distance")
    lesson.more("distance_notice")
with lesson.deeper("task"):
    lesson.prose("task")
    lesson.bench("task")
    lesson.more("task_notice")
with lesson.deeper("learned"):
    lesson.prose("learned")
    lesson.bench("learned")
    lesson.more("learned_notice")
with lesson.deeper("encoder"):
    lesson.prose("encoder")
    lesson.bench("encoder")
    lesson.more("encoder_notice")
lesson.more("equations")
lesson.code()
lesson.end()
