"""A drag, frame by frame: the figure is there in each of them, its read-outs too, nothing jumps."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from seqviz.content import catalog
from testing.chromium import MARKS, css_class
from tests.tiers import first_only

# After each frame has been painted: what of the bench could be seen in it.
RECORD = """([bench, figure, readouts, marks]) => {
    const frames = window.seqvizFrames = [];
    const height = (element) => element?.getBoundingClientRect().height ?? 0;
    const numbers = () => [...document.querySelectorAll(`${readouts} [data-testid=stMetricValue]`)]
        .filter((value) => value.getClientRects().length > 0 && value.textContent.trim() !== "");
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => frames.push({
        figure: height(document.querySelector(figure)),
        chart: height(document.querySelector(`${figure} .main-svg`)),
        marks: document.querySelectorAll(`${figure} :is(${marks})`).length,
        readouts: numbers().length,
    });
    const look = () => {
        port2.postMessage(null);
        requestAnimationFrame(look);
    };
    look();
}"""
LEAST = 0.5  # of the ink of the first and last picture, in each between


def ink(picture: str, box: dict[str, float], width: float) -> float:
    """The share of a figure's pixels that are not its background. width: of the window."""
    full = Image.open(io.BytesIO(base64.b64decode(picture))).convert("L")
    scale = full.width / width
    edges = (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
    observed = np.asarray(full.crop(tuple(round(scale * edge) for edge in edges)), dtype=float)
    return float(np.mean(np.abs(observed - np.median(observed)) > 20))


@pytest.mark.parametrize("record", first_only(catalog.LESSONS), ids=lambda record: record.slug)
def test_drag_keeps_figure_in_every_frame(visit, record):
    bench = f"{record.code}.{record.first[0]}"
    lesson = visit(record.slug, {"lang": "en"}, viewport={"width": 1280, "height": 900})
    page = lesson.page
    lesson.geometry(bench)
    key = f"{bench}.{record.first[1]}"
    lesson.slider(key).scroll_into_view_if_needed()
    lesson.rest()
    box = lesson.chart(bench).bounding_box()
    line, pictures = page.context.new_cdp_session(page), []

    def came(event) -> None:
        pictures.append(event["data"])
        line.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    line.on("Page.screencastFrame", came)
    half = {"maxWidth": 640, "maxHeight": 450}  # of the window; most of the time goes into pictures
    line.send("Page.startScreencast", {"format": "jpeg", "quality": 80, **half})
    positions = [css_class(f"{bench}.{part}") for part in ("figure", "readouts")]
    page.evaluate(RECORD, [bench, *positions, MARKS])
    lesson.drag(key, 0.8, 0.3)
    page.mouse.up()
    lesson.rest()
    line.send("Page.stopScreencast")
    frames = page.evaluate("() => seqvizFrames")
    assert len(frames) > 20
    for what in ("figure", "chart", "readouts"):
        assert len({frame[what] for frame in frames}) == 1, what
    assert min(frame["marks"] for frame in frames) > 0
    inks = [ink(picture, box, 1280) for picture in pictures]
    assert len(inks) > 5
    assert min(inks) > LEAST * min(inks[0], inks[-1]) > 0
