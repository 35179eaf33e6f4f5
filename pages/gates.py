"""Gate activations: what do LSTM and GRU keep, and what do they drop?"""

from seqviz.lessons.gates import lesson as declared
from seqviz.ui.page.lesson import begin

lesson = begin(declared)
lesson.bench("watch")
lesson.prose("watch")
lesson.prose("force")
lesson.predict("force")
lesson.bench("force")
lesson.prose("saturation")
lesson.prose("learn")
lesson.predict("count")
lesson.bench("learn")
lesson.exercise("constant")
lesson.prose("conventions")
lesson.bench("conventions")
lesson.prose("agreement")
lesson.predict("agreement")
lesson.bench("agreement")
lesson.prose("counts")
lesson.bench("size")
lesson.prose("equations")
lesson.code()
lesson.end()
