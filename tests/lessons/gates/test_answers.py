"""Every question of the lesson on gates, answered out of its own benches at the settings it names.

And its sentences: change the numbers, and read another one.
"""

from __future__ import annotations

import math
import re
import tomllib

import numpy as np
import pytest

from seqviz.compute.gates import searching, tasks
from seqviz.compute.gates.networks import logits, trace
from seqviz.core.i18n import ASSETS, LANGUAGES, number
from seqviz.core.units import unbroken
from seqviz.experiments import gates
from seqviz.lessons.framework.controls import controls
from seqviz.lessons.gates import PROSE, SECOND, lesson
from seqviz.models import checkpoints
from tests.pages.scenes import words_of

WORDS = {
    lang: tomllib.loads((ASSETS / "lessons/gates" / f"{lang}.toml").read_text("utf-8"))
    for lang in LANGUAGES
}


def run(bench, values, lang="en"):
    return lesson.benches[bench].run(values, lang, code=False)


def read(out):
    return {name: readout.value for name, readout in out.readouts.items()}


def numbers(sentence):
    """The numbers of a sentence with a decimal point or a thousands comma, as they stand there."""
    return re.findall(r"−?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", sentence)


def told(bench, values, lang):
    """Everything that the bench says at these settings."""
    out = run(bench, values, lang)
    beside = [readout.caption or "" for readout in out.readouts.values()]
    return numbers(" ".join([*read(out).values(), *beside, *out.notes]))


def quotes():
    result = read(run("meaning", {"feature": "quotes", "cell": "lstm"}))
    by_chance = float(result["alone_by_chance"].removesuffix("%"))
    if by_chance >= 5:
        return 2
    return 0 if abs(float(result["r_scored"])) > 0.8 * float(result["r_found"]) else 1


def force():
    held = run("force", {"f": 1.0}).figure
    lengths = np.asarray(next(trace["y"] for trace in held.traces if trace["name"] == "gate held"))
    if lengths[-1] < 0.5 * lengths[0]:
        return 2
    return 1 if (np.diff(lengths) > 0).all() else 0


def count():
    result = read(run("learn", {"view": "longer"}))
    lstm, gru = (float(result[f"whole_{cell}"].removesuffix("%")) > 90 for cell in ("lstm", "gru"))
    return {(True, True): 0, (True, False): 1, (False, True): 2}[lstm, gru]


def agreement():
    result = read(run("agreement", {}))
    lstm, gru = (not result[f"bits_{cell}"].startswith("−") for cell in ("lstm", "gru"))
    return {(True, True): 0, (True, False): 1, (False, False): 2}[lstm, gru]


ANSWERS = {
    "quotes": (quotes, "meaning", {}, {"35.1", "0.551", "−0.147", "29"}),
    "force": (force, "force", {"f": 1.0}, {"12.4", "1,354", "1.00", "54.4"}),
    "count": (count, "learn", {"view": "longer"}, {"95.0", "57.5", "14", "8", "78.9", "86.4"}),
    "agreement": (agreement, "agreement", {}, {"−0.691", "−0.142", "0.63", "1.34", "0.00"}),
}


def test_questions_all_checked():
    assert set(ANSWERS) == set(WORDS["en"]["predict"]) == set(WORDS["zh"]["predict"])


@pytest.mark.parametrize("name", ANSWERS)
def test_predict_answer_matches_bench(name):
    computed, bench, values, quoted = ANSWERS[name]
    answer = computed()
    for lang in LANGUAGES:
        request = WORDS[lang]["predict"][name]
        assert request["answer"] == answer
        assert quoted <= set(numbers(request["reveal"])), lang
        assert quoted <= set(told(bench, values, lang)), lang


def test_quotes_reveal_names_features_that_replicate():
    for feature in ("in_word", "vowel"):
        out = run("meaning", {"feature": feature})
        assert any(words_of(lesson, "note.meaning.holds", "en").fullmatch(n) for n in out.notes)


def test_hint_formula_gives_accepted_answer():
    task = lesson.exercises["constant"]
    for variant in range(len(task.cases)):
        case, answer, within = task.variant_of(variant)
        steps = 1 / math.log(1 / case["gate"])  # gate^k = 1/e
        assert abs(steps - answer) <= within
        assert abs(case["gate"] ** answer - 1 / math.e) < 1e-12


