"""What the lesson on gate activations shows: its words and its link."""

from __future__ import annotations

from seqviz.lessons.bench import controls
from seqviz.lessons.bench.words import Words
from seqviz.lessons.gates import lesson
from seqviz.text import Text

SAY = {lang: Words(lesson.slug, Text(lang)) for lang in ("en", "zh")}


def opened(visit, lang: str, **settings: object):
    """The page with some settings in its link, "watch__kind" for one."""
    link = {f"ga__{name}": controls.encoded(value) for name, value in settings.items()}
    return visit(lesson.slug, lang, **link)
