"""The Transformer block: what each part adds, what is missed without it, and what it costs."""

from seqviz.lessons.transformer import lesson as declared
from seqviz.ui.page.lesson import begin

lesson = begin(declared)
lesson.bench("account")
lesson.predict("knows")
lesson.prose("account")
lesson.prose("lens")
lesson.bench("lens")
lesson.predict("missed")
lesson.prose("remove")
lesson.bench("remove")
lesson.prose("steps")
lesson.bench("steps")
lesson.prose("masks")
lesson.bench("masks")
lesson.prose("norms")
lesson.predict("norms")
lesson.bench("norms")
lesson.prose("depths")
lesson.bench("depths")
lesson.prose("bill")
lesson.predict("bill")
lesson.bench("bill")
lesson.prose("equations")
lesson.code()
lesson.end()
