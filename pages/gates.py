"""Gate activations: what do LSTM and GRU keep, and what do they drop?"""

from seqviz.lessons.gates.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.prose("problem")
lesson.bench("one")
lesson.more("one")
lesson.exercise("constant")
lesson.more("equations")
lesson.prose("many")
lesson.bench("watch")
lesson.more("watch")
lesson.prose("meaning")
lesson.bench("meaning")
lesson.more("luck")
lesson.prose("force")
lesson.bench("force")
lesson.more("held")
with lesson.deeper("learn"):
    lesson.prose("learn")
    lesson.bench("learn")
    lesson.more("learned")
with lesson.deeper("agreement"):
    lesson.prose("agreement")
    lesson.bench("agreement")
    lesson.more("pairs")
with lesson.deeper("conventions"):
    lesson.prose("conventions")
    lesson.bench("conventions")
    lesson.more("variants")
with lesson.deeper("size"):
    lesson.prose("counts")
    lesson.bench("size")
lesson.code()
lesson.end()
