"""Every bench in a page of its own: what stands in it, and what its address may say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqviz import jobs, lessons
from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.lessons.framework import controls
from seqviz.models import ready, store
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIVE, Style
from seqviz.ui.embed.request import bench_of, parse_request
from seqviz.ui.runtime import result_cache, run_context
from tests.hostile import adversarial_inputs
from tests.hostile.input_declarations import keys
from tests.hostile.links import written
from tests.tiers import alternate

BENCHES = [
    (record.slug, name)
    for record in catalog.LESSONS
    for name in getattr(lessons, record.slug).lesson.benches
]
CHEAP = (
    ("gates", "one"), ("vanishing_gradients", "gates"), ("ar_fitting", "process"),
    ("positions", "distance"),
)  # fmt: skip
IN_BROWSER = {("positions", "waves")}
ASKED_FOR = {("attention", "bertviz")}  # nothing stands there before a view is chosen


@pytest.mark.parametrize("door", ["embed", "print"])
@pytest.mark.parametrize(("query", "accepted"), [
    ("?lang=zh-CN", "en"), ("?lang=zh_Hans", "en"), ("?lang=ZH", "en"),
    ("", "fr-FR,zh-TW;q=0.8,en;q=0.5"),
])  # fmt: skip
def test_embed_selects_first_available_language(client, door, query, accepted):
    answer = client.get(f"/{door}/gates/one{query}", headers={"Accept-Language": accepted})
    assert '<html lang="zh-CN"' in answer.text


@pytest.mark.parametrize(("bench", "lang"), alternate(BENCHES))
def test_embed_matches_bench_output(client, told, seen, bench, lang, minilm, smollm2):
    slug, name = bench
    wants = bench_of(slug, name).run(style=Style(LIVE, lang))  # its model is there from then on
    answer = client.get(f"/embed/{slug}/{name}?lang={lang}")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    result = told(answer)
    if bench in IN_BROWSER:
        assert result["component"]["values"] == result["component"]["start"]
    elif bench in ASKED_FOR:
        assert not {"figure", "vega", "component"} & result.keys()
    else:
        assert isinstance(wants.figure, Figure)
        assert json.loads(result["figure"]) == json.loads(wants.figure.to_json())
        assert result["alt"] == wants.figure.alt
    assert result["problem"] == ""
    words = seen(answer)
    for readout in wants.readouts.values():
        assert readout.value in words or readout.value.endswith(
            "\u00a0s"
        )  # seconds are of this run
    assert result["under"] or result["over"]
    assert Text(lang)("embed.open", title=Text(lang)(f"{slug}.title")) in words
    assert f'href="/{slug}?' in answer.text


def test_embed_draws_vega_chart_as_svg(client, told):
    """It moves in the lesson only."""
    result = told(client.get("/embed/ar_fitting/by_hand?lang=en&ar.by_hand.view=runs"))
    assert result["vega"].startswith("<svg")


def test_embed_lists_only_applicable_controls(client, told):
    result = told(client.get("/embed/gates/one?lang=en&ga.one.view=cell&ga.one.temperature=2"))
    names = {item["key"].removeprefix("ga.one."): item for item in result["controls"]}
    assert names["view"]["above"]
    assert names["view"]["value"] == "cell"
    assert names["temperature"]["slider"]["value"] == "2"
    assert "gate_gru" not in names  # the cell is an LSTM
    assert names["added"]["more"]


@pytest.mark.parametrize(("address", "lang"), [
    ("/embed/none/one?lang=en", "en"), ("/embed/gates/none?lang=zh", "zh"),
    ("/embed/gates/__class__?lang=en", "en"), ("/embed/__init__/one?lang=zh", "zh"),
])  # fmt: skip
def test_embed_returns_404_for_unknown_bench(client, seen, address, lang):
    answer = client.get(address)
    assert answer.status_code == 404
    assert Text(lang)("embed.none") in seen(answer)


@pytest.mark.parametrize("query", [
    "ga.one.temperature=nan", "ga.one.temperature=9e9", "ga.one.view=%3Cscript%3E", "theme=x",
    "__proto__=1", "ga.one.none=1", "ga.one.unit=%00", "vg.reach.gain=1", "lang=xx",
])  # fmt: skip
def test_embed_falls_back_to_default_on_invalid_query(client, told, query):
    plain = told(client.get("/embed/gates/one?lang=en"))
    result = told(client.get(f"/embed/gates/one?lang=en&{query}"))
    assert result["figure"] == plain["figure"]
    assert "script" not in result["lesson"]


@st.composite
def addresses(draw) -> tuple[str, str, dict[str, str]]:
    """A bench that computes little, and what its address may say."""
    slug, name = draw(st.sampled_from(CHEAP))
    prefix = getattr(lessons, slug).lesson.benches[name].prefix
    existing = {key: item for key, item in keys(slug).items() if key.startswith(f"{prefix}.")}
    chosen = draw(st.lists(st.sampled_from(sorted(existing)), max_size=6, unique=True))
    taken = {
        key: draw(st.one_of(written(existing[key]), adversarial_inputs.texts)) for key in chosen
    }
    return (
        slug,
        name,
        {
            **taken,
            **draw(st.dictionaries(adversarial_inputs.texts, adversarial_inputs.texts, max_size=2)),
        },
    )


@given(addresses())
def test_parse_request_sanitizes_any_query_idempotently(address):
    slug, name, query = address
    bench = bench_of(slug, name)
    embed_request = parse_request(bench, query, {}, "en")
    for key, text in embed_request.link.items():
        control = keys(slug)[key]
        assert controls.encoded(control.parse(text)) == text
    again = parse_request(bench, embed_request.link, {}, "en")
    assert (again.link, again.key) == (embed_request.link, embed_request.key)


def test_embed_renders_shared_page_once(client, monkeypatch):
    result_cache.result_cache.cache_clear()
    bench = bench_of("gates", "size")
    runs = []
    body = bench.body
    monkeypatch.setitem(bench.__dict__, "body", lambda p, show: (runs.append(p), body(p, show)))
    pages = {client.get(f"/embed/gates/size?lang=en&other={k}").content for k in range(4)}
    assert (len(pages), len(runs)) == (1, 1)


@pytest.mark.parametrize(("query", "theme", "present"), [
    ("", "", "false"), ("&theme=dark", "dark", "false"), ("&present=true", "", "true"),
    ("&theme=%22%3E", "", "false"),
])  # fmt: skip
def test_embed_reads_theme_and_present_from_query(client, told, query, theme, present):
    answer = client.get(f"/embed/gates/size?lang=zh{query}")
    assert f'<html lang="zh-CN" data-theme="{theme}" data-present="{present}">' in answer.text
    height = json.loads(told(answer)["figure"])["layout"]["height"]
    assert height == (525 if present == "true" else 420)
    assert told(answer)["dark"] == (theme == "dark")


def test_embed_escapes_user_text(client, told):
    """A text in an address, as in a link, is never part of the page."""
    bad = "</script><img src=x onerror=alert(1)>"
    answer = client.get("/embed/gates/watch", params={"lang": "en", "ga.watch.characters": bad})
    assert bad not in answer.text
    assert "<img" not in answer.text
    assert any(item["value"] == bad for item in told(answer)["controls"])


def test_embed_names_missing_model_without_fetching(client, told, monkeypatch):
    monkeypatch.setattr(ready, "is_ready", lambda *_: False)
    monkeypatch.setattr(store, "stored", lambda _: None)
    result = told(client.get("/embed/positions/learned?lang=en&po.learned.view=map"))
    assert "is not on this server yet" in result["problem"]
    assert "figure" not in result
    assert not result["loading"]


def test_embed_queues_model_load_and_reports_loading(client, told, monkeypatch, minilm_on_disk):
    monkeypatch.setattr(ready, "is_ready", lambda *_: False)
    requests = []
    monkeypatch.setattr(
        jobs.queue_for("models"), "submit", lambda *_, **given: requests.append(given) or FakeJob()
    )
    result = told(client.get("/embed/positions/learned?lang=zh&theme=dark"))
    assert result["loading"]
    assert "正在载入" in result["problem"]
    assert [item["model"] for item in requests] == ["minilm"]


class FakeJob:
    """Stands in for a load that takes its time."""

    def heartbeat(self, owner: str) -> None:
        assert run_context.connected(owner)  # else the server would take it out of the queue


def test_embed_reports_untrained_bench_with_controls(client, told):
    result = told(client.get("/embed/gates/learn?lang=en&ga.learn.seed=4711"))
    assert "figure" not in result
    assert Text("en")("embed.not_trained") in result["problem"]
    assert result["controls"]
    assert result["lesson"] == "/gates?ga.learn.seed=4711&lang=en#bench-learn"
