"""What the lesson on gate activations shows: its words and its link."""

from __future__ import annotations

from seqviz.core.i18n import Text
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.gates.lesson import lesson

SAY = {lang: LessonWords(lesson.slug, Text(lang)) for lang in ("en", "zh")}


def opened(visit, lang: str, **settings: object):
    """The page with some settings in its link, "watch__kind" for one."""
    link = {f"ga__{name}": controls.encoded(value) for name, value in settings.items()}
    return visit(lesson.slug, lang, **link)
