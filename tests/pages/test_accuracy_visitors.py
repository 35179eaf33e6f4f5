"""The lesson on accuracy: own sentences, jobs, links, the code, other visitors."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from accuracy_page import (
    OWN,
    SLUG,
    VIEWS,
    badge,
    drawn,
    figure,
    opened,
    result,
    said,
    shown,
    warned,
)
from looking import alerts, bench, figures, walk

from seqviz import jobs
from seqviz.compute import proportions
from seqviz.compute.accuracy.findings import TuneSettings
from seqviz.experiments.accuracy import features, fill, heads, shipped
from seqviz.figures.accuracy.fill import best_guesses, fill_in_accuracy
from seqviz.figures.accuracy.progress import training_progress
from seqviz.lessons.bench import controls
from seqviz.models import device, pretrained, texts
from seqviz.text import LANGUAGES
from seqviz.ui.bench import job_progress

EACH = pytest.mark.parametrize("lang", LANGUAGES)
PATIENCE = 120
FEW = {"fill__sentences": 200, "fill__selected": 30}
OWN_BENCHES = tuple(dict.fromkeys(name for name, _ in OWN))


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    """The numbers below are the CPU's, whatever else this machine has."""
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    device.choose.cache_clear()
    yield
    for queue in jobs.queue._defaults.values():
        queue.close(30)  # nothing goes on after the test
    device.choose.cache_clear()


@pytest.fixture
def submitted(monkeypatch) -> list[jobs.Job]:
    """The jobs that a press of the button has put into the queue, the latest last."""
    made: list[jobs.Job] = []
    submit = jobs.Jobs.submit

    def noted(self, *args, **keywords):
        made.append(submit(self, *args, **keywords))
        return made[-1]

    monkeypatch.setattr(jobs.Jobs, "submit", noted)
    return made


def press(page, key: str) -> None:
    page.app.get_by_key(key).click().run()
    page.healthy()


def finished(page, job: jobs.Job) -> None:
    """Wait for the work as the browser does, which asks again until it has ended."""
    assert job.wait(PATIENCE), "the run does not end"
    page.app.run()
    page.healthy()


def begun(job: jobs.Job) -> None:
    """Wait until the work has something to show."""
    last = time.monotonic() + PATIENCE
    while not job.trail and job.state in job_progress.ACTIVE and time.monotonic() < last:
        time.sleep(0.05)
    assert job.trail
    assert job.state == "running"


# ------------------------------------------------------------------------------------ own sentences
HOSTILE = "<b>Good</b> $x^2$ [a](http://b) ![i](http://b/c.png) **no** %{x} &amp; `c` # {d} | ~e~"
TEXTS = {
    "one word": "Good",
    "2,000 characters": "x" * 2000,
    "a long text": "not a bad film " * 133,
    "markup": HOSTILE,
    "chinese": "这部电影很好看，我喜欢。",
    "emoji": "\U0001f3ac great \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "the tokenizer's own": "[MASK] [CLS] [SEP] [PAD] [UNK]",
    "points": "...!?",
}


def wrote(page, text: str) -> None:
    """The same text in every field of the page, each bench at the view that reads it."""
    views = {f"ba.{name}.view": "own" for name in OWN_BENCHES if "own" in VIEWS[name]}
    page.run(**views)
    page.run(**{f"ba.{name}.text": text for name in OWN_BENCHES})


@pytest.mark.parametrize("kind", TEXTS)
def test_any_text_is_read(visit, kind):
    lang = LANGUAGES[len(kind) % 2]
    page = opened(visit, lang, modes__repeats=5)
    wrote(page, TEXTS[kind])
    assert not page.app.warning
    for name in VIEWS:
        assert len(figures(bench(page.app, name))) == 1, name
    page.run(ba__padding__view="tokens")
    assert len(figures(bench(page.app, "padding"))) == 1
    for metric in page.app.metric:
        assert not re.search(r"nan|inf\b|None", f"{metric.value} {metric.delta}"), metric.label
    if kind == "markup":  # it is data
        for name in OWN_BENCHES:
            assert not any("<b>good" in text.lower() for text in strings(figure(page, name)))
            press(page, f"ba.{name}.data")


