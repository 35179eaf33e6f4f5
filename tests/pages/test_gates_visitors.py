"""The lesson on gate activations: hostile texts, trainings, several visitors at once, links."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from gates_page import SAY, Colored, opened, shown
from looking import Given, alerts, bench, figures, shows

from seqviz import jobs
from seqviz.compute.gates import observation, tasks, tiny
from seqviz.compute.gates.forcing import Clamp
from seqviz.experiments import gates
from seqviz.figures.gates.maps import gate_map
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.lessons.gates import lesson
from seqviz.models import checkpoints, device
from seqviz.text import percent
from seqviz.ui.shared import caching

READERS = ("watch", "force", "conventions")


# --------------------------------------------------------------------------- the page and the link
@pytest.mark.parametrize(
    ("lang", "link"),
    [
        ("en", {}),
        ("zh", {
            "watch.view": "unit", "watch.kind": "sentiment", "watch.cell": "gru", "watch.gru": "z",
            "watch.rank": 256, "watch.step": 400, "watch.order": "time",
            "watch.feature": "negation", "watch.writes": True, "force.cell": "gru",
            "force.gates_gru": ("r", "n"), "force.r": 0.9, "force.n": -0.4, "force.first": 12,
            "force.last": 3, "conventions.cell": "lstm", "agreement.singular": "were",
            "agreement.plural": "was", "size.hidden": 1024, "size.biases": "none",
        }),
    ],
)  # fmt: skip
def test_the_page_shows_what_its_benches_show(visit, lang, link):
    page = opened(visit, lang, **{name.replace(".", "__"): value for name, value in link.items()})
    for name, one in lesson.benches.items():
        values = {
            key.removeprefix(f"{name}."): value
            for key, value in link.items()
            if key.split(".")[0] in (name, *one.after)
        }
        if name != "learn":  # it is trained below
            shows(page, name, one.run(values, style=Style(LIVE, lang)))


def test_an_empty_text_is_one_warning_where_it_is_read(visit):
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
    for name in ("agreement", "size"):
        assert len(figures(bench(page.app, name))) == 1
    page.run(ga__watch__sentiment="0 1")
    assert not page.warned()
    for name in READERS:
        assert len(figures(bench(page.app, name))) == 1


def test_a_word_that_is_missing_is_one_warning(visit):
    page = opened(visit, "en")
    for state, code in (({"plural": "have been"}, "no_word"), ({"text": ""}, "no_text")):
        usual = {"text": "The flights", "singular": "was", "plural": "were"}
        page.run(**{f"ga__agreement__{name}": v for name, v in {**usual, **state}.items()})
        assert page.warned() == [page.text(f"problem.{code}")]
        assert alerts(bench(page.app, "agreement"))["warning"] == page.warned()
        assert not bench(page.app, "agreement").metric
        for name in ("watch", "force", "conventions", "size"):
            assert len(figures(bench(page.app, name))) == 1
    page.run(ga__agreement__text="The flights")
    assert not page.warned()


def test_an_lstm_can_have_no_gate_held(visit):
    """An empty selection is one, and not the default."""
    page = opened(visit, "en")
    page.run(ga__force__gates_lstm=[])
    assert not page.value("force", "gates_lstm")
    shows(page, "force", lesson.benches["force"].run({"gates_lstm": ()}, style=Style(LIVE)))


# ------------------------------------------------------------------------- gates with a job to do
@pytest.fixture
def one_thread_of_the_cpu(monkeypatch):
    """The numbers below are the CPU's, whatever else this machine has, and summed in one order."""
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    device.choose.cache_clear()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    device.choose.cache_clear()


