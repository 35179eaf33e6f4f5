"""Which languages there are: a language is there when its files are (docs/add-a-language.md)."""

from __future__ import annotations

from seqviz.paths import ASSETS

DEFAULT = "en"  # for a reader whose own is not there
_FOUND = {path.stem for path in (ASSETS / "locale").glob("*.toml")}
LANGUAGES = (DEFAULT, *sorted(_FOUND - {DEFAULT}))