def strings(node) -> list[str]:
    """Every text in a figure."""
    if isinstance(node, str):
        return [node]
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [text for part in parts for text in strings(part)]


def test_markup_in_a_text_is_shown_as_written(visit):
    page = opened(visit)
    wrote(page, HOSTILE)
    (html,) = (element.proto.body for element in bench(page.app, "knife").get("html"))
    assert "<b>good" not in html.lower()
    assert "<img" not in html.lower()
    pieces = texts.tokens(pretrained.load("minilm"), HOSTILE).pieces[1:-1]
    for name in ("guess", "looks"):
        (pills,) = bench(page.app, name).get("button_group")[-1:]
        assert len(pills.options) == min(60, len(pieces))
        for option, piece in zip(pills.options, pieces, strict=False):
            assert re.sub(r"\\(.)", r"\1", option) == piece
            assert not re.search(r"(?<!\\)[*_`\[\]$<>~#|]", option), option


@EACH
@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b"])
def test_nothing_to_read_is_one_sentence(visit, lang, text):
    page = opened(visit, lang)
    before = {name: figure(page, name) for name in set(VIEWS) - set(OWN_BENCHES)}
    wrote(page, text)
    wanted = page.text("problem.empty_text")
    for name in OWN_BENCHES:
        assert warned(page, name) == [wanted], name
        assert not figures(bench(page.app, name))
        assert not bench(page.app, name).metric
    assert page.warned() == [wanted] * len(OWN_BENCHES)
    assert {name: figure(page, name) for name in before} == before
    page.run(**{f"ba.{name}.text": "Fine." for name in OWN_BENCHES})
    assert not page.app.warning
    assert all(len(figures(bench(page.app, name))) == 1 for name in VIEWS)


@pytest.mark.parametrize(("text", "place", "truth"), [("we love it", 60, "it"), ("Good", 2, "good"),
                                                     ("a " * 100, 60, "a")])  # fmt: skip
def test_a_place_beyond_the_sentence_is_its_last_token(visit, text, place, truth):
    page = opened(visit, guess__text=text, guess__place=place, looks__view="own", looks__text=text,
                  looks__place=place)  # fmt: skip
    last = min(len(text.split()), 60)
    found = fill.guesses("minilm", text, last)
    assert found.truth == truth
    assert figure(page, "guess") == drawn(page, best_guesses, found)
    both = fill.guesses_by_direction("minilm", text, last)
    assert figure(page, "looks") == drawn(page, best_guesses, both)
    more = page.text(f"{SLUG}.note.more_tokens", limit=60)
    assert (more in said(page, "guess")) == (len(text.split()) > 60)


@pytest.mark.parametrize("name", ["guess", "looks"])
def test_a_click_on_a_word_hides_it(visit, name):
    text = "we love this film"
    page = opened(visit, **{f"{name}__text": text}, looks__view="own")

    def pills():
        return bench(page.app, name).get("button_group")[-1]

    for place, word in ((2, "love"), (4, "film"), (1, "we")):
        assert pills().options == text.split()
        pills().set_value(place).run()
        page.healthy()
        assert page.value(name, "place") == place
        read = fill.guesses if name == "guess" else fill.guesses_by_direction
        found = read("minilm", text, place)
        assert found.truth == word
        assert figure(page, name) == drawn(page, best_guesses, found)
        assert link(page)[f"ba.{name}.place"] == str(place)


@pytest.mark.parametrize("place", range(1, 6))
def test_a_token_of_the_tokenizer_s_own_can_be_hidden_too(visit, place):
    """Whatever is written as [SEP] or [PAD] is one token of the text."""
    page = opened(visit, guess__text=TEXTS["the tokenizer's own"], guess__place=place)
    assert not page.app.warning
    assert len(figures(bench(page.app, "guess"))) == 1


