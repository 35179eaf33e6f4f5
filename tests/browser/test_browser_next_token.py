"""The scores of a next token under a moving hand: what the browser shows is what Python says."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator

import numpy as np
import pytest

from seqviz import lessons
from seqviz.compute.decoding.filters import ORDER
from seqviz.figures.grammar.figure import joined
from seqviz.lessons.bench.controls import encoded
from seqviz.paths import STATIC
from seqviz.ui.bench import fast_path
from seqviz.ui.server.run_context import Session

BENCH = lessons.gpt.lesson.benches["scores"]
ADDRESS = "http://own.test/"
MAKE = """async ([data, words]) => {
    const {Answers} = await import("/next_token.js");
    globalThis.answers = new Answers(data, async () => words);
    answers.vocabulary = words;
}"""


@pytest.fixture(scope="module")
def page(browser) -> Iterator:
    """An empty page that has our scripts."""
    made = browser.new_page()

    def give(route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        kind = "text/javascript" if name else "text/html"
        route.fulfill(body=(STATIC / name).read_text("utf-8") if name else "", content_type=kind)

    made.route(f"{ADDRESS}*", give)
    made.goto(ADDRESS)
    yield made
    made.close()


def values(rng: np.random.RandomState) -> dict[str, object]:
    """Some controls away from where they start, at places that they have."""
    all_of = {
        "temperature": float(round(0.05 * rng.randint(2, 61), 2)),
        "top_p": float(round(0.05 * rng.randint(1, 21), 2)),
        "top_k": int(rng.choice((0, 1, 3, 10, 50, 200))),
        "min_p": float(round(0.01 * rng.randint(0, 51), 2)),
        "penalty": float(round(1 + 0.05 * rng.randint(0, 21), 2)),
        "typical": float(round(0.05 * rng.randint(1, 21), 2)),
        "number": int(rng.randint(1, 201)),
        "seed": int(rng.randint(0, 1000)),
        "order": tuple(rng.permutation(ORDER).tolist()),
    }
    return {name: value for name, value in all_of.items() if rng.uniform() < 0.45}


def alike(one: object, other: object, where: str = "") -> None:
    """Equal, numbers to twelve digits; arrays may be written in two ways."""
    if isinstance(other, dict) and "bdata" in other:
        other = np.frombuffer(base64.b64decode(other["bdata"]), other["dtype"])
    if isinstance(one, list) and isinstance(other, np.ndarray | list):
        assert len(one) == len(other), where
        for place, pair in enumerate(zip(one, other, strict=True)):
            alike(*pair, f"{where}[{place}]")
    elif isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys(), where
        for name in one:
            alike(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, int | float) and not isinstance(one, bool):
        assert one == pytest.approx(float(other), rel=1e-9, abs=1e-11), where
    else:
        assert one == other, where


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_answers_are_those_of_the_server(page, smollm2, lang):
    """Figure, description, read-outs and sentences, at many settings and in any order."""
    session, rng = Session("t", 0.0), np.random.RandomState(1)
    asked = {"lang": lang}
    data, words = (
        json.loads(gzip.decompress(fast_path.part(BENCH, name, asked, session)))
        for name in ("", "vocabulary")
    )
    page.evaluate(MAKE, [data, words])
    for chosen in ({}, *(values(rng) for _ in range(25))):
        written = {name: encoded(value) for name, value in chosen.items()}
        query = asked | {f"{BENCH.prefix}.{name}": text for name, text in written.items()}
        wanted = fast_path.answer(BENCH, query, session)
        found = page.evaluate("(values) => answers.answer(values)", written)
        around = wanted.around
        assert found["around"]["readouts"] == around["readouts"], chosen
        said = [(note or "").replace("\u2060", "") for note in around["notes"]]
        assert [note or "" for note in found["around"]["notes"]] == said, chosen
        assert found["around"]["alt"] == around["alt"], chosen
        figure = json.loads(joined(wanted.figure))
        alike(found["figure"], figure, str(chosen))
