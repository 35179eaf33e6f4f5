"""Declaration of the lesson "Gate activations"."""

from __future__ import annotations

from itertools import product

import numpy as np

from seqviz.compute.gates import activations, counting, observation
from seqviz.compute.recurrent import run as run_cell
from seqviz.compute.recurrent.cells import sigmoid
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.navigator import Navigator
from seqviz.lessons.framework.steps import Axis, ControlLight, Trace
from seqviz.lessons.gates import changed_cells, gate_temperature, tiny_training, trained_network

lesson = Lesson(
    "gates",
    core=("one", "watch", "meaning", "force"),
    code=(run_cell, observation.observe, activations.time_constants),
    navigator=Navigator(
        "one",
        ("forget", "input", "candidate", "state", "output", "hidden"),
        {
            "watch": ("forget", "input", "candidate", "state", "output", "hidden"),
            "meaning": ("state",),
            "force": ("forget", "input", "output"),
            "learn": ("forget", "input", "output"),
            "agreement": ("state", "hidden"),
            "conventions": ("forget", "input", "output"),
            "size": ("forget", "input", "candidate", "output"),
        },
        {"forget": "f", "input": "i", "candidate": "g", "state": "c", "output": "o", "hidden": "h"},
    ),
)

single_gate = lesson.bench("one", gate_temperature.SingleGateParams)(gate_temperature.single_gate)
watch = lesson.bench("watch", trained_network.WatchParams, leads=True)(trained_network.watch)
meaning = lesson.bench("meaning", trained_network.MeaningParams)(trained_network.meaning)
force = lesson.bench("force", changed_cells.ForceParams, after=("watch",))(changed_cells.force)
learn = lesson.bench("learn", tiny_training.LearnParams)(tiny_training.learn)
agree = lesson.bench("agreement", trained_network.AgreementParams)(trained_network.agree)
conventions = lesson.bench("conventions", changed_cells.ConventionsParams, after=("watch",))(
    changed_cells.conventions
)
size = lesson.bench("size", tiny_training.SizeParams)(tiny_training.size)

GATES = (
    0.9, 0.98, 0.5, 0.995, 0.8, 0.6, 0.7, 0.75, 0.85, 0.92, 0.94, 0.95, 0.96, 0.97, 0.99, 0.999,
)  # fmt: skip

lesson.exercise(
    "constant",
    cases=[{"gate": gate} for gate in GATES],
    answer=activations.time_constant,
    share=0.05,
)
lesson.check(
    "lstm",
    cases=[{"inputs": i, "hidden": h} for i, h in product((1, 4, 6, 10), (5, 8, 20))],
    answer=lambda inputs, hidden: counting.by_formula("lstm", inputs, hidden).total,
    within=0.5,
)
lesson.check(
    "temperature",
    cases=[{"a": a, "temperature": t} for a, t in product((1, 2, 3, -1, -2), (0.5, 2, 4))],
    answer=lambda a, temperature: sigmoid(np.array([a / temperature]))[0],
    within=0.006,
)

lesson.question("quotes", "meaning")
lesson.question("force", "force", at={"f": 1.0})
lesson.question("count", "learn", at={"view": "longer"}, lights=[[4, 5], [4], [5]])
lesson.question("agreement", "agreement", lights=[[1, 2], [1], [Axis("y", None, 0)]])

# 5 is the curve of the cell, LSTM or GRU.
lesson.step("one", "hard", {"view": "mask", "task": "latch", "temperature": 0.05}, [3, 5])
lesson.step("one", "soft", {"view": "mask", "task": "latch", "temperature": 10.0}, [3, 5])
lesson.step("one", "count", {"view": "mask", "task": "count", "temperature": 0.05}, [3, 5])

UNIT = {"kind": "characters", "cell": "lstm", "lstm": "c", "feature": "in_word"}
lesson.step("watch", "unit", {**UNIT, "view": "unit"}, ["figure.gate_c", "figure.gate_f"])
lesson.step("watch", "saturation", {**UNIT, "view": "saturation"}, ["figure.gate_o"])

lesson.step("meaning", "position", {"feature": "in_word"}, [2, 3])
lesson.step("meaning", "vowel", {"feature": "vowel"}, [2, 3])

FORGET = {"cell": "lstm", "gates_lstm": ("f",)}
NORMS = (Trace("figure.run_forced", "y"), Trace("figure.run_free", "y"))
lesson.step("force", "forget", {**FORGET, "f": 0.0}, NORMS)
lesson.step("force", "empty", {**FORGET, "gates_lstm": ("i", "f"), "i": 0.0, "f": 0.0}, NORMS)

lesson.step("learn", "count", {"view": "longer", "task": "count"}, [Trace("option.lstm", "y2"), 5])
lesson.step("learn", "latch", {"view": "longer", "task": "latch"}, [Trace("option.lstm", "y2"), 5])

# 8 and 11 are the crosses of this pair, LSTM and GRU.
lesson.step("agreement", "noun", {"text": "The flights", "other": "The flight"}, [8, 11])
ON = {"text": "The flights the airline", "other": "The flight the airline"}
lesson.step("agreement", "on", ON, [8, 11])

