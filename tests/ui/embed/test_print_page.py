"""Benches for print: what their page says without a browser."""

from __future__ import annotations

import html
import json
import re

import pytest

from seqviz import lessons
from seqviz.content import catalog

PAIRS = [
    (record.slug, name)
    for record in catalog.LESSONS
    for name in list(getattr(lessons, record.slug).lesson.benches)[:2]
]


@pytest.mark.parametrize(("slug", "name"), PAIRS)
def test_print_page_has_gray_figure_and_qr_link(client, told, slug, name):
    answer = client.get(f"/print/{slug}/{name}?lang=zh", headers={"host": "school.example"})
    assert answer.status_code == 200
    assert f"http://school.example/{slug}?" in html.unescape(answer.text)
    assert 'class="qrline"' in answer.text
    figure = told(answer).get("figure")
    if figure:
        colors = re.findall(r'"color":"#([0-9a-f]{6})"', figure)
        assert colors
        assert all(color[:2] == color[2:4] == color[4:] for color in colors)
        colored = told(client.get(f"/print/{slug}/{name}?lang=zh&color=true"))["figure"]
        assert drawn(colored) != drawn(figure)


def drawn(figure: str) -> tuple[object, object]:
    """Traces, and shapes: a diagram consists of the latter."""
    chart = json.loads(figure)
    return chart["data"], chart["layout"].get("shapes")


def test_print_page_links_to_requested_host(client):
    answer = client.get(
        "/print/gates/size?lang=en&ga.size.inputs=8",
        headers={"host": "school.example", "x-forwarded-proto": "https"},
    )
    assert "https://school.example/gates?ga.size.inputs=8&amp;lang=en" in answer.text
    bad = client.get("/print/gates/size?lang=en", headers={"host": '"><script>x</script>'})
    assert "<script>x" not in bad.text
