"""AR fitting: how much of tomorrow is already in today?"""

from seqviz.lessons.ar_fitting.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("process")
lesson.sketch("waves")
lesson.prose("process")
lesson.prose("by_hand")
lesson.bench("by_hand")
lesson.prose("fit")
lesson.bench("fit")
lesson.prose("methods")
lesson.exercise("memory")
lesson.prose("networks")
lesson.bench("networks")
lesson.prose("verdict")
with lesson.deeper("forecast"):
    lesson.prose("forecast")
    lesson.bench("forecast")
with lesson.deeper("nonlinear"):
    lesson.prose("nonlinear")
    lesson.bench("nonlinear")
with lesson.deeper("real"):
    lesson.prose("real")
    lesson.bench("real")
lesson.more("equations")
lesson.code()
lesson.end()
