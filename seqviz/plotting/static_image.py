"""Static image and text of a figure for saved notebooks, in which no scripts run: `bundle`.

kaleido draws the image with Plotly.js in a Chromium that stays open, as its start takes longer than
an image. Without kaleido or Chromium, the output holds the Plotly specification, for viewers that
support it, and the text description.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import html
import io
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIGHT, opaque

_WIDTH = 800  # pixels
_PATIENCE = 60.0  # timeout in seconds for the start of Chromium and for one image


def svg(figure: Any) -> str:
    """Return an SVG of a `Figure` or an Altair chart; "" where it cannot be drawn here."""
    if not isinstance(figure, Figure):
        buffer = io.StringIO()
        try:
            figure.save(buffer, format="svg")
        except (ImportError, ValueError):  # no vl-convert
            return ""
        return buffer.getvalue()
    if (draw := _drawer()) is None:
        return ""
    try:
        return draw(opaque(figure, LIGHT).plotly().to_plotly_json())
    except Exception:  # Chromium was closed or timed out; kaleido's errors have no common class
        return ""


def bundle(
    figure: Any, plain_text: str = "", markup: str = "", side_by_side: bool = False
) -> dict[str, Any]:
    """Return the notebook output of a figure by MIME type.

    Args:
        figure: a `Figure` or an Altair chart.
        plain_text: text below the figure, for plain text output.
        markup: the same as HTML.
        side_by_side: another output shows the interactive figure, so the image is sufficient.
    """
    alt = figure.alt if isinstance(figure, Figure) else ""
    picture = svg(figure)
    result: dict[str, Any] = {} if picture and side_by_side else _own(figure)
    visible_text = f"<p>{html.escape(alt)}</p>" if alt else ""
    if picture:
        result["image/svg+xml"] = picture
        data = base64.b64encode(picture.encode()).decode("ascii")
        visible_text = (
            f'<img alt="{html.escape(alt)}" style="max-width: 100%" '
            f'src="data:image/svg+xml;base64,{data}">'
        )
    result["text/html"] = f"{visible_text}\n{markup}".strip()
    result["text/plain"] = "\n\n".join(part for part in (alt, plain_text) if part)
    return result


def _own(figure: Any) -> dict[str, Any]:
    """Return the specification for viewers with Plotly.js or Vega."""
    if isinstance(figure, Figure):
        import orjson

        written = opaque(figure, LIGHT).to_json()
        return {"application/vnd.plotly.v1+json": orjson.loads(written)}
    result: dict[str, Any] = figure._repr_mimebundle_()
    return result


@cache
def _drawer() -> Callable[[dict[str, Any]], str] | None:
    """Return a function that draws with its own Chromium; None without kaleido or Chromium."""
    try:
        kaleido = import_module("kaleido")  # optional, in the extra [notebook]
    except ImportError:
        return None
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def done(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(_PATIENCE)

    async def opened() -> Any:
        drawing = kaleido.Kaleido(n=1)
        await drawing.open()
        return drawing

    try:
        drawing = done(opened())
    except Exception:  # Chromium is missing or does not start; errors have no common class
        return None
    atexit.register(lambda: done(drawing.close()))
    options = {"format": "svg", "width": _WIDTH}
    return lambda figure: done(drawing.calc_fig(figure, opts=options)).decode()
