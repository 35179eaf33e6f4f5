"""What a bench gives a browser that answers a hand by itself; an order as a control."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from seqviz import lessons
from seqviz.compute.gpt.filters import ORDER
from seqviz.experiments.gpt.continuation import next_token
from seqviz.lessons.framework import controls
from seqviz.lessons.gpt.next_token import TEXT
from seqviz.ui.live import handler

BENCH = lessons.gpt.lesson.benches["scores"]
ADDRESS = "/live/gpt/scores"
REST = controls.sortable(("a", "b", "c")).metadata["control"]


def test_sortable_round_trips_order_through_link():
    for value in (("a", "b", "c"), ("c", "a", "b")):
        assert REST.parse(controls.encoded(value)) == value
        assert controls.equals(controls.encoded(value), value)
    assert REST.bounds() == (("a", "b", "c"), ("c", "b", "a"))


@pytest.mark.parametrize(
    "raw", ["", "a", "a+b", "a+b+b", "a+b+c+d", "a+b+c+", "+", "a b c", "A+b+c"]
)
def test_sortable_rejects_invalid_order(raw):
    with pytest.raises(ValueError, match=r".*"):
        REST.parse(raw)
    assert not controls.equals(raw, ("a", "b", "c"))


def test_equals_compares_numeric_text_by_value():
    assert controls.equals("0.50", 0.5)
    assert controls.equals("1e0", 1)
    assert not controls.equals("x", 1.0)
    assert not controls.equals("nan", 1.0)


def ask(client, token: str, part: str = "", address: str = ADDRESS, **query: str):
    headers = {handler.H_SESSION: token, handler.H_PAYLOAD: part}
    return client.get(address, params={"lang": "en", **query}, headers=headers)


def test_client_payload_is_lossless_and_ignores_dragged_controls(client, session, smollm2):
    answer = ask(client, session.token)
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < 115_000  # 98,304 of them are half floats
    again = ask(client, session.token, **{"gp.scores.temperature": "2"})
    payload = answer.json()
    assert again.json() == payload
    result = next_token("smollm2", TEXT)
    half = np.frombuffer(_bytes(payload["half"]), np.float16).astype(np.float32)
    first = np.frombuffer(_bytes(payload["first"]), np.float32)
    scores = np.minimum(half, first[-1])
    scores[payload["ids"]] = first
    np.testing.assert_array_equal(scores, result.scores)  # bit for bit


def test_client_payload_serves_vocabulary_separately(client, session, smollm2):
    words = ask(client, session.token, "vocabulary").json()
    assert len(words) == 49_152
    payload = ask(client, session.token).json()
    assert [words[token] for token in payload["ids"]] == payload["pieces"]


def _bytes(text: str) -> bytes:
    import base64

    return base64.b64decode(text)


def test_client_payload_rejects_unknown_session_and_part(client, session, smollm2):
    assert ask(client, "of another process").status_code == 403
    assert ask(client, session.token, "none").status_code == 404
    assert ask(client, session.token, "", "/live/ar_fitting/process").status_code == 404
    assert ask(client, session.token, **{"gp.scores.text": ""}).status_code in (200, 204)


def test_client_payload_reads_user_text_from_session_not_url(session, smollm2):
    """It is kept with the session, and what comes is of it."""
    session.texts[BENCH.prefix] = {"text": "Snow is"}
    own = json.loads(
        gzip.decompress(handler.client_payload(BENCH, "", {"lang": "en", "own": "1"}, session))
    )
    other = json.loads(gzip.decompress(handler.client_payload(BENCH, "", {"lang": "en"}, session)))
    assert own["seen"] != other["seen"]
    assert own["start"] == other["start"]


def test_live_descriptor_lists_client_renderer_dependencies(session):
    with handler.run_context.acting_as(session, "gpt", "scores"):
        payload = handler.live_descriptor(
            BENCH, {BENCH.prefix: BENCH.declaration()}, "en", False, False
        )
    assert payload["client_renderer"] == {
        "script": "next_token", "dependencies": ["lang", "present", "own", "gp.scores.text"],
    }  # fmt: skip
    assert payload["values"]["gp.scores.order"] == "+".join(ORDER)


def test_sortable_falls_back_in_link_and_raises_in_live_request(session, smollm2):
    for raw in ("penalty", "<b>", "+".join(reversed(ORDER)) + "+x"):
        with pytest.raises(ValueError, match="order"):
            handler.render_bench(BENCH, {"gp.scores.order": raw}, session)
        assert controls.parse_params(BENCH.declaration, {"order": raw}, link=True).order == ORDER


def test_scores_bench_compares_order_with_default(smollm2):
    last = (*(name for name in ORDER if name != "temperature"), "temperature")
    usual, other = BENCH(temperature=2.0), BENCH(temperature=2.0, order=last)
    assert len(usual.notes) == len(other.notes)  # a hand writes into the same places
    assert other.readouts["kept"].value == "488"
    assert "16,035" in other.notes[0]
    assert usual.readouts["kept"].value == "16,035"
    same = BENCH(temperature=1.3, top_p=1.0, penalty=1.2, order=last)
    assert same.notes[0].count("\n\n") == 1  # both only scale: equal but for rounding
    assert "same distribution" in same.notes[0]
