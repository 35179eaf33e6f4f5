"""Declaration of the lesson "Vanishing gradients"."""

from __future__ import annotations

from itertools import product

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Axis, Cell, ControlLight, Trace
from seqviz.lessons.vanishing_gradients import error_reach, gated_cells, gradient_paths, truncation

lesson = Lesson(
    "vanishing_gradients",
    code=(vanishing_gradients.log_norms, vanishing_gradients.pair_norms, vanishing_gradients.reach),
    core=("race", "reach", "back", "gates"),
)

race = lesson.bench("race", gated_cells.RaceParams, replicate=gated_cells.class_race)(
    gated_cells.race
)
reach = lesson.bench("reach", error_reach.ReachParams, leads=True)(error_reach.reach)
back = lesson.bench("back", gradient_paths.BackParams)(gradient_paths.back)
gates = lesson.bench("gates", gated_cells.GatesParams, after=("reach",))(gated_cells.gates)
paths = lesson.bench("paths", gradient_paths.PathsParams)(gradient_paths.paths)
weights = lesson.bench("weights", gradient_paths.WeightGradientParams)(gradient_paths.weights)
pairs = lesson.bench("pairs", error_reach.PairsParams, after=("reach",))(error_reach.pairs)
cut = lesson.bench("cut", truncation.CutParams, after=("reach",))(truncation.cut)


def horizon(gain: float) -> float:
    """Return the number of steps after which an orthogonal network has lost 99% of the gradient."""
    return vanishing_gradients.reach(
        GradientExperiment("linear", 200, 8, "orthogonal", gain)
    ).horizon


def arriving(gain: float, steps: int) -> float:
    """Return the share of the error that arrives so many steps back in an orthogonal network."""
    experiment = GradientExperiment("linear", steps + 1, 8, "orthogonal", gain)
    return float(10 ** vanishing_gradients.reach(experiment).arrived[0])


GAINS = (0.9, 0.8, 0.95, 0.7, 0.5, 0.4, 0.55, 0.6, 0.65, 0.75, 0.85, 0.88, 0.92, 0.94, 0.96, 0.97)

lesson.exercise(
    "horizon",
    cases=[{"gain": gain} for gain in GAINS],
    answer=horizon,
    within=0.5,
)
lesson.check(
    "share",
    cases=[{"gain": g, "steps": k} for g, k in product((0.9, 0.8, 0.95, 0.7), (5, 10, 20))],
    answer=lambda gain, steps: 100 * arriving(gain, steps),
    share=0.03,
)
lesson.check(
    "growth",
    cases=[{"gain": g, "steps": k} for g, k in product((1.05, 1.1, 1.2, 1.3), (10, 20, 30))],
    answer=lambda gain, steps: arriving(gain, steps),
    share=0.03,
)

# With a gain above 1 the linear network explodes; the tanh network with the same matrix vanishes.
lesson.sketch(
    "tanh", kind="curve", bench="reach", values={"cells": ("linear", "rnn"), "gain": 1.2},
    visible=(0,), answer=(2,),
)  # fmt: skip

lesson.question("norm", "reach", at={"init": "non_normal"}, veils=False)
lesson.question(
    "index", "paths", lights=[[Axis("x", 0.5, 3.5)], [Axis("x", 5.5, 6.5)], [Axis("x", 0.5, 6.5)]]
)
lesson.question("truncation", "cut", at={"view": "random"})
lesson.question("race", "race", lights=[[2], [4, 6], [1]])

RNN, LSTM, GRU = (Trace(f"option.{cell}", "y") for cell in ("rnn", "lstm", "gru"))
lesson.step("race", "closed", {"view": "closed"}, [LSTM, GRU])
lesson.step("race", "ladder", {"view": "ladder"}, [RNN, LSTM, GRU])

# Names all networks, because the biases apply to two of them. Lines by index, because their names
# contain numbers: 0 is the linear RNN, 2 the RNN with tanh, 5 the LSTM on c, 7 the GRU.
CELLS = error_reach.ReachParams().cells
HALF_CLOSED = {"cells": CELLS, "forget_bias": 0.0, "update_bias": 0.0}
lesson.step("reach", "orthogonal", {"init": "orthogonal", "gain": 1.0}, [0, 2])
lesson.step("reach", "half_closed", HALF_CLOSED, [2, 5, 7])
lesson.step("reach", "non_normal", {"init": "non_normal"}, [0])

BACK = {"steps": 4, "taken": 4}
lesson.step("back", "to_start", BACK, [Cell(1, 0)])
lesson.step("back", "target", {**BACK, "shift": 3.0}, [Cell(4, 1), Cell(1, 0)])
lesson.step("back", "fade", {"steps": 6, "taken": 6, "loss": "last"}, [Cell(6, 0), Cell(1, 0)])

GATED, PLAIN = Trace("figure.gru_constant", "y2"), Trace("figure.rnn_linear", "y2")
lesson.step("gates", "shut", {"update": 0.0}, [GATED, PLAIN])
lesson.step("gates", "small", {"update": 0.02}, [GATED, PLAIN])
lesson.step("gates", "reset", {"update": 1.0, "reset": 0.0}, [Trace("figure.gru_constant", "y")])

FIRST = {"steps": 6, "t": 1}
lesson.step("paths", "stretch", {**FIRST, "gain": 1.2}, ["figure.share"])
lesson.step("paths", "shrink", {**FIRST, "gain": 0.5}, ["figure.share"])

lesson.step("weights", "vanishing", {"gain": 0.5}, ["figure.weight_sum"])
lesson.step("weights", "exploding", {"gain": 1.2}, ["figure.weight_sum"])

lesson.step("pairs", "linear", {"cell": "linear"}, [2])
lesson.step("pairs", "gru", {"cell": "gru"}, [2])

BOTH_DESCENTS = (Trace("figure.descent_free", "y"), Trace("figure.descent_clipped", "y"))
lesson.step("cut", "random", {"view": "random"}, ["figure.draws_random", 2])
lesson.step("cut", "cliff", {"view": "cliff"}, BOTH_DESCENTS)

lesson.equation(
    "race",
    "[c_t] = [f_t] ⊙ c_{t−1} + …,  f_t = σ(W x_t + U h_{t−1} + [b])",
    {
        "c_t": ("cell_state", "", LSTM),
        "f_t": ("forget_gate", "", LSTM),
        "b": ("bias", "{bias:g}", ControlLight("bias")),
    },
    when={"view": ("course",), "task": ("first",)},  # no run of the other task is shipped
)
lesson.equation(
    "reach",
    "RNN: ‖∂J/∂[h_t]‖ ≤ [σ_{max}]^{T−t} ‖∂J/∂h_T‖,  T = [T]",
    {
        "h_t": ("hidden_state", "", Axis("y")),
        "σ_{max}": (
            "singular_value",
            "{sigma_max:number}",
            ControlLight("gain"),
            ControlLight("init"),
        ),
        "T": ("steps", "{steps}", ControlLight("steps"), Axis("x")),
    },
    when={"loss": ("last",)},
)
lesson.equation(
    "gates",
    "[∂h_t/∂h_{t−1}] = I − [D_u] (I − [D_r] [W_h])",
    {
        "∂h_t/∂h_{t−1}": ("hidden_to_hidden_gated", "ρ = {gru_radius:number}", GATED),
        "D_u": ("update_diagonal", "{update:g}", ControlLight("update")),
        "D_r": ("reset_diagonal", "{reset:g}", ControlLight("reset")),
        "W_h": ("recurrent_weights", "ρ = {rnn_radius:number}", PLAIN),
    },
)
