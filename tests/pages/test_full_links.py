"""Links that set every control of a lesson: set by hand, read back, opened afresh.

The links below have values worth trying. A control that none of them sets gets another value than
its default by itself (`full_links`), so a new bench need not be entered here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from seqviz.content import catalog
from seqviz.lessons.framework import controls
from tests.pages.page_assertions import applied, as_state, bench, figures, fixed, needed
from tests.shared_fixtures import lesson_of
from tests.tiers import BY_DAY, alternate

Link = Mapping[str, Mapping[str, Any]]  # bench -> control -> value
TEXT = "a b <i> & 我们 + d=e? 1*"
GRADIENTS = (
    {
        "reach": {"cells": ("linear", "relu", "lstm", "gru"), "steps": 30, "init": "radius",
                  "gain": 0.55, "signal": "sentence", "sentence": "a b <i> & 我们 + d=e?",
                  "width": 8, "loss": "mean", "forget_bias": -0.75, "update_bias": 2.25,
                  "seed": 17},
        "pairs": {"cell": "lstm", "earlier": 3, "later": 12, "norm": "largest", "part": "hidden"},
        "paths": {"cell": "rnn", "steps": 12, "t": 7, "gain": 1.05, "printed": True, "seed": 4},
        "back": {"steps": 5, "taken": 3, "cell": "rnn", "gain": 1.1, "loss": "last",
                 "width": 3, "shift": -1.5, "seed": 8},
        "weights": {"matrix": "readout", "steps": 12, "t": 9, "cell": "rnn", "gain": 1.1,
                    "loss": "mean", "seed": 4},
        "cut": {"cell": "gru", "kind": "segments", "window": 6},
        "gates": {"update": 0.42, "reset": 0.36},
        "race": {"view": "ladder", "delay": 7, "cells": ("lstm",), "bias": 2.5, "updates": 200,
                 "hidden": 16, "rate": 0.0003, "seed": 6},
    },
    {
        "cut": {"view": "random", "cell": "lstm", "stop": 0.26, "seed": 5},
        "race": {"task": "adding", "bias_adding": 1.5, "updates_adding": 900, "hidden": 64,
                 "rate_adding": 0.003},
    },
    {
        "weights": {"matrix": "input_hidden"},
        "cut": {"view": "cliff", "start_weight": 4.5, "start_bias": -2.0, "threshold": 0.3,
                "rate_cliff": 0.2},
    },
    {
        "cut": {"view": "clipping", "activation": "rnn", "radius": 1.12, "threshold": 0.03,
                "rate": 0.005},
    },
)  # fmt: skip
GATES = (
    {
        "watch": {"view": "unit", "cell": "gru", "characters": TEXT, "gru": "z", "rank": 7,
                  "step": 3, "order": "time", "feature": "vowel", "writes": True},
        "force": {"gates_lstm": ("i", "f", "g", "o"), "f": 0.25, "i": 0.5, "g": -0.75, "o": 1.0,
                  "units": "one", "unit": 9, "first": 2, "last": 8},
        "learn": {"view": "gates", "task": "parity", "symbol": "f", "seed": 12},
        "conventions": {"cell": "lstm"},
        "agreement": {"text": TEXT, "other": TEXT[::-1], "singular": "has", "plural": "我们"},
        "one": {"view": "mask", "temperature": 0.3, "task": "count", "unit": 3, "gate_lstm": "o",
                "added": 1.5},
        "meaning": {"feature": "vowel", "lstm": "h", "found_on": TEXT, "scored_on": TEXT[::-1]},
        "size": {"inputs": 16, "hidden": 128, "biases": "none"},
    },
    {
        "watch": {"kind": "sentiment", "sentiment": TEXT, "lstm": "o", "view": "cell"},
        "force": {"cell": "gru", "gates_gru": ("r", "z", "n"), "z": 0.15, "r": 0.85, "n": 0.35},
        "learn": {"view": "gates", "cell": "gru", "symbol_gru": "r"},
    },
    {"watch": {"kind": "latch", "latch": TEXT}, "force": {"gates_lstm": ()},
     "one": {"view": "mask", "cell": "gru", "gate_gru": "r"},
     "meaning": {"cell": "gru", "gru": "z"}},
    {"watch": {"kind": "count", "count": TEXT}, "force": {"cell": "gru", "gates_gru": ()},
     "one": {"view": "unit", "step": 3}},
    {"watch": {"kind": "parity", "parity": TEXT}},
    {"watch": {"kind": "adding", "adding": TEXT}},
)  # fmt: skip
POSITIONS = (
    {
        "waves": {"positions": 37, "d_model": 9, "base": 750.5, "layout": "halves",
                  "position": 30, "dimension": 3},
        "distance": {"view": "matrix", "d_model": 32, "base": 1000.0, "length": 128},
        "learned": {"view": "path"},
        "simple": {"view": "digits", "words": 50},
        "schemes": {"tokens": 12, "key": 77, "offset": 9, "base": 10_000.0, "d_k": 8, "seed": 5},
        "effect": {"view": "maps", "first": TEXT, "second": "我们 b * <i> a", "causal": True,
                   "scheme": "rotary", "seed": 3},
        "encoder": {"view": "maps", "variant": "shuffled", "layer": 3, "head": 7},
        "task": {"view": "curves", "task": "sort", "causal": True, "letters": 10, "seed": 4},
    },
    {
        "distance": {"view": "clocks", "offset": 7, "place": 33},
        "learned": {"view": "norms", "model": "smollm2"},
        "schemes": {"view": "alibi", "heads": 12, "head": 5, "causal": True},
        "effect": {"how": "shuffled", "draw": 9, "strength": 0.37},
        "encoder": {"view": "maps", "variant": "sinusoidal"},
    },
    {"schemes": {"view": "t5", "tokens": 64, "buckets": 16, "farthest": 64}},
    {"schemes": {"view": "shift", "shift": 40}},
)  # fmt: skip
ATTENTION = (
    {
        "features": {"view": "trained", "stage": 5, "query": 11, "key": 4, "scale": "none",
                     "head": 7, "layer": 2, "temperature": 0.5},
        "by_hand": {"stage": 3, "query": 5, "key": 6, "part": "value", "heads": 4, "head": 2,
                    "d_k": 32, "order": "reversed", "joined": False, "seed": 5},
        "scale": {"quantity": "largest", "temperature": 2.5, "keys": 64, "size": "big", "seed": 9},
        "real": {"view": "head", "encoder": TEXT, "other": "我们 *b* <i> $a$", "layer": 4,
                 "head": 7, "by": "value", "query": 6, "key": 2},
        "apart": {"view": "chain", "query": 7, "key": 4, "by": "value"},
        "trials": {"view": "previous", "layer": 2, "head": 5},
        "masks": {"kind": "none", "pads": 4, "told": False, "cells": "2.5 3.1"},
        "ablate": {"off": "1.1 2.2", "compare": TEXT},
        "bertviz": {"picture": "head"},
    },
    {
        "features": {"stage": 7, "query": 3, "key": 7, "head": 1, "causal": True,
                     "operator": "multiply"},
        "by_hand": {"stage": 9, "scale": "none", "causal": True, "operator": "multiply",
                    "temperature": 0.7, "heads": 8, "head": 5, "width": "split"},
        "real": {"view": "heads", "model": "smollm2", "decoder": TEXT, "head": 8,
                 "measure": "entropy"},
        "ablate": {"view": "each"},
    },
    {"real": {"view": "mean", "over": "all"}, "masks": {"kind": "strided", "reach": 5}},
)  # fmt: skip
FITTING = (
    {
        "process": {"view": "roots", "order": 5, "a1": 0.35, "a2": -0.4, "a3": 0.2, "a4": -0.1,
                    "a5": 0.15, "n": 200, "seed": 7, "sigma": 2.5, "noise": "student_t", "df": 3.5,
                    "burn_in": 200},
        "by_hand": {"view": "runs"},
        "fit": {"methods": ("ols", "exact_ml"), "same": False, "model": 3, "intercept": True},
        "networks": {"view": "map", "preset": "own", "cell": "mlp", "epochs": 50, "rate": 0.003,
                     "hidden": 4, "split": False, "layers": 2, "lags": 3, "optimizer": "sgd",
                     "seed": 9},
        "forecast": {"horizon": 5, "model": 4, "intercept": True},
        "nonlinear": {"view": "loss", "rule": "threshold", "below": 0.4, "above": -0.3,
                      "cell": "gru", "seed": 5},
        "real": {"source": "nile", "difference": True, "model": 3, "horizon": 12},
    },
    {
        "process": {"order": 5, "free": True, "b1": 0.4, "b2": -0.3, "b3": 0.1, "b4": -0.2,
                    "b5": 0.05},
        "by_hand": {"slope": 0.45},
        "fit": {"view": "order"},
        "networks": {"preset": "own", "cell": "gru"},
        "nonlinear": {"view": "ahead", "r": 3.2},
        "forecast": {"view": "errors"},
        "real": {"view": "correlations", "source": "co2", "seasonal": True},
    },
    {"process": {"phi": -0.35, "shuffle": True},
     "fit": {"view": "sampling", "estimator": "yule_walker"},
     "networks": {"view": "window", "window": 7},
     "real": {"source": "csv", "seasonal": True, "period": 24}},
)  # fmt: skip
ACCURACY = (
    {
        "knife": {"view": "own", "text": TEXT, "order": "gradient", "share": 60},
        "fill": {"selected": 30, "mask": 60, "random": 15, "sentences": 500},
        "guess": {"text": TEXT, "place": 3, "seed": 4},
        "padding": {"view": "own", "text": TEXT, "length": 64, "side": "left"},
        "looks": {"view": "own", "text": TEXT, "place": 2},
        "heads": {"feature": "cls", "head_rate": 0.003, "epochs": 3, "sentences": 500, "runs": 2,
                  "texts": True},
        "tune": {"regime": "top", "layers": 3, "rate": 0.0001, "sentences": 1000, "epochs": 3,
                 "head_rate": 0.003, "feature": "pooler", "runs": 2},
        "count": {"network": "bert_large", "regime": "top", "layers": 5},
        "search": {"method": "grid", "budget": 9, "feature": "cls", "seed": 3},
        "modes": {"text": TEXT, "repeats": 9, "seed": 5},
        "compare": {"view": "paired", "first": "lora", "second": "gru", "sentences": 600},
    },
    {
        "knife": {"sentences": 500},
        "fill": {"view": "share"},
        "padding": {"view": "drift", "sentences": 200},
        "looks": {"feature": "cls", "sentences": 200},
        "tune": {"regime": "lora", "rank": 16, "lora_rate": 0.001},
        "count": {"regime": "lora", "rank": 4},
        "search": {"view": "race"},
    },
    {"tune": {"texts": True}},
)  # fmt: skip
TRANSFORMER = (
    {
        "account": {"text": "a b <i> & 1*", "target": "d=e?", "against": "c", "part": 5},
        "lens": {"reading": "fitted", "place": 3},
        "remove": {"change": "mlp"},
        "induction": {"off": 3},
        "steps": {"step": 6, "words": TEXT, "layer": 2, "depth": 4, "hidden": 512, "split": 4,
                  "seed": 9, "dropout": 0.1, "places": "torch", "zeros": 2},
        "masks": {"scores": "1 2, 3 4", "mask": "token", "key": 1},
        "pair": {"view": "chinese", "number": "7", "kind": "unshifted", "fed": "right", "look": 2,
                 "seed": 1},
        "norms": {"tensor": "1 2 4 8, 2 3 4 5, 0 1 0 7", "row": 2, "feature": 3, "added": -1.5,
                  "given": "word", "eps": 0.1},
        "depths": {"view": "signal", "blocks": 12, "gain": 0.8, "seed": 3},
        "bill": {"design": "own", "width": 256, "heads": 4, "layers": 3, "d_ff": 1024},
    },
    {
        "lens": {"model": "minilm", "filled": "a b [MASK] <i> 我们", "place": 2},
        "remove": {"model": "minilm", "filled": "a [MASK] <i> 我们"},
        "masks": {"scores": "1 2 3 4, 1 2 3 4, 1 2 3 4, 1 2 3 4", "mask": "both", "pads": 2},
        "bill": {"view": "operations", "tokens": 1024},
    },
    {"lens": {"view": "reviews"}, "remove": {"view": "many"}, "bill": {"view": "cache"},
     "induction": {"view": "one", "draw": 7},
     "depths": {"view": "training", "preset": "two", "rate": 0.001}},
)  # fmt: skip
GPT = (
    {
        "scores": {"text": "a b <i> & 1*", "temperature": 0.7, "top_p": 0.8, "top_k": 50,
                   "min_p": 0.02, "number": 3, "penalty": 1.2, "typical": 0.9,
                   "order": ("top_p", "penalty", "temperature", "top_k", "min_p", "typical"),
                   "seed": 5},
        "steps": {"way": "sampled", "step": 3, "rank": 2, "temperature": 1.2, "seed": 4},
        "draws": {"count": 50, "seed": 6},
        "futures": {"prompt": "a b <i> 我们", "beams": 2, "length_penalty": 0.5, "shown": 12,
                    "length": 6, "seed": 1},
        "likely": {"method": "hot"},
        "again": {"copied": "a b <i> & 1*", "copies": 5, "penalty": 1.3},
        "shots": {"view": "one", "amount": 1, "condition": "random", "layout": "chat",
                  "review": "a b <i> 我们", "draw": 3},
        "cost": {"given": 7, "written": 30},
    },
    {
        "again": {"view": "loop", "opening": "a b <i> & 1*", "penalty": 1.1},
        "shots": {"condition": "other"},
        "cost": {"view": "summary", "article": "a b <i>", "summary": "c & 1*"},
    },
    {"cost": {"view": "training", "document": "a b <i> 我们"}},
)  # fmt: skip
TEXT_TO_NUMBERS = (
    {
        "cutters": {"text": "a b <i> & 1* 我们 " * 9, "strip": "wordpiece", "part": 2},
        "merges": {"view": "compression", "amount": "20", "merges": 40, "sample": "a b <i> 我们"},
        "ladder": {"word": "<i>", "tries": 1},
    },
    {
        "cutters": {"view": "special"},
        "merges": {"corpus": "toy", "merges": 4, "sample": "a b <i> 我们"},
        "ladder": {"word": "tokenization", "tries": 5},
    },
    {
        "ids": {"opinion": "a b <i> & 1*", "permuted": 25, "shuffle": 4},
        "windows": {"page": "a b <i> & 1* 我们 " * 4, "cutting": "sequential", "batch": 3,
                    "steps": 4, "offset": 2},
    },
    {
        "ids": {"view": "window", "first": 5000, "find": "<ing>"},
        "windows": {"view": "memory", "length": 50},
    },
    {"windows": {"view": "counts", "line": "a b <i> 我们", "counted_by": "character",
                 "min_freq": 20, "clean": False}},
    {"windows": {"view": "onehot", "phrase": "a b <i>", "level": "word", "step": 2, "width": 3}},
    {
        "map": {"listed": "a b <i> king queen man", "source": "minilm", "projection": "pca",
                "centered": False},
        "reading": {"shared": "sat", "first_text": "She sat.", "second_text": "He sat & ate 1*"},
        "neighbors": {"looked_up": "film", "method": "skipgram", "narrow": 1, "wide": 20,
                      "seed": 7},
    },
    {
        "map": {"view": "near", "asked": "queen", "large": True, "centered": False},
        "reading": {"view": "many", "layer": 2},
        "neighbors": {"view": "pairs", "line": "a b <i>", "reordered": "<i> b a", "mode": "cbow",
                      "reach": 1, "pair": 2},
    },
    {
        "map": {"view": "analogy", "question": "a - b + c"},
        "neighbors": {"view": "list"},
    },
    {"map": {"across": "boy man", "up": "boy king"}},
)  # fmt: skip
RECURRENT = (
    {
        "step": {"x": "1 0 -1 2", "unrolled": 7, "recurrent": "0.5 1; -1 0.5", "inputs": "1; 2",
                 "moment": 5, "unit": 2, "bias": "0.1 0", "outputs": "1 1; 0 2",
                 "squash": "sigmoid"},
        "wirings": {"cell": "gru", "layers": 2, "backward": True, "read_at": "ends", "output": 1,
                    "enter": "first", "seed": 3},
        "collapse": {"tanh": 10.0, "amplitude": 0.3, "hidden_units": 4, "with_bias": False,
                     "precision": "float64",
                     "seed": 7},
        "tagging": {"view": "ahead", "task": "words", "ahead": 1},
        "tagger": {"line": TEXT, "side": "left", "way": "mean", "layer": 1},
        "writing": {"text_read": TEXT, "reader": "lstm", "upto": 7},
        "readout": {"review": TEXT, "without": 2},
        "bill": {"n_inputs": 16, "n_hidden": 8, "n_layers": 3, "n_directions": 2, "n_steps": 32,
                 "n_outputs": 2, "n_biases": "one"},
    },
    {
        "step": {"view": "order", "one_text": "a b <i> 我们", "other_text": "c & 1*", "seed": 5},
        "wirings": {"output": 5},
        "tagging": {"view": "letters", "english": TEXT, "letter": 2, "training": 3},
        "tagger": {"view": "tags", "shown": "marginal"},
        "writing": {"view": "own", "heat": 1.0, "draws": 4},
        "readout": {"view": "readouts", "combine": "both_sum", "least": 20},
        "bill": {"view": "time", "at_once": "many"},
    },
    {
        "step": {"view": "notations", "notation": "s3"},
        "wirings": {"view": "beside", "cell": "lstm"},
        "tagging": {"view": "letters", "task": "words", "chinese": TEXT},
        "writing": {"view": "tied", "wrapped": "lstm", "tied_symbols": 1_000, "tied_units": 64},
        "readout": {"view": "padding", "pad_as": "zeros", "pads": 5},
        "bill": {"view": "shapes", "of_cell": "lstm", "batch_axis": False},
    },
    {"bill": {"view": "terms", "given": "a b <i>", "answer": "c & 1*", "read_from": "same",
              "summed_to": "tx"}},
)  # fmt: skip
LINKS = {
    "recurrent": RECURRENT,
    "ar_fitting": FITTING,
    "bert_accuracy": ACCURACY,
    "vanishing_gradients": GRADIENTS,
    "gates": GATES,
    "attention": ATTENTION,
    "positions": POSITIONS,
    "transformer": TRANSFORMER,
    "gpt": GPT,
    "text": TEXT_TO_NUMBERS,
}
SLUGS = [record.slug for record in catalog.LESSONS]


def another(control: controls.Control) -> Any:
    """A value that is not the default."""
    match control:
        case controls.TextInput():
            return TEXT[: control.limit]
        case controls.Seed():
            return control.default + 1
        case controls.Slider(low=low, default=default, step=step):
            return default - step if default - step >= low else default + step
        case controls.SelectSlider(stops=stops):
            return next(stop for stop in stops if stop != control.default)
    return next(value for value in control.bounds() if value != control.default)


def full_links(slug: str, links: Sequence[Link]) -> tuple[Link, ...]:
    """These links, and as many more as it takes to set the controls that none of them sets."""
    more: list[dict[str, dict[str, Any]]] = []
    for name, each in lesson_of(slug).benches.items():
        set_in_links = {control for link in links for control in link.get(name, {})}
        for control, its in controls.controls(each.declaration):
            if control in set_in_links or control == "model" or fixed(its):
                continue
            values = {**needed(each.declaration, control), control: another(its)}
            free = next((link for link in more if name not in link), None)
            if free is None:
                more.append(free := {})
            free[name] = values
    return (*links, *more)


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("written", [True, False])
def test_full_links_set_every_control(slug, written):
    """With the links above, and where a lesson has none yet."""
    links = full_links(slug, LINKS.get(slug, ()) if written else ())
    for name, its in lesson_of(slug).benches.items():
        declaration = its.declaration
        tried = {control for link in links for control in link.get(name, {})}
        # a menu of one model has nothing to set, and which there are depends on the machine
        declared = controls.controls(declaration)
        several = {control for control, its in declared if len(set(its.bounds())) > 1}
        assert tried <= several
        assert several - tried <= {"model"}


def english_defaults(
    declaration: type[Any], values: Mapping[str, Any], lang: str
) -> dict[str, Any]:
    """The English defaults of what opens differently in this language, where it applies.

    What else a link sets may apply beside them only.
    """
    shows = applied(declaration, values)
    return {
        name: control.default
        for name, control in controls.controls(declaration)
        if lang in control.translated and shows[name]
    }


def settings_of(declaration: type[Any], values: Mapping[str, Any], lang: str) -> Any:
    """The settings of a page in this language on which these values have been set."""
    relative = lang if lang in controls.languages(declaration) else "en"
    defaults = {name: control.default for name, control in controls.controls(declaration, relative)}
    return declaration(**{**defaults, **values})


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS, BY_DAY))
def test_full_links_restore_every_control(visit, slug, lang):
    """Set by hand, read from the address bar, opened afresh: settings and figures are the same.

    One hand sets the links of a lesson one after the other, and puts back what it had set before.
    """
    page, back = visit(slug, lang), {}
    for link_values in full_links(slug, LINKS.get(slug, ())):
        expected = {
            name: {
                **english_defaults(lesson_of(slug).benches[name].declaration, values, lang),
                **values,
            }
            for name, values in link_values.items()
        }
        state = {
            f"{page.lesson.prefix(name)}.{control}": value
            for name, values in expected.items()
            for control, value in values.items()
        }
        # The lengths first: nobody can drag a slider beyond its end.
        if ends := {key: value for key, value in state.items() if key.endswith(".steps")}:
            page.run(**ends)
        page.run(**back | {key: as_state(value) for key, value in state.items()})
        link = page.address
        assert link.pop("lang") == lang
        for name, its in lesson_of(slug).benches.items():
            prefix = f"{page.lesson.prefix(name)}."
            own = {key.removeprefix(prefix): v for key, v in link.items() if key.startswith(prefix)}
            settings = settings_of(its.declaration, expected.get(name, {}), lang)
            assert controls.parse_params(its.declaration, own, link=True, lang=lang) == settings
            if len(controls.languages(its.declaration)) == 1:  # no defaults to name
                assert own == {n: controls.encoded(v) for n, v in expected.get(name, {}).items()}
        again = visit(slug, lang, **link)
        assert again.address == {**link, "lang": lang}
        back = {}
        for name, declaration in again.lesson.benches.items():
            values = expected.get(name, {})
            shows = applied(declaration, values)
            assert all(shows[control] for control in values)
            # A variant of the course's texts is on the page only where a link sets it.
            shows |= {
                control: shows[control] and control in values
                for control, its in controls.controls(declaration)
                if its.course
            }
            defaults = settings_of(declaration, {}, lang)
            for control, applies in shows.items():
                value = (
                    as_state(getattr(settings_of(declaration, values, lang), control))
                    if applies
                    else None
                )
                assert again.value(name, control) == value, (name, control)
                key = f"{page.lesson.prefix(name)}.{control}"
                back |= {key: as_state(getattr(defaults, control))} if control in values else {}
            assert figures(bench(again.app, name)) == figures(bench(page.app, name)), name
