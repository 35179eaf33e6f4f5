"""Assets that are stored Brotli-compressed only, such as `plotly.min.js.br`.

The server sends the largest browser script in this form. Compressing it at Brotli's highest level
takes 1.4 s, and an uncompressed copy would add 384 kB to the wheel.
"""

from __future__ import annotations

from pathlib import Path

PACKED = ".br"


def read_asset(path: Path) -> bytes:
    """Return the uncompressed bytes of a file that is stored under its name or with `.br` added."""
    packed = path.with_name(path.name + PACKED)
    if not packed.exists():
        return path.read_bytes()
    import brotli

    return brotli.decompress(packed.read_bytes())
