"""Vanishing gradients: how far back does the error reach?"""

from seqviz.lessons.vanishing_gradients.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("reach")
lesson.sketch("tanh")
lesson.prose("reach")
lesson.prose("pairs")
lesson.bench("pairs")
lesson.prose("paths")
lesson.bench("paths")
lesson.prose("recursion")
lesson.bench("back")
lesson.prose("weights")
lesson.bench("weights")
lesson.prose("truncation")
lesson.bench("cut")
lesson.prose("gates")
lesson.bench("gates")
lesson.exercise("horizon")
lesson.prose("race")
lesson.bench("race")
lesson.prose("equations")
lesson.code()
lesson.end()
