"""Custom components of the page: charts, sliders, theme watcher, debounce, rooms."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import streamlit as st

from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.core.paths import STATIC
from seqviz.ui.render import css as stylesheet
from seqviz.ui.server import static_files


def watch_theme(tag: str, words: Mapping[str, str], views: Mapping[str, Any]) -> None:
    """Rerun the page when the reader switches the theme, to redraw its charts.

    The script also sets the page's language for speech and fonts, sends the URL to a page around
    the frame (`assets/static/components/iframe_url_sync.js`), and copies text where the browser
    provides no clipboard (`components/copy.js`).

    Args:
        tag: language tag, such as zh-CN.
        words: labels of these scripts and of `components/accessibility.js`.
        views: links to other pages (`ui.page.navigation.addresses`), for
            `components/navigation.js`.
    """
    _component("components/theme", "<span></span>", "components/accessibility", "components/copy")(
        key="theme",
        data=_plain(theme=stylesheet.theme(), lang=tag, words=dict(words), ways=dict(views)),
        on_theme_change=lambda: None,
        height=0,
    )


def present(words: Mapping[str, str]) -> None:
    """Let the keys of a clicker step through the lesson (`components/present.js`).

    Args:
        words: its messages.
    """
    _component("components/present")(key="presenting", data=_plain(**words), height=0)


def debounce(
    prefix: str,
    settings: Mapping[str, str],
    followers: Sequence[str],
    follow: Callable[[Sequence[str]], None],
) -> None:
    """Call `follow(names)` when the settings of a bench have not changed for 250 ms.

    Dependents near the viewport are named at once, the others when the reader comes near them.

    Args:
        prefix: of the bench.
        settings: its permalink.
        followers: the visible dependents.
        follow: refreshes dependents.
    """
    key = f"{prefix}.debounce"

    def settled() -> None:
        follow(_named(key, "commit", followers))

    _component("bench/debounce")(
        key=key,
        data=_plain(bench=prefix, settings=json.dumps(settings), followers=list(followers)),
        on_commit_change=settled,
        height=0,
    )


def lazy_load(
    key: str,
    lesson: str,
    benches: Sequence[str],
    leads: Sequence[str],
    full_text: str,
    on_visible: Callable[[Sequence[str]], None],
    predictions: Sequence[str],
    on_answered: Callable[[Sequence[str]], None],
    chapters: Sequence[Mapping[str, Any]],
    words: Mapping[str, str],
) -> None:
    """Call `on_visible(names)` when the reader comes near placeholders of benches.

    Args:
        key: of the component.
        lesson: its slug.
        benches: all of the page.
        leads: those with dependents, which may wait for what they load: they are also named once
            the reader has passed them.
        full_text: key of a button that needs every bench rendered.
        on_visible: renders benches.
        predictions: keys of the predictions that are not answered.
        on_answered: called with those of them that this browser remembers as answered.
        chapters: name, title and tasks of the benches of the core, for `bench/chapters.js`.
        words: its labels.
    """

    def on_event() -> None:
        on_visible(_named(key, "visible", benches))

    def on_remembered() -> None:
        on_answered(_named(key, "answered", predictions))

    _component("bench/lazy_load", "<span></span>", "bench/print", "bench/chapters")(
        key=key,
        data=_plain(
            lesson=lesson,
            benches=list(benches),
            leads=list(leads),
            whole=f".st-key-{full_text.replace('.', '-')}",
            predictions=list(predictions),
            chapters=list(chapters),
            words=dict(words),
        ),
        on_visible_change=on_event,
        on_answered_change=on_remembered,
        height=0,
    )


def chart(
    key: str,
    figure: bytes,
    alt: str,
    missing: str,
    on_pick: Callable[[Any, Any], None] | None = None,
    live: Mapping[str, Any] | None = None,
) -> None:
    """Show a Plotly figure that fills its container and is updated in place.

    The theme is part of the data, so a switch of the theme redraws the chart.

    Args:
        key: of the component.
        figure: its JSON.
        alt: alternative text.
        missing: message if the drawing library cannot be loaded.
        on_pick: called with x and y before the next run, when a point or cell of a trace whose
            `meta` is "pick" is clicked; both come from the browser and must be validated.
        live: descriptor of live requests during a drag (`ui.live.handler`).
    """

    def picked() -> None:
        point = event_value(key, "pick")
        if on_pick is not None and isinstance(point, Mapping):
            on_pick(point.get("x"), point.get("y"))

    around = {
        "alt": alt,
        "theme": stylesheet.theme(),
        "missing": missing,
        "picks": on_pick is not None,
        "live": live,
        "n_commits": _commits(live["bench"]) if live else 0,
    }
    _component("bench/chart", '<div class="seqviz-chart"></div>')(
        key=key,
        # Two lines of bytes: a dictionary would be encoded as JSON twice, with the figure's JSON,
        # up to a megabyte, as a string in it.
        data=b"%b\n%b" % (json.dumps(around).encode(), figure),
        height="content",
        on_pick_change=picked,
    )


def room(
    key: str,
    code: str,
    lesson: str,
    words: Mapping[str, Any],
    address: str,
    on_leave: Callable[[], None],
) -> None:
    """Show the chip of a room and take part in it (`classroom/room.js`).

    Args:
        key: of the component.
        code: of the room.
        lesson: slug of the page, empty at home.
        words: labels, see the script.
        address: host of the app as other devices reach it; empty if they do not.
        on_leave: called before the next run when the reader leaves the room.
    """
    payload = _plain(code=code, lesson=lesson, words=dict(words), address=address)
    _component("classroom/room", '<div class="seqviz-room" role="status"></div>', "classroom/room")(
        key=key, data=payload, on_leave_change=on_leave, height=0
    )


def room_join(key: str, words: Mapping[str, Any], on_enter: Callable[[str], None]) -> None:
    """Show the form that opens or joins a room (`assets/static/classroom/room_join.js`).

    `on_enter(code)` is called before the next run; the code comes from the browser and must be
    validated.
    """

    def entered() -> None:
        if isinstance(code := event_value(key, "join"), str):
            on_enter(code)

    _component("classroom/room_join", '<div class="seqviz-room-join"></div>', "classroom/room")(
        key=key, data=_plain(words=dict(words)), on_join_change=entered, height="content"
    )


def poll(
    key: str,
    options: Sequence[str],
    right: int | None,
    words: Mapping[str, Any],
    on_reveal: Callable[[Any], None],
) -> None:
    """Show a question that the class in a room votes on (`assets/static/classroom/poll.js`).

    `on_reveal(own)` is called before the next run when the teacher reveals the votes, with this
    reader's answer, which comes from the browser. `right` is marked once it is known.
    """

    def revealed() -> None:
        if isinstance(payload := event_value(f"{key}.poll", "reveal"), Mapping):
            on_reveal(payload.get("own"))

    _component("classroom/poll", '<div class="seqviz-poll"></div>', "classroom/room")(
        key=f"{key}.poll",
        data=_plain(key=key, options=list(options), right=right, words=dict(words)),
        on_reveal_change=revealed,
        height="content",
    )


def class_run(
    key: str,
    lesson: str,
    bench: str,
    lang: str,
    present: bool,
    height: int,
    words: Mapping[str, Any],
) -> None:
    """Show the seed experiment of a class at a bench (`classroom/seed_experiment.js`).

    Args:
        key: of the component.
        lesson: slug.
        bench: name of the bench.
        lang: language code.
        present: presenter mode.
        height: of the figure, in pixels.
        words: labels, see the script.
    """
    _component(
        "classroom/seed_experiment", '<div class="seqviz-class-run"></div>', "classroom/room"
    )(
        key=key,
        data=_plain(lesson=lesson, bench=bench, lang=lang, present=present, height=height,
                    theme=stylesheet.theme(), words=dict(words)),
        height="content",
    )  # fmt: skip


def sketch(
    key: str,
    around: Mapping[str, Any],
    figure: bytes,
    words: Mapping[str, Any],
    on_compute: Callable[[bool], None],
) -> None:
    """Show a prediction to draw on a figure (`classroom/drawn_prediction.js`).

    Args:
        key: of the component.
        around: metadata of the figure (`ui.page.questions.sketch_figures`).
        figure: its JSON.
        words: labels of rooms.
        on_compute: called before the next run with True to show the result, False to hide it.
    """

    def computed() -> None:
        if isinstance(payload := event_value(f"{key}.drawing", "reveal"), Mapping):
            on_compute(bool(payload.get("on")))

    snapshot = {**around, "key": key, "room": dict(words), "theme": stylesheet.theme()}
    _component(
        "classroom/drawn_prediction",
        '<div class="seqviz-sketch"></div>',
        "classroom/room",
        "classroom/drawn_prediction",
    )(
        key=f"{key}.drawing",
        data=b"%b\n%b" % (json.dumps(snapshot).encode(), figure),
        on_reveal_change=computed,
        height="content",
    )


def home_bench(key: str, around: Mapping[str, Any], figure: bytes) -> None:
    """Show a bench with one slider, which the page renders once (`assets/static/home/home.js`).

    Args:
        key: of the component.
        around: metadata of the figure, labels, and the descriptor of live requests.
        figure: its JSON.
    """
    _component("home/home", _HOME_BENCH, "components/slider", "home/home")(
        key=key, data=b"%b\n%b" % (json.dumps(dict(around)).encode(), figure), height="content"
    )


def home_search(key: str, lang: str, first: str, plan: str, words: Mapping[str, str]) -> None:
    """Show the search, and the browser's memory of lessons on the cards (`home/home_search.js`).

    The index comes by a request of its own when the page is idle (`ui.app.router`).

    Args:
        key: of the component.
        lang: language code.
        first: URL of the first lesson.
        plan: URL of its plan.
        words: labels.
    """
    _component("home/home_search", '<div class="seqviz-home-search"></div>')(
        key=key, data=_plain(lang=lang, first=first, plan=plan, words=dict(words)), height="content"
    )


def sinusoid(
    key: str,
    values: Mapping[str, Any],
    start: Mapping[str, Any],
    words: Mapping[str, Any],
    on_change: Callable[[Mapping[str, Any]], None],
) -> None:
    """Show sinusoidal positional encodings, with controls, computed in the browser.

    Args:
        key: of the component.
        values: positions, d_model, base, layout, position and dimension; new ones move the
            controls.
        start: their defaults.
        words: labels, see `assets/static/figures/sinusoid*.js`.
        on_change: called with the values before the next run when the controls have come to rest;
            they come from the browser and must be validated.
    """

    def changed() -> None:
        payload = event_value(key, "settings")
        if isinstance(payload, Mapping):
            on_change({name: payload[name] for name in values if name in payload})

    _component(
        "figures/sinusoid",
        '<div class="seqviz-sinusoid"></div>',
        "components/slider",
        "figures/sinusoid",
    )(
        key=key,
        data=_plain(values=dict(values), start=dict(start), words=dict(words)),
        height="content",
        on_settings_change=changed,
    )


def steps(key: str, around: Mapping[str, Any], on_step: Callable[[int], None]) -> None:
    """Show the steps of a bench as numbered chips (`bench/steps.js`).

    Args:
        key: of the component.
        around: data of the script (`ui.page.steps.data`).
        on_step: called before the next run with the number of a step, if there is such a step.
    """

    def taken() -> None:
        payload = event_value(key, "step")
        number = payload.get("number") if isinstance(payload, Mapping) else None
        if type(number) is int and 1 <= number <= len(around["steps"]):
            on_step(number)

    _component("bench/steps", '<div class="seqviz-steps"></div>', "bench/steps")(
        key=key, data=_plain(**around), height="content", on_step_change=taken
    )


def answer(
    key: str, bench: str, sentence: str, is_right: bool, lights: Sequence[Mapping[str, Any]]
) -> None:
    """Show what the reader has predicted, and light up its place in the figure.

    Args:
        key: of the component.
        bench: prefix of the bench with the figure.
        sentence: the prediction.
        is_right: whether it is right.
        lights: parts of the figure (`framework.steps.light_json`); none where the figure shows
            something else.
    """
    _component("bench/answer", '<div class="seqviz-answer"></div>', "bench/answer")(
        key=key,
        data=_plain(bench=bench, sentence=sentence, right=is_right, lights=list(lights)),
        height="content",
    )


def bookmarks(key: str, text: Text) -> None:
    """Show the bookmarks of this browser; benches' stars add to them (`bench/bookmarks.js`).

    Args:
        key: of the component.
        text: translations.
    """
    titles = {record.slug: text(f"{record.slug}.title") for record in catalog.LESSONS}
    data = _plain(
        lang=text.lang,
        words=text.table("bookmarks"),
        setup=text("frame.notebook_setup"),
        titles=titles,
    )
    _component("bench/bookmarks", '<div class="seqviz-bookmarks"></div>', "bench/bookmarks")(
        key=key, data=data, height="content"
    )


def pins(key: str, data: Mapping[str, Any], on_pins: Callable[[object], None]) -> None:
    """Show the settings of the pinned curves of a figure (`bench/pins.js`).

    Args:
        key: of the component.
        data: data of the script (`ui.page.pins.data`).
        on_pins: called before the next run with the pins as the address names them, or None for
            none; it comes from the browser and may be anything.
    """

    def changed() -> None:
        payload = event_value(key, "pins")
        if isinstance(payload, Mapping):
            on_pins(payload.get("pins"))

    html = '<div class="seqviz-pins empty"><ul></ul><p class="says" role="status"></p></div>'
    _component("bench/pins", html, "bench/pins")(
        key=key, data=_plain(**data), height="content", on_pins_change=changed
    )


def replay(key: str, bench: str, words: Mapping[str, str], training: str) -> None:
    """Show the buttons that play a training again (`bench/replay.js`).

    Args:
        key: of the component.
        bench: its prefix.
        words: names of the buttons.
        training: identifies a job, whose figures follow each other while it runs; empty without.
    """
    html = (
        '<div class="seqviz-replay"><button type="button" class="play"></button>'
        '<button type="button" class="back">‹</button><input type="range" min="0">'
        '<button type="button" class="next">›</button><output></output></div>'
    )
    _component("bench/replay", html, "bench/replay")(
        key=key,
        data=_plain(bench=bench, words=dict(words), training=training),
        height="content",
    )


def drag_commit(
    key: str, bench: str, signature: str | None, on_rest: Callable[[Mapping[str, Any]], None]
) -> None:
    """Report the end of a drag whose final state the browser has already drawn.

    Args:
        key: of the component.
        bench: its prefix.
        signature: layout signature of what the page has drawn (`html.layout_signature`).
        on_rest: called before the next run with "values" of sliders, as in a link, and the
            "layout_signature" of what the browser shows; both must be validated.
    """

    def rested() -> None:
        if isinstance(payload := event_value(key, "commit"), Mapping):
            number = payload.get("number")
            st.session_state[f"_{bench}.n_commits"] = number if isinstance(number, int) else 0
            on_rest(payload)

    _component("bench/commit_reporter")(
        key=key,
        data=_plain(bench=bench, layout_signature=signature, number=_commits(bench)),
        on_commit_change=rested,
        height=0,
    )


def _commits(bench: str) -> int:
    """Return the number of the last commit after which the page did not redraw the bench.

    It is part of the data that is sent next: otherwise the browser would treat a figure or slider
    equal to the page's last one as already on screen.
    """
    return int(st.session_state.get(f"_{bench}.n_commits", 0))


def guessing(
    key: str,
    values: Mapping[str, Any],
    words: Mapping[str, str],
    on_change: Callable[[Mapping[str, Any]], None],
) -> None:
    """Let the reader guess a sentence character by character (`bench/guessing.js`).

    Args:
        key: of the component.
        values: the sentence with its number, the keys, and the record of a finished game or "".
        words: its labels.
        on_change: called with the record before the next run when the sentence is complete.
    """

    def finished() -> None:
        payload = event_value(key, "played")
        if isinstance(payload, Mapping) and isinstance(payload.get("record"), str):
            on_change({"played": payload["record"]})

    _component("bench/guessing", '<div class="seqviz-guessing"></div>', "bench/guessing")(
        key=key,
        data=_plain(values=dict(values), words=dict(words)),
        height="content",
        on_played_change=finished,
    )


# Client components by the name that a bench uses: of figures, and of games.
IN_BROWSER = {"sinusoid": sinusoid}
GAMES = {"guessing": guessing}


_HOME_BENCH = """<section class="seqviz-home-bench"><h2 class="name"></h2>
<div class="main"><div class="home-figure"><div class="seqviz-chart"></div></div></div>
<div class="side"><p class="lead"></p><div class="seqviz-slider"></div><div class="sentence"></div>
<a class="lesson-link"></a></div></section>"""


def _plain(**data: Any) -> list[dict[str, Any]]:
    """Return data for a component in a list, which the script unwraps.

    Streamlit searches a dictionary for tables and imports pandas for that: 0.4 s at the first
    lesson of a process.
    """
    return [data]


def event_value(key: str, event: str) -> Any:
    """Return the event value of a component in this run; None without an event or component."""
    return st.session_state[key].get(event) if key in st.session_state else None


def _named(key: str, event: str, existing: Sequence[str]) -> list[str]:
    """Return the known names among those that a component reports, which may be anything."""
    names = event_value(key, event)
    return [name for name in existing if name in names] if isinstance(names, list) else []


def slider(
    key: str,
    bench: str,
    name: str,
    options: Mapping[str, Any],
    on_rest: Callable[[str], None],
) -> None:
    """Show a slider on a native input (`components/slider.js` documents the options).

    During a drag the browser requests figures itself.

    Args:
        key: of the component.
        bench: prefix of the bench.
        name: of the parameter in a link.
        options: of the slider.
        on_rest: called before the next run with the committed value as in a link; it comes from the
            browser and must be validated.
    """

    def rested() -> None:
        if isinstance(text := event_value(key, "value"), str):
            on_rest(text)

    _component(
        "components/slider_component", '<div class="seqviz-slider"></div>', "components/slider"
    )(
        key=key,
        data=_plain(bench=bench, key=name, options=dict(options), rests=_commits(bench)),
        height="content",
        on_value_change=rested,
    )


def number(key: str, options: Mapping[str, Any], on_change: Callable[[str], None]) -> None:
    """Show a number field (`components/number_box.js` documents the options).

    `on_change(text)` is called before the next run with the number as in a link, "" for none; it
    comes from the browser and must be validated.
    """

    def changed() -> None:
        if isinstance(text := event_value(key, "value"), str):
            on_change(text)

    _component(
        "components/number_component",
        '<div class="seqviz-slider"></div>',
        "components/slider",
        "components/native_controls",
    )(key=key, data=_plain(**options), height="content", on_value_change=changed)


# Streamlit imports a component's script from memory, where it cannot import other modules.
_LOADER = """
const address = new URL("{address}", location.origin).href;
const later = () => new Promise((resolve) => setTimeout(resolve, 1000));
// One that the line has lost is asked for once more, under another name: a browser remembers.
const module = import(address).catch(() => later().then(() => import(address + "#again")));
let start = null;
module.then((loaded) => {{ start = loaded.default; }});
export default (told) => {{
  const data = Array.isArray(told.data) ? told.data[0] : told.data; // `_plain`
  const component = {{ ...told, data }};
  if (start) return start(component);
  let stop = null, ended = false;
  module.then(() => {{ if (!ended) stop = start(component); }});
  return () => {{ ended = true; stop?.(); }};
}}
"""


@cache
def _component(script: str, html: str = "<span></span>", *css: str) -> Any:
    """Register a component.

    Args:
        script: path in `assets/static` without its suffix.
        html: content of the component.
        *css: paths in `assets/static` without their suffixes.
    """
    return st.components.v2.component(
        f"seqviz_{script.rpartition('/')[2]}",
        html=html,
        isolate_styles=False,  # the image export and tests access the charts
        css="\n".join((STATIC / f"{name}.css").read_text("utf-8") for name in css) or None,
        js=_LOADER.format(address=static_files.address(f"{script}.js")),
    )
