"""The lesson on gate activations: training, equations, two words, counts; texts that are empty."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gates_page import drawn, metric, note, opened, said, settings, shown, traces
from looking import alerts, bench, figures

from seqviz import jobs
from seqviz.compute.gates import counting, observation, tasks, tiny
from seqviz.experiments import gates
from seqviz.figures.gates.effects import distance_by_variant
from seqviz.figures.gates.maps import gate_map
from seqviz.figures.gates.networks import accuracy_by_update, parameter_bars
from seqviz.figures.gates.networks import agreement as agreement_figure
from seqviz.models import checkpoints, device
from seqviz.text import LANGUAGES, literal, number

LANG = pytest.mark.parametrize("lang", LANGUAGES)


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
    link = {"learn__task": "count", "learn__cell": "lstm", "learn__seed": 3}
    page = opened(visit, "en", **link)
    assert alerts(bench(page.app, "learn"))["info"] == [page.text("gates.hint.train")]
    assert not figures(bench(page.app, "learn"))
    page.app.get_by_key("ga.learn.start").click().run()
    page.healthy()
    asked = tiny.recommended("count", "lstm", 3)
    job = jobs.default("cpu").find(tiny.train_tiny, settings=asked, device="cpu")
    assert job is not None, "the button has started another training"
    assert job.wait(50)
    again = tiny.train_tiny(asked)
    weights = checkpoints.arrays(again.network)
    page.run()
    # The second visitor does not press: equal wishes are one run.
    for visitor in (page, opened(visit, "zh", **link)):
        assert not any(alerts(bench(visitor.app, "learn")).values())
        assert "ga.learn.start" not in [button.key for button in visitor.app.button]
        assert shown(visitor, "learn") == {
            "usual": (f"{100 * again.accuracy[-1]:.1f} %", ""),
            "twice": (f"{100 * tiny.longer(again.network, asked.length, 3):.1f} %", ""),
            "parameters": (f"{sum(array.size for array in weights.values()):,}", ""),
        }
        (curve,) = drawn(visitor, "learn")
        (wanted,) = traces(visitor, accuracy_by_update, again.updates, again.accuracy, "lstm")
        assert (curve["x"], curve["y"]) == (wanted["x"], wanted["y"])
        visitor.run(ga__learn__view="gates", ga__learn__symbol="f")
        seen = observation.observe(again.network, tasks.EXAMPLES["count"], "f")
        figure = traces(visitor, gate_map, seen, 1, len(seen.pieces))
        assert drawn(visitor, "learn") == figure
    assert again.accuracy[-1] > 0.99  # it has a job, and does it


# ------------------------------------------------------------------- the same weights elsewhere
@pytest.mark.parametrize(
    ("lang", "kind", "cell"),
    [("en", "characters", "gru"), ("zh", "characters", "lstm"), ("zh", "sentiment", "gru"),
     ("en", "adding", "lstm")],
)  # fmt: skip
def test_the_same_weights_in_other_equations(visit, lang, kind, cell):
    page = opened(visit, lang, watch__kind=kind, conventions__cell=cell)
    text = getattr(settings(page, "watch"), kind)
    found = gates.compare(f"{kind}_{cell}", text)
    words = {v: page.text(f"gates.variant.{v}") for v in found.variants}
    largest = {v: row.max() for v, row in zip(found.variants, found.distance, strict=True)}
    far = max(largest, key=lambda v: largest[v])
    same = [v for v in found.variants if largest[v] < 1e-10 * found.size.max()]
    assert same  # one bias of an LSTM, another name of z: nothing but rounding
    assert shown(page, "conventions") == {
        "same": (", ".join(words[v] for v in same), ""),
        "furthest": (words[far], f"{100 * largest[far] / found.size.max():,.0f} %"),
        "size": (number(found.size.max()), ""),
    }
    assert drawn(page, "conventions") == traces(page, distance_by_variant, found)


# ------------------------------------------------------------------------------------ was or were
@pytest.mark.parametrize(
    ("lang", "wanted"),
    [("en", {}), ("zh", {}), ("zh", {"singular": "were", "plural": "was"}),
     ("en", {"text": "The *film*  is <b>我</b>", "singular": "[good](x)", "plural": "$b$"})],
)  # fmt: skip
def test_which_of_two_words_comes_next(visit, lang, wanted):
    page = opened(visit, lang, **{f"agreement__{name}": v for name, v in wanted.items()})
    p = settings(page, "agreement")
    assert {name: getattr(p, name) for name in wanted} == wanted
    names = ("characters_lstm", "characters_gru")
    found = gates.expect(names, p.text, p.singular, p.plural)
    log2 = np.log2(found.probability[:, -1])
    assert shown(page, "agreement") == {
        f"bits_{cell}": (
            number(one[1] - one[0]),
            metric(page, "bits.more", word=literal(p.plural if one[1] > one[0] else p.singular)),
        )
        for cell, one in zip(("lstm", "gru"), log2, strict=True)
    }
    assert drawn(page, "agreement") == traces(page, agreement_figure, found)
    sentence = note(page, "agreement", first=literal(p.singular), second=literal(p.plural))
    assert sentence in said(page, "agreement")


MISSING = (
    ({"text": ""}, "no_text"),
    ({"text": "  "}, "no_text"),
    ({"singular": ""}, "no_word"),
    ({"plural": "have been"}, "no_word"),
    ({"text": "", "plural": " "}, "no_word"),
)


@LANG
def test_a_sentence_or_word_that_is_missing_is_one_warning(visit, lang):
    page = opened(visit, lang)
    usual = {"text": "The flights", "singular": "was", "plural": "were"}
    for state, code in MISSING:
        page.run(**{f"ga__agreement__{name}": v for name, v in {**usual, **state}.items()})
        assert page.warned() == [page.text(f"problem.{code}")]
        assert alerts(bench(page.app, "agreement"))["warning"] == page.warned()
        assert not bench(page.app, "agreement").metric
        for name in ("watch", "force", "conventions", "size"):
            assert len(figures(bench(page.app, name))) == 1
    page.run(**{f"ga__agreement__{name}": value for name, value in usual.items()})
    assert not page.warned()


# ------------------------------------------------------------------------------------------ counts
@pytest.mark.parametrize(
    ("lang", "inputs", "hidden", "biases"),
    [("en", 1, 32, "two"), ("zh", 512, 1024, "none"), ("en", 4, 1, "one")],
)
def test_parameters_by_formula_and_by_counting(visit, lang, inputs, hidden, biases):
    page = opened(visit, lang, size__inputs=inputs, size__hidden=hidden, size__biases=biases)
    extra = {"none": 0, "one": 1, "two": 2}[biases]
    wanted = {
        f"count_{cell}": f"{blocks * hidden * (inputs + hidden + extra):,}"
        for cell, blocks in (("rnn", 1), ("gru", 3), ("lstm", 4))
    }
    assert shown(page, "size") == {
        key: (count, metric(page, "count.formula", count=count)) for key, count in wanted.items()
    }
    found = counting.table(inputs, hidden, biases)
    assert drawn(page, "size") == traces(page, parameter_bars, found)


# ------------------------------------------------------------------------------------- empty texts
@pytest.mark.parametrize(
    ("lang", "kind", "text"),
    [("en", "characters", ""), ("zh", "sentiment", "   "), ("en", "parity", ""),
     ("zh", "characters", " ")],
)  # fmt: skip
def test_an_empty_text_is_one_warning_where_it_is_read(visit, lang, kind, text):
    """On the bench with the text and the two that read it too; nowhere else."""
    page = opened(visit, lang, watch__kind=kind)
    assert not page.warned()
    page.run(**{f"ga__watch__{kind}": text})
    warning = page.text("problem.no_text")
    for name in ("watch", "force", "conventions"):
        assert alerts(bench(page.app, name))["warning"] == [warning]
        assert not figures(bench(page.app, name))
        assert not bench(page.app, name).metric
    assert page.warned() == 3 * [warning]
    for name in ("agreement", "size"):
        assert len(figures(bench(page.app, name))) == 1
    assert alerts(bench(page.app, "learn"))["info"] == [page.text("gates.hint.train")]
    page.run(**{f"ga__watch__{kind}": "0 1"})
    assert not page.warned()
    assert page.charts() == len(page.lesson.benches) - 1
