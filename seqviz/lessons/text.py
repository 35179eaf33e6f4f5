"""Text to numbers: how a text is cut, what an id means, and where vectors of words come from."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.text_vectors import Map, Neighbors, Reading, neighbors, reading, word_vectors

lesson = Lesson("text")

# ---- cutters, merges, ladder
# ---- ids
# ---- map, reading, neighbors
lesson.bench("map", Map)(word_vectors)
lesson.bench("reading", Reading)(reading)
lesson.bench("neighbors", Neighbors)(neighbors)
# ---- windows
