"""Declaration of the lesson "Text to numbers"."""

from __future__ import annotations

from itertools import product

from seqviz.compute.text.tokenization.cut import single_bytes
from seqviz.compute.text.tokenization.merges import learn
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Axis, ControlLight, Trace
from seqviz.lessons.text import tokenization, training_windows, vectors

lesson = Lesson("text", code=(learn,), core=("cutters", "merges", "ids", "map"))

cutters = lesson.bench("cutters", tokenization.CuttersParams, after=("merges",), leads=True)(
    tokenization.cutters
)
merges = lesson.bench("merges", tokenization.MergesParams, leads=True)(tokenization.merges)
prefixes = lesson.bench("ladder", tokenization.PrefixesParams)(tokenization.prefixes)
ids = lesson.bench("ids", training_windows.IdsParams)(training_windows.ids)
word_vectors = lesson.bench("map", vectors.MapParams)(vectors.word_vectors)
reading = lesson.bench("reading", vectors.ReadingParams)(vectors.reading)
neighbors = lesson.bench("neighbors", vectors.NeighborsParams)(vectors.neighbors)
windows = lesson.bench("windows", training_windows.WindowsOfTextParams)(training_windows.windows)

# Signs of one, two and three bytes.
WRITTEN = (
    "GPT 模型", "café", "π ≈ 3.14", "你好，世界", "BERT 与 RNN", "naïve", "8 点", "100 元", "σ = 2",
    "第 7 课", "词元 token", "今天很好",
)  # fmt: skip


# No letter three times in a row: the pairs in it overlap, and a reader may count them otherwise.
MERGED = (
    "hahaha", "lalalala", "mississippi", "abcabcab", "barbara", "tomtom", "couscous", "bonbon",
    "tartar", "beriberi", "chowchow", "testtest",
)  # fmt: skip


def count_tokens(text: str, merges: int) -> int:
    """Return the number of tokens of a text after merges that are learned from it."""
    return int(learn({text.encode(): 1}, merges).tokens[-1])


lesson.exercise(
    "merges",
    cases=[{"text": text, "merges": 2} for text in MERGED],
    answer=count_tokens,
    within=0.5,
)
lesson.check(
    "bytes", cases=[{"text": text} for text in WRITTEN],
    answer=lambda text: len(single_bytes(text).ids), within=0.5,
)  # fmt: skip
lesson.check(
    "analogy",
    cases=[
        {"king": 6, "crown": crown, "man": 5, "low": low, "woman": 1, "high": high}
        for crown, low, high in product((7, 8, 9), (1, 2), (3, 4))
    ],
    answer=lambda crown, low, high, **_: crown - low + high,
    within=0.5,
)

lesson.question("permuted", "ids")
lesson.question("analogy", "map", at={"view": "analogy"})
lesson.question("carried", "windows", at={"view": "memory"}, lights=[[2, 3], [4, 5], [2, 3, 4, 5]])

STRIPS = {"view": "strips"}
LETTERS = 7  # trace after those of the seven tokenizers
ENGLISH, CHINESE = "The weather is nice today.", "今天天气很好。"
lesson.step("cutters", "english", {**STRIPS, "text": ENGLISH}, [4, LETTERS])
lesson.step("cutters", "chinese", {**STRIPS, "text": CHINESE}, [4, LETTERS])
lesson.step("cutters", "wordpiece", {**STRIPS, "strip": "wordpiece"}, [3, LETTERS])

PAIRS = {"view": "frequent", "corpus": "reviews", "amount": "all"}
lesson.step("merges", "bytes", {**PAIRS, "merges": 0}, [2, 3, 4])
lesson.step("merges", "many", {**PAIRS, "merges": 1000}, [2, 3, 4])
FEW = {**PAIRS, "view": "compression", "amount": "20", "merges": 188}  # all that 20 reviews give
lesson.step("merges", "others", FEW, [0, 1])

lesson.step(
    "ids", "few", {"view": "permute", "permuted": 10}, [Trace("figure.permuted_many", "y3")]
)
lesson.step("ids", "neighbors", {"view": "window"}, [0, 1])

