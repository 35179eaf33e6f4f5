"""Text to numbers: how a text is cut, what an id means, and where vectors of words come from."""

from __future__ import annotations

from seqviz.compute.tokenization.merges import learn
from seqviz.compute.windows.cutting import count_windows
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.text_cut import Cutters, Ladder, Merges, cutters, ladder, merges
from seqviz.lessons.text_vectors import Map, Neighbors, Reading, neighbors, reading, word_vectors
from seqviz.lessons.text_windows import Ids, WindowsOfText, ids, windows

lesson = Lesson("text", code=(learn,))

# ---- cutters, merges, ladder
lesson.bench("cutters", Cutters, after=("merges",), leads=True)(cutters)
lesson.bench("merges", Merges, leads=True)(merges)
lesson.bench("ladder", Ladder)(ladder)
# ---- ids
lesson.bench("ids", Ids)(ids)
# ---- map, reading, neighbors
lesson.bench("map", Map)(word_vectors)
lesson.bench("reading", Reading)(reading)
lesson.bench("neighbors", Neighbors)(neighbors)
# ---- windows
lesson.bench("windows", WindowsOfText)(windows)

lesson.exercise(
    "windows",
    cases=[
        {"length": length, "steps": steps, "offset": offset}
        for length, steps, offset in ((36, 5, 2), (50, 6, 0), (41, 4, 3), (100, 9, 7), (64, 7, 1))
    ],
    answer=count_windows,
    within=0.5,
)
