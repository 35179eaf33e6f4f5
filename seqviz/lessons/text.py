"""Text to numbers: how a text is cut, what an id means, and where vectors of words come from."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson

lesson = Lesson("text")

# ---- cutters, merges, ladder
# ---- ids
# ---- map, reading, neighbors
# ---- windows
