"""Vanishing gradients: how far back does the error reach?"""

from seqviz.lessons.vanishing_gradients import lesson as declared
from seqviz.ui.page.lesson import begin

lesson = begin(declared)
lesson.bench("reach")
lesson.predict("norm")
lesson.prose("reach")
lesson.prose("pairs")
lesson.bench("pairs")
lesson.prose("paths")
lesson.predict("index")
lesson.bench("paths")
lesson.prose("recursion")
lesson.bench("back")
lesson.prose("truncation")
lesson.predict("truncation")
lesson.bench("cut")
lesson.prose("gates")
lesson.bench("gates")
lesson.exercise("horizon")
lesson.prose("race")
lesson.predict("race")
lesson.bench("race")
lesson.prose("equations")
lesson.code()
lesson.end()
