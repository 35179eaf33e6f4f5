"""What a first visit asks the server for until it sees the first figure, and what moves."""

from __future__ import annotations

import pytest
from rings import one_of

from driver.chromium import MARKS
from seqviz import catalog

FIGURE = f".seqviz-chart :is({MARKS}), .seqviz-sinusoid canvas"
BYTES = 1_500_000  # 6 s of a lecture hall's share of Wi-Fi, 2 Mbit/s

# What moves on the page before it stands, by its names of CSS.
MOVED = """
window.moved = [];
new PerformanceObserver((list) => {
  for (const { sources } of list.getEntries())
    for (const { node } of sources) moved.push(String(node?.className ?? ""));
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("record", one_of(catalog.LESSONS), ids=lambda record: record.slug)
def test_a_first_visit_is_light_finds_what_it_asks_for_and_has_its_width_at_once(
    browser, server, record
):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    context.add_init_script(MOVED)
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    sizes: list[float] = []
    failed: list[str] = []
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.on("response", lambda one: failed.append(one.url) if one.status >= 400 else None)
    page.goto(f"{server.url}/{record.slug}")
    page.locator(FIGURE).first.wait_for(state="attached", timeout=60_000)
    moved = page.evaluate("moved")
    context.close()
    assert failed == []
    assert len(sizes) > 50
    assert sum(sizes) <= BYTES
    assert moved
    assert not [names for names in moved if "stMainBlockContainer" in names]
