"""Declaration of the lesson "GPT and decoding"."""

from __future__ import annotations

from itertools import product

import numpy as np

from seqviz.compute.gpt.draw import probabilities
from seqviz.compute.gpt.filtered import filtered
from seqviz.compute.gpt.filters import Chain, count_kept
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Axis, ControlLight
from seqviz.lessons.gpt import generation, next_token
from seqviz.lessons.gpt.client_payload import ANSWERS

lesson = Lesson("gpt", code=(filtered,), core=("scores", "steps", "futures", "likely"))

scores = lesson.bench(
    "scores",
    next_token.ScoresParams,
    leads=True,
    answers=ANSWERS,
    replicate=next_token.class_surprise,
)(next_token.scores)
steps = lesson.bench("steps", next_token.GenerationParams, after=("scores",))(next_token.steps)
draws = lesson.bench(
    "draws", next_token.DrawsParams, after=("scores",), replicate=next_token.class_shares
)(next_token.draws)
futures = lesson.bench("futures", generation.FuturesParams)(generation.futures)
likely = lesson.bench("likely", generation.LikelyParams)(generation.likely)
again = lesson.bench("again", generation.AgainParams)(generation.again)
shots = lesson.bench("shots", generation.ShotsParams)(generation.shots)
cost = lesson.bench("cost", generation.CostParams)(generation.cost)

PERCENTS = ("50, 20, 15, 10, 5", "40, 30, 20, 10", "30, 30, 20, 15, 5", "60, 30, 10")


def ratio_at(ratio: float, temperature: float) -> float:
    """Return the ratio of two probabilities at a temperature, given that at 1."""
    scores = Chain(temperature=float(temperature))(np.log([ratio, 1.0]), ())
    first, second = probabilities(scores)
    return float(first / second)


def count_in_nucleus(percents: str, top_p: int) -> int:
    """Return how many of the tokens with these probabilities top-p keeps; all in percent."""
    scores = np.log([float(part) for part in percents.split(", ")])
    return count_kept(Chain(top_p=top_p / 100)(scores, ()))


# Tokens of the prompt, tokens written.
LENGTHS = (
    (5, 20), (10, 10), (8, 4), (20, 5), (3, 12), *product((4, 6, 12, 30), (6, 8, 15))
)  # fmt: skip

lesson.exercise(
    "readings",
    cases=[{"prompt": prompt, "written": count} for prompt, count in LENGTHS],
    answer=generation.read_anew,
    within=0.5,
)
lesson.check(
    "ratio",
    cases=[{"ratio": r, "temperature": t} for r, t in product((4, 9, 16, 2), (0.5, 2, 4))],
    answer=ratio_at,
    share=0.02,
)
lesson.check(
    "nucleus",
    cases=[{"percents": text, "top_p": p} for text, p in product(PERCENTS, (55, 75, 92))],
    answer=count_in_nucleus,
    within=0.5,
)

# The result is shipped, so the page needs no model.
lesson.sketch(
    "coin", kind="curve", bench="shots", values={"condition": "random"}, answer=(3, 4),
)  # fmt: skip

lesson.question("greedy", "futures")
lesson.question("human", "likely")
lesson.question("again", "again", lights=[[Axis("y", None, 50)], [0], [Axis("y", 95)]])
lesson.question("shots", "shots")

lesson.step("scores", "cold", {"temperature": 0.3, "top_p": 1.0}, [1, "figure.scores_drawn"])
lesson.step("scores", "hot", {"temperature": 1.5, "top_p": 1.0}, [1, "figure.scores_drawn"])
lesson.step("scores", "nucleus", {"temperature": 1.0, "top_p": 0.5}, [0, 1])

lesson.step("steps", "sampled", {"way": "sampled"}, [0, 1])
lesson.step("steps", "replace", {"way": "greedy", "rank": 2}, [0])

lesson.step("futures", "few", {"shown": 8}, ["figure.future_best", "figure.future_greedy"])
lesson.step("futures", "many", {"shown": 40}, ["figure.future_best", "figure.future_node"])

lesson.step("draws", "many", {"count": 5000}, [0, 1])
lesson.step("draws", "few", {"count": 10}, [0, 1])

# Traces: 1 a person, 3 greedy, 5 beam search, 7 top-p, 9 T = 1, 11 T = 1.5; then the means.
MEANS = 12
lesson.step("likely", "beam", {"method": "beam"}, [1, 5, MEANS])
lesson.step("likely", "plain", {"method": "plain"}, [1, 9, MEANS])
lesson.step("likely", "hot", {"method": "hot"}, [1, 11, MEANS])

LOOP = {"view": "loop", "opening": generation.AGAIN, "penalty": 1.0}
lesson.step("again", "loop", LOOP, [0])
lesson.step("again", "second", {"view": "copies", "copies": 2, "penalty": 1.0}, [0])
lesson.step("again", "penalty", {"view": "copies", "penalty": 1.3}, [0, 1])

RIGHT = "figure.shots_right_labels"
lesson.step(
    "shots", "coin", {"view": "many", "condition": "random"}, [RIGHT, "figure.shots_random"]
)
lesson.step(
    "shots", "layout", {"view": "many", "condition": "other"}, [RIGHT, "figure.shots_other"]
)
WITHOUT = {"view": "one", "instruction": "none", "amount": 0, "layout": "plain"}
lesson.step("shots", "without", WITHOUT, [0, 1])

lesson.step("cost", "long", {"view": "time", "written": 200}, [6])
lesson.step("cost", "summary", {"view": "summary"}, ["figure.loss_carries", "figure.loss_mean"])
lesson.step("cost", "sizes", {"view": "sizes"}, [0])

lesson.equation(
    "scores",
    "[p_i] = exp([s_i]/[T]) / Σ_j exp(s_j/T)",
    {
        "p_i": ("token_probability", "", 1),
        "s_i": ("token_score", "", Axis("y")),
        "T": ("softmax_temperature", "{temperature:g}", ControlLight("temperature")),
    },
)
lesson.equation(
    "steps",
    "[b] = −log_2 [p(y_t | y_1 … y_{t−1})]",
    {
        "b": ("surprise_bits", "{own_bits:number}", Axis("x2")),
        "p(y_t | y_1 … y_{t−1})": ("continued_probability", "{own:fine}", 0, ControlLight("step")),
    },
)
lesson.equation(
    "futures",
    "[p(y | x)] = Π_t p([y_t] | x, y_1 … y_{t−1})",
    {
        "p(y | x)": ("text_probability", "{best:fine}", "figure.future_best"),
        "y_t": ("generated_token", "", ControlLight("length")),
    },
)
lesson.equation(
    "likely",
    "[b] = −1/n Σ_t log_2 [p(y_t | y_1 … y_{t−1})]",
    {
        "b": ("surprise_bits", "{facts.method.mean:number}", MEANS),
        "p(y_t | y_1 … y_{t−1})": ("continued_probability", "", ControlLight("method")),
    },
)
