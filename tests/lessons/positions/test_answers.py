"""Questions of the lesson on positions, answered by its own benches; its hint, its sentences."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from seqviz.compute.positions import relative, simple
from seqviz.core.i18n import LANGUAGES, Text, catalogue, number
from seqviz.core.units import unbroken
from seqviz.lessons.framework.controls import controls
from seqviz.lessons.positions.lesson import lesson

MARY = {"first": "Mary gave John a flower", "second": "John gave Mary a flower"}
ZH = {"effect.first": "玛丽给了约翰一朵花", "effect.second": "约翰给了玛丽一朵花"}


def marked(name: str, language: str) -> tuple[str, list[str]]:
    """The option that is marked as right, and the others."""
    text = Text(language)
    options = text.items(f"positions.predict.{name}.options")
    right = options.pop(catalogue(language)[f"positions.predict.{name}.answer"])
    return right, options


def said(language: str, name: str) -> str:
    return Text(language)(f"positions.predict.{name}.reveal")


def notes(bench: str, values: dict | None = None, language: str = "en") -> str:
    return "\n".join(lesson.benches[bench].run(values or {}, language, code=False).notes)


# --- what is predicted ----------------------------------------------------------------------------
@pytest.mark.parametrize("language", LANGUAGES)
def test_mask_answer_matches_moved_words(language):
    output = lesson.benches["effect"].run({"causal": True}, language)
    bars = output.figure.traces[-1]  # no encoding
    moved = [word for word, y in zip(MARY["first"].split(), bars["y"], strict=True) if y > 1e-9]
    right, others = marked("mask", language)
    assert moved == re.findall(r"[A-Za-z]+", right.replace("Those of", "").replace("and", ""))
    assert len(others) == 2
    assert ", ".join(moved) in output.notes[0]
    for word in MARY["first"].split():
        assert word in said(language, "mask"), "the reveal speaks of every word"
    assert lesson.benches["effect"].run({}, language).readouts["moved_none"].value == "0%"


@pytest.mark.parametrize("language", LANGUAGES)
def test_binary_answer_matches_nearest_code(language):
    binary = simple.code("binary", 32)
    far = {str(at): float(np.linalg.norm(binary[16] - binary[at])) for at in (15, 0)}
    assert marked("binary", language)[0] == min(far, key=lambda at: far[at])
    assert (far["15"] ** 2, far["0"] ** 2) == pytest.approx((5, 1))
    output = lesson.benches["simple"].run({}, language)
    name = Text(language)("figure.pos_code_binary")
    steps = next(t for t in output.figure.traces[::-1] if t["name"] == name)["y"]
    assert int(np.argmax(steps)) == 15  # the highest spike
    assert max(steps) == pytest.approx(math.sqrt(5))


@pytest.mark.parametrize("language", LANGUAGES)
def test_neighbors_answer_matches_equal_dot_product(language):
    z = lesson.benches["distance"].run({"view": "matrix"}, language).figure.traces[0]["z"]
    right, others = marked("neighbors", language)
    pairs = {
        option: z[tuple(map(int, result))]
        for option in (right, *others)
        if len(result := re.findall(r"\d+", option)) == 2
    }
    same = [option for option, value in pairs.items() if abs(value - z[10, 13]) < 1e-5]
    assert same == [right]
    assert len(pairs) == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_shift_answer_matches_changed_scores(language):
    values = {"view": "shift", "shift": 1000}
    output = lesson.benches["schemes"].run(values, language)
    by = dict(zip(("none", "sinusoidal", "learned", "rotary", "alibi", "t5"),
                  output.figure.traces[0]["x"], strict=True))  # fmt: skip
    # A value of 0 has no place on a log axis and is nan as well: the read-out counts rows.
    assert output.readouts["beyond"].value == unbroken("16 / 16")
    assert by["sinusoidal"] > 1
    assert all(np.nan_to_num(by[name]) < 1e-9 for name in ("none", "rotary", "alibi", "t5"))
    right = marked("shift", language)[0]
    names = {"en": ("sines", "learned"), "zh": ("正弦", "可学习")}[language]
    assert all(name in right for name in names)
    assert not any(name in right for name in ("ALiBi", "T5"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_copy_answer_matches_most_frequent_letter(language):
    output = lesson.benches["task"].run({}, language)
    share = float(output.readouts["task_none"].value.removesuffix("%"))
    blind, *_, blind_longer = map(float, re.findall(r"([\d.]+)%", output.notes[-1])[-3:])
    assert abs(share - blind) < 3
    assert blind_longer < blind
    assert 3 < share < 97
    assert {"en": "there, *ALiBi*, gets 47.4%", "zh": "ALiBi：47.4%"}[language] in output.notes[0]
    assert marked("copy", language)[0] in (
        "About as many as with the most frequent letter everywhere", "与处处都写最常见的字母差不多",
    )  # fmt: skip
    assert Text(language)("figure.pos_order_blind") in said(language, "copy").replace("*", "")


# --- the exercise ---------------------------------------------------------------------------------
def test_hint_formula_gives_accepted_answer():
    """The frequency of dimension 2i is base^(-2i/d); the wavelength is 2 pi divided by it."""
    exercise = lesson.exercises["wavelength"]
    for variant, case in enumerate(exercise.cases):
        _, answer, within = exercise.variant_of(variant)
        by_hint = 2 * math.pi / math.pow(case["base"], -case["dimension"] / case["d_model"])
        assert abs(by_hint - answer) <= within
        assert abs(1.05 * by_hint - answer) > within


# --- the sentences --------------------------------------------------------------------------------
BOTH = (  # bench, settings, what its sentence says, other settings, what it says then
    ("effect", {}, "equivariant", {"causal": True}, "Mary, gave, John"),
    ("effect", {}, "is 17.5% with added", {"strength": 0.5}, "is 15.6% with added"),
    ("effect", {"causal": True}, "Mary, gave, John",
     {"causal": True, "second": MARY["first"]}, "the same words before it"),
    ("simple", {}, "From 15 to 16 all 5", {"words": 128}, "From 63 to 64 all 7"),
    ("simple", {"view": "digits"}, "all 5 digits", {"view": "digits", "words": 8}, "all 3 digits"),
    ("waves", {}, "9 of the 32 waves complete a full turn over 64 positions; the slower",
     {"positions": 10_000},
     "26 of the 32 waves complete a full turn over 10,000 positions; the slower"),
    ("waves", {"base": 1.5}, "32 of 32", {"d_model": 2}, "one wave"),
    ("distance", {}, "is nearer to 5 than to 17", {"d_model": 2}, "is not nearer to 5"),
    ("distance", {"view": "rotation"}, "the same rotation",
     {"view": "rotation", "d_model": 64}, "only 38 directions"),
    ("distance", {"view": "clocks"}, "by 172 degrees", {"view": "clocks", "offset": 1}, "by 57.3"),
    ("distance", {"view": "wavelengths"}, "3.16 times", {"view": "wavelengths", "d_model": 2},
     "one wave"),
    ("effect", {}, "outputs change. The", {"causal": True}, "outputs change as well. The"),
    ("distance", {"view": "clocks"}, "the slowest by", {"view": "clocks", "d_model": 2},
     "the only hand by"),
    ("distance", {"view": "wavelengths"}, "3.16 times",
     {"view": "wavelengths", "d_model": 256, "base": 1.5}, "1.003 times"),
    ("schemes", {"view": "shift"}, "A shift by", {"view": "shift", "shift": 0}, "Nothing is"),
    ("learned", {"view": "late"}, "first position, 0, has the norm 2.36", {"view": "path"}, "12%"),
    ("schemes", {}, "the score is 10.1", {"offset": 10, "key": 990}, "the query at 1,000"),
    ("schemes", {}, "the score falls", {"d_k": 2}, "does not fall"),
    ("schemes", {"view": "terms"}, "by up to 2.33", {"view": "terms", "seed": 3}, "by up to"),
    ("schemes", {"view": "alibi"}, "subtracts 11.5", {"view": "alibi", "tokens": 4},
     "subtracts 1.50"),
    ("schemes", {"view": "t5"}, "below 8", {"view": "t5", "causal": True}, "below 16"),
    ("schemes", {"view": "shift", "shift": 20}, "a row for each of the 16", {"view": "shift"},
     "no row for 16"),
    ("schemes", {"view": "shift"}, "16 of the 16", {"view": "shift", "shift": 500}, "4 of the 16"),
    ("learned", {}, "0.851", {"view": "path"}, "12%"),
    ("learned", {"view": "late"}, "no trace", {"view": "norms"}, "variance 1/d"),
    ("encoder", {}, "0.011 with", {"effect.second": "flower a John gave Mary"}, "with the model"),
    ("encoder", {"effect.second": "John gave Mary a book"}, "not consist of the same tokens",
     {"effect.first": "a b", "effect.second": "b a"}, "The other order moves"),
    ("encoder", {"view": "maps"}, "Layer 0, head 2", {"view": "maps", "variant": "sinusoidal"},
     "(sinusoidal)"),
    ("encoder", {}, "hardly distinguish", {"effect.second": MARY["first"]}, "the same tokens"),
)  # fmt: skip


def test_t5_last_matches_logarithmic_bucket_start():
    """Half of one side's buckets are exact; of the others the last is as wide in the logarithm."""
    settings = ((True, 32, 128), (True, 32, 64), (False, 32, 64), (True, 8, 64))
    for both, buckets, farthest in settings:
        side = buckets // 2 if both else buckets
        exact = side // 2
        begins = math.ceil(exact * (farthest / exact) ** (1 - 1 / (side - exact)))
        assert relative.t5_last(both, buckets, farthest) == begins < farthest
        message = notes("schemes", {"view": "t5", "causal": not both, "buckets": buckets,
                                 "farthest": farthest})  # fmt: skip
        assert f"from {begins} on" in message


