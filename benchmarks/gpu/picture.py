"""SVG figure of a run: seconds of the CPU and of the device for each row and size."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.gpu.machine import Machine
from benchmarks.gpu.speed import Times
from seqviz.core.i18n import duration

_LEFT, _WIDE, _LINE, _TOP = 330, 520, 18, 48  # pixels
# Blue and orange of the colorblind-safe palette of Okabe and Ito (2008).
_COLORS = {"cpu": "#0072B2", "device": "#D55E00"}


def svg(machine: Machine, speed: dict[str, Any]) -> str:
    """Return the SVG: rows from top to bottom, seconds on a logarithmic axis, a dot per device.

    Without a GPU there is one dot per row: the CPU's.
    """
    rows = [
        (
            f"{name}, {item.unit}: {size}",
            {"cpu": item.cpu.get(size), "device": item.device.get(size)},
        )
        for name, item in speed.items()
        if isinstance(item, Times)
        for size in sorted(item.cpu.keys() | item.device.keys())
    ]
    existing = [seconds for _, positions in rows for seconds in positions.values() if seconds]
    low, high = (
        (math.floor(math.log10(min(existing))), math.ceil(math.log10(max(existing))))
        if existing
        else (0, 1)
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
    for number, (name, locations) in enumerate(rows):
        y = _TOP + _LINE * number + 6
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        for position, seconds in locations.items():
            if seconds:
                parts.append(
                    f'<circle cx="{x(seconds):.1f}" cy="{y}" r="4" fill="{_COLORS[position]}">'
                    f"<title>{escape(f'{position}: {seconds:.3g} s')}</title></circle>"
                )
    return "\n".join([*parts, "</svg>"]) + "\n"
