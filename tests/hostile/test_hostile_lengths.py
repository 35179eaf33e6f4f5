"""A text longer than its field: Streamlit stops the hand in the browser, not a message or a link.

Every field gets a megabyte past the browser. The page stays whole and quick, and the link that it
writes carries no more than the field takes.
"""

from __future__ import annotations

import pytest

from tests.hostile.declared import keys, text_fields
from tests.hostile.page import opened
from tests.hostile.pasted import PLACES, SCENES

MEGABYTE = ("a long text " * 100_000)[: 2**20]
SECONDS = 5.0  # of processor time, for one run of a page
FIELDS = {key: (slug, control) for slug, key, control in text_fields()}


def scene_of(key: str) -> dict[str, str]:
    """Settings under which a field is on the page."""
    slug, _ = FIELDS[key]
    bench, _, name = key.rpartition(".")
    if key == "ba.padding.text":
        return {"ba.padding.view": "own"}
    if bench == "ga.watch":
        return {"ga.watch.kind": name}
    if key == "at.real.decoder":
        return {"at.real.model": "smollm2"}
    return next(others for where, others in SCENES if where == slug)


@pytest.mark.parametrize("key", FIELDS)
def test_a_megabyte_past_the_browser_is_cut_or_refused_in_seconds(key):
    slug, control = FIELDS[key]
    page = opened(slug, tuple(scene_of(key).items()))
    assert key in page.app.session_state, "the field is on the page"
    page.seconds.clear()
    page.app.session_state[key] = MEGABYTE
    page.run()
    assert page.faults() == []
    assert max(page.seconds) < SECONDS
    link = page.app.query_params.get(key, "")
    assert len(link[0] if isinstance(link, list) else link) <= control.limit


def test_a_link_with_long_texts_opens_with_what_the_fields_take():
    for slug in sorted({slug for slug, _, _ in text_fields()}):
        longest = {
            key: "b " * 60_000
            for key, control in keys(slug).items()
            if key in FIELDS and key not in PLACES
        }
        scene = next(others for where, others in SCENES if where == slug)
        page = opened(slug, (*scene.items(), *list(longest.items())[:4]))
        assert page.faults() == []
        for key in longest:
            if key in page.app.session_state:
                assert len(page.app.session_state[key]) <= FIELDS[key][1].limit
