"""Declaration of the lesson "Attention heatmaps"."""

from __future__ import annotations

import numpy as np

from seqviz.compute.attention import patterns, scaled
from seqviz.lessons.attention import heads, interventions, worked_example
from seqviz.lessons.framework.lesson import Lesson
from seqviz.models import attention_hook

lesson = Lesson(
    "attention",
    code=(scaled.attend, attention_hook.attention, patterns.habits, patterns.rollout),
    core=("by_hand", "scale", "real", "ablate"),
)

by_hand = lesson.bench("by_hand", worked_example.WalkthroughParams)(worked_example.by_hand)
scale = lesson.bench("scale", worked_example.ScaleParams)(worked_example.scale)
real = lesson.bench("real", heads.PretrainedParams, leads=True)(heads.real)
ablate = lesson.bench("ablate", interventions.AblateParams, after=("real",))(interventions.ablate)
apart = lesson.bench("apart", heads.ApartParams, after=("real",))(heads.apart)
trials = lesson.bench("trials", heads.TryHeadsParams, after=("real",))(heads.trials)
mask = lesson.bench("masks", interventions.AttentionMaskParams, after=("real",))(interventions.mask)
bertviz = lesson.bench("bertviz", heads.BertvizParams, after=("real",))(heads.bertviz)

SCORES = ((8, 4, 16), (6, 3, 9), (10, 4, 4), (5, 5, 64), (2, 8, 36))


def first_weight(first: float, second: float, d_k: int) -> float:
    """Return the weight of the first of two keys with these scores."""
    return float(scaled.softmax(np.array([[first, second]]) / np.sqrt(d_k))[0, 0])


lesson.exercise(
    "weight",
    cases=[dict(zip(("first", "second", "d_k"), case, strict=True)) for case in SCORES],
    answer=first_weight,
    within=0.006,
)

lesson.sketch("scale", kind="curve", bench="scale", values={}, visible=(1, 3))

lesson.question(
    "multiply", "by_hand", veils=False,
    at={"stage": 7, "causal": True, "operator": "multiply", "query": 1, "key": 1},
)  # fmt: skip
lesson.question("pronoun", "real", at={"view": "head"}, also=("apart", "trials"))
lesson.question("ablate", "ablate", at={"view": "each"})
