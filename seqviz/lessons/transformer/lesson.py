"""Declaration of the lesson "The Transformer block"."""

from __future__ import annotations

from itertools import product

import numpy as np

from seqviz.compute.transformer import masking, normalization
from seqviz.experiments.transformer import functional
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.navigator import Navigator
from seqviz.lessons.framework.steps import Axis, Cell, ControlLight, Trace
from seqviz.lessons.transformer import block, interpretability, stream_map

lesson = Lesson(
    "transformer",
    code=(functional.forward,),
    core=("stream", "steps", "account", "remove"),
    navigator=Navigator(
        "stream",
        ("embed", "norm", "attention", "add", "norm", "mlp", "add", "norm", "unembed"),
        {
            "steps": ("norm", "attention", "add", "mlp"),
            "account": ("embed", "attention", "mlp"),
            "remove": ("attention", "mlp"),
            "norms": ("norm",),
            "masks": ("attention",),
            "pair": ("attention",),
            "lens": ("unembed",),
            "induction": ("attention",),
            "depths": ("add",),
            "bill": ("attention", "mlp"),
        },
    ),
)

stream = lesson.bench("stream", stream_map.StreamParams)(stream_map.stream)
steps = lesson.bench("steps", block.EncoderFlowParams)(block.steps)
norms = lesson.bench("norms", block.NormsParams)(block.norms)
account = lesson.bench("account", interpretability.AccountParams, leads=True)(
    interpretability.account
)
remove = lesson.bench("remove", interpretability.RemoveParams, after=("account",))(
    interpretability.remove
)
masks = lesson.bench("masks", block.MaskedSoftmaxParams)(block.masks)
pair = lesson.bench("pair", block.PairParams)(block.pair)
lens = lesson.bench("lens", interpretability.LookParams, after=("account",))(interpretability.lens)
induction = lesson.bench("induction", interpretability.CopiesParams)(interpretability.induction)
depths = lesson.bench("depths", block.DepthsParams)(block.depths)
bill = lesson.bench("bill", block.TransformerCostParams)(block.bill)


def layer_parameters(width: int, hidden: int) -> int:
    """Return the number of parameters of PyTorch's encoder layer.

    Args:
        width: d_model.
        hidden: width of the feed-forward network.
    """
    from torch import nn

    layer = nn.TransformerEncoderLayer(width, 1, hidden, device="meta")
    return sum(weights.numel() for weights in layer.parameters())


SIZES = ((8, 32), (4, 16), (16, 32), (6, 24), (10, 20), *product((5, 8, 12, 20), (16, 40, 48)))

lesson.exercise(
    "layer",
    cases=[{"width": width, "hidden": hidden} for width, hidden in SIZES],
    answer=layer_parameters,
    within=0.5,
)
lesson.check(
    "norm",
    cases=[{"first": a, "second": a + 2 * s, "third": a + s, "fourth": a + s * k}
           for a, s, k in product((1, 2, 5), (1, 2), (3, 5))],
    answer=lambda first, second, third, fourth: normalization.normalize(
        np.array([[[first, second, third, fourth]]], float), eps=1e-12
    ).values[0, 0, 0],
    within=0.02,
)  # fmt: skip
lesson.check(
    "masked",
    cases=[{"first": a, "second": b, "third": c}
           for a, b, c in product((1, 2, 3), (0, 2), (4, 5))],
    answer=lambda first, second, third: masking.masked(
        ", ".join([f"{first} {second} {third}"] * 3), "token", hidden=3
    ).weights[0, 0, 0],
    within=0.006,
)  # fmt: skip

ROW = [Cell(feature, 1, ("x2", "y2")) for feature in (1, 2, 3)]
COLUMN = [Cell(1, word, ("x2", "y2")) for word in (1, 2, 3, 4)]
EACH = [Cell(feature, word, ("x2", "y2")) for feature in (1, 2, 3) for word in (1, 2, 3, 4)]
lesson.question("passes", "stream", at={"component": 9, "block": 20}, veils=False)
lesson.question("norms", "norms", at={"added": 1.0}, lights=[ROW[:1], ROW, COLUMN, EACH])
lesson.question("knows", "account", at={"against": " London"}, lights=[[2], [1], [0]])
lesson.question("missed", "remove")
lesson.question("shift", "pair", at={"kind": "unshifted"})
lesson.question("copies", "induction", at={"off": 1})
lesson.question(
    "deep", "depths", at={"view": "training"},
    lights=[[17], [17, 11], [17, 15, 11], [17, 15, 13, 11]],
)  # fmt: skip
lesson.question("bill", "bill", lights=[[0], [1], [2], [3]])

lesson.step("stream", "first", {"component": 8, "block": 0}, [1])
lesson.step("stream", "later", {"component": 8, "block": 20}, [1])
lesson.step("stream", "pair", {"view": "pair", "component": 3}, [1])