# ----------------------------------------------------------------------------------- the sentences
OTHER = (  # bench, settings, other settings, the sentences that must be other ones
    ("one", {}, {"temperature": 10.0}, ("step_lstm", "one_unit", "mask")),
    ("one", {}, {"step": 3}, ("step_lstm",)),
    ("watch", {}, {"rank": 2}, ("moves.up",)),
    ("watch", {"kind": "latch"}, {"kind": "latch", "rank": 2}, ("between",)),
    ("watch", {"feature": "quotes"}, {"feature": "vowel"}, ("picked",)),
    ("watch", {"view": "saturation"}, {"view": "saturation", "characters": "Dull."},
     ("saturation", "lasting")),
    ("meaning", {}, {"scored_on": PROSE}, ("meaning.chance",)),
    ("force", {}, {"f": 0.8}, ("held.all",)),
    ("force", {"f": 1.0}, {"f": 1.0, "watch.characters": SECOND}, ("of_1997",)),
    ("learn", {"view": "longer"}, {"view": "longer", "task": "adding"}, ("longer.above",)),
    ("agreement", {}, {"text": "The movies I saw", "other": "The movie I saw"}, ("effect.lasts",)),
    ("conventions", {}, {"watch.characters": SECOND}, ("variants",)),
    ("size", {}, {"biases": "none", "inputs": 512}, ("sets",)),
)  # fmt: skip


@pytest.mark.parametrize(("place", "row"), enumerate(OTHER))
def test_note_changes_with_numbers(place, row):
    bench, item, other, keys = row
    lang = LANGUAGES[place % 2]
    first, second = (run(bench, values, lang).notes for values in (item, other))
    for key in keys:
        pattern = words_of(lesson, f"note.{key}", lang)
        here, there = ([n for n in notes if pattern.fullmatch(n)] for notes in (first, second))
        assert here, key
        assert set(here) != set(there), key


# At an end of a slider, or of a text: nothing is said of what is not there.
ENDS = (  # bench, settings, what is said, what is not
    ("one", {"temperature": 0.05}, "f of unit 5 is 1.00 at every step", "between"),
    ("one", {}, "The network answers right at 16 of 16 steps", "follows from what was read"),
    ("one", {"task": "adding"}, "At 6 of 11 steps the right answer follows from", "answers right"),
    ("one", {"view": "mask"}, "pre-activation *a* is a weighted sum", "the state becomes"),
    ("one", {"cell": "gru"}, "this GRU names the first one", "LSTM"),
    ("one", {}, "Each unit stores a number, its *state*", "Each gate"),
    ("watch", {"characters": "x"}, "c of unit 1 is 0.815 at every step", "the best of"),
    ("watch", {"kind": "latch"}, "c of unit 5 is between", "the best of"),
    ("watch", {"feature": "position"}, "of unit 253", "the best of"),
    ("watch", {"characters": "你"}, "does not know: 1.", "1 symbols"),
    ("watch", {"view": "saturation"}, "steps on this text: 1 of 256", "1 of 256 units have"),
    ("agreement", {"text": "The dogs", "other": "The dog"}, "the last word", "one word later"),
    ("watch", {"view": "cell"}, unbroken("0.986 · (−0.978) = 0.00168 + (−0.964) = −0.963"), "+ −"),
    ("agreement", {}, "excludes 0 from there to *airline*", "until"),
    ("agreement", {"singular": "is", "plural": "is"}, "The two words are the same", "expects"),
    ("watch", {}, "as for a choice among 4.84 equally likely", "in the median"),
    ("watch", {}, "It rises at 82% of the steps from letter", "It falls"),
    ("watch", {"cell": "gru"}, "It falls at 88% of the steps from letter", "It rises"),
    ("watch", {"cell": "gru"}, "knows less English than this table", "of the two"),
    ("force", {}, "with the gates held: 11.9 after", "from step"),
    ("force", {"f": 1.0, "last": 10}, "held from step 1 to step 10: 12.4 after", "1997"),
    ("force", {"gates_lstm": ()}, "No gate is held", "with the gates held"),
    ("force", {"f": 1.0, "watch.characters": "x"}, "which had no forget gate", "power"),
    ("watch", {"view": "cell", "cell": "gru"}, unbroken("hₜ = zₜ hₜ₋₁ + (1 − zₜ) nₜ = 6")[:-1],
     ") hₜ₋₁ + zₜ nₜ"),
    ("watch", {"view": "cell", "cell": "gru", "writes": True},
     unbroken("hₜ = (1 − zₜ) hₜ₋₁ + zₜ nₜ"), "hₜ = zₜ hₜ₋₁"),
    ("watch", {"characters": "你"}, "underlined with dots", "They are read"),
    ("watch", {"view": "saturation", "characters": "你"}, "They are read as", "underlined"),
    ("meaning", {"scored_on": "你"}, "underlined with dots", "They are read"),
)  # fmt: skip


