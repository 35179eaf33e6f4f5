"""Tests of a lesson as a table: a bench at some settings, and what it then shows.

    from tests.pages.scenes import Scene, check, each

    from seqviz.figures.vanishing_gradients.norms import gradient_reach
    from seqviz.lessons.vanishing_gradients.lesson import lesson

    SCENES = (
        Scene("reach", {"gain": 0.9}, figure=gradient_reach, readouts=("sigma_max", "radius",
              "longest", "shortest"), notes=("shrinks",)),
        Scene("back", {"taken": 0}, notes=("not_begun",)),
        Scene("race", waits="train"),
    )

    @each(SCENES)
    def test_bench_matches_scene(scene, language):
        check(lesson, scene, language)

Benches run without a page (`Bench.run`): a scene costs what its figure costs. The languages take
turns along the table. `check` gives what was shown, for what a table cannot say.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, catalogue
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Bench, Lesson
from seqviz.lessons.framework.output import Output
from seqviz.plotting.style import Style
from tests.pages.page_assertions import HAN, PLACEHOLDER

# Altair numbers its parts as they are made: another drawing of the same chart has other numbers.
_NUMBERED = re.compile(r"\b(param|view|data|layer|selector)[_-][0-9a-f]+\b")
_NO_NUMBER = re.compile(r"\b(nan|inf|None)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Scene:
    """A bench at some settings, and what it then shows.

    values: as for `Bench.run`; those of a bench that it builds on are named "<bench>.<name>".
    figure: the figure function (of seqviz.figures) that the code must end with; or a function of
    `style` that draws the figure from results of its own, to be equal to the last digit.
    readouts: the names of all read-outs in their order, or what each of them says, by name.
    notes: keys of `note.<key>` that stand under the figure; others may.
    waits: key of `hint.<key>`, where there is no figure yet. refuses: code of the problem that is
    told in place of a figure. train: long work is done.
    """

    bench: str
    values: Mapping[str, Any] = field(default_factory=dict)
    figure: Callable[..., Any] | None = None
    readouts: Sequence[str] | Mapping[str, str] = ()
    notes: Sequence[str] = ()
    waits: str = ""
    refuses: str = ""
    train: bool = False

    def __str__(self) -> str:
        """What stands in the name of its test."""
        message = (f"{name}={controls.encoded(value)[:24]}" for name, value in self.values.items())
        return " ".join((self.bench, *message))


def each(scenes: Sequence[Scene]) -> pytest.MarkDecorator:
    """One test a scene, with `scene` and `language`, which take turns."""
    turns = [
        pytest.param(scene, LANGUAGES[index % len(LANGUAGES)], id=f"{scene}")
        for index, scene in enumerate(scenes)
    ]
    return pytest.mark.parametrize(("scene", "language"), turns)


def check(lesson: Lesson, scene: Scene, language: str = "en") -> Output | None:
    """Run the scene's bench and hold it to all that the scene says; None where it refuses."""
    bench = lesson.benches[scene.bench]
    links(lesson, scene)
    if scene.refuses:
        with pytest.raises(UserError) as refusal:
            bench.run(scene.values, language, train=scene.train)
        assert refusal.value.code == scene.refuses
        return None
    visible = bench.run(scene.values, language, train=scene.train)
    names = list(visible.readouts)
    assert names == list(scene.readouts), (names, list(scene.readouts))
    if isinstance(scene.readouts, Mapping):
        payload = {name: readout.value for name, readout in visible.readouts.items()}
        assert payload == scene.readouts
    words = [
        text for readout in visible.readouts.values() for text in (readout.label, readout.help)
    ]
    for sentence in (*words, *visible.notes, visible.waits):
        assert not PLACEHOLDER.search(re.sub(r"\$[^$]*\$", "", sentence)), sentence
    for item in visible.readouts.values():
        assert item.value.strip(), item
        assert not _NO_NUMBER.search(f"{item.value} {item.caption or ''}"), item
    for key in scene.notes:
        sentence = words_of(lesson, f"note.{key}", language)
        assert any(sentence.fullmatch(note) for note in visible.notes), (key, visible.notes)
    if language == "zh":
        for note in visible.notes:
            assert HAN.search(note), note
    if scene.waits:
        assert words_of(lesson, f"hint.{scene.waits}", language).fullmatch(visible.waits)
        assert visible.figure is None
        return visible
    assert not visible.waits, visible.waits
    if scene.figure is not None or visible.figure is not None:
        drawn(bench, scene, visible, language)
    return visible


