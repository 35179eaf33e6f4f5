"""The lesson on gate activations: hostile texts, several visitors at once, links."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gates_page import READOUTS, Passage, note, opened, said, settings, shown
from looking import bench, figures

from seqviz.compute.gates.forcing import Clamp
from seqviz.experiments import gates
from seqviz.models import checkpoints
from seqviz.ui.shared import caching

READERS = ("watch", "force", "conventions")


# ----------------------------------------------------------------- texts that nobody has prepared
@pytest.mark.parametrize(
    ("lang", "kind", "text", "pieces"),
    [
        ("en", "characters", "movie" * 2000, 400),
        ("zh", "sentiment", " ".join(["good"] * 2000), 400),
        ("zh", "parity", "01" * 5000, 400),
        ("zh", "characters", "movie" * 80, 400),
        ("en", "latch", "a", 1),
    ],
)
def test_what_is_cut_is_said(visit, lang, kind, text, pieces):
    page = opened(visit, lang, watch__kind=kind)
    page.run(**{f"ga__watch__{kind}": text})
    seen = gates.observe(f"{kind}_lstm", text)
    assert len(seen.pieces) == pieces == len(Passage(page).spans)
    read = (" " if kind == "sentiment" else "").join(seen.pieces)
    left = f"{len(text) - len(read):,}"
    sentences = said(page, "watch")
    assert (note(page, "cut", limit=pieces, left=left) in sentences) == (len(text) > len(read))
    start = note(page, "cut", limit=pieces, left="@").split("@")[0]
    assert sum(start in sentence for sentence in sentences) == (len(text) > len(read))
    for name in READERS:
        assert len(figures(bench(page.app, name))) == 1
        assert len(bench(page.app, name).metric) == len(READOUTS[name])


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
def test_what_is_not_known_is_said_and_marked(visit, lang, kind, text, strange):
    page = opened(visit, lang, watch__kind=kind)
    page.run(**{f"ga__watch__{kind}": text})
    seen = gates.observe(f"{kind}_lstm", text)
    wanted = [piece in set(strange) for piece in seen.pieces]
    assert sum(wanted) == len(strange)
    passage = Passage(page)
    assert passage.with_look("dotted") == wanted
    word = page.text("figure.unknown_symbol")
    assert [word in (span["title"] or "") for span in passage.spans] == wanted
    sentences = said(page, "watch")
    assert (note(page, "unknown", count=len(strange)) in sentences) == bool(strange)


MARKUP = "<script>alert('x')</script> <b>bold</b> & \"quoted\" <img src=x onerror=y>"


@pytest.mark.parametrize("kind", ["characters", "sentiment", "adding"])
def test_markup_in_a_text_is_shown_as_text(visit, kind):
    page = opened(visit, "en", watch__kind=kind)
    page.run(**{f"ga__watch__{kind}": MARKUP})
    passage = Passage(page)
    assert passage.tags == {"div", "span"}
    assert passage.text.replace(" ", "") == MARKUP.replace(" ", "")
    # Every "<" opens or closes one of the page's own tags: none is the reader's.
    assert passage.source.count("<") == 2 * (1 + len(passage.spans))
    for tag in ("<script", "</script", "<b>", "<b ", "<img"):
        assert tag not in passage.source.lower()
    for step in range(1, len(passage.spans) + 1, 13):
        page.run(ga__watch__step=step)
        beside = shown(page, "watch")["value"][1]
        assert not any(sign in beside.replace(f"\\{sign}", "") for sign in "<>*[`")
    for figure in figures(bench(page.app, "watch")):
        axis = figure["layout"]["xaxis"]
        labels = [*axis.get("ticktext", ()), *axis.get("labelalias", {}).values()]
        assert not any("<" in label for label in labels)


# ------------------------------------------------------------------------- visitors side by side
def everything(page) -> dict[str, tuple]:
    """Read-outs, figures and sentences of all benches; not how long they took."""
    return {
        name: (shown(page, name), figures(bench(page.app, name)),
               [sentence for sentence in said(page, name) if "-badge[" not in sentence])
        for name in READOUTS
    }  # fmt: skip


def stored(kind: str) -> dict[str, bytes]:
    return {
        f"{cell} {name}": array.tobytes()
        for cell in ("lstm", "gru")
        for name, array in checkpoints.arrays(checkpoints.load(f"{kind}_{cell}")).items()
    }


HELD = (
    {"force__f": 1.0},
    {"force__gates_lstm": ("i", "f", "g", "o"), "force__f": 0.0, "force__g": -1.0},
    {"force__cell": "gru", "force__gates_gru": ("z",), "force__z": 1.0},
    {"force__cell": "gru", "force__gates_gru": ("r", "z", "n"), "force__units": "one",
     "force__n": 1.0, "force__first": 3},
)  # fmt: skip


@pytest.mark.parametrize(("kind", "tried"), [("characters", HELD[::2]), ("sentiment", HELD[1::2])])
def test_the_gates_that_one_visitor_holds_are_free_for_another(visit, kind, tried):
    """In turns, in one process, and computed afresh each time: nothing may hide in the cache."""
    before = stored(kind)
    text = "The film is not dull, but long."
    read = {"watch__kind": kind, f"watch__{kind}": text}
    free = opened(visit, "en", force__cell="gru", force__gates_gru=(), **read)
    assert getattr(settings(free, "watch"), kind) == text
    wanted = everything(free)
    assert note(free, "nothing_forced") in said(free, "force")
    others = []
    for held in tried:
        other = opened(visit, "zh", **read, **held)
        others.append((other, everything(other)))
        assert len(figures(bench(other.app, "force"))) == 1
        for page, known in (*others, (free, wanted)):
            caching.shelves.cache_clear()
            page.run()
            found = everything(page)
            for name in READOUTS:
                assert found[name] == known[name], name
    assert len({str(known["force"][0]) for _, known in others}) == len(tried)
    assert stored(kind) == before
    assert shown(free, "force")["free"] == shown(free, "force")["forced"]


def test_clamped_and_free_runs_at_the_same_moment():
    """Sixteen visitors in eight threads, every second one with a gate held."""
    text = "This film is not good, but I loved it. " * 6
    clamps = [(), (Clamp("f", 1.0),), (), (Clamp("i", 0.0), Clamp("f", 0.0))] * 4

    def run(one: tuple[Clamp, ...]) -> np.ndarray:
        return gates.observe("characters_lstm", text, "c", clamps=one).values

    alone = {one: run(one) for one in set(clamps)}
    with ThreadPoolExecutor(8) as pool:
        for one, values in zip(clamps, pool.map(run, clamps), strict=True):
            np.testing.assert_array_equal(values, alone[one])
