"""Gate activations: what do LSTM and GRU keep, and what do they drop?"""

from seqviz.lessons.gates.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("one")
lesson.prose("one")
lesson.prose("equations")
lesson.exercise("constant")
lesson.prose("many")
lesson.bench("watch")
lesson.prose("watch")
lesson.prose("meaning")
lesson.bench("meaning")
lesson.prose("force")
lesson.bench("force")
lesson.prose("learn")
lesson.bench("learn")
lesson.prose("agreement")
lesson.bench("agreement")
lesson.prose("conventions")
lesson.bench("conventions")
lesson.prose("counts")
lesson.bench("size")
lesson.code()
lesson.end()
