"""Text to numbers: how a text is cut, what an id means, and where vectors of words come from."""

from __future__ import annotations

from seqviz.compute.text.tokenization.merges import learn
from seqviz.compute.text.windows.cutting import count_windows
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.text.tokenization import (
    CuttersParams,
    MergesParams,
    PrefixesParams,
    cutters,
    merges,
    prefixes,
)
from seqviz.lessons.text.windows import IdsParams, WindowsOfTextParams, ids, windows
from seqviz.lessons.text.word_vectors import (
    MapParams,
    NeighborsParams,
    ReadingParams,
    neighbors,
    reading,
    word_vectors,
)

lesson = Lesson("text", code=(learn,))

# ---- cutters, merges, ladder
lesson.bench("cutters", CuttersParams, after=("merges",), leads=True)(cutters)
lesson.bench("merges", MergesParams, leads=True)(merges)
lesson.bench("ladder", PrefixesParams)(prefixes)
# ---- ids
lesson.bench("ids", IdsParams)(ids)
# ---- map, reading, neighbors
lesson.bench("map", MapParams)(word_vectors)
lesson.bench("reading", ReadingParams)(reading)
lesson.bench("neighbors", NeighborsParams)(neighbors)
# ---- windows
lesson.bench("windows", WindowsOfTextParams)(windows)

lesson.exercise(
    "windows",
    cases=[
        {"length": length, "steps": steps, "offset": offset}
        for length, steps, offset in ((36, 5, 2), (50, 6, 0), (41, 4, 3), (100, 9, 7), (64, 7, 1))
    ],
    answer=count_windows,
    within=0.5,
)