def test_a_tiny_network_is_trained_and_shown(visit, one_thread_of_the_cpu):
    link = {"task": "count", "cell": "lstm", "seed": 3}
    page = opened(visit, "en", **{f"learn__{name}": value for name, value in link.items()})
    untrained = lesson.benches["learn"].run(link, style=Style(LIVE))
    shows(page, "learn", untrained)
    assert untrained.waits == page.text("gates.hint.train")
    page.app.get_by_key("ga.learn.start").click().run()
    page.healthy()
    asked = tiny.recommended("count", "lstm", 3)
    job = jobs.default("cpu").find(tiny.train_tiny, settings=asked, device="cpu")
    assert job is not None, "the button has started another training"
    assert job.wait(50)
    again = tiny.train_tiny(asked)
    weights = checkpoints.arrays(again.network)
    page.run()
    trained = {
        lang: lesson.benches["learn"].run(link, host=Given(again), style=Style(LIVE, lang))
        for lang in ("en", "zh")
    }
    assert page.lesson.sources()["learn"] == trained["en"].code
    # The code of the figure is the same in both states; what is read off comes after it.
    calls = untrained.code.split("\n\n")[1].removesuffix("figure\n")
    assert f"\n\n{calls}" in trained["en"].code
    assert shown(trained["en"]) == {
        "usual": (percent(again.accuracy[-1]), ""),
        "twice": (percent(tiny.longer(again.network, asked.length, 3)), ""),
        "parameters": (f"{sum(array.size for array in weights.values()):,}", ""),
    }
    # The second visitor does not press: equal wishes are one run.
    others = {f"learn__{name}": value for name, value in link.items()}
    for visitor in (page, opened(visit, "zh", **others)):
        assert not any(alerts(bench(visitor.app, "learn")).values())
        assert "ga.learn.start" not in [button.key for button in visitor.app.button]
        shows(visitor, "learn", trained[visitor.text.lang])
    visitor.run(ga__learn__view="gates", ga__learn__symbol="f")
    seen = observation.observe(again.network, tasks.EXAMPLES["count"], "f")
    figure = gate_map(seen, 1, len(seen.pieces), style=Style(LIVE, "zh"))
    assert figures(bench(visitor.app, "learn"))[0]["data"] == json.loads(figure.to_json())["data"]
    assert again.accuracy[-1] > 0.99  # it has a job, and does it


# ----------------------------------------------------------------- texts that nobody has prepared
def watched(kind: str, text: str, lang: str, **more):
    return lesson.benches["watch"].run({"kind": kind, kind: text, **more}, lang)


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
def test_what_is_cut_is_said(lang, kind, text, pieces):
    out, say = watched(kind, text, lang), SAY[lang]
    seen = gates.observe(f"{kind}_lstm", text)
    assert len(seen.pieces) == pieces == len(Colored(out).spans)
    read = (" " if kind == "sentiment" else "").join(seen.pieces)
    left = f"{len(text) - len(read):,}"
    assert (say("note.cut", limit=pieces, left=left) in out.notes) == (len(text) > len(read))
    start = say("note.cut", limit=pieces, left="@").split("@")[0]
    assert sum(start in sentence for sentence in out.notes) == (len(text) > len(read))
    for name, count in (("force", 4), ("conventions", 3)):
        other = lesson.benches[name].run({"watch.kind": kind, f"watch.{kind}": text}, lang)
        assert other.figure is not None
        assert len(other.readouts) == count


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
def test_what_is_not_known_is_said_and_marked(lang, kind, text, strange):
    out = watched(kind, text, lang)
    seen = gates.observe(f"{kind}_lstm", text)
    wanted = [piece in set(strange) for piece in seen.pieces]
    assert sum(wanted) == len(strange)
    passage = Colored(out)
    assert passage.with_look("dotted") == wanted
    word = SAY[lang]("figure.unknown_symbol")
    assert [word in (span["title"] or "") for span in passage.spans] == wanted
    assert (SAY[lang]("note.unknown", count=len(strange)) in out.notes) == bool(strange)


MARKUP = "<script>alert('x')</script> <b>bold</b> & \"quoted\" <img src=x onerror=y>"


