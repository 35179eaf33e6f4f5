"""N-gram models of the bundled sentences, and of a user's text."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.gates.encoding import END
from seqviz.compute.gates.networks import log_probabilities, trace
from seqviz.core.errors import UserError
from seqviz.data import precomputed
from seqviz.data.reviews import characters_split
from seqviz.experiments.gpt.surprise import surprise
from seqviz.experiments.language_models import counting, measured
from seqviz.experiments.language_models.corpora import (
    MAX_CORPUS_CHARS,
    bundled,
    corpus,
    tokens,
    user_corpus,
)
from seqviz.experiments.recurrent.states import writing
from seqviz.models.checkpoints import load

CHINESE = "狗咬人。\n人看狗。\n狗咬骨头。"


def test_order_of_the_words_matters_in_chinese_and_english():
    found = counting.orders(CHINESE, "狗咬人", "zh", 2, "witten_bell")
    assert found.words == ("狗", "咬", "人")
    written, reversed_order = found.totals[[found.rank((0, 1, 2)), found.rank((2, 1, 0))]]
    assert reversed_order - written > 1.6
    english = counting.orders("The dog bites the man.", "the dog bites", "en", 2, "add_k")
    assert english.text(0) == ("the", "dog", "bites")


def test_trigrams_make_most_held_out_sentences_impossible():
    shares = counting.held_out_texts("en", "words").shares
    assert shares.n.tolist() == [789] * 6 if np.ndim(shares.n) else shares.n == 789
    assert shares.mean[0] < 0.5 < 0.95 < shares.mean[2]
    assert (np.diff(counting.held_out_texts("zh", "letters").shares.mean) >= 0).all()


def test_york_follows_one_word_only():
    found = counting.by_continuation("en")
    assert (found.words[0], found.before[0]) == ("york", "new")
    assert found.contexts[0] <= 2 < 200 < found.count[0]
    assert found.continuation[0] < found.frequency[0] / 50


@pytest.mark.parametrize("level", ["letters", "words"])
def test_followers_of_a_user_text_are_counted_there(level):
    context = "b" if level == "letters" else "the"
    text = "the cat\nthe cat\nthe dog\nabbac"
    found = counting.followers(text, context, "en", level, 2, "none")
    follow = {"words": {"cat": 2 / 3, "dog": 1 / 3}, "letters": {"b": 0.5, "a": 0.5}}[level]
    assert {s: p for s, p in zip(found.symbols, found.probability, strict=True) if p} == (
        pytest.approx(follow)
    )
    assert counting.followers("", "in new", "en", "words", 3, "kneser_ney").symbols[0] == "york"


def test_tokens_and_the_limit_of_a_user_text():
    assert tokens("Don't  bite!", "en", "words") == ["do", "n't", "bite", "!"]
    assert tokens("a\u0301 b", "en", "letters") == ["á", " ", "b"]
    assert tokens("从马上下来", "zh", "words") == ["从", "马上", "下来"]
    long = user_corpus("ab\n" * MAX_CORPUS_CHARS, "en", "letters")
    assert (long.train == long.vocabulary.ids("ab")[0]).sum() == -(-MAX_CORPUS_CHARS // 3)
    for text in ("", " \n\t "):
        with pytest.raises(UserError, match="nothing to count"):
            user_corpus(text, "en", "words")


def test_size_of_a_vocabulary_counts_unknown_and_end():
    found = corpus("en", "words", 100)
    assert len(found.vocabulary) == 100
    assert found.vocabulary.names[1] == END
    assert found.train.max() == 99


def test_all_models_of_chinese_letters_on_one_ruler():
    told = []
    found = measured.bits_per_character("zh", report=lambda record, share: told.append(share))
    assert told[-1] == 1
    assert len(found.models) == 17
    assert found.characters.sum() == sum(len(ids) + 1 for ids in corpus("zh", "letters").held)
    uniform, alone, best = (found.of(m).mean for m in ("uniform", "ngram1", "kneser_ney3"))
    assert uniform == pytest.approx(np.log2(len(corpus("zh", "letters").vocabulary)))
    assert best < alone < uniform
    assert found.difference("kneser_ney6", "witten_bell6").high < 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_bits_of_a_text_are_those_of_the_ruler(language):
    decoders = ("smollm2",) if language == "en" else ()
    ruler = precomputed.result("bits_per_character", language=language, decoders=decoders)
    for number in (5, 40):
        found = measured.bits_of_text(bundled(language)[1][number], language)
        expected = ruler.bits[[ruler.models.index(name) for name in found.models], number]
        np.testing.assert_allclose(found.bits[:, 0], expected, rtol=1e-5)
        assert found.characters == ruler.characters[number]
        facts = found.on_sentence(0)
        assert facts["bits"] == pytest.approx(expected.min() / found.characters[0], rel=1e-5)


def test_text_of_a_reader_keeps_within_its_signs_and_is_not_empty():
    assert measured.unknown_signs("Ça va, 狗 dog 狗?", "en") == ("Ç", "狗")
    assert measured.unknown_signs("房间🐶", "zh") == ("🐶",)
    with pytest.raises(UserError, match="nothing to count"):
        measured.bits_of_text(" \n ", "en")


def test_networks_and_decoders_are_charged_for_the_end_of_a_sentence():
    network, text = load("characters_gru"), characters_split()[1][0]
    read = writing.read("characters_gru", text)
    assert not read.left_out
    last = log_probabilities(network, trace(network, read.ids).hidden)[-1]
    end = -last[network.symbols.index(END)] / np.log(2)
    assert measured._by_network("characters_gru", text) == pytest.approx(
        read.bits.sum() + end, rel=1e-5
    )
    whole, first = measured._by_decoder("smollm2", text), surprise("smollm2", f"{END}{text}")
    assert whole > first.bits.sum() > 0


@pytest.mark.parametrize(("language", "level", "context"), [
    ("en", "words", "the actors are"), ("en", "letters", "the ac"), ("zh", "words", "房间很"),
])  # fmt: skip
def test_listed_sentences_contain_the_ngram_and_give_its_count(language, level, context):
    found = counting.followers("", context, language, level, 3, "kneser_ney")
    for symbol, times in zip(found.symbols[:4], found.counts[:4], strict=True):
        ngram = (*found.context, symbol)
        listed = counting.counted_sentences("", ngram, language, level)
        assert listed.count == times
        assert len(listed.listed) == min(listed.sentences, counting.MAX_LISTED)
        for sentence in listed.listed:
            assert "".join(ngram).strip(END) in "".join(tokens(sentence, language, level))


def test_listed_sentences_of_a_user_text_are_its_own():
    text = "The cat sat.\nA dog ran. The cat ran."
    listed = counting.counted_sentences(text, ("the", "cat"), "en", "words")
    assert (listed.count, listed.sentences) == (2, 2)
    assert listed.listed == ("The cat sat.", "The cat ran.")
    assert counting.counted_sentences(text, ("cat", "dog"), "en", "words").listed == ()
    many = counting.counted_sentences("the cat\n" * 30, ("the", "cat"), "en", "words")
    assert (many.count, len(many.listed)) == (30, counting.MAX_LISTED)