def links(lesson: Lesson, scene: Scene) -> None:
    """Every value of a scene applies, stands in its permalink and comes back from there."""
    by_bench: dict[str, dict[str, Any]] = {scene.bench: {}}
    for name, value in scene.values.items():
        position, _, control = name.rpartition(".")
        by_bench.setdefault(position or scene.bench, {})[control] = value
    for name, values in by_bench.items():
        bench = lesson.benches[name]
        existing = dict(controls.controls(bench.declaration))

        def defaults(other: str) -> Any:
            declared = lesson.benches[other].declaration
            return controls.parse_params(declared, by_bench.get(other, {}))

        with lesson.read_by(defaults):  # an end may depend on another bench
            params = controls.parse_params(bench.declaration, values)
            link = controls.permalink(bench.prefix, params)
            read = {key.rpartition(".")[2]: raw for key, raw in link.items()}
            again = controls.parse_params(
                bench.declaration, {key: existing[key].parse(raw) for key, raw in read.items()}
            )
        for key, value in values.items():
            its = getattr(params, key)
            assert its == (tuple(value) if isinstance(value, list) else value), (key, value, its)
        assert again == params, link


def drawn(bench: Bench, scene: Scene, output: Output, language: str) -> None:
    """The figure is the expected one, says what it shows, and comes from the code again."""
    assert output.figure is not None, scene
    here = as_json(output.figure)
    assert len(output.code) < 3000, "numbers are listed that have a name"
    space: dict[str, Any] = {}
    exec(compile(output.code, f"<code of {bench.name}>", "exec"), space)
    same(here, as_json(space["figure"]))
    if scene.figure is None:
        return
    if scene.figure.__module__.startswith("seqviz.figures"):
        assert f"figure = {scene.figure.__name__}(" in output.code, output.code
        assert space[scene.figure.__name__] is scene.figure
    else:
        same(as_json(scene.figure(style=Style(lang=language))), here)


def same(expected: Any, result: Any) -> None:
    """Two figures in JSON, compared part by part for a short message."""
    assert list(expected) == list(result)
    for key, value in expected.items():
        if not near(value, result[key]):
            raise AssertionError(f"{key}: {str(value)[:300]}\n is not \n{str(result[key])[:300]}")


def near(left: Any, right: Any) -> bool:
    """Equal, but for rounding: a product of matrices depends on where they lie in memory."""
    if isinstance(left, dict) and left.get("bdata") and isinstance(right, dict):
        numbers = [np.frombuffer(b64decode(a["bdata"]), a["dtype"]) for a in (left, right)]
        alike = numbers[0].shape == numbers[1].shape and numbers[0].dtype == numbers[1].dtype
        return alike and np.allclose(*numbers, rtol=1e-6, atol=1e-6, equal_nan=True)
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(near(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(near, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)
    return bool(left == right)


def as_json(figure: Any) -> Any:
    """A figure as it is sent, typed arrays in base64."""
    return json.loads(_NUMBERED.sub(r"\1", figure.to_json()))


def words_of(lesson: Lesson, key: str, language: str) -> re.Pattern[str]:
    """What a sentence of the catalogue looks like when it is filled in."""
    existing = catalogue(language)
    words = existing.get(f"{lesson.slug}.{key}", existing.get(key))
    assert words is not None, f"{lesson.slug} has no {key}"
    parts = re.split(r"{[^{}]*}", words)
    return re.compile(".+?".join(re.escape(part) for part in parts), re.DOTALL)
