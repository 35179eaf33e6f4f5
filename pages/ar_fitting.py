"""AR fitting: how much of tomorrow is already in today?"""

from seqviz.lessons.ar_fitting import lesson as declared
from seqviz.ui.page.lesson import begin

lesson = begin(declared)
lesson.bench("process")
lesson.predict("decay")
lesson.prose("process")
lesson.prose("by_hand")
lesson.bench("by_hand")
lesson.prose("fit")
lesson.predict("bias")
lesson.bench("fit")
lesson.prose("methods")
lesson.exercise("memory")
lesson.prose("networks")
lesson.predict("epochs")
lesson.bench("networks")
lesson.prose("verdict")
lesson.prose("forecast")
lesson.predict("far")
lesson.bench("forecast")
lesson.prose("real")
lesson.bench("real")
lesson.prose("equations")
lesson.code()
lesson.end()
