"""Declarations without a screen: links there and back, what a link may say, the tests' grid."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from seqviz.lessons.framework.control_schema import active_controls
from seqviz.lessons.framework.controls import (
    Choice,
    Control,
    Seed,
    SelectSlider,
    Slider,
    Toggle,
    controls,
    encoded,
    on,
    parse_params,
    permalink,
)
from tests.lessons.framework.sample_bench import METHODS, Localized, Sample

CONTROLS = dict(controls(Sample))
CONTROLS_LOCALIZED = dict(controls(Localized))

NEVER = ["", " ", "nan", "NaN", "inf", "-inf", "1e999", "-1e999", "²", "½", "1,5", "0x1", "one",
         "None", "<b>", "1;2", "9" * 5000]  # fmt: skip
REFUSED = {
    "figure": [*NEVER, "Loss", "loss ", "loss+map"],
    "phi": [*NEVER, "1.21", "-1.2001", "true"],
    "order": [*NEVER, "0", "6", "-1", "2.0", "2.5", "1e0", "true"],
    "n": [*NEVER, "51", "100.0", "1e2", "-50"],
    "rate": [*NEVER, "0.02", "0", "-0.01"],
    "noise": [*NEVER, "Gaussian", "laplace"],
    "cell": [*NEVER, "lstm", "RNN", "mlp+rnn"],
    "methods": [*NEVER, "ols+", "+ols", "ols,exact_ml", "ols exact_ml", "conditional_ml"],
    "shuffle": [*NEVER, "True", "FALSE", "1", "0", "on", "yes"],
    "seed": [*NEVER, "-1", "10000", "1.0", "1e3"],
    "second": [*NEVER, "1.01", "-0.01"],
}


def stops(control: Control) -> Iterator[object]:
    """Every value that the widget can be set to."""
    match control:
        case Slider():
            count = round((control.high - control.low) / control.step)
            kind = type(control.default)
            # as a browser counts them, rounding included: -1.2 + 203 * 0.01 is not exactly 0.83
            yield from (kind(control.low + k * control.step) for k in range(count + 1))
        case SelectSlider():
            yield from control.stops
        case Choice(many=True):
            yield from ((name,) for name in control.options)
            yield control.options[:2]
            yield control.options
        case Choice():
            yield from control.options
        case Toggle():
            yield from (False, True)
        case Seed():
            yield from (0, 1, 42, 9999)


def test_sample_has_every_control_kind():
    assert {type(c) for c in CONTROLS.values()} == {Slider, SelectSlider, Choice, Toggle, Seed}
    assert set(REFUSED) == set(CONTROLS)


@pytest.mark.parametrize("name", list(CONTROLS))
def test_parse_round_trips_every_stop(name):
    control = CONTROLS[name]
    tried = 0
    for value in stops(control):
        text = encoded(value)
        again = control.parse(text)
        assert type(again) is type(control.default)
        if isinstance(value, float):
            # a link rounds to six digits: nothing of a step of 0.01, all of the binary noise
            assert again == pytest.approx(value, abs=1e-6)
            assert again == float(text)
        else:
            assert again == value
        assert encoded(again) == text  # the link of a link is the same link
        tried += 1
    assert tried >= 2


@pytest.mark.parametrize(
    ("name", "raw"), [(name, raw) for name, texts in REFUSED.items() for raw in texts]
)
def test_parse_rejects_invalid_value(name, raw):
    with pytest.raises((ValueError, KeyError)):
        CONTROLS[name].parse(raw)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (5000, "5000"),
        (0.8, "0.8"),
        (-0.05, "-0.05"),
        (0.8300000000000001, "0.83"),
        (0.0003, "0.0003"),
        (1.0, "1"),
        ("student_t", "student_t"),
        (("ols",), "ols"),
        (("ols", "exact_ml"), "ols+exact_ml"),
    ],
)
def test_encoded_formats_value_for_link(value, text):
    assert encoded(value) == text


def test_bounds_returns_both_ends():
    tried = {name: list(control.bounds()) for name, control in CONTROLS.items()}
    assert tried["phi"] == [-1.2, 1.2]
    assert tried["order"] == [1, 5]
    assert tried["n"] == [50, 5000]
    assert tried["shuffle"] == [False, True]
    assert tried["noise"] == ["gaussian", "student_t"]  # every name: none is between two others
    assert tried["methods"] == [("ols",), METHODS]
    assert tried["seed"] == [0, 9999]


def test_permalink_contains_only_changed_values():
    assert permalink("t.b", Sample()) == {}
    changed = dataclasses.replace(Sample(), phi=-0.5, methods=("ols",), shuffle=True, n=5000)
    assert permalink("t.b", changed) == {
        "t.b.phi": "-0.5",
        "t.b.n": "5000",
        "t.b.methods": "ols",
        "t.b.shuffle": "true",
    }


def test_permalink_round_trips_instance():
    changed = dataclasses.replace(Sample(), figure="map", order=3, rate=0.1, second=0.05, seed=7)
    link = permalink("t.b", changed)
    values = {key.removeprefix("t.b."): raw for key, raw in link.items()}
    again = Sample(**{name: CONTROLS[name].parse(raw) for name, raw in values.items()})
    assert again == changed


def test_declaration_is_frozen_dataclass():
    """A page or a notebook can make one without a screen."""
    sample = Sample(phi=0.1)
    assert sample.order == 1
    assert dataclasses.asdict(sample)["phi"] == 0.1
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.phi = 0.2


@pytest.mark.parametrize(
    ("wanted", "values", "applies"),
    [
        ({"view": "map"}, {"view": "map"}, True),
        ({"view": "map"}, {"view": "map_of_all"}, False),
        ({"view": ("map", "unit")}, {"view": "unit"}, True),
        ({"view": ("map", "unit")}, {"view": "cell"}, False),
        ({"view": "map", "cell": "gru"}, {"view": "map", "cell": "gru", "seed": 1}, True),
        ({"view": "map", "cell": "gru"}, {"view": "map", "cell": "lstm"}, False),
        ({"cells": "lstm"}, {"cells": ("rnn", "lstm")}, True),
        ({"cells": "lstm"}, {"cells": ("rnn",)}, False),
        ({"cells": "lstm"}, {"cells": ()}, False),
        ({"cells": ("gru", "lstm")}, {"cells": ("rnn", "gru")}, True),
        ({"cells": ("gru", "lstm")}, {"cells": ("rnn", "relu")}, False),
        ({"shuffle": True}, {"shuffle": True}, True),
        ({"shuffle": False}, {"shuffle": True}, False),
        ({}, {"view": "map"}, True),
    ],
)
def test_on_matches_required_values(wanted, values, applies):
    assert on(**wanted)(values) is applies


# ------------------------------------------------------------------------- defaults of a language


ENGLISH = Localized()
CHINESE = Localized(line="狗咬人", task="words")
MOVED = [
    ENGLISH,
    CHINESE,
    dataclasses.replace(ENGLISH, n=5),
    dataclasses.replace(CHINESE, n=5),
    dataclasses.replace(CHINESE, view="tags"),
    dataclasses.replace(CHINESE, line="人咬狗"),
    dataclasses.replace(CHINESE, task="spaces", n=1),
    Localized(line="人咬狗", task="spaces"),
]


def opened(link: dict[str, str], lang: str) -> Localized:
    values = {key.removeprefix("t.b."): raw for key, raw in link.items()}
    return parse_params(Localized, values, link=True, lang=lang)


def test_bare_link_opens_with_defaults_of_the_reader():
    assert opened({}, "en") == ENGLISH
    assert opened({}, "zh") == CHINESE
    assert [control.default for _, control in controls(Localized, "zh")] == [
        "order", "狗咬人", "words", 3,
    ]  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("link", [{"n": "5"}, {"view": "tags"}, {"line": "dog bites man"}])
def test_link_of_before_keeps_its_setting_in_every_language(link, lang):
    """It names no language, since it was made when all defaults were English."""
    values = {name: CONTROLS_LOCALIZED[name].parse(raw) for name, raw in link.items()}
    expected = Localized(**values)
    assert opened({f"t.b.{name}": raw for name, raw in link.items()}, lang) == expected


@pytest.mark.parametrize("reader", ["en", "zh"])
@pytest.mark.parametrize("maker", ["en", "zh"])
@pytest.mark.parametrize("params", MOVED)
def test_link_made_in_one_language_has_the_same_setting_in_another(params, maker, reader):
    link = permalink("t.b", params, maker)
    if not link:  # an untouched bench opens as the reader's language has it
        assert (params, maker) == (ENGLISH, "en")
        return
    shown = opened(link, reader)
    assert permalink("t.b", shown, maker) == link
    assert applied(shown) == applied(params)


def applied(params: Localized) -> dict[str, object]:
    return {name: values[name] for name, _, values in active_controls(params)}


def test_link_on_a_chinese_page_holds_what_the_reader_moved_and_the_language():
    link = permalink("t.b", dataclasses.replace(CHINESE, n=5), "zh")
    assert link == {"t.b.n": "5", "t.b.defaults": "zh"}
    assert permalink("t.b", dataclasses.replace(ENGLISH, n=5), "zh") == {"t.b.n": "5"}
    assert permalink("t.b", ENGLISH, "zh") == {"t.b.defaults": "en"}


def test_drag_adds_a_value_to_the_link_and_changes_nothing_else():
    for lang in ("en", "zh"):
        for params in (ENGLISH, CHINESE):
            dragged = permalink("t.b", params, lang) | {"t.b.n": "7"}
            assert opened(dragged, lang) == dataclasses.replace(params, n=7)


@pytest.mark.parametrize("told", ["fr", "", "ZH", "en ", "1"])
def test_unknown_language_in_a_link_is_ignored(told):
    assert opened({"t.b.defaults": told}, "zh") == CHINESE
    assert opened({"t.b.defaults": told, "t.b.n": "5"}, "zh") == dataclasses.replace(ENGLISH, n=5)


def test_declaration_without_translations_never_names_a_language():
    for lang in ("en", "zh"):
        assert permalink("t.b", dataclasses.replace(Sample(), n=50), lang) == {"t.b.n": "50"}
