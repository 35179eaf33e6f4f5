"""In Dash: `python -m benchmarks.peers.dash_app PORT`."""

from __future__ import annotations

import logging
import sys

from dash import Dash, Input, Output, dcc, html

from benchmarks.peers.picture import HIGH, LOW, START, STEP, specification

app = Dash("peers", assets_ignore=".")  # else every page loads what lies in our own `assets/`
app.layout = html.Div(
    [
        dcc.Slider(LOW, HIGH, STEP, value=START, marks=None, updatemode="drag", id="phi"),
        dcc.Graph(id="figure"),
    ]
)
app.callback(Output("figure", "figure"), Input("phi", "value"))(specification)

if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app.run(port=int(sys.argv[1]), debug=False)