# --------------------------------------------------------------------------------------------- jobs
def test_a_small_setting_runs_from_the_button_to_the_end(visit, submitted):
    page = opened(visit, "zh", **FEW)
    assert not figures(bench(page.app, "fill"))
    assert alerts(bench(page.app, "fill"))["info"] == [page.text(f"{SLUG}.hint.train")]
    assert page.app.button(key="ba.fill.start").label == page.text(f"{SLUG}.work.start")
    assert "found = fill_in(" in page.lesson.sources()["fill"]
    press(page, "ba.fill.start")
    begun(submitted[-1])
    page.app.run()
    (bar,) = bench(page.app, "fill").get("progress")
    assert bar.text.startswith(page.text(f"{SLUG}.work.running").split("{")[0])
    finished(page, submitted[-1])
    found = submitted[-1].result
    assert found.settings == replace(shipped.FILL, share=0.3, sentences=200)
    assert figure(page, "fill") == drawn(page, fill_in_accuracy, found)
    assert badge(page, "fill").split(" · ")[0].endswith(page.text("frame.live"))
    count = int((found.treatment == 0).sum())
    assert shown(page, "fill")["top_mask"][1].endswith(f"n = {count:,}")
    assert "ba.fill.start" not in [button.key for button in page.app.button]
    # Each sentence is corrupted in its own way: these 200 are the first of the 2,000 shipped ones.
    known = result("fill_by_share")[shipped.SELECTED.index(0.3)]
    np.testing.assert_array_equal(known.treatment[: len(found.treatment)], found.treatment)
    assert (known.rank[: len(found.rank)] == found.rank).mean() > 0.95

    # Somebody else of the class has it without pressing.
    other = opened(visit, **FEW)
    assert figure(other, "fill") == drawn(other, fill_in_accuracy, found)
    assert len(submitted) == 1


def test_what_is_shipped_can_be_computed_now(visit, submitted):
    """The figure that came with the app stays until the new one is there."""
    page = opened(visit, search__method="grid")
    kind = page.text("frame.precomputed")
    before = figure(page, "search")
    assert badge(page, "search").split(" · ")[0].endswith(kind)
    for name in ("knife", "fill", "padding", "looks", "tune", "search"):
        assert page.app.button(key=f"ba.{name}.start").label == page.text("work.anew"), name
    press(page, "ba.search.start")
    assert figure(page, "search") == before
    finished(page, submitted[-1])
    assert badge(page, "search").split(" · ")[0].endswith(page.text("frame.live"))
    (ours,), (kept,) = submitted[-1].result, result("search_grid")
    np.testing.assert_allclose(ours.validation, kept.validation, rtol=0, atol=2 / 800)
    assert "ba.search.start" not in [button.key for button in page.app.button]
    assert "searches(" in page.lesson.sources()["search"]


def test_a_long_job_beside_the_shipped_figure(visit, submitted):
    """It reports a curve; the shipped one stays whole meanwhile, and cancel gives all back."""
    page = opened(visit, tune__epochs=2)
    before = figure(page, "tune")
    press(page, "ba.tune.start")
    begun(submitted[-1])
    for _ in range(2):
        page.app.run()
        page.healthy()
        assert figures(bench(page.app, "tune"))[-1] == before
        assert len(bench(page.app, "tune").get("progress")) == 1
        assert badge(page, "tune").split(" · ")[0].endswith(page.text("frame.precomputed"))
    page.run(ba__knife__share=80)  # the rest answers
    press(page, "ba.tune.cancel")
    finished(page, submitted[-1])
    assert submitted[-1].state == "cancelled"
    assert figures(bench(page.app, "tune")) == [before]
    assert page.app.button(key="ba.tune.start").label == page.text("work.anew")


SMALL = {"tune__regime": "top", "tune__layers": 1, "tune__sentences": 50, "tune__epochs": 1}


def test_a_training_shows_its_curve(visit, submitted):
    page = opened(visit, **SMALL)
    assert alerts(bench(page.app, "tune"))["info"] == [page.text(f"{SLUG}.hint.train")]
    press(page, "ba.tune.start")
    job = submitted[-1]
    begun(job)
    while len(job.trail) < 3:
        time.sleep(0.05)
    page.app.run()
    page.healthy()
    growing = figure(page, "tune")
    settings = TuneSettings(
        "minilm", "top", "mean", 50, 1, shipped.TUNE.rate, shipped.TUNE.head_rate, 1
    )
    parts = features.parts()
    guess = proportions.majority(parts["train"].positive, parts["validation"].positive)
    trail = job.trail  # the page has shown some of it
    assert growing in [
        drawn(page, training_progress, trail[:end], settings, guess)
        for end in range(1, len(trail) + 1)
    ]
    press(page, "ba.tune.cancel")
    finished(page, job)
    assert not figures(bench(page.app, "tune"))
    assert page.app.button(key="ba.tune.start").label == page.text(f"{SLUG}.work.start")