@pytest.mark.parametrize("kind", ["characters", "sentiment", "adding"])
def test_markup_in_a_text_is_shown_as_text(kind):
    out = watched(kind, MARKUP, "en")
    passage = Colored(out)
    assert passage.tags == {"div", "span"}
    assert passage.text.replace(" ", "") == MARKUP.replace(" ", "")
    # Every "<" opens or closes one of the page's own tags: none is the reader's.
    assert passage.source.count("<") == 2 * (1 + len(passage.spans))
    for tag in ("<script", "</script", "<b>", "<b ", "<img"):
        assert tag not in passage.source.lower()
    for step in range(1, len(passage.spans) + 1):
        beside = shown(watched(kind, MARKUP, "en", step=step))["value"][1]
        assert not any(sign in beside.replace(f"\\{sign}", "") for sign in "<>*[`")
    axis = json.loads(out.figure.to_json())["layout"]["xaxis"]
    labels = [*axis.get("ticktext", ()), *axis.get("labelalias", {}).values()]
    assert not any("<" in label for label in labels)


def test_a_cut_behind_a_space_still_reads_400_symbols():
    """The space at the end of what is read is read too."""
    seen = gates.observe("characters_lstm", "abc " * 250)
    assert len(seen.pieces) == 400


@pytest.mark.parametrize(
    ("text", "least", "most"),  # counted in the normalized text, and as it was typed
    [("a  b  " * 120, 79, 122), ("e\u0301" * 500, 100, 200), (" " * 5000 + "a" * 410, 10, 10),
     ("a" + " " * 30_000, 0, 0), (" " * 25_000 + "good", 0, 0)],
)  # fmt: skip
def test_what_is_left_out_is_what_was_not_read(text, least, most):
    """Counted in the normalized text: white space in a row is one space, an accent no character."""
    seen = gates.observe("characters_lstm", text)
    assert least <= seen.left_out <= most


def test_a_beginning_cut_in_expect_ends_with_a_whole_word():
    """Half a word is another word."""
    found = gates.expect(("characters_lstm",), "Flights and " * 40, "was", "were")
    assert set(found.words) == {"Flights", "and"}


def test_a_beginning_of_a_sentence_that_was_cut_is_said():
    out = lesson.benches["agreement"].run({"text": "The airline " * 41})
    axis = json.loads(out.figure.to_json())["layout"]["xaxis"]
    drawn = len(axis.get("labelalias") or axis["ticktext"])
    start = SAY["en"]("note.cut", limit="@", left="").split("@")[0]
    assert drawn == 82 or any(start in sentence for sentence in out.notes)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_compare_starts_where_the_network_starts(cell):
    """A character model reads an END before every text."""
    name, text = f"characters_{cell}", "The flights the airline"
    sizes = np.linalg.norm(gates.observe(name, text, "h").values.astype(float), axis=1)
    np.testing.assert_allclose(gates.compare(name, text).size, sizes, rtol=1e-3)


# ------------------------------------------------------------------------- visitors side by side
def everything(page) -> dict[str, tuple]:
    """Read-outs, figures and sentences of all benches; not how long they took."""
    places = {name: bench(page.app, name) for name in lesson.benches}
    return {
        name: (
            {m.label: (m.value, m.delta) for m in place.metric},
            figures(place),
            [e.value for kind in ("markdown", "caption") for e in place.get(kind)
             if "-badge[" not in e.value],
        )
        for name, place in places.items()
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
    assert free.value("watch", kind) == text
    wanted = everything(free)
    assert SAY["en"]("note.nothing_forced") in wanted["force"][2]
    others = []
    for held in tried:
        other = opened(visit, "zh", **read, **held)
        others.append((other, everything(other)))
        assert len(figures(bench(other.app, "force"))) == 1
        for page, known in (*others, (free, wanted)):
            caching.shelves.cache_clear()
            page.run()
            found = everything(page)
            for name in lesson.benches:
                assert found[name] == known[name], name
    assert len({str(known["force"][0]) for _, known in others}) == len(tried)
    assert stored(kind) == before
    label = {name: SAY["en"](f"metric.{name}.label") for name in ("free", "forced")}
    assert wanted["force"][0][label["free"]] == wanted["force"][0][label["forced"]]


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
