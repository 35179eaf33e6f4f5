"""What the lesson on recurrent networks claims, beside the control that could refute it."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from itertools import product

import numpy as np
import pytest

from seqviz.compute.gates.encoding import END
from seqviz.compute.language_models.ngrams import fit
from seqviz.compute.recurrent.tagging.lac import WAYS
from seqviz.compute.recurrent.wirings.collapse import collapse
from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, number, percent, sections
from seqviz.core.units import unbroken
from seqviz.data import precomputed
from seqviz.data.chinese import bundled_words, reviews_split
from seqviz.data.reviews import characters_split, sentiment_split
from seqviz.experiments.recurrent.states import writing
from seqviz.experiments.recurrent.tagging import letters
from seqviz.experiments.recurrent.tagging.letters import (
    LEARNED_AHEAD,
    TASKS,
    compare_ahead,
    compare_taggers,
)
from seqviz.experiments.text.tokenization.vocabularies import dictionary
from seqviz.lessons.framework.output import Target
from seqviz.lessons.recurrent.cell import NEARLY
from seqviz.lessons.recurrent.lesson import lesson
from seqviz.lessons.recurrent.letter_tagging import CHINESE
from seqviz.models.checkpoints import card, load
from tests.lessons import textbook_rows
from tools import bundle_vocabularies, train_characters

each_language = pytest.mark.parametrize("language", LANGUAGES)
message = partial(textbook_rows.said, lesson)
SMALL = {"tanh": 100.0, "amplitude": 0.01}


# ---- without tanh


@each_language
def test_collapse_superposes_small_inputs_despite_large_error(language):
    """Small inputs add up although the network and the convolution still differ."""
    result = collapse(1.0, 0.01, 16, "float32", 1)
    assert result.superposition < NEARLY < 10 < result.error
    visible = message("collapse", SMALL, language)
    assert ("nearly add up", "几乎可以相加")[LANGUAGES.index(language)] in visible
    assert ("no longer add up", "不再可以相加")[LANGUAGES.index(language)] not in visible
    assert number(result.error, 2) in visible
    control = collapse(1.0, 0.01, 16, "float32", 1, biased=False)
    assert number(control.error, 2) in visible
    assert ("around 0 only", "只在 0 附近")[LANGUAGES.index(language)] in visible


@pytest.mark.parametrize("seed", range(1, 8))
def test_collapse_error_is_small_without_bias(seed):
    """As the prose says; with one they need not, whatever the seed."""
    plain = collapse(1.0, 0.01, 16, "float64", seed, biased=False)
    assert max(plain.superposition, plain.error) < 0.01
    biased = collapse(1.0, 0.01, 16, "float64", seed)
    assert biased.error > 20 * plain.error
    assert np.array_equal(plain.kernel, biased.kernel)
    assert (plain.numbers, biased.numbers) == (32, 64)
    assert biased.parameters - plain.parameters == 16


@pytest.mark.parametrize("bias", [True, False])
def test_collapse_note_and_target_follow_error(bias):
    bench = lesson.benches["collapse"]
    controls = product((10.0, 100.0), (0.01, 0.1, 0.3, 1.0, 10.0), (1, 4))
    observed = set()
    for tanh, size, seed in controls:
        values = {"tanh": tanh, "amplitude": size, "seed": seed, "with_bias": bias}
        result = collapse(tanh / 100, size, 16, "float32", seed, bias)
        visible = bench.run(values, "en", code=False)
        words = message("collapse", values)
        nearly = result.superposition < NEARLY
        assert ("nearly add up" in words) == nearly
        assert ("no longer add up" in words) != nearly
        assert ("to within" in words) == (result.error < NEARLY)
        assert (unbroken("With b = 0") in words) == bias
        (target,) = visible.of(Target)
        assert target.reached == (nearly and tanh == 100)
        observed.add((nearly, target.reached))
    assert {(True, True), (False, False)} <= observed


# ---- which letters need the right side


def ahead_of(task):
    """Networks trained with the whole right side, and those trained with some; the same seeds."""
    trained = precomputed.find(compare_ahead, {"task": task}).result
    every = precomputed.find(compare_taggers, {"task": task}).result
    return every.of_first(trained.seeds), trained


@pytest.mark.parametrize("task", TASKS)
def test_compare_ahead_uses_networks_trained_with_lookahead(task):
    result, trained = ahead_of(task)
    assert trained.seeds == result.seeds >= 3
    assert np.array_equal(trained.letters, result.letters)  # the same sentences
    assert tuple(trained.ahead) == LEARNED_AHEAD
    none, item, three = (trained.error(k).value for k in (0, 1, 3))
    assert none > item >= three - 0.5
    assert trained.gained(1, result) > 0.5  # one sign brings more than half of the gain
    assert trained.gained(3, result) > 0.9  # and three nearly all
    assert (trained.beyond(1, result).verdict != "null") == (
        task == "spaces"
    )  # in Chinese one is enough
    for ahead in (1, 2):  # what is cut only when used says something else
        assert result.error_cut(ahead).value > trained.error(ahead).value + 0.3
    uni = result.error("uni").value
    assert item < uni
    if task == "spaces":
        assert result.error_cut(1).value > uni  # worse than a network that never saw the right side
    assert abs(none - uni) < 2


@each_language
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("ahead", LEARNED_AHEAD)
def test_ahead_note_marks_lookahead_cut_only_at_inference(task, ahead, language):
    result, trained = ahead_of(task)
    visible = message("tagging", {"view": "ahead", "task": task, "ahead": ahead}, language)
    error, cut = trained.error(ahead).value, result.error_cut(ahead).value
    first = ("Networks trained with this many get {}", "训练时就只看这么多的网络，每 100 个标错 {}")
    assert first[LANGUAGES.index(language)].format(number(error)) in visible
    never = ("never trained this way", "从未这样训练过")[LANGUAGES.index(language)]
    assert (never in visible) == (cut > error)
    assert (percent(trained.gained(ahead, result)) in visible) == (ahead > 0)
    worse = ("never seen the right context", "从未看过右边")[LANGUAGES.index(language)]
    assert (worse in visible) == (cut > result.error("uni").value)


@each_language
def test_letters_note_marks_cut_row_as_never_trained(language):
    visible = message("tagging", {"view": "letters", "ahead": 1}, language)
    assert ("never trained this way", "从未这样训练过")[LANGUAGES.index(language)] in visible


# ---- the words of jieba's dictionary


@each_language
def test_bundled_words_match_dictionary_subset_and_caption(language):
    existing = bundled_words()
    assert existing.words == len(dictionary().log) == bundle_vocabularies.WORDS
    assert existing.sentences == len(reviews_split()[1])
    result = precomputed.find(compare_taggers, {"task": "words"}).result
    assert existing.tags == result.many()  # of all held-out sentences
    visible = lesson.benches["tagging"].run({"task": "words"}, language, code=False)
    caption = " ".join(str(item) for item in visible.items)
    for part in ("35,000", "349,046", "421", percent(existing.differ / existing.tags)):
        assert part in caption
    assert "35,000" in sections("recurrent", language)["tagging_networks"]


@each_language
def test_prose_counts_held_out_texts_seen_in_training(language):
    train, held = sentiment_split()
    known = set(train.texts)
    assert (len(held.texts), sum(text in known for text in held.texts)) == (2000, 1)
    assert ("One of these reviews also occurs", "其中 1 条在训练评论里也出现过")[
        LANGUAGES.index(language)
    ] in sections("recurrent", language)["readout_notice"]
    learned, tested = letters._sentences("spaces")
    texts = {item.symbols for item in learned}
    repeated = sum(item.symbols in texts for item in tested)
    caption = " ".join(
        str(item)
        for item in lesson.benches["tagging"].run({"task": "spaces"}, language, code=False).items
    )
    for count in (len(learned), len(tested), repeated):
        assert f" {count:,} " in caption
    texts = {item.symbols for item in letters._sentences("words")[0]}
    assert not any(item.symbols in texts for item in letters._sentences("words")[1])


# ---- a tagger that people use


@each_language
@pytest.mark.parametrize(("side", "tags"), [
    ("right", "研 v-B → n-B 究 v-I → n-I 生 n-B → n-I"),
    ("left", "生 n-B → v-I 命 n-I → n-B"),
])  # fmt: skip
def test_tagger_note_lists_changed_tags_and_joins_none(side, tags, language, lac):
    """The tags come from seven texts, and 研究生命 is no word of any of them."""
    visible = message("tagger", {"side": side}, language)
    assert tags in visible.replace(",", "").replace("、", " ")
    assert "研究生命/n" not in visible
    assert "研究生/v" not in visible


@each_language
@pytest.mark.parametrize("way", WAYS)
def test_tagger_gap_states_signed_difference_and_ends_in_points(way, language, lac):
    gap = precomputed.result("lac_changes").more(way)
    ends = [number(100 * value) for value in (gap.mean, gap.low, gap.high)]
    visible = message("tagger", {"view": "counted", "way": way}, language)
    wanted = ("{} percentage points", "{} 个百分点")[LANGUAGES.index(language)]
    assert unbroken(wanted.format(ends[0])) in visible
    assert f"{ends[1]}{(' to ', ' 到 ')[LANGUAGES.index(language)]}{ends[2]}" in visible


def test_compared_counts_tags_changed_by_missing_words():
    full_text = "人 5000 n\n马上 4000 d\n人马 3000 n\n上 2000 f\n走 100 v\n了 90 u"
    fewer = bundle_vocabularies.Dictionary(
        {"人": 5000, "马上": 4000, "上": 2000, "走": 100, "了": 90}
    )
    result = bundle_vocabularies.compared(full_text, fewer, ["人马上走了", "马上走了", "走了。"])
    assert asdict(result) == {"words": 5, "all_words": 6, "sentences": 3, "alike": 3, "tags": 11,
                             "differ": 0}  # fmt: skip
    rare = "人 50 n\n马上 1 d\n人马 90000 n\n上 20000 f\n走 100 v\n了 90 u"
    changed = bundle_vocabularies.compared(rare, fewer, ["人马上走了", "马上走了", "走了。"])
    assert (changed.alike, changed.differ) == (2, 3)


def test_bundled_words_rejects_damaged_file(monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words_zh.json").write_text(json.dumps({"words": 1}))
    monkeypatch.setattr("seqviz.data.chinese.ASSETS", tmp_path)
    bundled_words.cache_clear()
    with pytest.raises(UserError) as refused:
        bundled_words()
    assert refused.value.code == "damaged"
    bundled_words.cache_clear()


def test_dictionary_segments_default_sentence_like_jieba():
    """By jieba 0.42.1 with HMM=False and all of its words; here by the bundled ones."""
    assert "/".join(dictionary().words(CHINESE)) == (
        "从/马上/下来/的/客人/马上/走/了/，/我们/都/很/高兴/。"
    )


# ---- a language model and counting


def test_grams_match_counts_of_all_characters_and_card():
    """The page's counts have rare letters as one; the card's counts have them all."""
    train, held = characters_split()
    network = load("characters_gru")
    end = np.array([network.symbols.index(END)])
    grams = writing.grams("characters_gru")
    some = held[:40]
    counts, symbols = train_characters.counted(END.join(train))
    model = fit(counts, "witten_bell")
    for text in some[:10]:
        ids = train_characters.numbers(END + text, symbols).numpy()
        theirs = model.bits(ids[1:], ids[:1])
        assert np.allclose(grams.bits(writing._ids(network.symbols, text), end), theirs, atol=0.02)
    bits = np.concatenate(
        [grams.bits(writing._ids(network.symbols, text), end) for text in held if text]
    )
    assert bits.mean() == pytest.approx(card("characters_gru").five_gram_alone, abs=0.002)


@each_language
@pytest.mark.parametrize("reader", ["gru", "lstm"])
def test_writing_note_compares_network_with_five_gram(reader, language):
    visible = message("writing", {"reader": reader}, language)
    result = writing.read(f"characters_{reader}", "The flights the airline was cancelling were full"
                                                 " of people.")  # fmt: skip
    for mean in (result.mean_alone, result.mean_pairs, result.mean_fives, result.mean_bits):
        assert number(mean) in visible
    more = ("Counting needs more", "计数要付得更多")[LANGUAGES.index(language)]
    assert (more in visible) == (result.mean_bits < result.mean_fives)
    existing = card(f"characters_{reader}")
    assert number(existing.alone) in visible
    assert number(existing.five_gram_alone) in visible
    beaten = ("does not beat counting", "没有胜过计数")[LANGUAGES.index(language)]
    assert (beaten in visible) == (existing.alone > existing.five_gram_alone)


def test_writing_note_favors_counting_on_training_text():
    """Where five letters do better the sentence says so."""
    text = characters_split()[0][3]
    result = writing.read("characters_gru", text)
    assert result.mean_fives < result.mean_bits
    assert "Counting needs more" not in message("writing", {"text_read": text})
    assert "needs no more" in message("writing", {"text_read": text})
