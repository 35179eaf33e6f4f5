"""Reads pages as AppTest draws them: `python pseudo_read.py qq home gates` in a project's folder.

Prints every text that a visitor sees or hears there in that language, as JSON by page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What Streamlit, Plotly and our components get under these names are no words.
NAMES = """
align anchor angleref autorange barmode baseline bdata bench benches bgcolor bordercolor color
coloraxis colorscale component component_name constrain constraintext constraintoward control css
customdata dash datasets dragmode dtype elementHash element_hash exponentformat family field
file_name fill followers font formId form_id formatting fragment_id group_id hoverinfo hovermode
hoveron icon id insidetextanchor js key kind lang language layer leads legendgroup lesson live
matches meta meta_pick mime mode orientation origin overlaying page page_script_hash paper_bgcolor
pattern placeholder_id plot_bgcolor plotly_name prefix query_string rangemode scaleanchor settings
shape side source start symbol textposition theme tickformat ticklabelposition ticklabelstep ticks
title_standoff type uirevision unit_of unitless url url_path url_pathname value values ways weight
whole x xanchor xaxis xref y yanchor yaxis yref
"""
SAID = ("label", "value", "caption", "help", "sentence", "alt")  # of what a bench shows
NO_WORDS = frozenset(NAMES.split())


def leaves(value: Any, name: str = "") -> Iterator[str]:
    if name in NO_WORDS:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, name)


def of_vega(spec: Any) -> Iterator[str]:
    """Titles, descriptions and the labels of sliders; of texts only what is not computed there."""
    for key, inner in spec.items() if isinstance(spec, dict) else enumerate(spec):
        if key in ("title", "description") or (key == "name" and "input" in spec):
            yield from leaves(inner)
        elif isinstance(inner, dict | list):
            yield from of_vega(inner)


def of_proto(proto: Any) -> Iterator[str]:
    if proto.DESCRIPTOR.name == "BidiComponent":
        payload = proto.json or proto.bytes.decode()
        for line in payload.split("\n"):
            if line:
                yield from leaves(json.loads(line))
        return
    for field, value in proto.ListFields():
        if field.name in NO_WORDS:
            continue
        many = value if hasattr(value, "append") or hasattr(value, "add") else [value]
        for item in many:
            if field.name == "spec":
                yield from of_vega(json.loads(item))
            elif isinstance(item, str):
                yield item
            elif hasattr(item, "ListFields"):
                yield from of_proto(item)


def walk(node: Any) -> Iterator[Any]:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from walk(child)


def read(page: str, lang: str) -> list[str]:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(f"{Path.cwd()}/app.py", default_timeout=120)
    app.query_params["lang"] = lang
    app.run()
    if page != "home":
        app.switch_page(f"pages/{page}.py")
        app.query_params["lang"] = lang
        app.run()
    assert not app.exception, app.exception
    assert not app.error, app.error
    return [
        message
        for node in walk(app._tree)
        if (proto := getattr(node, "proto", None)) is not None
        for message in of_proto(proto)
    ]


def of_benches(slug: str, lang: str) -> Iterator[str]:
    """What the benches show without a page: there they may wait for a model."""
    from seqviz import lessons
    from seqviz.plotting.figure import Figure

    for bench in getattr(lessons, slug).lesson.benches.values():
        visible = bench.run(language=lang, code=False)
        for item in visible.items:
            chart = getattr(item, "chart", None) or getattr(
                getattr(item, "figure", None), "chart", None
            )
            if isinstance(chart, Figure):
                yield from leaves(json.loads(chart.to_json()))
            elif chart is None and not hasattr(item, "html"):
                yield from (
                    getattr(item, message) or "" for message in SAID if hasattr(item, message)
                )


def whole(page: str, lang: str) -> list[str]:
    return read(page, lang) + ([] if page == "home" else [*of_benches(page, lang)])


if __name__ == "__main__":
    print(json.dumps({page: whole(page, sys.argv[1]) for page in sys.argv[2:]}, ensure_ascii=False))
