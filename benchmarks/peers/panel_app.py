"""In Panel: `python -m benchmarks.peers.panel_app PORT`."""

from __future__ import annotations

import sys

import panel

from benchmarks.peers.picture import HIGH, LOW, START, STEP, specification

WIDTH = 1000  # pixels


def page() -> panel.Column:
    phi = panel.widgets.FloatSlider(start=LOW, end=HIGH, step=STEP, value=START, width=WIDTH)
    pane = panel.pane.Plotly(specification(START), css_classes=["figure"], width=WIDTH)
    phi.param.watch(lambda event: pane.param.update(object=specification(event.new)), "value")
    return panel.Column(phi, pane)


if __name__ == "__main__":
    panel.extension("plotly")
    panel.serve(page, port=int(sys.argv[1]), show=False)
