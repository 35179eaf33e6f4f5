"""Available languages and language negotiation (docs/add-a-language.md).

A language is available when its translation files exist.
"""

from __future__ import annotations

import re

from seqviz.core.paths import ASSETS

DEFAULT = "en"  # fallback language
_FOUND = {path.stem for path in (ASSETS / "locale").glob("*.toml")}
LANGUAGES = (DEFAULT, *sorted(_FOUND - {DEFAULT}))


def matching(tag: str) -> str | None:
    """Return the available language for a language tag; None where there is none.

    Lookup as in RFC 4647: case is ignored, then the last subtags are dropped one by one.

    >>> matching("zh_Hans-CN"), matching("ZH"), matching("zhuang")
    ('zh', 'zh', None)
    """
    existing = {language.lower(): language for language in LANGUAGES}
    parts = re.split("[-_]", tag.strip().lower())
    shorter = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((existing[item] for item in shorter if item in existing), None)


def preferred(accepted: str) -> str | None:
    """Return the available language of highest weight in an Accept-Language header, or None.

    >>> preferred("fr-FR, en;q=0.5, zh-CN;q=0.8")
    'zh'
    """
    weighed = [(matching(tag), _weight(rest)) for tag, _, rest in _ranges(accepted)]
    results = [(language, weight) for language, weight in weighed if language and weight > 0]
    return max(results, key=lambda item: item[1], default=(None, 0.0))[0]


def _ranges(accepted: str) -> list[tuple[str, str, str]]:
    return [part.partition(";") for part in accepted.split(",")]


def _weight(parameter: str) -> float:
    """Return the weight of a language range from `q=0.8`: 1 without a parameter, 0 if malformed."""
    if not parameter.strip():
        return 1.0
    result = re.fullmatch(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", parameter, re.IGNORECASE)
    return min(1.0, float(result[1])) if result else 0.0
