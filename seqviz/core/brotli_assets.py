"""The largest script of the browser lies packed only, as it is sent: `plotly.min.js.br`.

Packed anew with the most that brotli can, it would take 1.4 s; beside it, the plain file would
be 384 kB of the wheel.
"""

from __future__ import annotations

from pathlib import Path

PACKED = ".br"


def read_asset(path: Path) -> bytes:
    """The bytes of a file, which lies there as it is or under this name with `.br`."""
    packed = path.with_name(path.name + PACKED)
    if not packed.exists():
        return path.read_bytes()
    import brotli

    return brotli.decompress(packed.read_bytes())
