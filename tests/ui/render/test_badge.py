"""The badge under a figure in the reader's language."""

from __future__ import annotations

import pytest

from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.output import COMPUTED, Output, Provenance
from seqviz.ui.render.badge import badge


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("origin", [COMPUTED, Provenance("precomputed", "CPU, 2 cores")])
def test_badge_translates_core_count(lang, origin):
    text = Text(lang)
    message = badge(origin, Output(seconds=0.1, device="CPU, 2 cores"), text)
    assert message.startswith(text(f"frame.{origin.kind}"))
    assert message.endswith(f"2 {text('frame.cores')}")


def test_badge_states_device_fallback_reason():
    text = Text("zh")
    message = badge(COMPUTED, Output(device="CPU [gpu_lost]"), text)
    assert message.endswith(f"CPU ({text('frame.gpu_lost')})")
