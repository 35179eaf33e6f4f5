"""The questions of the lesson on attention, answered by its own benches where they point."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from seqviz.compute.attention import hand_set
from seqviz.compute.attention.saturation import saturation
from seqviz.core.i18n import Text, number, percent
from seqviz.core.units import unbroken
from seqviz.experiments import attention
from seqviz.lessons.attention.heads import ENCODER_TEXT
from seqviz.lessons.attention.lesson import lesson
from seqviz.lessons.framework.model_controls import MODELS
from seqviz.models import forward_cache

pytestmark = pytest.mark.usefixtures("minilm")

LEAK = {"stage": 7, "causal": True, "operator": "multiply"}
WIDE = ENCODER_TEXT.replace("tired", "wide")


def run(bench: str, language: str = "en", **values: object):
    from seqviz.plotting.style import LIVE, Style

    return lesson.benches[bench].run(values, style=Style(LIVE, language))


def reveals(name: str) -> tuple[list[str], int, list[str]]:
    """The options in English, the right one, and what is said in both languages."""
    texts = Text("en"), Text("zh")
    answers = {int(text(f"attention.predict.{name}.answer")) for text in texts}
    assert len(answers) == 1
    messages = [text(f"attention.predict.{name}.reveal") for text in texts]
    return texts[0].items(f"attention.predict.{name}.options"), answers.pop(), messages


def quoted(messages: list[str], numbers: dict[str, str]) -> None:
    """Both languages quote these numbers and no other decimals."""
    for sentence in messages:
        decimals = set(re.findall(r"−?\d+\.\d+", sentence)) - {"3.1", "5.11"}
        assert decimals == {value.removesuffix("%") for value in numbers.values()}, sentence


def test_multiply_answer_matches_leaked_weight():
    options, answer, message = reveals("multiply")
    shares = {
        word: float(run("features", **LEAK, key=key).readouts["weight"].value)
        for key, word in enumerate(hand_set.WORDS, 1)
    }
    # "it" gives e to the 3 to "animal", e to the 1 to "street", and e to the 0 to the other six
    zero = 1 / (math.e**3 + math.e + 6)
    assert shares["hurried"] == shares["the"] == pytest.approx(zero, abs=5e-5)
    assert options[answer] == "As much as any word whose score is 0"
    assert shares["animal"] == max(shares.values())
    first = {key: float(run("features", **LEAK, query=1, key=key).readouts["weight"].value)
             for key in (1, 8)}  # fmt: skip
    assert first[1] == first[8] > 0  # so a later word may get no less than the word itself
    notes = run("features", **LEAK).notes
    (leak,) = [found for note in notes for found in re.findall(r"average ([\d.]+%)", note)]
    quoted(message, {"later": number(zero), "leak": leak})


def test_features_open_on_largest_weight_of_the_pronoun():
    """In both views. The trained head is none that answers the question on the pronoun."""
    for view, words, keys in (("hand", "it · animal", 8), ("trained", "it · because", 12)):
        shown = run("features", view=view, stage=7).readouts
        rows = [run("features", view=view, stage=7, key=key).facts["weight"]
                for key in range(1, keys + 1)]  # fmt: skip
        assert shown["score"].caption == words
        assert float(shown["weight"].value) == pytest.approx(max(rows), rel=1e-3)
        assert max(rows) > 0.6
    basic = run("features", stage=2).readouts
    assert float(basic["score"].value) == 0  # a word alone cannot look for another


def test_features_score_is_the_sum_that_the_headline_writes():
    figure = run("features", stage=4, key=5).figure
    assert "2×1" in figure.alt
    assert run("features", stage=4, key=5).readouts["score"].value == "2.000"
    assert "6×1+0×0" in run("features", stage=4, head=1, query=3, key=2).figure.alt.replace(" ", "")


def weight(text: str, layer: int, head: int, key: int) -> str:
    """Of the query "it" at its place on the page, as a read-out of the head taken apart."""
    above = {"real.encoder": text, "real.layer": layer, "real.head": head}
    visible = run("apart", query=10, key=key, **above)
    return number(float(visible.readouts["weight"].value))


def test_pronoun_answer_matches_head_counts():
    options, answer, message = reveals("pronoun")
    result = forward_cache.read("minilm", ENCODER_TEXT)
    assert [result.tokens.pieces[position] for position in (9, 2, 7)] == ["it", "animal", "street"]
    mostly = int((result.weights[:, :, 9, 2] > 0.5).sum())
    assert options[answer] == "Yes, in a few heads"
    assert mostly == 2
    followed = float(run("trials").readouts["followed"].value.removesuffix("%"))
    counts = [mostly, result.weights[:, :, 0, 0].size, 24, round(24 * followed / 100)]
    assert counts == [2, 72, 24, 4]
    for sentence in message:
        assert all(re.search(rf"\b{count}\b", sentence) for count in counts)
    quoted(message, {
        "a": weight(ENCODER_TEXT, 3, 1, 3), "b": weight(ENCODER_TEXT, 5, 11, 3),
        "c": weight(WIDE, 3, 1, 3), "d": weight(WIDE, 3, 1, 8),
    })  # fmt: skip


def test_ablate_answer_matches_head_and_layer_ablation():
    options, answer, message = reveals("ablate")
    each = run("ablate", view="each")
    change = attention.ablate("minilm", ENCODER_TEXT, "", ((5, 11),))
    largest = each.readouts["worth"].value
    assert number(1 - change.sentence) == largest
    (median,) = re.findall(r"median of 72 heads is ([\d.]+)", each.notes[0])
    assert options[answer] == "It hardly changes"
    assert float(median) < 0.01
    layers = [
        float(run("ablate", off=" ".join(f"{n}.{h}" for h in range(12))).readouts["sentence"].value)
        for n in range(6)
    ]
    others = [value for n, value in enumerate(layers) if n != 5]
    quoted(message, {
        "largest": largest, "median": median,
        "last": number(1 - layers[5]), "most": f"{1 - min(others):.2g}",
    })  # fmt: skip


def test_weight_exercise_accepts_hint_formula():
    exercise = lesson.exercises["weight"]
    for variant in range(5):
        case, answer, within = exercise.variant_of(variant)
        divided = [case[name] / case["d_k"] ** 0.5 for name in ("first", "second")]
        powers = [math.e**score for score in divided]
        assert abs(round(powers[0] / sum(powers), 2) - answer) <= within


# --- sentences are made of the numbers -----------------------------------------------------------

SENTENCES = [
    ("features", {"stage": 7}, {"stage": 7, "causal": True}),
    ("features", {"stage": 5}, {"stage": 5, "head": 1, "query": 3}),
    ("features", {"stage": 5, "view": "trained"}, {"stage": 5, "view": "trained", "layer": 5}),
    ("features", {"stage": 5, "scale": "none"}, {"stage": 5, "temperature": 2.0}),
    ("by_hand", {"stage": 8}, {"stage": 8, "temperature": 0.1}),
    (
        "by_hand",
        {"stage": 9, "order": "reversed"},
        {"stage": 9, "order": "reversed", "causal": True},
    ),
    (
        "by_hand",
        {"stage": 9, "scale": "d"},
        {"stage": 9, "scale": "d", "heads": 4, "width": "split"},
    ),
    ("by_hand", {"stage": 3, "heads": 2}, {"stage": 3, "heads": 8}),
    ("scale", {}, {"size": "big"}),
    ("real", {}, {"layer": 5, "head": 11}),
    ("real", {"view": "head"}, {"view": "head", "by": "value"}),
    ("real", {"view": "mean"}, {"view": "mean", "query": 3}),
    ("real", {"view": "rollout"}, {"view": "rollout", "layer": 5}),
    ("real", {"view": "heads"}, {"view": "heads", "measure": "distance"}),
    ("apart", {}, {"key": 1}),
    ("apart", {"view": "chain"}, {"view": "chain", "by": "value"}),
    ("trials", {}, {"layer": 5, "head": 11}),
    ("trials", {"view": "previous"}, {"view": "repeated"}),
    ("masks", {"kind": "window"}, {"kind": "strided"}),
    ("masks", {}, {"kind": "reverse"}),
    ("ablate", {}, {"off": ""}),
    ("ablate", {"view": "both"}, {"view": "both", "off": "3.1"}),
]


@pytest.mark.parametrize(("bench", "one", "other"), SENTENCES)
def test_note_changes_with_numbers(bench, one, other):
    for language in ("en", "zh"):
        messages = [run(bench, language, **values).notes for values in (one, other)]
        assert messages[0], bench
        assert messages[0] != messages[1]


def test_real_note_reports_unknown_tokens():
    for language in ("en", "zh"):
        text = Text(language)
        quiet = run("real", language)
        assert text("attention.note.tokens", count=15, unknown=0) in " ".join(quiet.notes)
        loud = run("real", language, encoder="猫追老鼠，因为它饿了。")
        assert text("reading.unknown_tokens", unknown=9, all=11) in loud.notes
        named = text("attention.control.encoder.help")
        if language == "zh":  # the sentence that the help says can be read
            (sentence,) = re.findall("“(.*?)”", named)
            visible = run("real", language, encoder=sentence)
            assert text("attention.note.tokens", count=12, unknown=0) in " ".join(visible.notes)


def test_ablate_default_head_exists_in_every_model_and_has_effect():
    layer, head = map(int, lesson.benches["ablate"].declaration().off.split("."))
    assert layer < min(record.layers for record in MODELS.values() if record.layers)
    assert head < min(record.heads for record in MODELS.values() if record.heads)
    assert float(run("ablate").readouts["furthest"].value) > 0.02


def test_note_reads_naturally_at_control_ends():
    """Less than half is not most, a word is not named twice, and a share has no minus."""
    own = run("real", view="rollout", layer=0).notes[0]
    assert own.endswith("The largest part of “it”, 52.8%, would come from itself.")
    assert "most" not in run("real", view="mean").notes[0]
    assert run("apart", key=1, by="value").notes[1].count("The value of") == 1
    assert run("apart", key=3, by="value").notes[1].count("The value of") == 2
    for head in ({"layer": 0, "head": 2}, {"layer": 0, "head": 0}):
        visible = run("trials", view="repeated", **head)
        assert "−" not in visible.notes[0] + visible.readouts["tried"].caption
    assert "99.6%" in run("masks", kind="none", cells="1.1").notes[0]
    assert unbroken("dₖ = 1.") in run("by_hand", stage=5, d_k=1).notes[0]
    assert "Divided by 1," in run("by_hand", stage=5, scale="none").notes[0]
    assert "stay as they are" in run("by_hand", stage=5, scale="none").notes[0]
    assert "goes from" in run("by_hand", stage=5).notes[0]
    assert "(bits)" in run("real", view="heads", measure="entropy").notes[0]
    assert "the largest of this query" in run("apart", view="chain").notes[0]
    assert "that of “animal”" in run("apart", view="chain", key=4).notes[0]


@pytest.mark.usefixtures("smollm2")
def test_real_note_handles_single_token():
    for language in ("en", "zh"):
        sentence = run("real", language, model="smollm2", decoder="The").notes[0]
        assert sentence == Text(language)("attention.note.mosaic.alone", first="The", heads=270)


def test_variance_readout_matches_softmax_input():
    """The read-out and the sentence: q · k divided by the temperature, and nothing else."""
    visible = run("scale", quantity="variance", temperature=5.0)
    assert float(visible.readouts["variance"].value) == pytest.approx(64 / 25, rel=0.15)
    assert visible.notes[0].endswith("Theory, not divided: 2.56.")


def test_reverse_mask_includes_own_token():
    tokens = 15
    visible = run("masks", kind="reverse").notes[0]
    assert f" {tokens * (tokens + 1) // 2} of {tokens**2} cells" in visible
    assert "自己" in Text("zh")("attention.option.kind.reverse")


def test_masks_note_ignores_rounding():
    """Padding that the model is told about moves tokens by 1e-13."""
    payload = run("masks", kind="own", pads=8)
    assert payload.notes[0].startswith("Nothing has changed.")
    assert (payload.readouts["furthest"].value, payload.readouts["furthest"].caption) == ("0", None)
    assert "on_pads" in payload.readouts
    assert "on_pads" not in run("masks", kind="own").readouts
    assert "Nothing" not in run("masks", kind="own", pads=8, told=False).notes[0]


def test_note_names_repeated_token_with_position():
    visible = run("masks")
    assert "“the” (token 2)" in visible.notes[0] or "“the” (token 7)" in visible.notes[0]
    assert "“because” moves" in run("ablate").notes[0]


@pytest.mark.parametrize("quantity", ["entropy", "largest", "gradient", "variance"])
def test_scale_note_matches_displayed_quantity(quantity):
    result = saturation()
    written = percent if quantity == "largest" else number
    row = getattr(result, quantity)[:, result.d_k == 64].ravel()
    for language in ("en", "zh"):
        sentence = run("scale", language, quantity=quantity).notes[0]
        for value in row:
            assert written(float(value)) in sentence
    assert ("6.25%" in sentence) == (quantity == "largest")


def test_mosaic_value_norm_is_small_for_first_token():
    """The prose: much weight on [CLS], little of the values."""
    result = attention.mosaic("minilm", ENCODER_TEXT)
    heads = [(layer, head) for layer in range(1, 6) for head in range(12)]
    first = np.mean([result.norm_of_first(*at) for at in heads])
    others = np.mean([result.norm_of_others(*at) for at in heads])
    assert others > 10 * first
    visible = run("real")
    much = result.habits.first >= 0.5
    assert (result.carried[much] < result.habits.first[much]).all()
    assert f"in {int((result.carried >= 0.5).sum())}. ‖v‖ is" in visible.notes[0]
    for part in (result.habits.first[3, 1], result.carried_first(3, 1)):
        assert percent(float(part)) in visible.notes[0]
