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
    existing = {language.lower(): language for language in LANGUAGES}
    parts = re.split("[-_]", tag.strip().lower())
    shorter = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((existing[item] for item in shorter if item in existing), None)


def preferred(accepted: str) -> str | None:
    """Find the first language of an Accept-Language header that is here, by weight.

    >>> preferred("fr-FR, en;q=0.5, zh-CN;q=0.8")
    'zh'
    """
    weighed = [(matching(tag), _weight(rest)) for tag, _, rest in _ranges(accepted)]
    results = [(language, weight) for language, weight in weighed if language and weight > 0]
    return max(results, key=lambda item: item[1], default=(None, 0.0))[0]


def _ranges(accepted: str) -> list[tuple[str, str, str]]:
    return [part.partition(";") for part in accepted.split(",")]


def _weight(parameter: str) -> float:
    """What stands after a language, `q=0.8`; without it 1, and 0 where it is no weight."""
    if not parameter.strip():
        return 1.0
    result = re.fullmatch(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", parameter, re.IGNORECASE)
    return min(1.0, float(result[1])) if result else 0.0