lesson.step("map", "near", {"view": "near"}, [0, 1])
lesson.step("map", "analogy", {"view": "analogy"}, [0, 1])
lesson.step("map", "classes", {"view": "classes"}, [0, 1])

lesson.step("ladder", "rare", {"word": "embeddings"}, [0, 1])
lesson.step("ladder", "frequent", {"word": "playing"}, [0])
lesson.step("ladder", "unknown", {"word": "good🙂"}, [0, 1])

SENSES = {"view": "many"}
ONE_SENSE = {"view": "one", "shared": "bank", "second_text": "They walked on the bank of a canal."}
lesson.step("reading", "last", {**SENSES, "layer": 6}, [2, 3, 4, 5])
lesson.step("reading", "unread", {**SENSES, "layer": 0}, [2, 3])
lesson.step("reading", "one_sense", ONE_SENSE, [2])

GOOD = {"view": "words", "method": "svd", "looked_up": "good", "narrow": 2, "wide": 10}
lesson.step("neighbors", "opposite", GOOD, [0])
lesson.step("neighbors", "listed", {"view": "list"}, ["figure.method_skipgram"])
lesson.step("neighbors", "reversed", {"view": "pairs"}, [0, 1, 2, 3])

COUNTED = {"view": "counts", "counted_by": "word", "min_freq": 1}
CARRIED = ("figure.carried_sequential", "figure.carried_random", "figure.carried_reset")
lesson.step("windows", "carried", {"view": "memory", "length": 10}, CARRIED)
lesson.step("windows", "longer", {"view": "memory", "length": 100}, CARRIED)
lesson.step("windows", "counted", COUNTED, ["figure.counted_held"])

lesson.equation(
    "cutters",
    "[r] = [n]/[N]",
    {
        "r": ("tokens_per_character", "{each:number}", ControlLight("strip")),
        "n": ("text_tokens", "{tokens:,}", ControlLight("strip")),
        "N": ("text_characters", "{characters:,}", ControlLight("text")),
    },
    when={"view": ("strips",)},
)
lesson.equation(
    "merges",
    "[c] ← [ab],  [m] = max count(ab)",
    {
        "c": ("merged_symbol", "{symbol}", ControlLight("merges")),
        "ab": ("merged_pair", "{pair}", 0),
        "m": ("pair_count", "{count:,}", Axis("x")),
    },
    when={"view": ("frequent",)},
)
lesson.equation(
    "ids",
    "[cos(u, v)] = u·v / (‖u‖ ‖v‖)",
    {"cos(u, v)": ("cosine", "{ids:number}", Axis("x2"), ControlLight("permuted"))},
    when={"view": ("permute",)},
)
lesson.equation(
    "map",
    "[x] = ([v_w] − [v_a])·(v_b − v_a) / ‖v_b − v_a‖^2",
    {
        "x": ("map_coordinate", "{x:number}", Axis("x")),
        "v_w": ("word_vector", "{word}", 0),
        "v_a": ("word_vector", "", ControlLight("across")),
    },
    when={"view": ("map",), "projection": ("axes",)},
)
lesson.equation(
    "map",
    "[cos(u, v)] = [u]·[v] / (‖u‖ ‖v‖)",
    {
        "cos(u, v)": ("cosine", "{top:number}", Axis("x")),
        "u": ("word_vector", "{word}", ControlLight("asked")),
        "v": ("word_vector", "", Axis("y")),
    },
    when={"view": ("near",)},
)
lesson.equation(
    "map",
    "[v] ≈ [v_a] − [v_b] + [v_c]",
    {
        "v": ("word_vector", "{answer.first}", Axis("y")),
        "v_a": ("word_vector", "{a}", ControlLight("question")),
        "v_b": ("word_vector", "{b}", ControlLight("question")),
        "v_c": ("word_vector", "{c}", ControlLight("question")),
    },
    when={"view": ("analogy",)},
)
