"""While a hand moves: what the route answers, to whom, and what it never does."""

from __future__ import annotations

import gzip
import json
import threading
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.lessons.framework.controls import (
    SelectSlider,
    Slider,
    TextInput,
    controls,
    encoded,
)
from seqviz.lessons.framework.output import Note
from seqviz.lessons.framework.output_html import note_html
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIVE, Style
from seqviz.ui.live import handler
from seqviz.ui.render import html
from seqviz.ui.runtime import result_cache, run_context
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.run_context import Session
from seqviz.ui.runtime.scheduler import Priority, draw_queue
from testing.protocol import run_async

AR = "/live/ar_fitting/process"
GATES = "/live/gates/watch"
TEXT = "A sentence of my own."
WRITTEN = html.serialize


def ask(client, session, address, **query):
    return client.get(address, params=query, headers={handler.H_SESSION: session.token})


def unpacked(answer) -> tuple[dict, dict]:
    around, _, figure = answer.text.partition("\n")
    return json.loads(around), json.loads(figure)


def moved(bench) -> tuple[str, object] | None:
    """The first slider that applies, and an end of it that is not its default."""
    for name, control in controls(bench.declaration):
        if (
            isinstance(control, Slider | SelectSlider)
            and control.when is None
            and not control.client
        ):
            low, high = control.bounds()
            return name, high if control.default != high else low
    return None


BENCHES = [
    (lesson.slug, name)
    for lesson in catalog.LESSONS
    for name, bench in getattr(lessons, lesson.slug).lesson.benches.items()
    if moved(bench)
]


@pytest.mark.parametrize(("slug", "name"), BENCHES)
def test_live_route_matches_bench_output(client, session, slug, name, minilm, smollm2):
    """Figure, read-outs and sentences, at a value that is not the default."""
    bench = getattr(lessons, slug).lesson.benches[name]
    control, value = moved(bench)
    answer = ask(client, session, f"/live/{slug}/{name}", lang="zh",
                 **{f"{bench.prefix}.{control}": encoded(value)})  # fmt: skip
    expected = bench.run({control: value}, style=Style(LIVE, "zh"))
    if not isinstance(expected.figure, Figure):  # it waits for a training: so does the page
        assert answer.status_code == 204
        return
    around, figure = unpacked(answer)
    assert figure == json.loads(expected.figure.to_json())
    assert around["alt"] == expected.figure.alt
    visible = [
        {"value": readout.value, "caption": readout.caption}
        for readout in expected.readouts.values()
    ]
    assert len(visible) == len(around["readouts"])
    measured = [
        item for item in visible if not item["value"].endswith("\u00a0s")
    ]  # seconds are of this run
    assert [
        item for item in around["readouts"] if not item["value"].endswith("\u00a0s")
    ] == measured
    messages = [note for note in around["notes"] if note is not None]
    assert len(around["notes"]) >= len(expected.notes)
    assert all("<p>" in note or "<span" in note for note in messages)


@pytest.mark.parametrize(("address", "token", "status"), [
    (AR, "", 403), (AR, "of another process", 403), ("/live/ar_fitting/none", None, 404),
    ("/live/../etc/process", None, 404), ("/live/none/process", None, 404),
])  # fmt: skip
def test_live_route_rejects_unknown_session_and_bench(client, session, address, token, status):
    answer = client.get(
        address, headers={handler.H_SESSION: session.token if token is None else token}
    )
    assert (answer.status_code, answer.content) == (status, answer.content)
    assert b"figure" not in answer.content


@pytest.mark.parametrize("query", [
    {"ar.process.phi": "nan"}, {"ar.process.phi": "9"}, {"ar.process.none": "1"},
    {"ar.process.n": "51"}, {"ar.process.noise": "<b>"}, {"__proto__": "1"},
])  # fmt: skip
def test_live_route_returns_204_for_invalid_value(client, session, query):
    answer = ask(client, session, AR, **query)
    assert (answer.status_code, answer.content) == (204, b"")


def test_live_route_sends_gzip_and_no_store_without_cookie(client, session):
    answer = ask(client, session, AR)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers
    assert float(answer.headers["server-timing"].partition("dur=")[2]) > 0