@pytest.mark.parametrize("place", range(len(BOTH)))
def test_note_changes_with_numbers(place, minilm):
    bench, item, expected, other, then = BOTH[place]
    first, second = notes(bench, item), notes(bench, other)
    assert expected in first, first
    assert then in second, second
    assert "32 of the 32 waves" not in first
    assert first != second
    assert notes(bench, item, "zh") != notes(bench, other, "zh")


def test_seed_control_shown_only_where_used():
    seed = dict(controls(lesson.benches["schemes"].declaration))["seed"]
    for view in ("rotary", "terms", "alibi", "t5", "shift"):
        rendered = [
            lesson.benches["schemes"].run({"view": view, "seed": item}, code=False).figure.traces
            for item in (1, 2)
        ]
        assert seed.when({"view": view}) == (str(rendered[0]) != str(rendered[1])), view


def test_encoder_note_reports_unknown_tokens(minilm):
    """Six of the eight characters are unknown, and both sentences the same to the model."""
    for language in LANGUAGES:
        visible = notes("encoder", ZH, language)
        unknown = Text(language)("reading.unknown_tokens", unknown="@", all="@").split("@")[-1]
        assert unknown in visible
        assert Text(language)("positions.note.same_tokens") in visible
        assert unknown not in notes("encoder", {}, language)


def test_texts_table_omits_unreadable_chinese_input():
    for language in LANGUAGES:
        rows = str(catalogue(language)["positions.texts.rows"])
        assert "type the Chinese ones" not in rows
        assert "输入中文句子则逐字读" not in rows


def test_waves_note_matches_wavelength_formula():
    assert "the slower" not in notes("waves", {"positions": 1})
    longest = 2 * math.pi * 10_000 ** (62 / 64)
    assert number(longest) in notes("waves")
