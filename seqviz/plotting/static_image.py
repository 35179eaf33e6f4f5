"""A figure as it stays in a saved notebook, where no script may run: a picture, and words.

kaleido draws the picture with Plotly.js in a Chromium, which stays open: starting it takes longer
than a picture. Without either of them there is what Plotly.js reads, for viewers that have it, and
the description.
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
_PATIENCE = 60.0  # seconds for a Chromium to open, or for one picture


def svg(figure: Any) -> str:
    """Draw a `Figure` or an Altair chart; "" where that cannot be done on this machine."""
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
    except Exception:  # of any kind: the Chromium may have been closed, or take too long
        return ""


def bundle(
    figure: Any, plain_text: str = "", markup: str = "", side_by_side: bool = False
) -> dict[str, Any]:
    """What a notebook keeps of a figure, by MIME type. plain_text, markup: the words below it.

    side_by_side: something else shows the figure where scripts run, so that a picture is enough.
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
    """What Plotly.js or Vega reads, where a viewer has it."""
    if isinstance(figure, Figure):
        import orjson

        written = opaque(figure, LIGHT).to_json()
        return {"application/vnd.plotly.v1+json": orjson.loads(written)}
    result: dict[str, Any] = figure._repr_mimebundle_()
    return result


@cache
def _drawer() -> Callable[[dict[str, Any]], str] | None:
    """What draws with a Chromium of its own; None where there is none, or no kaleido."""
    try:
        kaleido = import_module("kaleido")  # of the extra [notebook]; figures do without it
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
    except Exception:  # of any kind: a Chromium that is missing, or does not start
        return None
    atexit.register(lambda: done(drawing.close()))
    options = {"format": "svg", "width": _WIDTH}
    return lambda figure: done(drawing.calc_fig(figure, opts=options)).decode()
