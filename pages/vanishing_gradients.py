"""Vanishing gradients: how far back does the error reach?"""

from seqviz.lessons.vanishing_gradients.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("race")
lesson.more("race_more")
lesson.prose("reach")
lesson.bench("reach")
lesson.more("reach_more")
lesson.sketch("tanh")
lesson.exercise("horizon")
lesson.prose("recursion")
lesson.bench("back")
lesson.prose("gates")
lesson.bench("gates")
lesson.more("gates_more")
with lesson.deeper("paths"):
    lesson.prose("paths")
    lesson.bench("paths")
with lesson.deeper("weights"):
    lesson.prose("weights")
    lesson.bench("weights")
    lesson.more("weights_more")
with lesson.deeper("pairs"):
    lesson.prose("pairs")
    lesson.bench("pairs")
    lesson.more("pairs_more")
with lesson.deeper("cut"):
    lesson.prose("truncation")
    lesson.bench("cut")
    lesson.more("truncation_more")
lesson.more("equations")
lesson.code()
lesson.end()
