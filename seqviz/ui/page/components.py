"""What the page does in the browser by itself: draw charts, notice the theme and a hand at rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import streamlit as st

from seqviz.core.paths import STATIC
from seqviz.ui.render import css as stylesheet
from seqviz.ui.server import static_files


def watch_theme(tag: str, words: Mapping[str, str], views: Mapping[str, Any]) -> None:
    """Run the page again when the reader switches the theme, so that every chart is repainted.

    The script also tells the browser the language of the page by its tag (zh-CN), for its voice and
    its fonts, and the page around a frame what the address bar would show
    (`assets/static/components/iframe_url_sync.js`), and copies where the browser lends no clipboard
    (`components/copy.js`). words: what these and `components/accessibility.js` say. views: to the
    other pages (`ui.page.navigation.addresses`), for `assets/static/components/navigation.js`.
    """
    _component("components/theme", "<span></span>", "components/accessibility", "components/copy")(
        key="theme",
        data=_plain(theme=stylesheet.theme(), lang=tag, words=dict(words), ways=dict(views)),
        on_theme_change=lambda: None,
        height=0,
    )


def present() -> None:
    """Let the keys of a clicker walk through the benches (`components/present.js`)."""
    _component("components/present")(key="presenting", height=0)


def debounce(
    prefix: str,
    settings: Mapping[str, str],
    followers: Sequence[str],
    follow: Callable[[Sequence[str]], None],
) -> None:
    """Call `follow(names)` when the settings of a bench have not changed for a quarter of a second.

    followers: the benches that build on it. Those near the window are named at once, the others
    when the reader comes near them.
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
) -> None:
    """Call `come(names)` when the reader comes near benches that only keep their place.

    lesson: its slug. benches: all of the page. leads: those that others build on, which may wait
    for what they load: they are named when they have been passed as well. full_text: the key of a
    button that needs every one.
    """

    def on_event() -> None:
        on_visible(_named(key, "visible", benches))

    _component("bench/lazy_load", "<span></span>", "bench/print")(
        key=key,
        data=_plain(
            lesson=lesson,
            benches=list(benches),
            leads=list(leads),
            whole=f".st-key-{full_text.replace('.', '-')}",
        ),
        on_visible_change=on_event,
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
    """A Plotly figure (its JSON), updated in place when its data change; it fills its container.

    The theme is part of the data, so that a switch of theme paints the chart again. `missing` is
    what to say where the drawing library cannot be loaded. `on_pick(x, y)` is called before the
    next run when somebody clicks a point or cell of a trace whose `meta` is "pick"; both come from
    the browser, so check them. live: where the browser asks for the picture while a hand moves a
    slider (`ui.live.handler`).
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
        # Two lines as bytes. Streamlit would write a dictionary as JSON twice, with the figure's
        # own JSON, up to a megabyte, as a string in it.
        data=b"%b\n%b" % (json.dumps(around).encode(), figure),
        height="content",
        on_pick_change=picked,
    )


def room(
    key: str, code: str, lesson: str, words: Mapping[str, Any], on_leave: Callable[[], None]
) -> None:
    """Be in a room, as its teacher or a student (`classroom/room.js`): a chip says where.

    lesson: whose page it is, empty at home; words: see there. `on_leave()` is called before the
    next run when the reader leaves it.
    """
    payload = _plain(code=code, lesson=lesson, words=dict(words))
    _component("classroom/room", '<div class="seqviz-room" role="status"></div>', "classroom/room")(
        key=key, data=payload, on_leave_change=on_leave, height=0
    )


def room_join(key: str, words: Mapping[str, Any], on_enter: Callable[[str], None]) -> None:
    """Open a room, or join one by its code (`assets/static/classroom/room_join.js`).

    `on_enter(code)` is called before the next run; it comes from the browser, so check it.
    """

    def entered() -> None:
        if isinstance(code := event_value(key, "join"), str):
            on_enter(code)

    _component("classroom/room_join", '<div class="seqviz-room-join"></div>', "classroom/room")(
        key=key, data=_plain(words=dict(words)), on_join_change=entered, height="content"
    )


def poll(
    key: str, options: Sequence[str], words: Mapping[str, Any], on_reveal: Callable[[Any], None]
) -> None:
    """A question that the class in a room votes on (`assets/static/classroom/poll.js`).

    `on_reveal(own)` is called before the next run when the teacher reveals the votes; own: this
    reader's answer, which comes from the browser.
    """

    def revealed() -> None:
        if isinstance(payload := event_value(f"{key}.poll", "reveal"), Mapping):
            on_reveal(payload.get("own"))

    _component("classroom/poll", '<div class="seqviz-poll"></div>', "classroom/room")(
        key=f"{key}.poll",
        data=_plain(key=key, options=list(options), words=dict(words)),
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
    """What a class runs at this bench, each seat its own seed (`classroom/seed_experiment.js`).

    height: pixels of its figure. words: see there.
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
    """A prediction to draw on a figure (`classroom/drawn_prediction.js`), alone or in a room.

    around: what is said around the figure (`ui.page.questions.sketch_figures`). words: of rooms.
    `on_compute(on)` is called before the next run when the result is to be shown, or no more.
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
    """A bench with one slider, which the page draws once (`assets/static/home/home.js`).

    around: what is said around the figure, its words, and where the browser asks for others.
    """
    _component("home/home", _HOME_BENCH, "components/slider", "home/home")(
        key=key, data=b"%b\n%b" % (json.dumps(dict(around)).encode(), figure), height="content"
    )


def home_search(
    key: str,
    rows: Sequence[Sequence[str]],
    lessons: Mapping[str, str],
    words: Mapping[str, str],
) -> None:
    """The search, and what this browser remembers, on the cards below (`home/home_search.js`).

    rows: what can be found (`content.search_index.rows`). lessons: their titles by their slugs.
    """
    _component("home/home_search", '<div class="seqviz-home-search"></div>')(
        key=key, data=_plain(rows=rows, lessons=dict(lessons), words=dict(words)), height="content"
    )


def sinusoid(
    key: str,
    values: Mapping[str, Any],
    start: Mapping[str, Any],
    words: Mapping[str, Any],
    on_change: Callable[[Mapping[str, Any]], None],
) -> None:
    """Sinusoidal positional encodings with their controls, drawn and computed in the browser.

    values: positions, d_model, base, layout, position and dimension; new ones move the controls.
    start: their defaults. words: what is written, see `assets/static/sinusoid*.js`.
    `on_change(values)` is called before the next run when the controls have come to rest; they come
    from the browser, so check them.
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


def drag_commit(
    key: str, bench: str, signature: str | None, on_rest: Callable[[Mapping[str, Any]], None]
) -> None:
    """Hear of a hand that rests where the browser shows all that the page would draw.

    bench: its prefix. signature: of what the page has drawn (`html.layout_signature`).
    `on_rest(told)` is called before the next run: "values" of sliders as they stand in a link, and
    the "layout_signature" of what the browser shows. It all comes from the browser, so check it.
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
    """The last rest of a hand on a bench after which it was not drawn.

    It stands in what is drawn next: the browser would take a figure or a slider that is as the page
    has drawn it last for one that is on screen.
    """
    return int(st.session_state.get(f"_{bench}.n_commits", 0))


# Drawings that answer in the browser, by the name with which a bench asks for them.
IN_BROWSER = {"sinusoid": sinusoid}


_HOME_BENCH = """<section class="seqviz-home-bench"><h2 class="name"></h2>
<div class="main"><div class="home-figure"><div class="seqviz-chart"></div></div></div>
<div class="side"><p class="lead"></p><div class="seqviz-slider"></div><div class="sentence"></div>
<a class="lesson-link"></a></div></section>"""


def _plain(**data: Any) -> list[dict[str, Any]]:
    """Data for a component, which its script gets without the list around them.

    Streamlit looks through a dictionary for tables, and imports pandas for it: 0.4 s of the first
    lesson of a process.
    """
    return [data]


def event_value(key: str, event: str) -> Any:
    """What a component says in this run; None where it says nothing, or its page has been left."""
    return st.session_state[key].get(event) if key in st.session_state else None


def _named(key: str, event: str, existing: Sequence[str]) -> list[str]:
    """Those of the known names that a component says; anything may come from a browser."""
    names = event_value(key, event)
    return [name for name in existing if name in names] if isinstance(names, list) else []


def slider(
    key: str,
    bench: str,
    name: str,
    options: Mapping[str, Any],
    on_rest: Callable[[str], None],
) -> None:
    """A slider on a native input (`components/slider.js`, which says what its options are).

    bench: the prefix of its bench. name: its parameter in a link. While a hand moves it the browser
    asks for the picture by itself; `on_rest(text)` is called before the next run when it has come
    to rest, with the value as it stands in a link, which comes from the browser: check it.
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
    """A field for a number (`components/number_box.js`, which says what its options are).

    `on_change(text)` is called before the next run with the number as it stands in a link, "" for
    none; it comes from the browser: check it.
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


# Streamlit loads a component's script from memory, where it has no address to import others from.
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
    """Register a component. script, css: paths in `assets/static`, without their endings."""
    return st.components.v2.component(
        f"seqviz_{script.rpartition('/')[2]}",
        html=html,
        isolate_styles=False,  # the export looks into the charts, and tests do
        css="\n".join((STATIC / f"{name}.css").read_text("utf-8") for name in css) or None,
        js=_LOADER.format(address=static_files.address(f"{script}.js")),
    )
