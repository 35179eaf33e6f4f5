"""The lesson on gate activations: its page, texts that nobody has prepared, several visitors."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from seqviz.compute.gates.forcing import Clamp
from seqviz.core.i18n import Placeholder
from seqviz.experiments import gates
from seqviz.lessons.gates.lesson import lesson
from seqviz.models import checkpoints
from seqviz.ui.runtime import result_cache
from tests.pages.gates_page import SAY, opened
from tests.pages.page_assertions import alerts, bench, colored, every_bench_shows, figures

READERS = ("watch", "force", "conventions")


# --------------------------------------------------------------------------- the page and the link
@pytest.mark.parametrize(
    ("lang", "link"),
    [
        ("en", {"force.gates_lstm": ()}),  # an empty selection is one, and not the default
        ("zh", {
            "watch.view": "unit", "watch.kind": "sentiment", "watch.cell": "gru", "watch.gru": "z",
            "watch.rank": 256, "watch.step": 400, "watch.order": "time",
            "watch.feature": "negation", "watch.writes": True, "force.cell": "gru",
            "force.gates_gru": ("r", "n"), "force.r": 0.9, "force.n": -0.4, "force.first": 12,
            "force.last": 3, "conventions.cell": "lstm", "agreement.singular": "were",
            "agreement.plural": "was", "size.hidden": 1024, "size.biases": "none",
            "learn.view": "gates",
        }),
    ],
)  # fmt: skip
def test_page_matches_bench_output(visit, lang, link):
    page = opened(visit, lang, **{name.replace(".", "__"): value for name, value in link.items()})
    every_bench_shows(page, lesson, link, lang)


def test_page_warns_about_empty_text_in_reading_benches(visit):
    """On the bench with the text and the two that read it too; nowhere else."""
    page = opened(visit, "zh", watch__kind="sentiment")
    assert not page.warned()
    page.run(ga__watch__sentiment="   ")
    warning = page.text("problem.no_text")
    for name in READERS:
        assert alerts(bench(page.app, name))["warning"] == [warning]
        assert not figures(bench(page.app, name))
        assert not bench(page.app, name).metric
    assert page.warned() == 3 * [warning]
    page.run(ga__watch__sentiment="0 1")
    assert not page.warned()
    assert all(len(figures(bench(page.app, name))) == 1 for name in lesson.benches)


# ----------------------------------------------------------------- texts that nobody has prepared
def watched(kind: str, text: str, lang: str):
    return lesson.benches["watch"].run({"kind": kind, kind: text}, lang)


@pytest.mark.parametrize(
    ("lang", "kind", "text", "pieces"),
    [
        ("en", "characters", "movie" * 2000, 400),
        ("zh", "sentiment", " ".join(["good"] * 2000), 400),
        ("zh", "parity", "01" * 5000, 400),
        ("zh", "characters", "movie" * 80, 400),
        ("en", "latch", "a", 1),
        ("en", "characters", "abc " * 250, 400),  # the space at the end of what is read is read too
    ],
)
def test_watch_bench_reports_truncation(lang, kind, text, pieces):
    out, say = watched(kind, text, lang), SAY[lang]
    observation = gates.observe(f"{kind}_lstm", text)
    assert len(observation.pieces) == pieces == len(colored(out)[0].spans)
    read = (" " if kind == "sentiment" else "").join(observation.pieces)
    left = len(text.strip()) - len(read)
    assert (say("note.cut", limit=pieces, left=left) in out.notes) == (left > 0)
    start = say("note.cut", limit=pieces, left=Placeholder("@")).split("@")[0]
    assert sum(start in sentence for sentence in out.notes) == (left > 0)


@pytest.mark.parametrize(
    ("lang", "kind", "text", "strange"),
    [
        ("zh", "characters", "我爱 film", "我爱"),
        ("en", "characters", "مرحبا x 🙂🏽", "مرحبا🙂🏽"),
        ("en", "sentiment", "A good 电影 qwxzy film", ("电影", "qwxzy")),
        ("zh", "parity", "01x0", "x"),
        ("en", "count", "aabb.", ""),
    ],
)
def test_watch_bench_marks_unknown_symbols(lang, kind, text, strange):
    out = watched(kind, text, lang)
    observation = gates.observe(f"{kind}_lstm", text)
    expected = [piece in set(strange) for piece in observation.pieces]
    assert sum(expected) == len(strange)
    (passage,) = colored(out)
    assert passage.with_look("dotted") == expected
    word = SAY[lang]("figure.unknown_symbol")
    assert [word in (span["title"] or "") for span in passage.spans] == expected
    assert (SAY[lang]("note.unknown", count=len(strange)) in out.notes) == bool(strange)


@pytest.mark.parametrize(
    ("text", "least", "most"),  # counted in the normalized text, and as it was typed
    [("a  b  " * 120, 79, 122), ("e\u0301" * 500, 100, 200), (" " * 5000 + "a" * 410, 10, 10),
     ("a" + " " * 30_000, 0, 0), (" " * 25_000 + "good", 0, 0)],
)  # fmt: skip
def test_observe_counts_left_out_characters(text, least, most):
    """Counted in the normalized text: white space in a row is one space, an accent no character."""
    observation = gates.observe("characters_lstm", text)
    assert least <= observation.left_out <= most


def test_agreement_bench_truncates_text_at_word_and_reports_it():
    """It ends with a whole word: half a word is another one."""
    expectation = gates.expect(("characters_lstm",), "Flights and " * 40, "was", "were")
    assert set(expectation.words) == {"Flights", "and"}
    out = lesson.benches["agreement"].run({"text": "The airline " * 41})
    axis = json.loads(out.figure.to_json())["layout"]["xaxis"]
    rendered = len(axis.get("labelalias") or axis["ticktext"])
    start = SAY["en"]("note.cut", limit="@", left=0).split("@")[0]
    assert rendered == 82 or any(start in sentence for sentence in out.notes)


# ------------------------------------------------------------------------- visitors side by side
def everything(page) -> dict[str, tuple]:
    """Read-outs, figures and sentences of all benches; not how long they took."""
    positions = {name: bench(page.app, name) for name in lesson.benches}
    return {
        name: (
            {m.label: (m.value, m.delta) for m in position.metric},
            figures(position),
            [e.value for kind in ("markdown", "caption") for e in position.get(kind)
             if "-badge[" not in e.value],
        )
        for name, position in positions.items()
    }  # fmt: skip


def test_page_gate_clamps_are_isolated_between_sessions(visit):
    """In turns, in one process, and computed afresh each time: nothing may hide in the cache."""
    network = checkpoints.load("sentiment_lstm")
    before = {name: array.tobytes() for name, array in checkpoints.arrays(network).items()}
    read = {"watch__kind": "sentiment", "watch__sentiment": "The film is not dull, but long."}
    free = opened(visit, "en", force__gates_lstm=(), **read)
    held = opened(visit, "zh", force__gates_lstm=("i", "f"), force__f=0.0, **read)
    expected = [everything(page) for page in (free, held)]
    assert SAY["en"]("note.nothing_forced") in expected[0]["force"][2]
    assert SAY["zh"]("note.empty_cell") in expected[1]["force"][2]
    for page, existing in zip((held, free), expected[::-1], strict=True):
        result_cache.result_cache.cache_clear()
        page.run()
        assert everything(page) == existing
    after = {name: array.tobytes() for name, array in checkpoints.arrays(network).items()}
    assert after == before


def test_observe_with_clamps_is_thread_safe():
    """Sixteen visitors in eight threads, every second one with a gate held."""
    text = "This film is not good, but I loved it. " * 6
    clamps = [(), (Clamp("f", 1.0),), (), (Clamp("i", 0.0), Clamp("f", 0.0))] * 4

    def run(clamps: tuple[Clamp, ...]) -> np.ndarray:
        return gates.observe("characters_lstm", text, "c", clamps=clamps).values

    alone = {clamp: run(clamp) for clamp in set(clamps)}
    with ThreadPoolExecutor(8) as pool:
        for item, values in zip(clamps, pool.map(run, clamps), strict=True):
            np.testing.assert_array_equal(values, alone[item])
