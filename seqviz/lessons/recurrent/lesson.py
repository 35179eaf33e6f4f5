"""Declaration of the lesson "RNN"."""

from __future__ import annotations

from itertools import product

from seqviz.compute.recurrent.costs.counting import NetworkSizes, by_formula, stacked_bidirectional
from seqviz.compute.recurrent.costs.counting import bill as count_bill
from seqviz.compute.recurrent.wirings.influence import jacobian
from seqviz.compute.recurrent.wirings.step import run
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Axis, Cell, ControlLight, Trace
from seqviz.lessons.recurrent import cell, cost, lac_tagger, language_model, letter_tagging

lesson = Lesson(
    "recurrent",
    code=(run, jacobian, "seqviz.compute.recurrent.states.model:RNNModel"),
    core=("wirings", "step", "tagging", "bill"),
)

wirings = lesson.bench("wirings", cell.WiringsParams)(cell.wirings)
read_steps = lesson.bench("step", cell.StepParams)(cell.read_steps)
tagging = lesson.bench(
    "tagging", letter_tagging.TaggingParams, replicate=letter_tagging.class_tagging
)(letter_tagging.tagging)
bill = lesson.bench("bill", cost.CellCostParams)(cost.bill)
collapse = lesson.bench("collapse", cell.CollapseParams)(cell.collapse)
tagger = lesson.bench("tagger", lac_tagger.TaggerParams)(lac_tagger.tagger)
write = lesson.bench("writing", language_model.WritingParams)(language_model.write)
readout = lesson.bench("readout", language_model.ReadoutParams)(language_model.readout)

SIZES = (
    (1, 32, 2), (10, 8, 3), (5, 16, 2), (64, 32, 4), (3, 4, 2),
    *product((2, 4, 20), (6, 10), (2, 3)),
)  # fmt: skip

lesson.exercise(
    "count",
    cases=[
        {"inputs": inputs, "hidden": hidden, "layers": layers} for inputs, hidden, layers in SIZES
    ],
    answer=stacked_bidirectional,
    within=0.5,
)
lesson.check(
    "gru",
    cases=[{"inputs": i, "hidden": h} for i, h in product((1, 3, 5, 10), (4, 8, 20))],
    answer=lambda inputs, hidden: by_formula("gru", NetworkSizes(inputs, hidden)),
    within=0.5,
)
lesson.check(
    "unshared",
    cases=[
        {"inputs": i, "hidden": h, "steps": t} for i, h, t in product((1, 2), (4, 6), (10, 50, 100))
    ],
    answer=lambda inputs, hidden, steps: count_bill(
        NetworkSizes(inputs, hidden, outputs=0), steps
    ).unshared("rnn"),
    within=0.5,
)

lesson.question(
    "wirings", "wirings", at={"view": "one", "backward": True, "output": 2}, veils=False
)
TWO_LAYERS, BOTH_WAYS = Axis("x", 1.5, 2.5), Axis("x", 2.5, 3.5)
lesson.question("tagging", "tagging", lights=[[TWO_LAYERS], [BOTH_WAYS], [TWO_LAYERS, BOTH_WAYS]])
lesson.question("bill", "bill", at={"view": "time", "n_steps": 512})

LATER_INPUTS = tuple(Cell(x, 3) for x in (4, 5, 6))  # inputs after the one of output 3
ONE = {"view": "one", "origin": "own", "read_at": "each", "output": 3}
lesson.step("wirings", "backward", {**ONE, "backward": True}, LATER_INPUTS)
lesson.step("wirings", "layers", {**ONE, "layers": 3}, LATER_INPUTS)
lesson.step(
    "wirings",
    "last",
    {"view": "one", "origin": "own", "backward": True, "read_at": "last"},
    ["figure.wiring_box_h"],
)

lesson.step("step", "forget", {"view": "step", "recurrent": "0.5 0; 0 0"}, [2])
lesson.step("step", "order", {"view": "order"}, [0, 1])

lesson.step("tagging", "ahead", {"view": "ahead", "ahead": 1}, [0])
LETTER = {"view": "letters", "letter": 4}
ENGLISH = {**LETTER, "task": "spaces", "english": letter_tagging.ENGLISH}
CHINESE = {**LETTER, "task": "words", "chinese": letter_tagging.CHINESE}
lesson.step("tagging", "letter", ENGLISH, [2, 3], zh=CHINESE)
OTHER = {"view": "errors", "task": "words"}
lesson.step("tagging", "language", OTHER, [0], zh={**OTHER, "task": "spaces"})

lesson.step("bill", "time", {"view": "time", "n_steps": 512}, [1, 3])
lesson.step("bill", "many", {"view": "time", "n_steps": 512, "at_once": "many"}, [1, 3])
lesson.step("bill", "length", {"view": "length", "n_steps": 512}, [0, 1])

lesson.step("collapse", "units", {"hidden_units": 64}, [0, 1])
lesson.step("collapse", "tanh", {"tanh": 100.0}, [0, 1])

lesson.step("tagger", "many", {"view": "counted"}, [0, 1])
lesson.step("tagger", "zero", {"view": "counted", "way": "zero"}, [0, 1, 2])

