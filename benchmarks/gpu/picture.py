"""The seconds of a run as an SVG: for each row and size the CPU beside the device."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.gpu.machine import Machine
from benchmarks.gpu.speed import Times
from seqviz.core.i18n import duration

_LEFT, _WIDE, _LINE, _TOP = 330, 520, 18, 48  # pixels
# Blue and orange of the palette of Okabe and Ito (2008): told apart by the color-blind too.
_COLORS = {"cpu": "#0072B2", "device": "#D55E00"}


def svg(machine: Machine, speed: dict[str, Any]) -> str:
    """Rows from top to bottom, seconds on a logarithmic axis; a dot for each place.

    Without a GPU there is one dot a row: the CPU's.
    """
    rows = [
        (f"{name}, {one.unit}: {size}", {"cpu": one.cpu.get(size), "device": one.device.get(size)})
        for name, one in speed.items()
        if isinstance(one, Times)
        for size in sorted(one.cpu.keys() | one.device.keys())
    ]
    known = [seconds for _, places in rows for seconds in places.values() if seconds]
    low, high = (
        (math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))) if known else (0, 1)
    )
    high = max(high, low + 1)

    def x(seconds: float) -> float:
        return _LEFT + _WIDE * (math.log10(seconds) - low) / (high - low)

    height = _TOP + _LINE * (len(rows) + 2)
    title = f"Seconds a call: CPU (blue) and {machine.name} (orange)"
    if machine.small:
        title = f"Seconds a call, small sizes, no GPU: {machine.name}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDE + 40}" height="{height}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>',
        f'<text x="8" y="20" font-size="14">{escape(title)}</text>',
    ]
    for power in range(low, high + 1):
        at, bottom = x(10.0**power), height - _LINE
        parts.append(
            f'<path d="M{at:.1f},{_TOP - 8}V{bottom}" stroke="#ddd"/>'
            f'<text x="{at:.1f}" y="{height - 4}" text-anchor="middle">'
            f"{escape(duration(10.0**power))}</text>"
        )
    for number, (name, places) in enumerate(rows):
        y = _TOP + _LINE * number + 6
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        for place, seconds in places.items():
            if seconds:
                parts.append(
                    f'<circle cx="{x(seconds):.1f}" cy="{y}" r="4" fill="{_COLORS[place]}">'
                    f"<title>{escape(f'{place}: {seconds:.3g} s')}</title></circle>"
                )
    return "\n".join([*parts, "</svg>"]) + "\n"
