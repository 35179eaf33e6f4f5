"""Declaration of the lesson "Positional encodings"."""

from __future__ import annotations

import math
from itertools import product

from seqviz.compute.positions import order, relative, rotary, sinusoidal
from seqviz.compute.positions.simple import WIDTH
from seqviz.compute.positions.sinusoidal import encoding
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Axis, ControlLight, Trace
from seqviz.lessons.positions import learned_table, position_codes, score_schemes, word_order

lesson = Lesson(
    "positions",
    code=(encoding, rotary.rotate, relative.alibi_slopes, order.attend),
    core=("effect", "simple", "waves", "schemes"),
)

effect = lesson.bench("effect", word_order.EffectParams, leads=True)(word_order.effect)
simple = lesson.bench("simple", position_codes.SimpleParams)(position_codes.simple)
waves = lesson.bench("waves", position_codes.WavesParams)(position_codes.waves)
schemes = lesson.bench("schemes", score_schemes.SchemesParams)(score_schemes.schemes)
distance = lesson.bench("distance", position_codes.DistanceParams)(position_codes.distance)
task = lesson.bench("task", word_order.TaskParams)(word_order.task)
learned = lesson.bench("learned", learned_table.LearnedParams)(learned_table.learned)
encoder = lesson.bench("encoder", word_order.EncoderParams, after=("effect",))(word_order.encoder)

PLACES = ((8, 2), (8, 6), (16, 8), (32, 8))  # d_model, dimension
PAIRS = (
    (64, 32, 10_000), (8, 4, 10_000), (128, 64, 100), (16, 4, 10_000), (4, 2, 1_000_000),
    *((*place, base) for place, base in product(PLACES, (100, 10_000, 1_000_000))),
)  # fmt: skip


def wavelength(d_model: int, dimension: int, base: int) -> float:
    """Return the wavelength in positions of the pair of dimensions that `dimension` begins."""
    return 2 * math.pi / float(sinusoidal.frequencies(d_model, float(base))[dimension // 2])


lesson.exercise(
    "wavelength",
    cases=[dict(zip(("d_model", "dimension", "base"), case, strict=True)) for case in PAIRS],
    answer=wavelength,
    share=0.02,
)
lesson.check(
    "alibi",
    cases=[{"heads": heads, "head": head} for heads, head in product((4, 8, 16), range(4))],
    answer=lambda heads, head: relative.alibi_slopes(heads)[head],
    share=0.02,
)
lesson.check(
    "rotation",
    cases=[{"d_k": d_k, "offset": k} for d_k, k in product((4, 8), (1, 3, 5, 10, 20))],
    answer=lambda d_k, offset: math.degrees(offset * rotary.frequencies(d_k)[1]),
    share=0.02,
)

lesson.question("mask", "effect", at={"causal": True}, veils=False)
lesson.question("binary", "simple")
lesson.question(
    "shift", "schemes", at={"view": "shift"},
    lights=[[Axis("y", 0.5, 2.5)], [Axis("y", 0.5, 5.5)], [Axis("y", 2.5, 4.5)]],
)  # fmt: skip
lesson.question("neighbors", "distance", lights=[[Axis("x", 3, 3)], [Axis("x", 6, 6)], []])
lesson.question("copy", "task", lights=[[Axis("x", 0, 0)], [0], [Axis("x", 100, 100)]])

lesson.step("effect", "mask", {"view": "moved", "causal": True}, ["figure.pos_scheme_none"])
lesson.step("effect", "shuffle", {"how": "shuffled"}, [0, "figure.pos_scheme_none"])
lesson.step("effect", "strength", {"how": "shuffled", "strength": 0.0}, [0, 1, 2])

lesson.step("simple", "digits", {"view": "digits"}, [0, 1])
lesson.step("simple", "long", {"view": "demands", "words": 128}, [0, 1, 6])

lesson.step("waves", "small", {"base": 10.0}, [0])
lesson.step("waves", "large", {"base": 1_000_000.0}, [0])

lesson.step("schemes", "shift", {"view": "shift"}, [0])
lesson.step("schemes", "far", {"view": "rotary", "key": 1000}, [*range(15), 18])
lesson.step("schemes", "alibi", {"view": "alibi"}, [Trace(1, "y2")])

lesson.step("distance", "rotation", {"view": "rotation"}, [0, 1])
lesson.step("distance", "clocks", {"view": "clocks"}, [3, 4])

# The second names what the first does not, so that the results of both are shipped ones.
SHIPPED = {"view": "result", "causal": False, "letters": 8, "seed": 0}
lesson.step("task", "count", {"task": "count"}, [2, 3])
lesson.step("task", "before", {**SHIPPED, "task": "before"}, [2, 3, 20, 21])

TABLE = {"model": learned_table.DEFAULT}
lesson.step("learned", "path", {**TABLE, "view": "path"}, [0])
lesson.step("learned", "spectrum", {**TABLE, "view": "spectrum"}, [0, 1])
lesson.step("learned", "late", {**TABLE, "view": "late"}, [Trace(1, "y2"), Axis("x", 120, 134)])

HEAD = {**TABLE, "view": "maps", "layer": 0, "head": 2}
lesson.step("encoder", "zero", {**HEAD, "variant": "zero"}, [1])
lesson.step("encoder", "sines", {**HEAD, "variant": "sinusoidal"}, [1])

lesson.equation(
    "effect",
    "Δ_i = ‖f(Π X)_{Π i} − f(X)_i‖ / (Σ_j ‖f(X)_j‖ / n),  max_i [Δ_i]",
    {"Δ_i": ("output_change", "{moved_sinusoidal:number.2}", "figure.pos_scheme_sinusoidal")},
    when={"view": ("moved",)},
)
lesson.equation(
    "simple",
    "[‖PE_p‖] = √([d]/2)",
    {
        "‖PE_p‖": ("encoding", "{norm:number}", 4, Axis("y")),
        "d": ("model_width", str(WIDTH), 0),
    },
    when={"view": ("demands",)},
)
for layout, column in (("interleaved", "2i"), ("halves", "i")):
    lesson.equation(
        "waves",
        f"PE_{{p,{column}}} = sin([p] / [b]^{{2i/d}}),  d = [d]",
        {
            "p": ("position", "{position}", ControlLight("position")),
            "b": ("frequency_base", "{base:,.0f}", ControlLight("base")),
            "d": ("model_width", "{d_model}", ControlLight("d_model")),
        },
        when={"layout": (layout,)},
    )
lesson.equation(
    "schemes",
    "(R_i [q])·(R_j [k]) = q·R_{j−i} k,  [i − j]",
    {
        "q": ("queries", "", 2),
        "k": ("keys", "j = {key}", ControlLight("key"), 4),
        "i − j": ("offset", "{offset}", ControlLight("offset"), Axis("x2")),
    },
    when={"view": ("rotary",)},
)
lesson.equation(
    "schemes",
    "q_i·k_j/√d_k − [s_h] |i − j|",
    {"s_h": ("slope", "", ControlLight("head"), 0)},
    when={"view": ("alibi",)},
)