def test_two_visitors_with_the_same_settings_share_one_job(visit, submitted):
    settings = {"padding__sentences": 500}
    pages = [opened(visit, lang, **settings) for lang in LANGUAGES]
    for page in pages:
        press(page, "ba.padding.start")
    first, second = submitted
    assert first is second
    assert first.owners == 2
    begun(first)
    press(pages[0], "ba.padding.cancel")
    assert first.owners == 1
    assert first.state == "running"  # the other one still waits for it
    press(pages[1], "ba.padding.cancel")
    assert first.wait(10)
    assert first.state == "cancelled"
    for page in pages:
        page.app.run()
        page.healthy()
        assert page.app.button(key="ba.padding.start").label == page.text(f"{SLUG}.work.start")
    assert not jobs.default("cpu")._active()


@pytest.mark.timing
def test_who_leaves_the_page_frees_the_queue(visit, submitted, monkeypatch):
    """A browser that is closed no longer asks; the next one's work is done."""
    monkeypatch.setattr(jobs.queue, "_defaults", {"cpu": jobs.Jobs(abandon_after=3.0)})
    gone = opened(visit, looks__sentences=500)
    press(gone, "ba.looks.start")
    begun(submitted[-1])
    page = opened(visit, **FEW)
    press(page, "ba.fill.start")
    first, second = submitted
    assert first is not second
    waited = time.monotonic()
    while first.state == "running" and time.monotonic() < waited + 30:
        page.app.run()  # this one still waits, and says so
        time.sleep(0.3)
    assert first.state == "cancelled"
    begun(second)
    assert second.position is None
    press(page, "ba.fill.cancel")
    assert second.wait(10)


# --------------------------------------------------------------------------------------------- code
LOOKS = (
    {},
    {"knife__order": "function", "knife__share": 98, "fill__view": "share", "fill__selected": 100,
     "padding__view": "flipped", "padding__side": "left", "looks__view": "own",
     "heads__feature": "pooler", "heads__sentences": 200, "tune__regime": "top",
     "count__network": "distilbert", "count__regime": "lora", "search__view": "race",
     "compare__view": "running", "compare__first": "lstm", "compare__sentences": 40},
    {"knife__view": "own", "knife__text": "a 'quoted' \"text\" \\ {x}", "guess__place": 2,
     "padding__view": "own", "tune__regime": "lora", "tune__rate": 3e-4,
     "search__method": "random", "compare__view": "paired", "compare__second": "gru"},
    {"padding__view": "tokens", "padding__text": "$x$ <b>", "heads__texts": True,
     "compare__view": "confusion", "compare__first": "bag_of_words"},
)  # fmt: skip


def executed(source: str) -> dict:
    space: dict = {}
    exec(compile(source, "<code under the figure>", "exec"), space)
    return space


@pytest.mark.parametrize("settings", LOOKS, ids=range(len(LOOKS)))
def test_the_code_under_every_figure_gives_that_figure(visit, settings):
    lang = LANGUAGES[len(settings) % 2]
    page = opened(visit, lang, **settings)
    sources = page.lesson.sources()
    assert set(sources) == set(VIEWS)
    for name, source in sources.items():
        assert len(source) < 3000, f"{name}: numbers listed that have a name"
        made = json.loads(executed(source)["figure"].to_json())
        here = figure(page, name)
        for part in ("x", "y", "z", "text", "name"):
            ours, theirs = ([t.get(part) for t in f["data"]] for f in (made, here))
            assert ours == theirs, (name, part)
        assert made["layout"]["meta"]["alt"] == here["layout"]["meta"]["alt"], name


# -------------------------------------------------------------------------------------------- links
def link(page) -> dict[str, str]:
    """The address bar without the language; AppTest gives a list where it was opened with one."""
    return {
        key: value[0] if isinstance(value, list) else value
        for key, value in page.app.query_params.items()
        if key != "lang"
    }


