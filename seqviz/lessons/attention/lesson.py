"""Declaration of the lesson "Attention heatmaps"."""

from __future__ import annotations

from itertools import product

import numpy as np

from seqviz.compute.attention import masks, patterns, scaled
from seqviz.lessons.attention import heads, interventions, worked_example
from seqviz.lessons.attention.worked_example import BASIC, STAGES
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.model_controls import DEFAULT
from seqviz.lessons.framework.steps import Axis, Cell, ControlLight
from seqviz.models import attention_hook

lesson = Lesson(
    "attention",
    code=(scaled.attend, attention_hook.attention, patterns.habits, patterns.rollout),
    core=("features", "scale", "real", "ablate"),
)

features = lesson.bench("features", worked_example.FeaturesParams)(worked_example.features)
by_hand = lesson.bench("by_hand", worked_example.WalkthroughParams)(worked_example.by_hand)
scale = lesson.bench("scale", worked_example.ScaleParams)(worked_example.scale)
real = lesson.bench("real", heads.PretrainedParams, leads=True)(heads.real)
ablate = lesson.bench("ablate", interventions.AblateParams, after=("real",))(interventions.ablate)
apart = lesson.bench("apart", heads.ApartParams, after=("real",))(heads.apart)
trials = lesson.bench("trials", heads.TryHeadsParams, after=("real",))(heads.trials)
mask = lesson.bench("masks", interventions.AttentionMaskParams, after=("real",))(interventions.mask)
bertviz = lesson.bench("bertviz", heads.BertvizParams, after=("real",))(heads.bertviz)

PAIRS = ((5, 4), (7, 3), (3, 5), (9, 6))
SCORES = (
    (8, 4, 16), (6, 3, 9), (10, 4, 4), (5, 5, 64), (2, 8, 36),
    *((*pair, d_k) for pair, d_k in product(PAIRS, (4, 16, 25))),
)  # fmt: skip


def first_weight(first: float, second: float, d_k: int) -> float:
    """Return the weight of the first of two keys with these scores."""
    return float(scaled.softmax(np.array([[first, second]]) / np.sqrt(d_k))[0, 0])


lesson.exercise(
    "weight",
    cases=[dict(zip(("first", "second", "d_k"), case, strict=True)) for case in SCORES],
    answer=first_weight,
    within=0.006,
)
lesson.check(
    "causal",
    cases=[{"tokens": tokens} for tokens in (6, 8, 10, 12, 15, 16, 20, 25, 30, 40)],
    answer=lambda tokens: masks.cells_computed("causal", tokens, True),
    within=0.5,
)
lesson.check(
    "score",
    cases=[{"dot": dot, "d_k": d_k} for dot, d_k in product((12, 18, 30, 42), (4, 16, 64))],
    answer=lambda dot, d_k: dot / scaled.divisor("d_k", d_k, d_k),
    within=0.02,
)

lesson.sketch("scale", kind="curve", bench="scale", values={}, visible=(1, 3))

lesson.question(
    "multiply", "features", veils=False,
    at={"stage": 7, "causal": True, "operator": "multiply", "key": 8},
)  # fmt: skip
lesson.question("pronoun", "real", at={"view": "head"}, also=("apart", "trials"))
lesson.question("ablate", "ablate", at={"view": "each"})

lesson.step("features", "slide", {"stage": 4, "key": 8}, [2])
lesson.step("features", "weight", {"stage": 7}, [1])
lesson.step("features", "trained", {"stage": 7, "view": "trained"}, [1])

MASKED = {"stage": 7, "causal": True}
lesson.step("by_hand", "mask", MASKED, [2])
lesson.step("by_hand", "multiply", {**MASKED, "operator": "multiply"}, [2])
lesson.step("by_hand", "mixture", {"stage": 8, "query": 2, "key": 5}, [0, 1])

lesson.step("scale", "largest", {"quantity": "largest"}, [0, 1])
lesson.step("scale", "gradient", {"quantity": "gradient"}, [0, 1])
lesson.step("scale", "temperature", {"quantity": "entropy", "temperature": 0.1}, [1, 3])

