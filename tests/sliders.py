"""Sliders on a page that is run without a browser: what they are told, and a hand that rests."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest

END = ".slider"  # of a component's key, after that of its parameter


def sliders(app: Any) -> dict[str, dict[str, Any]]:
    """The options (`components/slider.js`) of every slider of a page or a part of it."""
    payloads = [json.loads(item.proto.json)[0] for item in app.get("bidi_component")
            if item.proto.component_name == "seqviz_slider_component"]  # fmt: skip
    return {item["key"]: item["options"] for item in payloads}


def rest(app: AppTest, **values: Any) -> AppTest:
    """Parameters get the values at which a hand has left them, in one run."""
    for key, value in values.items():
        app.session_state[key] = value
    return app.run()