def test_render_bench_computes_equal_requests_once(client, session, monkeypatch):
    runs = []
    body = lessons.ar_fitting.lesson.benches["process"].body

    def counted(params, show):
        runs.append(params)
        body(params, show)

    bench = lessons.ar_fitting.lesson.benches["process"]
    monkeypatch.setitem(bench.__dict__, "body", counted)
    result_cache.result_cache.cache_clear()
    result_cache.result_cache()  # two threads that ask first at once would have two
    gate = threading.Barrier(6)

    def one(answers):
        gate.wait()
        answers.append(handler.render_bench(bench, {"ar.process.phi": "0.123"}, session).figure)

    answers: list[bytes] = []
    threads = [threading.Thread(target=one, args=(answers,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 1
    assert len(set(answers)) == 1


def test_live_route_charges_requesting_session(client, session, monkeypatch):
    monkeypatch.setenv("SEQVIZ_SESSION_SECONDS", "0.01")
    monkeypatch.setenv("SEQVIZ_CPU_REFILL", "0.01")
    statuses = [ask(client, session, AR, **{"ar.process.phi": f"{k / 1000}"}).status_code
                for k in range(311, 331)]  # fmt: skip
    assert statuses[0] == 200
    assert statuses[-1] == 204  # the page says when to go on
    account: ClientQuota = session.account
    assert account.seconds.over
    other = Session("other", 0.0)
    run_context._by_token[other.token] = other
    assert ask(client, other, AR, **{"ar.process.phi": "0.5123"}).status_code == 200


def test_live_route_keeps_user_text_out_of_url_and_shared_cache(client, session):
    bench = lessons.gates.lesson.benches["watch"]
    text = "characters"
    params = bench.declaration(**{text: TEXT})
    with run_context.acting_as(session, "gates", "watch"):
        source = handler.live_descriptor(bench, {bench.prefix: params}, "en", False, False)
    assert source["token"] == session.token
    assert source["limits"] == {
        f"{bench.prefix}.{name}": control.limit
        for name, control in controls(type(params))
        if isinstance(control, TextInput)
    }
    with run_context.acting_as(session, "gates", "watch"):
        again = handler.live_descriptor(bench, {bench.prefix: params}, "en", False, False)
        changed = bench.declaration(**{text: TEXT.lower()})
        moved = handler.live_descriptor(bench, {bench.prefix: changed}, "en", False, False)
        handler.live_descriptor(bench, {bench.prefix: params}, "en", False, False)
    assert again == source
    assert moved["query"]["own"] != source["query"]["own"]
    assert TEXT not in json.dumps(source)
    assert set(source["values"]) <= {
        f"{bench.prefix}.{name}" for name, _ in controls(bench.declaration)
    }
    own = ask(client, session, GATES, **source["query"])
    assert unpacked(own)[1] == json.loads(
        bench.run({text: TEXT}, style=Style(LIVE)).figure.to_json()
    )
    other = Session("other", 0.0)
    run_context._by_token[other.token] = other
    theirs = ask(client, other, GATES, **source["query"])
    assert unpacked(theirs)[1] != unpacked(own)[1]


def typed(client, session, text, key="tx.cutters.text"):
    payload = text if isinstance(text, str) and text.startswith("{") else json.dumps({key: text})
    headers = {handler.H_SESSION: session.token, handler.H_LIVE_TEXT: quote(payload)}
    return client.get("/live/text/cutters", params={"lang": "en"}, headers=headers)


def test_live_route_answers_typed_text_without_sharing(
    client, session, monkeypatch, minilm, smollm2
):
    bench = lessons.text.lesson.benches["cutters"]
    written = []
    monkeypatch.setattr(handler, "serialize", lambda *of: written.append(1) or WRITTEN(*of))
    answer = typed(client, session, TEXT)
    assert unpacked(answer)[1] == json.loads(
        bench.run({"text": TEXT}, style=Style(LIVE)).figure.to_json()
    )
    assert quote(TEXT) not in str(answer.request.url)
    typed(client, session, TEXT)
    assert len(written) == 2  # not kept for the class
    assert (
        unpacked(typed(client, session, "x" * 10_000))[0]
        == unpacked(typed(client, session, "x" * 500))[0]
    )


@pytest.mark.parametrize("told", [
    "{", "{}[]", '{"tx.cutters.strip": "gpt2"}', '{"tx.cutters.text": 3}', '{"other": "a"}',
])  # fmt: skip
def test_live_route_rejects_malformed_live_text(client, session, told):
    assert typed(client, session, told).status_code == 400


def test_live_route_replaces_lone_surrogate(client, session, minilm, smollm2):
    half = typed(client, session, '{"tx.cutters.text": "a \\ud83d b"}')
    assert unpacked(half)[1] == unpacked(typed(client, session, "a \ufffd b"))[1]


def test_live_route_returns_204_while_model_is_missing(client, session, monkeypatch):
    monkeypatch.setattr("seqviz.models.ready.is_ready", lambda *_: False)
    result_cache.result_cache.cache_clear()
    answer = ask(client, session, "/live/attention/real", **{"at.real.layer": "2"})
    assert answer.status_code == 204


def test_live_route_logs_failure_and_returns_empty_500(client, session, monkeypatch, caplog):
    def fails(*_):
        raise RuntimeError("inside")

    bench = lessons.ar_fitting.lesson.benches["process"]
    monkeypatch.setitem(bench.__dict__, "body", fails)
    answer = ask(client, session, AR, **{"ar.process.phi": "0.7771"})
    assert (answer.status_code, answer.content) == (500, b"")
    assert "live: a bench failed" in caplog.text


@pytest.mark.parametrize(("header", "rank"), [
    (None, Priority.INTERACTION), (handler.H_DRAGGING, Priority.DRAG), (handler.H_PREFETCH,
        Priority.DRAG),
])  # fmt: skip
def test_live_route_maps_header_to_queue_priority(client, session, monkeypatch, header, rank):
    """A settled value is computed before a drag or a prefetch."""
    ranks = []
    queue = draw_queue()
    arrivals = queue.enqueue
    monkeypatch.setattr(queue, "enqueue", lambda r, *more: ranks.append(r) or arrivals(r, *more))
    request = {handler.H_SESSION: session.token} | ({header: "1"} if header else {})
    assert client.get(AR, headers=request).status_code == 200
    assert ranks == [rank]


def test_live_route_drops_request_of_disconnected_client(monkeypatch):
    """Another one is just being drawn; the browser has gone."""
    begun = []
    monkeypatch.setattr(handler, "_render_response", lambda *_: begun.append(1))
    session = Session("test", 0.0)
    run_context._by_token[session.token] = session

    async def left():
        return {"type": "http.disconnect"}

    request = SimpleNamespace(
        path_params={"slug": "ar_fitting", "bench": "process"},
        headers={handler.H_SESSION: session.token},
        query_params={},
        receive=left,
    )
    with draw_queue().slot(Priority.INTERACTION):
        assert run_async(handler.endpoint(request)).status_code == 408
        assert draw_queue().waiting == 0
    assert begun == []


def test_live_route_limits_pending_requests_per_session(client, session):
    session.n_pending = handler.MAX_REQUESTS_PER_SESSION
    assert ask(client, session, AR).status_code == 429
    session.n_pending -= 1
    assert ask(client, session, AR).status_code == 200
    assert session.n_pending == handler.MAX_REQUESTS_PER_SESSION - 1


def test_live_route_skips_prefetch_when_queue_is_busy(client, session):
    ahead = {handler.H_SESSION: session.token, handler.H_PREFETCH: "1"}
    assert client.get(AR, headers=ahead).status_code == 200
    with draw_queue().slot(Priority.INTERACTION):
        assert client.get(AR, headers=ahead).status_code == 204
    assert client.get(AR, headers=ahead).status_code == 200


def test_note_html_leaves_formula_to_page_and_escapes_html():
    assert note_html(Note("$$\nx^2\n$$")) is None
    assert note_html(Note("**b** <img src=x>")) == "<p><strong>b</strong> &lt;img src=x&gt;</p>\n"


def test_live_response_compresses_only_large_body():
    small = html.LiveResponse({}, (b"{}",)).encode()
    assert small == b'{"arrays": []}\n{}'
    large = html.LiveResponse({"alt": "x"}, (b"x" * 5000,)).encode()
    assert gzip.decompress(large) == b'{"alt": "x", "arrays": []}\n' + b"x" * 5000


def test_live_route_omits_arrays_known_to_browser(client, session):
    """The map of all units is the same at every step: its name stands in its place."""
    first = ask(client, session, GATES, **{"ga.watch.step": "20"})
    around, figure = unpacked(first)
    (name,) = around["arrays"]
    headers = {handler.H_SESSION: session.token, handler.H_KNOWN_ARRAYS: f"0123456789abcdef,{name}"}
    again = client.get(GATES, params={"ga.watch.step": "21"}, headers=headers)
    assert len(again.text) < len(first.text) / 5
    payload, short = unpacked(again)
    assert payload["arrays"] == [name]
    full = unpacked(ask(client, session, GATES, **{"ga.watch.step": "21"}))[1]
    assert short["data"][0]["z"]["bdata"] == f"#{name}"
    assert full["data"][0]["z"]["bdata"] == figure["data"][0]["z"]["bdata"]
    short["data"][0]["z"] = full["data"][0]["z"]
    assert short == full
