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
lesson.question("carried", "windows", at={"view": "memory"}, lights=[[2, 3], [4, 5], [2, 3, 4, 5]])

STRIPS = {"view": "strips"}
ENGLISH, CHINESE = "The weather is nice today.", "今天天气很好。"
lesson.step("cutters", "english", {**STRIPS, "text": ENGLISH}, [4])
lesson.step("cutters", "chinese", {**STRIPS, "text": CHINESE}, [4])
lesson.step("cutters", "wordpiece", {**STRIPS, "strip": "wordpiece"}, [3])

PAIRS = {"view": "frequent", "corpus": "reviews", "amount": "all"}
lesson.step("merges", "bytes", {**PAIRS, "merges": 0}, [2, 3])
lesson.step("merges", "many", {**PAIRS, "merges": 1000}, [2, 3])
lesson.step("merges", "others", {**PAIRS, "view": "compression", "amount": "20"}, [0, 1])

lesson.step("ids", "few", {"view": "permute", "permuted": 10}, [1, 3])
lesson.step("ids", "neighbors", {"view": "window"}, [1, 2])

lesson.step("map", "near", {"view": "near"}, [0, 1])
lesson.step("map", "analogy", {"view": "analogy"}, [0, 1])
lesson.step("map", "classes", {"view": "classes"}, [0, 1])
