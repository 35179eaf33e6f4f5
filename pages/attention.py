"""Attention heatmaps: who looks at whom, how strongly, and what for?"""

from seqviz.lessons.attention.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("by_hand")
lesson.prose("by_hand")
lesson.prose("scale")
lesson.bench("scale")
lesson.exercise("weight")
lesson.prose("real")
lesson.bench("real")
lesson.prose("patterns")
lesson.prose("apart")
lesson.bench("apart")
lesson.prose("trials")
lesson.bench("trials")
lesson.prose("masks")
lesson.bench("masks")
lesson.prose("ablate")
lesson.bench("ablate")
lesson.prose("bertviz")
lesson.bench("bertviz")
lesson.prose("equations")
lesson.code()
lesson.end()
