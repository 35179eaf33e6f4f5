"""In Gradio: `python -m benchmarks.peers.gradio_app PORT`."""

from __future__ import annotations

import sys

import gradio

from benchmarks.peers.picture import HIGH, LOW, START, STEP, figure

with gradio.Blocks(analytics_enabled=False) as app:
    phi = gradio.Slider(LOW, HIGH, START, step=STEP, label="phi")
    plot = gradio.Plot(
        figure(START), elem_id="figure"
    )  # it asks a figure for its JSON, as Plotly's
    phi.change(figure, phi, plot, show_progress="hidden", trigger_mode="always_last")

if __name__ == "__main__":
    app.launch(server_port=int(sys.argv[1]), quiet=True)
