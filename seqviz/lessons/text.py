"""Text to numbers: how a text is cut, what an id means, and where vectors of words come from."""

from __future__ import annotations

from seqviz.lessons.bench.lesson import Lesson
<<<<<<< HEAD
from seqviz.lessons.text_cut import Cutters, Ladder, Merges, cutters, ladder, merges
=======
from seqviz.lessons.text_windows import Ids, WindowsOfText, ids, windows
>>>>>>> windows

lesson = Lesson("text")

# ---- cutters, merges, ladder
lesson.bench("cutters", Cutters, after=("merges",), leads=True)(cutters)
lesson.bench("merges", Merges, leads=True)(merges)
lesson.bench("ladder", Ladder)(ladder)
# ---- ids
lesson.bench("ids", Ids)(ids)
# ---- map, reading, neighbors
# ---- windows
lesson.bench("windows", WindowsOfText)(windows)
