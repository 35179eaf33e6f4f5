"""AR fitting: how much of tomorrow is already in today?"""

from seqviz.lessons.ar_fitting.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("by_hand")
lesson.more("by_hand_notice")
lesson.prose("process")
lesson.bench("process")
lesson.more("process_notice")
lesson.sketch("waves")
lesson.prose("fit")
lesson.bench("fit")
lesson.more("fit_notice")
lesson.more("methods")
lesson.exercise("memory")
lesson.prose("networks")
lesson.bench("networks")
lesson.more("networks_notice")
lesson.more("window")
lesson.prose("deeper")
with lesson.deeper("forecast"):
    lesson.prose("forecast")
    lesson.bench("forecast")
    lesson.more("forecast_notice")
with lesson.deeper("nonlinear"):
    lesson.prose("nonlinear")
    lesson.bench("nonlinear")
    lesson.more("nonlinear_notice")
with lesson.deeper("real"):
    lesson.prose("real")
    lesson.bench("real")
    lesson.more("real_notice")
lesson.more("equations")
lesson.code()
lesson.end()
