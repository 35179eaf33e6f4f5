"""The words of one lesson in one language: its own before those that lessons share."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.core.i18n import Text, fill
from seqviz.models import registry


@dataclass(frozen=True)
class LessonWords:
    """Calling it with a key gives the sentence, filled in. Raises KeyError for an unknown key."""

    slug: str
    text: Text

    def __call__(self, key: str, /, **values: object) -> str:
        sentence = self.text.first(f"{self.slug}.{key}", key)
        return fill(sentence, values) if values else sentence

    def control(self, name: str) -> tuple[str, str | None]:
        """Label and help of a control."""
        label = self(f"control.{name}.label")
        try:
            return label, self(f"control.{name}.help")
        except KeyError:
            return label, None

    def option(self, control: str, option: str) -> str:
        """The reader's word for an option of a control."""
        if control == "model":  # a teacher may allow others than those that we have words for
            record = registry.model(option)
            kind = self.text(f"frame.{record.kind}")
            return self.text("frame.model", title=record.title, kind=kind)
        return self.text.first(f"{self.slug}.option.{control}.{option}", f"option.{option}")
