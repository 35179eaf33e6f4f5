"""Three simple codes of a position beside the waves: three demands, and binary digits drawn."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.simple import CODES, Demands
from seqviz.figures.positions.style import cells
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, scales

_LOOKS = {  # role of its color, dash
    "number": ("rnn", "longdash"),
    "share": ("mlp", "dashdot"),
    "binary": ("gru", "dash"),
    "waves": ("prediction", "solid"),
}
_FAILS = {"norm": "number", "drift": "share", "step": "binary"}
_ACROSS = ((0, 0.28), (0.36, 0.64), (0.72, 1))


def code_demands(demands: Demands, style: Style = STYLE) -> Figure:
    """Three panels, one a demand, with a line for each code: the one that fails is drawn strong.

    Left how long the vectors are beside a word's (dotted), then how far they move when the text
    gets twice as long, right the steps from position to position.
    """
    text = style.text
    sheet = Sheet(style)
    sheet.legend(y=1.09)
    sheet.margin(t=72 * style.scale)
    for (demand, failing), across in zip(_FAILS.items(), _ACROSS, strict=True):
        values = np.concatenate([demands.of(name, demand) for name in CODES])
        panel = sheet.panel(
            axes.axis(text("figure.pos_position"), range=[-0.5, demands.length - 0.5]),
            axes.axis(
                text(f"figure.pos_code_{demand}"), range=axes.around(values, np.zeros(1)), nticks=6
            ),
            across=across,
            title=text(f"figure.pos_demand_{demand}"),
        )
        if demand == "norm":
            words = text("figure.pos_word_norm", norm=demands.word)
            panel.reference([0, demands.length - 1], [demands.word] * 2, words)
        for name in (*(code for code in CODES if code != failing), failing):
            role, dash = _LOOKS[name]
            line = demands.of(name, demand)
            panel.line(
                np.arange(len(line)), line, text(f"figure.pos_code_{name}"),
                getattr(style.palette, role), width=3.4 if name == failing else 1.6,
                dash="solid" if name == failing else dash,
                legend=demand == "norm", group=name, hover=f"p = %{{x}}: %{{y:.3g}}{NAMED}",
            )  # fmt: skip
    return sheet.described(
        "alt.pos_demands",
        words=demands.length,
        word=demands.word,
        number=float(demands.of("number", "norm")[-1]),
        moved=demands.moved,
        jump=demands.jump,
        stride=demands.stride,
        gap=0.16,
    )


def digits_and_waves(
    binary: Float[np.ndarray, "position d_model"],
    sinusoids: Float[np.ndarray, "position d_model"],
    style: Style = STYLE,
) -> Figure:
    """Above the binary digits of each position, the lowest on top; below the sines, fast to slow.

    As many rows as the last position has digits; each takes twice as long as the one above it.
    """
    text, length = style.text, len(binary)
    rows = (length - 1).bit_length()
    sheet = Sheet(style)
    x = axes.counted(length, text("figure.pos_position"), anchor="y2")
    upper: Panel | None = None
    for z, name, up in (
        (binary[:, :rows], "digit", (0.52, 1)),
        (sinusoids[:, 0 : 2 * rows : 2], "sine_pair", (0, 0.48)),
    ):
        y = axes.counted(z.shape[1], text(f"figure.pos_{name}"), upright=True)
        panel = sheet.panel(upper or x, y, up=up, across=(0, 0.93))
        upper = panel
        cells(
            panel, z.T, text(f"figure.pos_{name}_value"), scales.signed(1.0),
            hover="p = %{x}, %{y}: <b>%{z:.3g}</b>",
            bar=text("figure.pos_value") if name == "digit" else None,
        )  # fmt: skip
    last = length - 1
    return sheet.described(
        "alt.pos_digits", last=last, digits=np.binary_repr(last), rows=rows, positions=length
    )
