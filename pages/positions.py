"""Positional encodings: not only the picture, the effect."""

from seqviz.lessons.positions import lesson as declared
from seqviz.ui.page.lesson import begin

lesson = begin(declared)
lesson.bench("waves")
lesson.prose("waves")
lesson.predict("neighbors")
lesson.prose("distance")
lesson.bench("distance")
lesson.exercise("wavelength")
lesson.prose("learned")
lesson.bench("learned")
lesson.prose("schemes")
lesson.predict("shift")
lesson.bench("schemes")
lesson.prose("effect")
lesson.predict("shuffle")
lesson.bench("effect")
lesson.prose("encoder")
lesson.bench("encoder")
lesson.prose("task")
lesson.predict("copy")
lesson.bench("task")
lesson.prose("equations")
lesson.code()
lesson.end()
