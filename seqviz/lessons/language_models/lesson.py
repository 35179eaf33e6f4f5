"""Declaration of the lesson "Language models"."""

from __future__ import annotations

from functools import partial
from itertools import product as combinations
from math import fsum

import numpy as np

from seqviz.compute.language_models.ngrams import NgramModel, add_k, fit, witten_bell
from seqviz.compute.language_models.word_orders import bits_of
from seqviz.experiments.language_models.corpora import LEVELS
from seqviz.experiments.language_models.corpora import counts as counts_of
from seqviz.experiments.language_models.window import SEEDS
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Axis, ControlLight
from seqviz.lessons.language_models import both_sides, compared, counted, window_network

lesson = Lesson(
    "language_models",
    code=(fit, NgramModel),
    core=("product", "counts", "ladder", "writing"),
    warm_up=tuple(partial(counts_of, *kind) for kind in combinations(("en", "zh"), LEVELS)),
)

product = lesson.bench("product", counted.ProductParams)(counted.product)
counts = lesson.bench("counts", counted.CountsParams)(counted.counts)
ladder = lesson.bench("ladder", compared.LadderParams)(compared.rank)
writing = lesson.bench("writing", compared.WritingParams, replicate=compared.class_copying)(
    compared.write
)
windows = lesson.bench("window", window_network.WindowParams)(window_network.windows)
sides = lesson.bench("sides", both_sides.SidesParams)(both_sides.read_sides)

COUNTED = (
    (4, 11, 6, 0.02), (0, 11, 6, 0.05), (3, 20, 10, 0.1), (1, 5, 5, 0.2), (0, 30, 10, 0.01),
    *combinations((0, 2, 5), (12, 40), (8,), (0.03, 0.3)),
)  # fmt: skip
lesson.exercise(
    "smoothed",
    cases=[dict(zip(("count", "total", "kinds", "below"), case, strict=True)) for case in COUNTED],
    answer=witten_bell,
    share=0.02,
)

FACTORS = (
    (2, 4, 8), (4, 4, 16), (2, 16, 32), (10, 20, 5), (3, 6, 12), (8, 8, 2), (50, 2, 4),
    (100, 10, 10), (6, 6, 6), (7, 14, 28), (5, 25, 125), (64, 2, 16),
)  # fmt: skip
lesson.check(
    "bits",
    cases=[dict(zip(("first", "second", "third"), case, strict=True)) for case in FACTORS],
    answer=lambda first, second, third: fsum(bits_of(1 / np.array([first, second, third]))),
    share=0.02,
)
lesson.check(
    "add_one",
    cases=[{"count": count, "total": total, "symbols": symbols}
           for count, total, symbols in combinations((0, 2, 9), (20, 100), (500, 5000))],
    answer=add_k,
    share=0.02,
)  # fmt: skip

lesson.sketch("ladder", kind="curve", bench="ladder", values={}, answer=(2,), visible=(3,))

lesson.question("alone", "product", at={"n": 1})
lesson.question("impossible", "counts")
lesson.question("add_one", "counts", at={"n": 3, "smoothing": "add_k"})
lesson.question("cheaper", "ladder")
lesson.question("copied", "writing")

TURNED = {"sentence": "", "order": counted.WORDS[::-1]}
ORDERS = "figure.orders_orders"
lesson.step("product", "reversed", {**TURNED, "n": 2}, [0, "figure.orders_this"])
lesson.step("product", "alone", {**TURNED, "n": 1}, [0, ORDERS])

FOLLOWERS = {"view": "followers", "level": "words"}
lesson.step("counts", "letters", {**FOLLOWERS, "n": 1, "smoothing": "none"},
            ["figure.followers_sentences"])  # fmt: skip
lesson.step("counts", "smoothed", {**FOLLOWERS, "n": 3, "smoothing": "kneser_ney"}, [1, 2])
lesson.step("counts", "lower", {"view": "lower"}, [0, 1])

RULER = {"view": "models"}
lesson.step("ladder", "short", {**RULER, "measured_on": "en", "n": 3}, ["figure.ruler_compared"])
lesson.step("ladder", "decoder", {**RULER, "measured_on": "en", "n": 6, "against": "smollm2"},
            ["figure.ruler_compared"])  # fmt: skip
lesson.step("ladder", "chinese", {**RULER, "measured_on": "zh", "n": 6}, ["figure.ruler_compared"])

lesson.step("writing", "single", {"n": 1, "temperature": "plain"}, [0])
lesson.step("writing", "cold", {"n": 6, "temperature": "cool"}, [0])

lesson.step("window", "decoder", {"view": "distance", "reader": "smollm2", "inserted": 12},
            ["figure.verb_smollm2"])  # fmt: skip
lesson.step("window", "blocks", {"view": "blocks", "seeds": SEEDS}, [0, 1])
lesson.step("window", "next", {"view": "next", "read": "", "place": 4}, [0])

lesson.step("sides", "shuffled", {"view": "gap", "filler": "both", "shuffled": True},
            ["figure.sides_shuffled"])  # fmt: skip
lesson.step("sides", "left", {"view": "gap", "filler": "left"}, ["figure.sides_left"])
lesson.step("sides", "long", {"view": "cost", "length": 64}, ["figure.sides_write"])

CONTEXT = ("ngram_context", "n = {n}", ControlLight("n"))
lesson.equation(
    "product",
    "[B] = −Σ_t log_2 p([w_t] | [c])",
    {
        "B": ("sentence_bits", "{bits:number}", "figure.orders_this"),
        "w_t": ("ngram_symbol", "", ControlLight("order"), 0),
        "c": CONTEXT,
    },
)
lesson.equation(
    "counts",
    "[p(w | c)] = [N(cw)] / [N(c)]",
    {
        "p(w | c)": ("word_probability", "{chance:number}", Axis("x")),
        "N(cw)": ("follower_count", "", 0, ControlLight("follower")),
        "N(c)": ("context_count", "{seen:,}", ControlLight("context"), ControlLight("n")),
    },
    when={"view": ("followers",), "smoothing": ("none",)},
)
lesson.equation(
    "counts",
    "[p(w | c)] = [α(w | c)] + [γ(c) p(w | c′)]",
    {
        "p(w | c)": ("word_probability", "{chance:number}", ControlLight("smoothing")),
        "α(w | c)": ("own_count_share", "", 2),
        "γ(c) p(w | c′)": ("shorter_context_share", "", 1),
    },
    when={
        "view": ("followers",),
        "smoothing": ("witten_bell", "kneser_ney", "modified_kneser_ney"),
    },
)
lesson.equation(
    "ladder",
    "[H] = −1/M Σ_t log_2 p(x_t | [c])",
    {
        "H": ("cross_entropy_rate", "{bits.mean:number}", Axis("y")),
        "c": CONTEXT,
    },
    when={"view": ("models",)},
)
lesson.equation(
    "ladder",
    "[H] = −1/M Σ_t log_2 p(x_t | [c])",
    {
        "H": ("cross_entropy_rate", "{last.mean:number}", Axis("y")),
        "c": CONTEXT,
    },
    when={"view": ("amount",)},
)
lesson.equation(
    "writing",
    "[x_t] ∼ p(x | [c])^{1/T}",
    {
        "x_t": ("ngram_symbol", "", ControlLight("temperature")),
        "c": (*CONTEXT, Axis("x")),
    },
)
