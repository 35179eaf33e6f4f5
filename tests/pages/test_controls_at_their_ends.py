"""Every control of every bench at each of its ends, in both languages.

A control that applies only beside others is tried beside them. After each setting every bench has
its figure or one sentence that says why not; nothing is half drawn, half translated or not a
number.
"""

from __future__ import annotations

import re

import pytest
from looking import (
    HAN,
    PLACEHOLDER,
    alerts,
    applied,
    as_state,
    bench,
    figures,
    fixed,
    needed,
    sentences,
)

from seqviz import catalog
from seqviz.text import LANGUAGES, catalogue
from seqviz.ui.controls import Sentence, Slider, controls, encoded, grid

SLUGS = [lesson.slug for lesson in catalog.LESSONS]
LACKING = {("learned", "model", "smollm2")}  # has no table of positions


def said_by(lang: str, slug: str, sentence: str) -> str | None:
    """The key of the problem or hint that a sentence was made from."""
    for key, words in catalogue(lang).items():
        if re.match(rf"(?:{slug}\.)?(?:problem|hint)\.", key):
            pattern = ".+?".join(re.escape(part) for part in re.split(r"{\w+}", words))
            if re.fullmatch(pattern, sentence):
                return key
    return None


def check(page, slug: str, refusable: bool, state: dict) -> None:
    page.healthy()
    lang = page.text.lang
    for name in page.lesson.benches:
        place = bench(page.app, name)
        boxes = alerts(place)
        drawn = len(figures(place))
        reasons = boxes["warning"] + boxes["info"]
        assert drawn + len(reasons) == 1, (name, state, drawn, boxes)
        for reason in reasons:
            assert said_by(lang, slug, reason), (name, state, reason)
        if boxes["warning"]:
            assert refusable, (name, state, boxes["warning"])
    for metric in page.app.metric:
        assert not re.search(r"nan|inf\b|None", f"{metric.value} {metric.delta}"), (state, metric)
    for sentence in sentences(page.app):
        assert not PLACEHOLDER.search(sentence), (state, sentence)
    if lang == "zh":
        for box in [*page.app.warning, *page.app.info]:
            assert HAN.search(box.value), (state, box.value)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_every_control_at_both_ends(visit, slug, lang):
    page = visit(slug, lang)
    app = page.app
    tried = 0
    for bench_name, declaration in list(page.lesson.benches.items()):
        prefix = page.lesson.prefix(bench_name)
        for name, value in grid(declaration):
            defaults = dict(controls(declaration))
            control = defaults[name]
            room = {}
            if isinstance(control, Slider) and isinstance(control.within, str):
                room = {control.within: defaults[control.within].extremes()[-1]}
            state = {**needed(declaration, name), **room, name: value}
            if isinstance(control, Slider):  # nobody can drag it further
                set_to = {(bench_name, key): wanted for key, wanted in state.items()}
                state[name] = min(value, page.top(control, set_to, bench_name))
            for key, wanted in state.items():
                app.session_state[f"{prefix}.{key}"] = as_state(wanted)
            app.run()
            page.served()
            # Free coefficients at the ends of their sliders explode, a text of one word is too
            # short to read, a model may lack what is shown: a sentence is in order.
            refusable = bool(re.fullmatch(r"b\d", name)) or isinstance(defaults[name], Sentence)
            refusable |= (bench_name, name, value) in LACKING
            check(page, slug, refusable, state)
            shown = applied(declaration, state)
            for key, wanted in state.items():
                link = app.query_params.get(f"{prefix}.{key}")
                link = link[0] if isinstance(link, list) else link
                differs = shown[key] and wanted != defaults[key].default
                assert link == (encoded(wanted) if differs else None), (key, wanted)
            for key in state:
                app.session_state[f"{prefix}.{key}"] = as_state(defaults[key].default)
            tried += 1
    assert tried > 50


@pytest.mark.parametrize("slug", SLUGS)
def test_every_control_can_be_reached(visit, slug):
    page = visit(slug)
    for declaration in page.lesson.benches.values():
        for name, control in controls(declaration):
            assert applied(declaration, needed(declaration, name))[name] or fixed(control)


@pytest.mark.parametrize("slug", SLUGS)
def test_one_control_in_the_link_of_every_bench(visit, slug):
    """A permalink sets its control, in the language that the link says, and no other bench."""
    for lang in LANGUAGES:
        names = visit(slug, lang).lesson.benches
        for bench_name, declaration in names.items():
            for name, value in grid(declaration):
                control = dict(controls(declaration))[name]
                if control.when is None and value != control.default:
                    break
            else:
                continue  # a bench whose slider lives in the browser
            code = catalog.lesson(slug).code
            page = visit(slug, lang, **{f"{code}.{bench_name}.{name}": encoded(value)})
            assert page.value(bench_name, name) == as_state(value)
            for other, its in page.lesson.benches.items():
                for field, its_control in controls(its):
                    if (other, field) != (bench_name, name):
                        drawn = page.value(other, field)
                        assert drawn in (None, as_state(its_control.default)), (other, field)
            assert set(page.app.query_params) == {"lang", f"{code}.{bench_name}.{name}"}
