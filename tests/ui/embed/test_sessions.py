"""What is set in a page of a single bench: where a reader's text goes, how many there may be."""

from __future__ import annotations

import gzip
import logging
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from seqviz.ui.embed import routes, sessions
from seqviz.ui.quota import admission
from seqviz.ui.runtime import run_context, scheduler
from seqviz.ui.runtime.clients import ClientQuota

WATCH = "/embed/gates/watch"
TEXT = "A sentence of my own, which nobody else is to see."
KEY = "ga.watch.characters"


def test_embed_creates_session_only_on_interaction(client, post):
    seats = run_context.count_active(0.0)
    client.get("/embed/gates/one?lang=en")
    assert sessions.embeds().open == 0
    first = post("/embed/gates/one", {"lang": "en", "ga.one.temperature": "2"}).json()
    token = first["live"]["token"]
    assert sessions.embeds().open == 1
    again = post("/embed/gates/one", {"ga.one.temperature": "3"}, token=token).json()
    assert again["live"]["token"] == token
    assert run_context.count_active(0.0) == seats
    query = {**again["live"]["query"], "ga.one.temperature": "4"}
    moved = client.get("/live/gates/one", params=query, headers={"x-seqviz-session": token})
    assert moved.status_code == 200


def test_embed_begin_creates_session_without_computing(post, monkeypatch):
    def fail(*_):
        raise AssertionError

    monkeypatch.setattr(routes, "run_embed", fail)
    result = post("/embed/gates/one", {"lang": "en", "ga.one.unit": "3"}, begin=True).json()
    assert run_context.by_token(result["live"]["token"])
    assert result["live"]["query"] == {"lang": "en", "ga.one.unit": "3"}


def test_embed_draws_user_text_and_omits_it_from_url_and_log(client, post, caplog):
    caplog.set_level(logging.DEBUG)
    result = post(WATCH, {"lang": "en", "ga.watch.step": "5"}, {KEY: TEXT}).json()
    assert result["figure"] != post(WATCH, {"lang": "en", "ga.watch.step": "5"}).json()["figure"]
    assert any(item["value"] == TEXT for item in result["controls"])
    live = result["live"]
    word = "sentence"
    assert all(word not in text for text in (result["lesson"], str(result["query"]), str(live)))
    assert live["query"]["own"]
    moved = client.get("/live/gates/watch", params={**live["query"], "ga.watch.step": "6"},
                       headers={"x-seqviz-session": live["token"]})  # fmt: skip
    assert moved.status_code == 200
    assert all(word not in str(call.getMessage()) for call in caplog.records)
    assert f"{KEY}=" not in result["lesson"]
    assert "ga.watch.step=5" in result["lesson"]


def test_embed_recreates_forgotten_session_transparently(post):
    before = post(WATCH, {"lang": "en"}, {KEY: TEXT}, token="of another day").json()
    sessions.embeds.cache_clear()
    after = post(WATCH, before["query"], before["texts"], token=before["live"]["token"]).json()
    assert after["live"]["token"] != before["live"]["token"]
    assert after["figure"] == before["figure"]


@pytest.mark.parametrize(("shared", "most"), [(False, sessions.OWN), (True, sessions.SHARED)])
def test_embeds_evict_least_recently_used_per_account(shared, most):
    result, account = sessions.Embeds(), ClientQuota(shared=shared)
    first, second = result.of("", account), result.of("", account)
    result.of(first.token, account)
    for _ in range(most - 1):
        result.of("", account)
    assert result.open == most
    assert result.of(first.token, account) is first
    assert result.of(second.token, account) is not second


def test_embeds_expire_idle_session():
    now = [0.0]
    result, account = sessions.Embeds(lambda: now[0]), ClientQuota()
    item = result.of("", account)
    now[0] = sessions.IDLE - 1
    assert result.of(item.token, account) is item
    now[0] += sessions.IDLE + 1
    assert result.of(item.token, account) is not item


def test_embeds_limit_total_sessions(monkeypatch):
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 20)
    embeds = sessions.Embeds()
    for _ in range(50):
        embeds.of("", ClientQuota())
    assert embeds.open == 20


def test_embeds_grant_no_seat_to_waiting_client():
    front = admission.AdmissionControl(active=lambda _: 1)
    waiting = ClientQuota()
    assert front.admit(waiting, max_clients=1) == 1
    sessions.Embeds().of("", waiting)
    assert front.admit(waiting, max_clients=1) == 1


