"""Which languages there are: a language is there when its files are (docs/add-a-language.md)."""

from __future__ import annotations

import re

from seqviz.core.paths import ASSETS

DEFAULT = "en"  # for a reader whose own is not there
_FOUND = {path.stem for path in (ASSETS / "locale").glob("*.toml")}
LANGUAGES = (DEFAULT, *sorted(_FOUND - {DEFAULT}))


def matching(tag: str) -> str | None:
    """Find the language that a tag asks for; None where it is not here.

    As RFC 4647 looks one up: the tag without case, then without its last parts.

    >>> matching("zh_Hans-CN"), matching("ZH"), matching("zhuang")
    ('zh', 'zh', None)
    """
    known = {language.lower(): language for language in LANGUAGES}
    parts = re.split("[-_]", tag.strip().lower())
    shorter = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((known[one] for one in shorter if one in known), None)


def preferred(accepted: str) -> str | None:
    """Find the first language of an Accept-Language header that is here, by weight.

    >>> preferred("fr-FR, en;q=0.5, zh-CN;q=0.8")
    'zh'
    """
    weighed = [(matching(tag), _weight(rest)) for tag, _, rest in _ranges(accepted)]
    found = [(language, weight) for language, weight in weighed if language and weight > 0]
    return max(found, key=lambda one: one[1], default=(None, 0.0))[0]


def _ranges(accepted: str) -> list[tuple[str, str, str]]:
    return [one.partition(";") for one in accepted.split(",")]


def _weight(parameter: str) -> float:
    """What stands after a language, `q=0.8`; without it 1, and 0 where it is no weight."""
    if not parameter.strip():
        return 1.0
    found = re.fullmatch(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", parameter, re.IGNORECASE)
    return min(1.0, float(found[1])) if found else 0.0