lesson.step("steps", "hidden", {"step": 8}, [0])
lesson.step("steps", "norm", {"step": 7}, [0])
lesson.step("steps", "dropout", {"step": 10, "dropout": 0.1}, [0])

lesson.step("norms", "added", {"given": "all", "row": 1, "feature": 1, "added": 5.0}, [1, 2])
lesson.step("norms", "alone", {"given": "word"}, [1, 2])

lesson.step("account", "against", {"view": "own", "target": "", "against": " London"}, [1, 3])
lesson.step("account", "last", {"view": "own", "part": 61}, [2, 3])

REMOVED = {"view": "own", "model": interpretability.DECODER}
lesson.step("remove", "residual", {**REMOVED, "change": "residual"}, [0])
lesson.step("remove", "attention", {**REMOVED, "change": "attention"}, [0])
lesson.step("remove", "many", {"view": "many", "change": "skip"}, [0])

NEGATIVE = "-2 -1 -3, -1 -2 -0.5, -0.3 -1 -2"
lesson.step("masks", "negative", {"scores": NEGATIVE, "mask": "causal"}, [2])
lesson.step("masks", "padding", {"mask": "padding", "pads": 1}, [2])

lesson.step("pair", "unshifted", {"kind": "unshifted"}, [0])
lesson.step("pair", "chinese", {"view": "chinese"}, [1])

OWN = {"view": "own", "model": interpretability.DECODER}
lesson.step("lens", "fitted", {**OWN, "reading": "fitted"}, [1, 2])
lesson.step("lens", "reviews", {"view": "reviews"}, ["figure.lens_plain", "figure.lens_fitted"])

lesson.step("induction", "one", {"view": "sequences", "off": 1}, [4, 6])
lesson.step("induction", "more", {"view": "sequences", "off": 16}, [4, 6])

lesson.step("depths", "training", {"view": "training"}, [Trace(2, "y"), Trace(4, "y")])
lesson.step("depths", "signal", {"view": "signal"}, [3, 5, 7])

lesson.step("bill", "operations", {"view": "operations", "tokens": 4096}, [0, 2])
lesson.step("bill", "cache", {"view": "cache", "tokens": 4096}, [2, 3])

lesson.equation(
    "stream",
    "[x_{ℓ+1}] = [x_ℓ] + [a_ℓ] + [m_ℓ]",
    {
        "x_{ℓ+1}": ("stream", "", 1),
        "x_ℓ": ("stream", "ℓ = {block}", ControlLight("block")),
        "a_ℓ": ("attention_output", "", ControlLight("component")),
        "m_ℓ": ("mlp_output", "", ControlLight("component")),
    },
    when={"view": ("decoder",)},
)
lesson.equation(
    "steps",
    "[x′] = norm(x_ℓ + [a_ℓ]),  [x_{ℓ+1}] = norm(x′ + [m_ℓ])",
    {
        "x′": ("middle_stream", "", ControlLight("step"), ControlLight("layer")),
        "a_ℓ": ("attention_output", "dₖ = {each}", ControlLight("split")),
        "x_{ℓ+1}": ("stream", "", ControlLight("step"), ControlLight("layer")),
        "m_ℓ": ("mlp_output", "{hidden}", ControlLight("hidden")),
    },
)
# The terms are numbers: a_{ℓt} is what the vector a_ℓ adds to the logit of token t.
lesson.equation(
    "account",
    "[z_t] = [e_t] + [Σ_ℓ a_{ℓt}] + [Σ_ℓ m_{ℓt}]",
    {
        "z_t": ("token_logit", "{logit:number}", Axis("y")),
        "e_t": ("embedding_logit", "{embedding:number}", 0),
        "Σ_ℓ a_{ℓt}": ("attention_logit", "{attention:number}", 1),
        "Σ_ℓ m_{ℓt}": ("mlp_logit", "{mlp:number}", 2),
    },
    when={"view": ("own",), "against": ("",)},
)
lesson.equation(
    "account",
    "[Δz] = [Δe] + [Σ_ℓ Δa_ℓ] + [Σ_ℓ Δm_ℓ]",
    {
        "Δz": ("logit_difference", "{logit:number}", Axis("y")),
        "Δe": ("embedding_difference", "{embedding:number}", 0),
        "Σ_ℓ Δa_ℓ": ("attention_difference", "{attention:number}", 1),
        "Σ_ℓ Δm_ℓ": ("mlp_difference", "{mlp:number}", 2),
    },
    when={"view": ("own",)},
)
lesson.equation(
    "remove",
    "[D] = Σ_i [p_i] log_2(p_i/[q_i])",
    {
        "D": ("divergence", "{worst:number}", Axis("y")),
        # Both of the same token: the likeliest of the unchanged model.
        "p_i": ("token_probability", "{before}: {probability:number}", 0),
        "q_i": ("changed_probability", "{before}: {changed:number}", ControlLight("change")),
    },
    when={"view": ("own",)},
)
