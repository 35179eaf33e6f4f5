"""Texts of one lesson in one language; keys of the lesson come before shared ones."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.core.i18n import Text, fill
from seqviz.models import registry


@dataclass(frozen=True)
class LessonWords:
    """Lookup of a lesson's texts: a call with a key returns the filled-in sentence.

    A call raises KeyError for an unknown key.

    Attributes:
        slug: name of the lesson.
        text: all texts of the language.
    """

    slug: str
    text: Text

    def __call__(self, key: str, /, **values: object) -> str:
        sentence = self.text.first(f"{self.slug}.{key}", key)
        return fill(sentence, values) if values else sentence

    def control(self, name: str) -> tuple[str, str | None]:
        """Return label and help text of a control; None for a missing help text."""
        label = self(f"control.{name}.label")
        try:
            return label, self(f"control.{name}.help")
        except KeyError:
            return label, None

    def option(self, control: str, option: str) -> str:
        """Return the displayed name of an option of a control.

        Args:
            control: name of the control.
            option: the option.
        """
        if control == "model":  # a teacher may allow models without texts of their own
            record = registry.model(option)
            kind = self.text(f"frame.{record.kind}")
            return self.text("frame.model", title=record.title, kind=kind)
        return self.text.first(f"{self.slug}.option.{control}.{option}", f"option.{option}")
