"""Text to numbers: how a text is cut, what an id means, and where vectors of words come from."""

from seqviz.lessons.text.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("cutters")
lesson.prose("cutters")
lesson.prose("merges")
lesson.bench("merges")
lesson.prose("ladder")
lesson.bench("ladder")
lesson.prose("ids")
lesson.bench("ids")
lesson.prose("map")
lesson.bench("map")
lesson.prose("reading")
lesson.bench("reading")
lesson.prose("neighbors")
lesson.bench("neighbors")
lesson.prose("windows")
lesson.bench("windows")
lesson.exercise("windows")
lesson.prose("equations")
lesson.code()
lesson.end()
