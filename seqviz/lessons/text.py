"""Text to numbers: how a text is cut, what an id means, and where vectors of words come from."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.text_windows import Ids, WindowsOfText, ids, windows

lesson = Lesson("text")

# ---- cutters, merges, ladder
# ---- ids
lesson.bench("ids", Ids)(ids)
# ---- map, reading, neighbors
# ---- windows
lesson.bench("windows", WindowsOfText)(windows)