def test_embeds_count_active_sessions_of_shared_account():
    result, account = sessions.Embeds(), ClientQuota(shared=True)
    retained = [result.of("", account) for _ in range(3)]
    assert account.students == 3
    for item in retained:
        item.seen -= sessions.OPEN + 1
    account.tabs._counted = float("-inf")  # it counts once a second
    assert account.students == 1


@pytest.mark.parametrize(("body", "kind", "status"), [
    (b"{}", "text/plain", 415), (b"{", "application/json", 400), (b"[]", "application/json", 400),
    (b'{"query": 3, "texts": [], "pick": {"x": 1e999}}', "application/json", 200),
    (b'{"texts": {"ga.watch.characters": "\\ud800", "x": 1}}', "application/json", 200),
    (b'{"pick": {"x": "<b>", "y": null}}', "application/json", 200),
    (b"[" * 100_000, "application/json", 400),
    (b'{"x": "' + routes.LARGEST * b"a" + b'"}', "application/json", 400),
])  # fmt: skip
def test_embed_handles_malformed_post_body(client, body, kind, status):
    answer = client.post(WATCH, content=body, headers={"content-type": kind})
    assert answer.status_code == status


def test_embed_pick_sets_controls_as_in_lesson(post):
    address = "/embed/vanishing_gradients/pairs"
    result = post(address, {"lang": "en"}, pick={"x": 3, "y": 9}).json()
    assert result["picks"]
    named = {item["key"].rpartition(".")[2]: item["value"] for item in result["controls"]}
    assert {"3", "9"} == {named["earlier"], named["later"]}


def test_embed_returns_429_with_retry_when_queue_is_full(client, seen, monkeypatch):
    monkeypatch.setattr(routes, "WAITING", 0)
    answer = client.get("/embed/gates/size?lang=en&ga.size.inputs=8")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
    assert "few seconds" in seen(answer)
    assert "embed_wait" in answer.text  # it comes by itself, with scripts
    assert re.search('<noscript><meta http-equiv="refresh" content="[1-9]">', answer.text)


def test_embed_coalesces_equal_concurrent_requests(client, monkeypatch):
    """A class opens a course page: 30 x the same, while there is one place for its address."""
    rendered, release = [], threading.Event()
    page = routes._page

    def slow(*args):
        rendered.append(args)
        release.wait(10)
        return page(*args)

    monkeypatch.setattr(routes, "_page", slow)
    monkeypatch.setattr(routes, "WAITING", 1)
    address = "/embed/gates/size?lang=en&ga.size.inputs=7"
    with ThreadPoolExecutor(30) as pool:
        requests = [pool.submit(client.get, address) for _ in range(30)]
        time.sleep(0.5)
        release.set()
        results = [item.result() for item in requests]
    assert {item.status_code for item in results} == {200}
    assert len({item.content for item in results}) == 1
    assert len(rendered) == 1
    assert not routes._drawing
    assert not routes._waiting


def test_embed_renders_unshared_page_per_request(client, monkeypatch):
    """What one device reads of its own limit is nobody else's answer."""
    rendered = []

    def alone(*args):
        rendered.append(args)
        time.sleep(0.2)
        return routes.CompressedPage(gzip.compress(str(len(rendered)).encode()), is_for_all=False)

    monkeypatch.setattr(routes, "_page", alone)
    address = "/embed/gates/size?lang=en&ga.size.inputs=6"
    with ThreadPoolExecutor(3) as pool:
        results = [*pool.map(lambda _: client.get(address).text, range(3))]
    assert sorted(results) == ["1", "2", "3"]


def test_embed_schedules_get_as_page_and_post_as_interaction(client, post, monkeypatch):
    ranks = []
    arrivals = scheduler.DrawQueue.enqueue
    monkeypatch.setattr(
        scheduler.DrawQueue, "enqueue",
        lambda self, rank, *rest: ranks.append(rank) or arrivals(self, rank, *rest),
    )  # fmt: skip
    client.get("/embed/gates/size?lang=en&ga.size.hidden=16")
    post("/embed/gates/size", {"lang": "en"})
    assert ranks == [scheduler.Priority.PAGE, scheduler.Priority.INTERACTION]


def test_embed_failure_omits_user_text(client, post, seen, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError(TEXT)

    monkeypatch.setattr(routes, "parse_request", fail)
    opened = client.get("/embed/gates/size?lang=en&ga.size.inputs=4")
    assert opened.status_code == 500
    assert "could not be drawn" in seen(opened)
    assert post(WATCH, {"lang": "en"}, {KEY: TEXT}).status_code == 500
    assert all(TEXT not in record.getMessage() for record in caplog.records)
