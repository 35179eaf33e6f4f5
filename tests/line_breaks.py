"""Where a line of these words may end between a number and what it belongs to; an own reading."""

from __future__ import annotations

import re

# No words: code, formulas, tags, addresses.
KEPT = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$]+\$|<[A-Za-z/!][^<>]*>|https?://\S+", re.DOTALL
)
UNITS = r"%(?!\{)|ms\b|s\b(?!['’])|min\b|[kMG]?B\b|bits?\b|bytes?\b|px\b|秒|毫秒|比特|个百分点"
PARTED = re.compile(
    rf"(?:\d|[⁰¹²³⁴-⁹}}])\**[ \n](?:{UNITS})"  # 2.4 | s
    r"|(?:\d|\})[ \n]×|×[ \n]10"  # 3.09 | × | 10⁻⁵
    r"|(?:\b\w{1,3}|\w\|)[ \n][=<>≤≥≈]\s[-−]?[\d{]"  # p | < 0.001
    r"|(?<![^\s>(])[=<>≤≥≈±][ \n][-−]?[\d{]"  # p < | 0.001
    r"|(?<= )−[ \n]\d"
)
SPACED = re.compile(r"[\d}][\s\u00a0\u202f]%(?![{\w])")  # 99.2 %, however it is bound


def parted(words: str) -> list[str]:
    """Each place with what stands around it."""
    plain = KEPT.sub("", words)
    result = (match for pattern in (PARTED, SPACED) for match in pattern.finditer(plain))
    return [plain[max(0, item.start() - 20) : item.end() + 10] for item in result]
