"""A page of one declaration, `t.b`, that keeps its values before, in and after the drawing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from streamlit.testing.v1 import AppTest


def opened(page: str, link: Mapping[str, str]) -> AppTest:
    app = AppTest.from_string(page, default_timeout=20)
    for name, raw in link.items():
        app.query_params[f"t.b.{name}"] = raw
    app.run()
    assert not app.exception
    return app


def drawn(app: AppTest) -> dict[str, Any]:
    """What the bench gets; a bench that builds on it gets the same, before and after."""
    state = app.session_state
    # Not the class of this process's import when Streamlit has reloaded the module: compare fields.
    values = [dataclasses.asdict(state[key]) for key in ("before", "drawn", "after")]
    assert values[0] == values[1] == values[2]
    return values[1]


def links(app: AppTest) -> dict[str, str]:
    """The address bar, one value per name."""
    return {
        key.removeprefix("t.b."): value[0] if isinstance(value, list) else value
        for key, value in app.query_params.items()
    }
