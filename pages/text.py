"""Text to numbers: how a text is cut, what an id means, and where vectors of words come from."""

from seqviz.lessons.text.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.prose("cutters")
lesson.bench("cutters")
lesson.more("cutters_notice")
lesson.prose("merges")
lesson.bench("merges")
lesson.exercise("merges")
lesson.more("merges_notice")
lesson.prose("ids")
lesson.bench("ids")
lesson.more("ids_notice")
lesson.prose("map")
lesson.bench("map")
lesson.more("map_notice")
lesson.prose("deeper")
with lesson.deeper("ladder"):
    lesson.prose("ladder")
    lesson.bench("ladder")
    lesson.more("ladder_notice")
with lesson.deeper("reading"):
    lesson.prose("reading")
    lesson.bench("reading")
    lesson.more("reading_notice")
with lesson.deeper("neighbors"):
    lesson.prose("neighbors")
    lesson.bench("neighbors")
    lesson.more("neighbors_notice")
with lesson.deeper("windows"):
    lesson.prose("windows")
    lesson.bench("windows")
    lesson.more("windows_notice")
lesson.more("equations")
lesson.code()
lesson.end()
