"""Declaration of the lesson "Language models"."""

from __future__ import annotations

from itertools import product as combinations
from math import fsum

import numpy as np

from seqviz.compute.language_models.ngrams import add_k, fit, witten_bell
from seqviz.compute.language_models.word_orders import bits_of
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.language_models import compared, counted, window_network

lesson = Lesson("language_models", code=(fit,), core=("product", "counts", "ladder", "writing"))

product = lesson.bench("product", counted.ProductParams)(counted.product)
counts = lesson.bench("counts", counted.CountsParams)(counted.counts)
ladder = lesson.bench("ladder", compared.LadderParams)(compared.rank)
writing = lesson.bench("writing", compared.WritingParams)(compared.write)
windows = lesson.bench("window", window_network.WindowParams)(window_network.windows)

COUNTED = (
    (4, 11, 6, 0.02), (0, 11, 6, 0.05), (3, 20, 10, 0.1), (1, 5, 5, 0.2), (0, 30, 10, 0.01),
    *combinations((0, 2, 7), (12, 40), (8,), (0.03, 0.3)),
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

lesson.question("alone", "product", at={"n": 1})
lesson.question("impossible", "counts")
lesson.question("cheaper", "ladder")
lesson.question("copied", "writing")

TURNED = {"sentence": "", "order": counted.WORDS[::-1]}
ORDERS = "figure.orders_orders"
lesson.step("product", "reversed", {**TURNED, "n": 2}, [0, ORDERS])
lesson.step("product", "alone", {**TURNED, "n": 1}, [0, ORDERS])

FOLLOWERS = {"view": "followers"}
lesson.step("counts", "letters", {**FOLLOWERS, "n": 1, "smoothing": "none"},
            ["figure.followers_sentences"])  # fmt: skip
lesson.step("counts", "smoothed", {**FOLLOWERS, "n": 3, "smoothing": "kneser_ney"}, [1, 2])
lesson.step("counts", "lower", {"view": "lower"}, [0, 1])

lesson.step("ladder", "short", {"measured_on": "en", "n": 3}, ["figure.ruler_compared"])
lesson.step("ladder", "decoder", {"measured_on": "en", "n": 6, "against": "smollm2"},
            ["figure.ruler_compared"])  # fmt: skip
lesson.step("ladder", "chinese", {"measured_on": "zh", "n": 6}, ["figure.ruler_compared"])

lesson.step("writing", "single", {"n": 1, "temperature": "plain"}, [0])
lesson.step("writing", "cold", {"n": 6, "temperature": "cool"}, [0])

lesson.step("window", "decoder", {"view": "distance", "reader": "smollm2", "inserted": 12},
            ["figure.verb_smollm2"])  # fmt: skip
lesson.step("window", "blocks", {"view": "blocks"}, [0, 1])