LSTM_BAR = Axis("y", 1.5, 2.5)
lesson.step("size", "units", {"hidden": 256}, [LSTM_BAR])
lesson.step("size", "biases", {"biases": "none"}, [LSTM_BAR])

LSTM_STATES = {
    "c_t": ("cell_state", "", "figure.gate_c"),
    "f_t": ("forget_gate", "", "figure.gate_f"),
    "i_t": ("input_gate", "", "figure.gate_i"),
    "g_t": ("lstm_candidate", "", "figure.gate_g"),
    "h_t": ("hidden_state", "", "figure.gate_h"),
    "o_t": ("output_gate", "", "figure.gate_o"),
}
LSTM_NOW = {
    "c_t": ("cell_state", "{result:number}", 0),
    "f_t": ("forget_gate", "{keep}", 0),
    "c_{t−1}": ("cell_state", "{before}", 0),
    "i_t": ("input_gate", "{write}", 0),
    "g_t": ("lstm_candidate", "{new}", 0),
}
GRU_NOW = {
    "h_t": ("hidden_state", "{result:number}", 0),
    "z_t": ("keeping_gate", "{keep}", 0),
    "h_{t−1}": ("hidden_state", "{before}", 0),
    "n_t": ("gru_candidate", "{new}", 0),
}
for bench in ("one", "watch"):
    lesson.equation(
        bench,
        "[c_t] = [f_t] [c_{t−1}] + [i_t] [g_t]",
        {name: (*term[:2], 0 if bench == "watch" else 1) for name, term in LSTM_NOW.items()},
        when={"view": ("cell",), "cell": ("lstm",)},
    )
    lesson.equation(
        bench,
        "[h_t] = [z_t] [h_{t−1}] + (1 − z_t) [n_t]",
        {name: (*term[:2], 0 if bench == "watch" else 1) for name, term in GRU_NOW.items()},
        when={"view": ("cell",), "cell": ("gru",)},
    )
    lesson.equation(
        bench,
        "[c_t] = [f_t] c_{t−1} + [i_t] [g_t],  [h_t] = [o_t] tanh(c_t)",
        LSTM_STATES,
        when={"view": ("unit",), "cell": ("lstm",)},
    )
    lesson.equation(
        bench,
        "[h_t] = [z_t] h_{t−1} + (1 − z_t) [n_t]",
        {
            "h_t": ("hidden_state", "", "figure.gate_h"),
            "z_t": ("keeping_gate", "", "figure.gate_z"),
            "n_t": ("gru_candidate", "", "figure.gate_n"),
        },
        when={"view": ("unit",), "cell": ("gru",)},
    )
for cell, gate in (("lstm", "f_t"), ("gru", "z_t")):
    meaning_of_gate = "forget_gate" if cell == "lstm" else "keeping_gate"
    lesson.equation(
        "one",
        f"[{gate}] = σ([a_t]/[T])",
        {
            gate: (meaning_of_gate, "", 3),
            "a_t": ("gate_pre_activation", "", Axis("x")),
            "T": ("temperature", "{temperature:g}", ControlLight("temperature"), 1),
        },
        when={"view": ("mask",), "cell": (cell,)},
    )
lesson.equation(
    "watch",
    "[c_t] = f_t ⊙ c_{t−1} + i_t ⊙ g_t",
    {"c_t": ("cell_state", "{value:number}", 0, ControlLight("step"), ControlLight("rank"))},
    when={"view": ("map",), "cell": ("lstm",), "lstm": ("c",)},
)
lesson.equation(
    "watch",
    "[h_t] = z_t ⊙ h_{t−1} + (1 − z_t) ⊙ n_t",
    {"h_t": ("hidden_state", "{value:number}", 0, ControlLight("step"), ControlLight("rank"))},
    when={"view": ("map",), "cell": ("gru",), "gru": ("h",)},
)
lesson.equation(
    "watch",
    "[τ] = −1 / mean_t ln f_t",
    {"τ": ("time_constant", "", Axis("x2"))},
    when={"view": ("saturation",), "cell": ("lstm",)},
)
lesson.equation(
    "meaning",
    "[r] = cov([c], [y]) / (s_c s_y)",
    {
        "r": ("unit_correlation", "{r_found:number}", Axis("x")),
        "c": ("cell_state", "", ControlLight("cell")),
        "y": ("feature_value", "", ControlLight("feature")),
    },
)
lesson.equation(
    "force",
    "[c_t] = [f_t] ⊙ c_{t−1} + i_t ⊙ g_t",
    {
        "c_t": ("cell_state", "", Trace("figure.run_forced", "y")),
        "f_t": ("forget_gate", "{f:g}", ControlLight("f")),
    },
    when={"cell": ("lstm",), "gates_lstm": (("f",),)},
)
lesson.equation(
    "force",
    "[h_t] = [z_t] ⊙ h_{t−1} + (1 − z_t) ⊙ n_t",
    {
        "h_t": ("hidden_state", "", Trace("figure.run_forced", "y")),
        "z_t": ("keeping_gate", "{z:g}", ControlLight("z")),
    },
    when={"cell": ("gru",), "gates_gru": (("z",),)},
)
