"""Declaration of the lesson "Text to numbers"."""

from __future__ import annotations

from seqviz.compute.text.tokenization.merges import learn
from seqviz.compute.text.windows.cutting import count_windows
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.text import tokenization, training_windows, vectors

lesson = Lesson("text", code=(learn,), core=("cutters", "merges", "ids", "map"))

cutters = lesson.bench("cutters", tokenization.CuttersParams, after=("merges",), leads=True)(
    tokenization.cutters
)
merges = lesson.bench("merges", tokenization.MergesParams, leads=True)(tokenization.merges)
prefixes = lesson.bench("ladder", tokenization.PrefixesParams)(tokenization.prefixes)
ids = lesson.bench("ids", training_windows.IdsParams)(training_windows.ids)
word_vectors = lesson.bench("map", vectors.MapParams)(vectors.word_vectors)
reading = lesson.bench("reading", vectors.ReadingParams)(vectors.reading)
neighbors = lesson.bench("neighbors", vectors.NeighborsParams)(vectors.neighbors)
windows = lesson.bench("windows", training_windows.WindowsOfTextParams)(training_windows.windows)

lesson.exercise(
    "windows",
    cases=[
        {"length": length, "steps": steps, "offset": offset}
        for length, steps, offset in ((36, 5, 2), (50, 6, 0), (41, 4, 3), (100, 9, 7), (64, 7, 1))
    ],
    answer=count_windows,
    within=0.5,
)

lesson.question("permuted", "ids")
lesson.question("analogy", "map", at={"view": "analogy"})
lesson.question("carried", "windows", at={"view": "memory"})