@pytest.mark.parametrize(("bench", "values", "said", "unsaid"), ENDS)
def test_note_stays_correct_at_control_ends(bench, values, said, unsaid):
    notes = " ".join(run(bench, values).notes)
    assert said in notes, notes
    assert unsaid not in notes, notes


def test_features_exclude_position():
    """A ramp moved around is two ramps: it is no longer the position, nor a chance of it."""
    assert "position" not in searching.FEATURES
    assert not searching.comes_back("position", list("a film"))
    assert searching.comes_back("in_word", list("a film is"))
    request = dict(controls(lesson.benches["meaning"].declaration))["feature"]
    assert request.options == searching.FEATURES


@pytest.mark.parametrize("kind", tasks.TASKS)
def test_watch_compares_tiny_task_with_position_only(kind):
    """Whatever was chosen for a text: its units are held against the position alone."""
    item, other = (
        run("watch", {"kind": kind, "feature": f}).readouts for f in ("vowel", "in_word")
    )
    assert item["correlation"] == other["correlation"]
    assert item["correlation"].caption == WORDS["en"]["option"]["feature"]["position"]
    request = dict(controls(lesson.benches["watch"].declaration))
    assert not request["feature"].when({"kind": kind})
    # Nor is there a step behind the last symbol.
    declared = {**vars(lesson.benches["watch"].declaration()), "kind": kind}
    last = len(gates.observe(f"{kind}_lstm", tasks.EXAMPLES[kind], "c").pieces)
    assert request["step"].top(declared) == last


def test_expect_bits_rise_with_singular_noun_for_lstm_only():
    names = ("characters_lstm", "characters_gru")
    for noun, both in (("flights", (True, True)), ("flight", (True, False))):
        bits = gates.expect(names, f"The {noun}", "was", "were").bits
        assert tuple(bits[:, 1] > bits[:, 0]) == both


def test_seed_control_shown_only_where_used():
    seed = dict(controls(lesson.benches["learn"].declaration))["seed"]
    for view in ("training", "gates", "longer"):
        assert seed.when({"view": view}) == (view != "longer")
    item, other = (run("learn", {"view": "longer", "seed": seed}).notes for seed in (0, 7))
    assert item == other


def test_closing_words_quote_units_that_keep_for_long():
    lasting = run("watch", {"view": "saturation"}).notes
    (count,) = (note for note in lasting if note.startswith("Units with a time constant above 20"))
    shown = re.search(r"(\d+) of (\d+)\.", count).groups()
    closing = (ASSETS / "lessons/gates/en.md").read_text("utf-8")
    said = re.search(r"given text, (\d+) of the LSTM’s (\d+) has", closing).groups()
    chinese = (ASSETS / "lessons/gates/zh.md").read_text("utf-8")
    there = re.search(r"LSTM 的 (\d+) 个单元中，只有 (\d+) 个的时间常数大于 20", chinese).groups()
    assert shown == said == there[::-1]


def test_texts_table_quotes_cards_and_counts():
    cards = {cell: checkpoints.card(f"characters_{cell}") for cell in ("gru", "lstm")}
    counted = read(run("size", {}))
    for lang in LANGUAGES:
        (row,) = (r for r in WORDS[lang]["texts"]["rows"] if r[0] == "S0 · 0-39")
        quoted = numbers(row[2])
        for card in cards.values():
            assert number(card.alone) in quoted
            assert f"{card.parameters:,}" in quoted
        assert {counted[f"count_{cell}"] for cell in ("rnn", "gru", "lstm")} <= set(quoted)


def test_every_bench_has_note():
    for name, bench in lesson.benches.items():
        notes = [item.kind for item in bench.run({}, code=False).items if hasattr(item, "sentence")]
        assert "note" in notes or any(kind != "caption" for kind in notes), name


# ------------------------------------------------------------ what the questions rest on, by itself
def test_count_network_masters_strings_up_to_limit():
    """By hand: the string is read symbol by symbol, and the next symbol compared."""
    for cell, farthest in (("lstm", 14), ("gru", 8)):
        network = checkpoints.load(f"count_{cell}")

        def mastered(n, network=network):
            string = np.repeat([0, 1, 2], [n, n, 1])
            given = logits(network, trace(network, string).hidden[1:]).argmax(axis=-1)
            return list(given[n : 2 * n]) == [*[1] * (n - 1), 2]

        assert all(mastered(n) for n in range(1, farthest + 1))
        assert not mastered(farthest + 1)


def test_count_gru_loses_to_majority_at_double_length():
    batch = tasks.draw("count", 32, 2000, np.random.RandomState(12345))
    card = checkpoints.card("count_gru")
    always_b = (batch.answers == 1)[batch.scored].mean()
    assert always_b == pytest.approx(tasks.majority(batch))
    assert always_b > card.twice_as_long + 0.1
