"""Declaration of the lesson "Masked or not"."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from seqviz.compute.bert_accuracy import corruption, counting
from seqviz.experiments.bert_accuracy import heads
from seqviz.lessons.bert_accuracy import attended_tokens, fine_tuning, masked_tokens, systems
from seqviz.lessons.bert_accuracy.encoders import FILMS
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Axis, ControlLight, Trace
from seqviz.stats import proportions
from seqviz.stats.estimate import share_ci

lesson = Lesson(
    "bert_accuracy",
    core=("guess", "knife", "padding", "looks"),
    code=(share_ci, proportions.mcnemar, corruption.select, heads.fit),
)

guess_token = lesson.bench("guess", masked_tokens.GuessParams)(masked_tokens.guess_token)
masking = lesson.bench("knife", masked_tokens.MaskedParams)(masked_tokens.masking)
padded = lesson.bench("padding", attended_tokens.PadsParams)(attended_tokens.padded)
directions = lesson.bench("looks", attended_tokens.DirectionsParams)(attended_tokens.directions)
fill_in = lesson.bench("fill", masked_tokens.FillParams)(masked_tokens.fill_in)
head = lesson.bench("heads", fine_tuning.HeadsParams, replicate=fine_tuning.class_heads)(
    fine_tuning.head
)
tune = lesson.bench("tune", fine_tuning.TuneParams)(fine_tuning.tune)
count = lesson.bench("count", fine_tuning.CountParams)(fine_tuning.count)
find_settings = lesson.bench("search", fine_tuning.SearchParams)(fine_tuning.find_settings)
both_modes = lesson.bench("modes", fine_tuning.ModesParams)(fine_tuning.both_modes)
compare = lesson.bench("compare", systems.CompareParams)(systems.compare)

# Tokens, percent: a whole number of tokens is replaced.
REPLACED = (
    (400, 15), (200, 15), (1000, 15), (500, 40), (2000, 30),
    *product((600, 800, 1200, 1600), (10, 15, 20)),
)  # fmt: skip
# Accuracies in percent, whole, masked and with the head trained on [MASK] too: the shift is a whole
# percentage of the loss.
FALLS = (
    (80, 55, 70), (80, 50, 65), (78, 58, 73), (84, 60, 78), (90, 65, 80), (75, 55, 71),
    (82, 57, 72), (88, 58, 79), (76, 56, 65), (85, 60, 70), (79, 54, 74),
)  # fmt: skip


def replaced(tokens: int, share: int) -> float:
    """Return the number of tokens that BERT's training replaces by another token.

    Args:
        tokens: number of tokens.
        share: selected tokens, in percent.
    """
    return tokens * share / 100 * 0.1


def trained_in_head(width: int, classes: int) -> int:
    """Return the number of trained parameters where only the classifier is trained."""
    sizes = replace(counting.MINILM, width=width, classes=classes)
    return counting.count(sizes, "head").trainable


def shift(unmasked: int, masked: int, adapted: int) -> float:
    """Return the part of the loss of accuracy that a head trained on [MASK] too recovers.

    Args:
        unmasked: accuracy with nothing masked, in percent.
        masked: accuracy with masked words.
        adapted: accuracy of the other head with masked words.

    Returns:
        The part, in percent.
    """
    return 100 * (adapted - masked) / (unmasked - masked)


lesson.exercise(
    "replaced",
    cases=[{"tokens": tokens, "share": share} for tokens, share in REPLACED],
    answer=replaced,
    within=0.01,
)

lesson.exercise(
    "shift",
    cases=[dict(zip(("unmasked", "masked", "adapted"), fall, strict=True)) for fall in FALLS],
    answer=shift,
    within=0.5,
)
lesson.check(
    "classifier",
    cases=[{"width": d, "classes": k} for d, k in product((128, 256, 384, 768), (2, 3, 5))],
    answer=trained_in_head,
    within=0.5,
)

lesson.sketch("rate", kind="cell", bench="search", values={})

lesson.question(
    "half", "knife", at={"share": 50}, also=("compare",),
    lights=[[Axis("y", 75, 75)], [Axis("y", 65, 65)], [Axis("y", 55, 55)]],
)  # fmt: skip
lesson.question("padding", "padding", also=("compare",))
lesson.question("direction", "looks", also=("compare",), lights=[[1], [9], [1, 9]])
lesson.question(
    "rate", "heads", at={"feature": "pooler", "head_rate": 1e-5, "texts": True}, also=("compare",)
)

lesson.step("guess", "word", {"text": FILMS, "place": 2}, [0])
lesson.step("guess", "replaced", {"text": FILMS, "place": 6}, [0, 1])

lesson.step("knife", "half", {"view": "class", "share": 50}, [0])
ALL = {"view": "class", "share": 50, "all_lines": True}
lesson.step("knife", "controls", ALL, [5, 6])  # deleted, adapted
lesson.step("knife", "own", {"view": "own"}, [0])

lesson.step("padding", "long", {"view": "accuracy", "length": 256}, [0, 2])
lesson.step("padding", "attention", {"view": "on_pads"}, [0, 2])
lesson.step("padding", "left", {"view": "accuracy", "side": "left"}, [0, 1])

lesson.step("looks", "cls", {"view": "class", "feature": "cls"}, [0, 1])
lesson.step("looks", "own", {"view": "own"}, [0, 1, 2])

lesson.step("fill", "few", {"view": "share", "selected": 5}, [0])
lesson.step("fill", "many", {"view": "share", "selected": 80}, [0])

lesson.step("heads", "rate", {"feature": "pooler", "head_rate": 1e-5}, [Trace(18, "y2")])
lesson.step("heads", "cls", {"feature": "cls"}, [Trace(18, "y2")])

lesson.step("tune", "lora", {"regime": "lora"}, [Trace(3, "y2")])
lesson.step("tune", "top", {"regime": "top"}, [Trace(3, "y2")])

lesson.step("count", "lora", {"regime": "lora"}, [0])
lesson.step("count", "all", {"regime": "all"}, [0])

# The last one names what no other names, so that the results of all three are shipped ones.
SHIPPED = {"budget": 12, "feature": "mean", "seed": 0}
lesson.step("search", "race", {"view": "race"}, [2, 5, 8])
lesson.step("search", "grid", {"method": "grid"}, [2, 3])
lesson.step("search", "random", {**SHIPPED, "method": "random"}, [2, 3])

CLEAR = "A wonderful, moving film."
lesson.step("modes", "many", {"repeats": 50}, [1, 2])
lesson.step("modes", "clear", {"text": CLEAR}, [2])

lesson.step("compare", "paired", {"view": "paired", "sentences": 2000}, [0])
lesson.step("compare", "hundred", {"view": "paired", "sentences": 100}, [0])

lesson.equation(
    "guess",
    "[p_i] = softmax_i((E + D) u([h]) + d)",
    {
        "p_i": ("masked_token_probability", "{best}: {chance:percent}", 0),
        "h": ("token_vector", "", ControlLight("place")),
    },
)
COUNTED = ("sentences", "{sentences:,}", ControlLight("sentences"))
lesson.equation(
    "knife",
    "[p̂] = 1/[n] Σ_i 1(ŷ_i = y_i)",
    {
        "p̂": ("accuracy", "{accuracy_here.mean:percent}", Axis("y")),
        "n": COUNTED,
    },
    when={"view": ("class",)},
)
lesson.equation(
    "padding",
    "[α_{ij}] = softmax_j(q_i·k_j / √d_k + [M_j])",
    {
        "α_{ij}": ("attention_weight", "", Axis("y")),
        "M_j": ("mask", "", ControlLight("length")),
    },
    when={"view": ("on_pads",)},
)
lesson.equation(
    "padding",
    "[p̂] = 1/[n] Σ_i 1(ŷ_i = y_i)",
    {
        "p̂": ("accuracy", "{told.mean:percent}", 0),
        # Long paddings are computed for fewer sentences than the control says.
        "n": ("sentences", "{told.n:,}", ControlLight("length"), ControlLight("sentences")),
    },
    when={"view": ("accuracy",)},
)
lesson.equation(
    "looks",
    "[p̂] = 1/[n] Σ_i 1(ŷ_i = y_i)",
    {"p̂": ("accuracy", "{task}: {both.mean:percent}", 0), "n": COUNTED},
    when={"view": ("class",)},
)
