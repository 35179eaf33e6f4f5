"""What leaves the page: numbers, pictures, and a page that runs alone."""

from __future__ import annotations

import csv
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from seqviz.content import catalog
from tests.browser.lesson_page import with_a_curve
from tests.tiers import first_only

# The numbers that Plotly drew, trace by trace, as it unpacked them.
DRAWN = """(host) => host.querySelector(".js-plotly-plot")._fullData
    .filter((trace) => trace.visible === true
        && (trace._input.name || trace.hoverinfo !== "skip"))
    .map((trace) => [Array.from(trace.x), Array.from(trace.y)])"""
CURVE = ".mlayer .js-line"


class Export:
    """A bench of a lesson with its Export dialog open."""

    def __init__(self, visit, record: catalog.LessonRecord) -> None:
        self.lesson = visit(record.slug)
        self.bench = with_a_curve(record)
        self.lesson.whole()
        self.lesson.geometry(self.bench)
        self.lesson.by_key(f"{self.bench}.export").get_by_role("button").click()

    def save(self, name: str, folder, button: str = "button"):
        """Press a button of the dialog and keep the file that comes."""
        position = self.lesson.by_key(f"{self.bench}.{name}")
        with self.lesson.page.expect_download() as coming:
            position.locator(button).click()
        path = folder / coming.value.suggested_filename
        coming.value.save_as(path)
        return path

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the chart on screen."""
        box = self.lesson.chart(self.bench).bounding_box()
        return box["width"], box["height"]

    @property
    def drawn(self) -> list:
        """The numbers of every trace on screen, x and y."""
        return self.lesson.figure(self.bench).evaluate(DRAWN)

    @property
    def curve(self) -> str:
        """The outline of the chart's first line."""
        return self.lesson.figure(self.bench).locator(CURVE).first.get_attribute("d")


@pytest.fixture(scope="module", params=first_only(catalog.LESSONS), ids=lambda record: record.slug)
def export(request, visitors):
    """One visitor of each lesson, who takes everything along that there is."""
    with visitors.watched() as visit:
        yield Export(visit, request.param)


def test_csv_export_matches_chart_values(export, tmp_path):
    path = export.save("csv", tmp_path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    saved = []
    for row in rows:
        numbers = [float(v) for name, v in row.items() if name != "series" and v != ""]
        saved.append(tuple(numbers[:2]))
    # A whole number beyond 2^63 comes from the browser as a Python int: floats all.
    rendered = [
        (float(x), float(y)) for xs, ys in export.drawn for x, y in zip(xs, ys, strict=True)
    ]
    assert len(saved) == len(rendered) > 100
    # Plotly gets the series as float32, whose rounding is 6e-8 of the value.
    np.testing.assert_allclose(sorted(saved), sorted(rendered), rtol=1e-6, atol=1e-9)


def test_svg_export_contains_chart_curve(export, tmp_path):
    path = export.save("picture", tmp_path, "button[data-kind=svg]")
    assert path.suffix == ".svg"
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (float(root.get("width")), float(root.get("height"))) == pytest.approx(export.size)
    assert export.curve in {element.get("d") for element in root.iter()}


def test_png_export_renders_chart_at_double_size(export, tmp_path):
    path = export.save("picture", tmp_path, "button[data-kind=png]")
    assert path.suffix == ".png"
    with Image.open(path) as image:
        assert image.format == "PNG"
        # canvases have whole pixels
        assert image.size == pytest.approx(tuple(2 * side for side in export.size), abs=1)
        pixels = np.asarray(image.convert("L"), float)
    # A line of dark ink on white crosses most columns of the picture.
    inked = (pixels < 100).any(axis=0)
    assert inked.mean() > 0.5
    assert np.median(pixels) > 250


def test_html_export_paints_chart_offline(export, browser, tmp_path):
    path = export.save("html", tmp_path)
    assert path.suffix == ".html"
    alone = browser.new_context(offline=True).new_page()
    alone.goto(path.as_uri())
    curve = alone.locator(CURVE).first
    curve.wait_for()
    box = curve.bounding_box()
    assert box["width"] > 200
    assert box["height"] > 20
    assert alone.locator("body").evaluate(DRAWN) == export.drawn
    alone.context.close()
