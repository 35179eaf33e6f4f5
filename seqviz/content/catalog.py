"""Catalog of the lessons in teaching order: `LESSONS`, `STAGES`.

Navigation, the cards on the home page, previous/next links, tests and benchmarks read this list; a
lesson is added nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

# All stages in teaching order; some have no lesson yet.
STAGES = (
    "ar", "text", "language_models", "rnn", "gradients", "gates", "translation", "attention",
    "positions", "transformer", "encoders", "bert", "gpt", "fine_tuning", "metrics", "beyond",
)  # fmt: skip


@dataclass(frozen=True)
class LessonRecord:
    """Catalog entry of a lesson; titles, goals and prose are in `assets/lessons/<slug>/`.

    Attributes:
        slug: file stem of `pages/<slug>.py`, URL path of the page, name of its assets folder.
        code: short prefix of its parameters in a permalink, which keeps QR codes small.
        stage: stage of the course to which it belongs (one of `STAGES`).
        group: key of the navigation group (`nav.<group>` in the locale).
        icon: Material symbol for navigation and map.
        first: (bench, parameter) of the slider that visitors move first; benchmarks drag it.
    """

    slug: str
    code: str
    stage: str
    group: str
    icon: str
    first: tuple[str, str]


# slug, code, stage, group, icon, first
LESSONS = (
    LessonRecord("ar_fitting", "ar", "ar", "time_series", ":material/show_chart:", ("process",
        "phi")),
    LessonRecord("text", "tx", "text", "text", ":material/text_fields:", ("merges", "merges")),
    LessonRecord("language_models", "lm", "language_models", "text", ":material/bar_chart:",
           ("product", "n")),
    LessonRecord("recurrent", "rn", "rnn", "recurrent", ":material/repeat:", ("wirings", "output")),
    LessonRecord("vanishing_gradients", "vg", "gradients", "recurrent", ":material/trending_down:",
           ("reach", "gain")),
    LessonRecord("gates", "ga", "gates", "recurrent", ":material/meeting_room:",
           ("one", "temperature")),
    LessonRecord("attention", "at", "attention", "transformer", ":material/grid_on:",
           ("scale", "temperature")),
    LessonRecord("positions", "po", "positions", "transformer", ":material/waves:",
           ("effect", "strength")),
    LessonRecord("transformer", "tr", "transformer", "transformer", ":material/stacks:",
           ("steps", "step")),
    LessonRecord("bert_accuracy", "ba", "bert", "transformer", ":material/visibility_off:",
           ("guess", "place")),
    LessonRecord("gpt", "gp", "gpt", "transformer", ":material/edit_note:", ("scores",
        "temperature")),
)  # fmt: skip

# The home page shows the bench of this lesson's first slider: what one number does to a series
# needs no explanation.
SHOWN = "ar_fitting"


def lesson(slug: str) -> LessonRecord:
    """Return the record of a lesson.

    Raises:
        KeyError: there is no lesson of that name.
    """
    for record in LESSONS:
        if record.slug == slug:
            return record
    raise KeyError(slug)


def neighbours(slug: str) -> tuple[LessonRecord | None, LessonRecord | None]:
    """Return the previous and the next lesson, None at either end."""
    position = LESSONS.index(lesson(slug))
    before = LESSONS[position - 1] if position else None
    after = LESSONS[position + 1] if position + 1 < len(LESSONS) else None
    return before, after
