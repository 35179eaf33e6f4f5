"""How far back does the error reach? Live in marimo: `marimo edit examples/marimo_reach.py`.

Needs `pip install '.[notebook]' marimo`. Run as a script it computes once and prints.
"""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from seqviz import lessons

    return lessons, mo


@app.cell
def _(lessons, mo):
    live = mo.ui.anywidget(lessons.vanishing_gradients.reach(gain=0.9).live())
    live  # noqa: B018 - what a cell ends with is shown
    return (live,)


@app.cell
def _(live):
    # Runs again whenever a slider has moved: what the figure shows, as data.
    asked = live.value["asked"]["values"]
    readouts = {one.label: one.value for one in live.widget.output.readouts.values()}
    print(asked, readouts)
    return (readouts,)


if __name__ == "__main__":
    app.run()