# Names the text, so that the cell is the one of "it" (token 10) and "animal" (token 3).
PRONOUN = {"view": "head", "layer": 3, "head": 1, "query": 10, "key": 3}
WIDE = "The animal did not cross the street because it was too wide."
READ = {"model": DEFAULT, "encoder": heads.ENCODER_TEXT, "other": ""}
lesson.step("real", "pronoun", {**READ, **PRONOUN}, [Cell(3, 10)])
lesson.step("real", "wide", {**READ, **PRONOUN, "encoder": WIDE}, [Cell(3, 10), Cell(8, 10)])
lesson.step("real", "values", {"view": "mosaic", "by": "value"}, [0])

LAYER_5 = " ".join(f"5.{head}" for head in range(12))
lesson.step("ablate", "each", {"view": "each"}, [1])
lesson.step("ablate", "layer", {"view": "switches", "off": LAYER_5}, [1])

lesson.step("apart", "chain", {"view": "chain"}, [3])
lesson.step("apart", "value", {"view": "chain", "by": "value"}, [2, 3])

lesson.step("trials", "other", {"view": "pronoun", "layer": 5, "head": 11}, [1, 2, 3])
lesson.step("trials", "previous", {"view": "previous", "layer": 0, "head": 2}, [1, 3])

lesson.step("masks", "padding", {"kind": "own", "pads": 4, "told": False}, [1])
lesson.step("masks", "window", {"kind": "window"}, [0])

WEIGHT = "[α_{ij}] = softmax_j([q_i]·[k_j] / √[d_k])"
SOFTMAX = STAGES.index("softmax") + 1
for stages, weight in (
    ((1, *range(BASIC + 1, SOFTMAX)), ""),  # a weight is shown where the page has come to it
    (tuple(range(SOFTMAX, len(STAGES) + 1)), "{weight:number}"),
):
    lesson.equation(
        "features",
        WEIGHT.replace("√[d_k]", "([T] √[d_k])"),
        {
            "α_{ij}": ("attention_weight", weight, ControlLight("stage")),
            "q_i": ("queries", "{facts.query}", ControlLight("query")),
            "k_j": ("keys", "{to}", ControlLight("key")),
            "T": ("softmax_temperature", "{temperature:g}", ControlLight("temperature")),
            "d_k": ("key_width", "{d_k}", ControlLight("scale")),
        },
        when={"stage": stages, "scale": ("d_k",), "causal": (False,)},
    )
lesson.equation(
    "scale",
    "[v] = Var(q·k / [T]) ≈ [d_k] / T²",
    {
        "v": ("score_variance", "{variance:number}", 0),
        "T": ("softmax_temperature", "{temperature:g}", ControlLight("temperature")),
        "d_k": ("key_width", "64", Axis("x", 64, 64)),
    },
)
lesson.equation(
    "real",
    "[H_i] = −Σ_j [α_{ij}] log_2 α_{ij}",
    {
        "H_i": ("entropy", "{entropy:number}", 0),
        "α_{ij}": ("attention_weight", "", ControlLight("layer"), ControlLight("head")),
    },
    when={"view": ("mosaic", "heads"), "by": ("weight",)},
)
lesson.equation(
    "real",
    WEIGHT.replace("[d_k]", "d_k"),
    {
        "α_{ij}": ("attention_weight", "{share:number}", 0),
        "q_i": ("queries", "{facts.query}", ControlLight("query"), Axis("y")),
        "k_j": ("keys", "{to}", ControlLight("key"), Axis("x")),
    },
    when={"view": ("head",)},
)
lesson.equation(
    "ablate",
    "[cos(v, v′)] = v·v′ / (‖v‖ ‖v′‖)",
    {"cos(v, v′)": ("cosine", "{sentence:number}", ControlLight("off"), 1)},
    when={"view": ("switches", "both")},
)
lesson.equation(
    "ablate",
    "[Δ] = 1 − cos(v, v′)",
    {"Δ": ("vector_change", "{worth:number}", 0, 1)},
    when={"view": ("each",)},
)
