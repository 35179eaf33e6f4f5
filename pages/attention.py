"""Attention heatmaps: who looks at whom, how strongly, and what for?"""

from seqviz.lessons.attention.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("features")
lesson.prose("features")
lesson.more("features_notice")
lesson.more("equations")
lesson.prose("scale")
lesson.bench("scale")
lesson.more("scale_notice")
lesson.exercise("weight")
lesson.prose("real")
lesson.bench("real")
lesson.more("patterns")
lesson.more("explanation")
lesson.prose("ablate")
lesson.bench("ablate")
lesson.more("ablate_notice")
with lesson.deeper("apart"):
    lesson.prose("apart")
    lesson.bench("apart")
    lesson.more("apart_notice")
with lesson.deeper("trials"):
    lesson.prose("trials")
    lesson.bench("trials")
    lesson.more("trials_notice")
with lesson.deeper("masks"):
    lesson.prose("masks")
    lesson.bench("masks")
    lesson.more("masks_notice")
with lesson.deeper("by_hand"):
    lesson.prose("by_hand")
    lesson.bench("by_hand")
    lesson.more("by_hand_notice")
with lesson.deeper("bertviz"):
    lesson.prose("bertviz")
    lesson.bench("bertviz")
lesson.code()
lesson.end()