def part(page) -> str:
    """Which of the tabs is open when the page comes."""
    (found,) = (
        node for node in walk(page.app.main) if getattr(node, "type", "") == "tab_container"
    )
    names = list(dict.fromkeys(page.lesson.parts.values()))
    assert [tab.label for tab in page.app.tabs] == [
        page.text(f"{SLUG}.part.{name}") for name in names
    ]
    return names[found.proto.tab_container.default_tab_index]


@EACH
def test_a_link_to_a_bench_opens_its_tab_and_brings_everything_back(visit, lang):
    wishes = {
        "padding": {"view": "drift", "length": 64, "side": "left"},
        "looks": {"view": "own", "text": "a <i> b & c + d = e?", "place": 3},
        "heads": {"feature": "cls", "head_rate": 0.1, "runs": 2},
        "compare": {"view": "paired", "first": "lstm", "sentences": 500},
        "guess": {"text": "we love it", "place": 2},
    }
    page = opened(visit, lang)
    assert part(page) == "token"
    for name, wanted in wishes.items():
        if "view" in wanted:
            page.run(**{f"ba.{name}.view": wanted["view"]})
        page.run(**{f"ba.{name}.{key}": value for key, value in wanted.items()})
        press(page, f"ba.{name}.link")
        (code,) = page.app.get("code")[-1:]
        query = dict(parse_qsl(urlsplit(code.value).query))
        where = page.lesson.parts.get(name)
        assert query.pop("lang") == lang
        assert query == {
            **({"ba.part": where} if where else {}),
            **{f"ba.{name}.{key}": controls.encoded(value) for key, value in wanted.items()},
        }
        again = visit(SLUG, lang, **query)
        assert part(again) == (where or "token")
        for key, value in wanted.items():
            assert again.value(name, key) == value
        assert figure(again, name)["data"] == figure(page, name)["data"], name


@pytest.mark.parametrize(
    ("query", "opened_part"),
    [
        ({}, "token"),
        ({"ba.looks.sentences": "500"}, "direction"),
        ({"ba.modes.repeats": "7"}, "weights"),
        ({"ba.padding.length": "64"}, "padding"),
        ({"ba.compare.view": "paired"}, "token"),
        ({"ba.part": "weights"}, "weights"),
        ({"ba.part": "weights", "ba.knife.share": "80"}, "weights"),
        ({"ba.part": "nonsense"}, "token"),
        ({"ba.part": ""}, "token"),
        ({"ba.part": "<script>", "ba.looks.sentences": "500"}, "direction"),
        ({"ba.part": "Weights", "ba.nowhere.x": "1"}, "token"),
        ({"ba.nowhere": "1", "ba.": "2", "ba": "3", "bas.looks.x": "4"}, "token"),
        ({"po.part": "weights"}, "token"),
    ],
)
def test_which_tab_a_link_opens(visit, query, opened_part):
    page = visit(SLUG, **query)
    assert part(page) == opened_part
    page.run(ba__count__regime="all", ba__padding__side="left")  # the hand decides from then on
    assert part(page) == opened_part


# ---------------------------------------------------------------------------- a machine without all
@EACH
def test_the_first_head_on_a_machine_waits_for_the_encoder_once(visit, monkeypatch, lang):
    """The vectors of the sentences are not here yet: what is shipped stays, the rest waits."""
    monkeypatch.setattr(features, "ready", lambda model: False)
    page = opened(visit, lang)
    assert badge(page, "heads").split(" · ")[0].endswith(page.text("frame.precomputed"))
    for name in VIEWS:  # the standard head is shipped: own sentences need no vectors
        assert len(figures(bench(page.app, name))) == 1, name
    monkeypatch.setattr(heads, "known", lambda model, feature="mean": False)
    page.run(ba__heads__feature="cls", ba__heads__epochs=7)
    assert not figures(bench(page.app, "heads"))
    assert page.text(f"{SLUG}.note.features_first") in said(page, "heads")
    assert alerts(bench(page.app, "heads"))["info"] == [page.text(f"{SLUG}.hint.train")]
    assert page.app.button(key="ba.heads.start").label == page.text(f"{SLUG}.work.start")
