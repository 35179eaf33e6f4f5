"""What a first visit asks the server for until it sees the first figure."""

from __future__ import annotations

import pytest
from rings import one_of

from driver.chromium import MARKS
from seqviz import catalog

BYTES = 1_500_000  # 6 s of a lecture hall's share of Wi-Fi, 2 Mbit/s


@pytest.mark.parametrize("record", one_of(catalog.LESSONS), ids=lambda record: record.slug)
def test_a_first_visit_is_light_and_asks_for_nothing_that_is_not_there(browser, server, record):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    sizes: list[float] = []
    failed: list[str] = []
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.on("response", lambda one: failed.append(one.url) if one.status >= 400 else None)
    page.goto(f"{server.url}/{record.slug}")
    page.locator(f".seqviz-chart :is({MARKS})").first.wait_for(state="attached", timeout=60_000)
    context.close()
    assert failed == []
    assert len(sizes) > 50
    assert sum(sizes) <= BYTES