lesson.step("writing", "own", {"view": "own"}, [3, 4])
lesson.step("writing", "many", {"view": "free"}, [Trace(k, "y") for k in (1, 3, 5)])
lesson.step(
    "writing", "tied", {"view": "tied"}, ["figure.states_part_input", "figure.states_part_output"]
)

BOTH_REVIEWS = (Trace("figure.states_whole", "y2"), Trace("figure.states_rest", "y2"))
GOOD = {"view": "path", "review": language_model.REVIEW, "without": 5}
lesson.step("readout", "word", GOOD, BOTH_REVIEWS)
lesson.step("readout", "pads", {"view": "padding", "pad_as": "unknown", "pads": 40}, [1, 5, 6])
lesson.step("readout", "mean", {"view": "readouts"}, [0])

lesson.equation(
    "wirings",
    "[h_t] = f([x_t], h_{t−1}),  [y_t] = g(h_t)",
    {
        "h_t": ("hidden_state", "", ControlLight("layers"), "figure.wiring_box_h"),
        "x_t": ("input", "", Axis("x")),
        "y_t": ("answer", "t = {at}", ControlLight("output"), Axis("y")),
    },
    when={
        "view": ("one",),
        "origin": ("own",),
        "backward": (False,),
        "read_at": ("each", "last", "ends"),
    },
)
lesson.equation(
    "wirings",
    "[h⃗_t] = f([x_t], h⃗_{t−1}),  [h⃖_t] = f(x_t, h⃖_{t+1}),  [y_t] = g(h⃗_t, h⃖_t)",
    {
        "h⃗_t": ("hidden_state", "", "figure.wiring_box_h"),
        "x_t": ("input", "", Axis("x")),
        "h⃖_t": ("hidden_state", "", ControlLight("backward"), "figure.wiring_box_h"),
        "y_t": ("answer", "t = {at}", ControlLight("output"), Axis("y")),
    },
    # "ends" joins the last forward state to the first backward one; "after" is the decoder's.
    when={
        "view": ("one",),
        "origin": ("own",),
        "backward": (True,),
        "read_at": ("each", "last"),
    },
)
lesson.equation(
    "step",
    "[h_t] = tanh([a_t]),  a_t = [W_h] h_{t−1} + [W_x] [x_t] + [b]",
    {
        "h_t": ("hidden_state", "{state_of:number}", 2, ControlLight("moment")),
        "a_t": ("pre_activation", "{sum_of:number}", 0),
        "W_h": ("recurrent_weights", "", ControlLight("recurrent")),
        "W_x": ("input_weights", "", ControlLight("inputs")),
        "x_t": ("input", "", ControlLight("x"), 3),
        "b": ("bias", "", ControlLight("bias")),
    },
    when={"view": ("step",)},
)
WRONG = {
    "h⃗_t": ("hidden_state", "d = {bi_units}", Axis("x", 2.5, 3.5)),
    "h⃖_t": ("hidden_state", "d = {bi_units}", Axis("x", 2.5, 3.5)),
    "y_t": ("answer", "", Axis("y")),
}
lesson.equation("tagging", "[y_t] = g([h⃗_t], [h⃖_t])", WRONG, when={"view": ("errors",)})
lesson.equation(
    "tagging",
    "[L] = −Σ_t ln [p_t]",
    {
        "L": ("loss", "{sum_bi:number}", 3),
        "p_t": ("tag_probability", "", Axis("y2"), ControlLight("letter")),
    },
    when={"view": ("letters",)},
)
lesson.equation(
    "tagging",
    "[y_t] = g(h⃗_t, h⃖_{t..t+k}),  k = [k]",
    {
        "y_t": ("answer", "", Axis("y")),
        "k": ("steps_ahead", "{ahead}", ControlLight("ahead"), Axis("x")),
    },
    when={"view": ("ahead",)},
)
lesson.equation(
    "bill",
    "[N] = [D] (d ([m] + [d] + 2) + ([L] − 1) d (D d + d + 2))",
    {
        "N": ("parameters", "{rnn:,}", 0),
        "D": ("directions", "{n_directions}", ControlLight("n_directions")),
        "L": ("layers", "{n_layers}", ControlLight("n_layers")),
        "d": ("units", "{n_hidden}", ControlLight("n_hidden")),
        "m": ("numbers_in", "{n_inputs}", ControlLight("n_inputs")),
    },
    when={"view": ("length",), "n_biases": ("two",)},
)
lesson.equation(
    "bill",
    "[h_t] = f([x_t], h_{t−1}),  t = 1, …, [T]",
    {
        "h_t": ("hidden_state", "", Axis("y")),
        "x_t": ("input", "", ControlLight("at_once")),
        "T": ("steps", "{n_steps}", ControlLight("n_steps"), Axis("x")),
    },
    when={"view": ("time",)},
)
lesson.equation(
    "bill",
    "[L] = −Σ_t log_2 [p_t]",
    {
        "L": ("loss", "{bits:number}", 0),
        "p_t": ("token_probability", "", Axis("y")),
    },
    when={"view": ("terms",)},
)
