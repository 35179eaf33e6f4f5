"""Positional encodings: not only the picture, the effect."""

from seqviz.lessons.positions.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("effect")
lesson.prose("effect")
lesson.prose("simple")
lesson.bench("simple")
lesson.prose("waves")
lesson.bench("waves")
lesson.exercise("wavelength")
lesson.prose("distance")
lesson.bench("distance")
lesson.prose("schemes")
lesson.bench("schemes")
lesson.prose("learned")
lesson.bench("learned")
lesson.prose("encoder")
lesson.bench("encoder")
lesson.prose("task")
lesson.bench("task")
lesson.prose("equations")
lesson.code()
lesson.end()
