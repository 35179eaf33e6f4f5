"""Every control of every bench at each of its ends, in one language or the other.

A control that applies only beside others is tried beside them. After each setting every bench has
its figure or one sentence that says why not; nothing is half drawn, half translated or not a
number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, catalogue
from seqviz.lessons.framework.controls import Slider, controls, encoded
from tests.pages.page_assertions import (
    HAN,
    PLACEHOLDER,
    alerts,
    applied,
    as_state,
    bench,
    ends,
    figures,
    may_refuse,
    needed,
    sentences,
)

SLUGS = [lesson.slug for lesson in catalog.LESSONS]


def leaders(page) -> list[str]:
    """The benches that others build on."""
    return [name for name in page.lesson.benches if page.lesson.dependents(name)]


def said_by(lang: str, slug: str, sentence: str) -> str | None:
    """The key of the problem or hint that a sentence was made from."""
    for key, words in catalogue(lang).items():
        if re.match(rf"(?:{slug}\.)?(?:problem|hint)\.", key):
            pattern = ".+?".join(re.escape(part) for part in re.split(r"{[^{}]+}", words))
            if re.fullmatch(pattern, sentence):
                return key
    return None


@dataclass(frozen=True)
class Trial:
    """One end of one control, with what it needs beside it. refusable: a sentence is in order."""

    bench: str
    name: str
    state: dict[str, Any]
    refusable: bool


def trials(page, bench_name: str, declaration: type) -> list[Trial]:
    """Both ends of every control of a bench."""
    built = []
    for name, value in ends(declaration):
        defaults = dict(controls(declaration))
        control = defaults[name]
        room = {}
        if isinstance(control, Slider) and isinstance(control.within, str):
            room = {control.within: defaults[control.within].bounds()[-1]}
        state = {**needed(declaration, name), **room, name: value}
        if isinstance(control, Slider):  # nobody can drag it further
            set_to = {(bench_name, key): expected for key, expected in state.items()}
            top = page.top(control, set_to, bench_name)
            state[name] = type(control.default)(min(value, top))
        refusable = may_refuse(bench_name, name, value, control)
        built.append(Trial(bench_name, name, state, refusable))
    return built


def rounds(page) -> list[tuple[Trial, ...]]:
    """What is tried at once, so that each figure is that of one control alone.

    A bench on which no other builds is tried beside all of its kind: none hears of another's
    setting. A bench on which others build is tried beside those that do not build on it.
    """
    each = {name: trials(page, name, its) for name, its in page.lesson.benches.items()}
    alone = []
    for name in leaders(page):
        builds = page.lesson.dependents(name)
        free = [other for other in each if other not in (*leaders(page), *builds)]
        alone += [
            (trial, *(each[other].pop(0) for other in free if each[other]))
            for trial in each.pop(name)
        ]
    together = zip_longest(*each.values())
    return alone + [tuple(filter(None, some)) for some in together]


def check(page, slug: str, tried: tuple[Trial, ...]) -> None:
    state = {trial.bench: trial.state for trial in tried}
    page.healthy()
    lang = page.text.lang
    may_refuse = {trial.bench for trial in tried if trial.refusable}
    for leader in may_refuse & set(leaders(page)):
        may_refuse |= set(page.lesson.dependents(leader))
    for name in page.lesson.benches:
        position = bench(page.app, name)
        boxes = alerts(position)
        rendered = len(figures(position))
        reasons = boxes["warning"] + boxes["info"]
        assert rendered + len(reasons) == 1, (name, state, rendered, boxes)
        for reason in reasons:
            assert said_by(lang, slug, reason), (name, state, reason)
        if boxes["warning"]:
            assert name in may_refuse, (name, state, boxes["warning"])
    for metric in page.app.metric:
        assert not re.search(r"nan|inf\b|None", f"{metric.value} {metric.delta}"), (state, metric)
    for sentence in sentences(page.app):
        assert not PLACEHOLDER.search(sentence), (state, sentence)
    if lang == "zh":
        for box in [*page.app.warning, *page.app.info]:
            assert HAN.search(box.value), (state, box.value)


def check_link(page, trial: Trial) -> None:
    """The address bar names the settings that apply and are not the declared ones."""
    declaration = page.lesson.benches[trial.bench]
    defaults, visible = dict(controls(declaration)), applied(declaration, trial.state)
    for key, expected in trial.state.items():
        link = page.address.get(f"{page.lesson.prefix(trial.bench)}.{key}")
        differs = visible[key] and expected != defaults[key].default
        assert link == (encoded(expected) if differs else None), (trial.bench, key, expected)


@pytest.mark.nightly  # by day without a page: tests/lessons/test_every_control.py
@pytest.mark.parametrize("turn", range(len(LANGUAGES)))
@pytest.mark.parametrize("slug", SLUGS)
def test_page_handles_every_control_at_both_ends(visit, slug, turn):
    """The languages take turns, round by round, and change places."""
    pages = [visit(slug, lang) for lang in LANGUAGES]
    tried = 0
    for number, together in enumerate(rounds(pages[0])):
        page = pages[(number + turn) % len(pages)]
        app = page.app
        for trial in together:
            for key, expected in trial.state.items():
                app.session_state[f"{page.lesson.prefix(trial.bench)}.{key}"] = as_state(expected)
        app.run()
        page.served()
        check(page, slug, together)
        for trial in together:
            check_link(page, trial)
            defaults = dict(controls(page.lesson.benches[trial.bench]))
            for key in trial.state:
                back = as_state(defaults[key].default)
                app.session_state[f"{page.lesson.prefix(trial.bench)}.{key}"] = back
            tried += 1
    every = sum(len(list(ends(its))) for its in pages[0].lesson.benches.values())
    assert tried == every > 50


@pytest.mark.nightly  # by day test_full_links.py sets all controls, and those of single benches
@pytest.mark.parametrize("slug", SLUGS)
def test_permalink_sets_only_its_control(visit, untouched, slug):
    """A permalink sets its control, in the language that the link says, and no other bench.

    The languages take turns: that a full link works in both is tested in test_full_links.py.
    """
    for turn, (bench_name, declaration) in enumerate(untouched(slug).lesson.benches.items()):
        for name, value in ends(declaration):
            control = dict(controls(declaration))[name]
            if control.when is None and value != control.default:
                break
        else:
            continue  # a bench whose slider lives in the browser
        code = catalog.lesson(slug).code
        lang = LANGUAGES[turn % 2]
        page = visit(slug, lang, **{f"{code}.{bench_name}.{name}": encoded(value)})
        assert page.value(bench_name, name) == as_state(value)
        for other, its in page.lesson.benches.items():
            for field, its_control in controls(its):
                if (other, field) != (bench_name, name):
                    rendered = page.value(other, field)
                    assert rendered in (None, as_state(its_control.default)), (other, field)
        assert set(page.app.query_params) == {"lang", f"{code}.{bench_name}.{name}"}
