"""Language models: how many bits the next letter costs, and which model needs fewest."""

from seqviz.lessons.language_models.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("product")
lesson.more("product_notice")
lesson.prose("counts")
lesson.bench("counts")
lesson.more("counts_notice")
lesson.exercise("smoothed")
lesson.prose("ladder")
lesson.bench("ladder")
lesson.more("ladder_notice")
lesson.prose("writing")
lesson.bench("writing")
lesson.more("writing_notice")
lesson.prose("deeper")
with lesson.deeper("window"):
    lesson.prose("window")
    lesson.bench("window")
    lesson.more("window_notice")
with lesson.deeper("sides"):
    lesson.prose("sides")
    lesson.bench("sides")
    lesson.more("sides_notice")
lesson.more("equations")
lesson.code()
lesson.end()
