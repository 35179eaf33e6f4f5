"""The table of contents: which lessons there are, in teaching order, and the road they stand on.

A lesson is added here and nowhere else; navigation, the map on the home page, previous/next, the
tests and the benchmarks all read this list.
"""

from __future__ import annotations

from dataclasses import dataclass

# The whole road, in teaching order. A stage without a lesson is shown on the map as not built.
STAGES = (
    "ar", "text", "language_models", "rnn", "gradients", "gates", "translation", "attention",
    "positions", "transformer", "encoders", "bert", "gpt", "fine_tuning", "metrics", "beyond",
)  # fmt: skip


@dataclass(frozen=True)
class LessonRecord:
    """One lesson. Titles, goals and prose are in `assets/lessons/<slug>/`.

    slug: file stem of `pages/<slug>.py`, the page's address and the name of its assets folder.
    code: short prefix of its parameters in a permalink, so that a QR code stays small.
    stage: where on the road it stands (one of `STAGES`).
    group: key of the navigation group (`nav.<group>` in the locale).
    icon: Material symbol for navigation and map.
    first: (bench, parameter) of the slider a visitor moves first; benchmarks press it.
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
    LessonRecord("recurrent", "rn", "rnn", "recurrent", ":material/repeat:", ("step", "moment")),
    LessonRecord("vanishing_gradients", "vg", "gradients", "recurrent", ":material/trending_down:",
           ("reach", "gain")),
    LessonRecord("gates", "ga", "gates", "recurrent", ":material/meeting_room:",
           ("one", "temperature")),
    LessonRecord("attention", "at", "attention", "transformer", ":material/grid_on:",
           ("scale", "temperature")),
    LessonRecord("positions", "po", "positions", "transformer", ":material/waves:",
           ("effect", "strength")),
    LessonRecord("transformer", "tr", "transformer", "transformer", ":material/stacks:",
           ("account", "part")),
    LessonRecord("bert_accuracy", "ba", "bert", "transformer", ":material/visibility_off:",
           ("knife", "share")),
    LessonRecord("gpt", "gp", "gpt", "transformer", ":material/edit_note:", ("scores",
        "temperature")),
)  # fmt: skip

# The lesson whose first bench stands on the home page: what one slider does to four networks is
# seen without having read anything.
SHOWN = "vanishing_gradients"


def lesson(slug: str) -> LessonRecord:
    """The record of one lesson; KeyError when there is none of that name."""
    for record in LESSONS:
        if record.slug == slug:
            return record
    raise KeyError(slug)


def neighbours(slug: str) -> tuple[LessonRecord | None, LessonRecord | None]:
    """The lessons before and after this one."""
    position = LESSONS.index(lesson(slug))
    before = LESSONS[position - 1] if position else None
    after = LESSONS[position + 1] if position + 1 < len(LESSONS) else None
    return before, after
