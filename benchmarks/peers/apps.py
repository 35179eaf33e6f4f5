"""The first bench of *AR fitting* in another framework.

Each app imports its own package, which is installed in a separate environment.

Usage: `python -m benchmarks.peers.apps dash PORT`.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import orjson

from seqviz.lessons import ar_fitting
from seqviz.plotting.figure import Figure

LOW, HIGH, START, STEP = -1.2, 1.2, 0.8, 0.01
WIDTH = 1000  # pixels


def figure(phi: float) -> Figure:
    """Simulate, compute the correlations and draw, uncached."""
    figure: Figure = ar_fitting.lesson.benches["process"].run({"phi": str(phi)}, code=False).figure
    return figure


def specification(phi: float) -> Any:
    """Return the figure as decoded JSON."""
    return orjson.loads(figure(phi).to_json())


def dash(port: int) -> None:
    from dash import Dash, Input, Output, dcc, html

    app = Dash("peers", assets_ignore=".")  # else every page loads our `assets/`
    slider = dcc.Slider(LOW, HIGH, STEP, value=START, marks=None, updatemode="drag", id="phi")
    app.layout = html.Div([slider, dcc.Graph(id="figure")])
    app.callback(Output("figure", "figure"), Input("phi", "value"))(specification)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app.run(port=port, debug=False)


def gradio(port: int) -> None:
    import gradio

    with gradio.Blocks(analytics_enabled=False) as app:
        phi = gradio.Slider(LOW, HIGH, START, step=STEP, label="phi")
        plot = gradio.Plot(figure(START), elem_id="figure")  # Gradio calls its to_json()
        phi.change(figure, phi, plot, show_progress="hidden", trigger_mode="always_last")
    app.launch(server_port=port, quiet=True)


def panel(port: int) -> None:
    import panel

    def page() -> Any:
        phi = panel.widgets.FloatSlider(start=LOW, end=HIGH, step=STEP, value=START, width=WIDTH)
        pane = panel.pane.Plotly(specification(START), css_classes=["figure"], width=WIDTH)
        phi.param.watch(lambda event: pane.param.update(object=specification(event.new)), "value")
        return panel.Column(phi, pane)

    panel.extension("plotly")
    panel.serve(page, port=port, show=False)


if __name__ == "__main__":
    {"dash": dash, "gradio": gradio, "panel": panel}[sys.argv[1]](int(sys.argv[2]))
